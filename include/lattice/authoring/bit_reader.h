/// @file
/// BitReader unpacks what BitWriter packed. Hand-written serializers use it, and the library itself does.
/// Source: docs/spec/data.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "lattice/authoring/byte_order.h"
#include "lattice/authoring/enum_traits.h"
#include "lattice/authoring/math.h"
#include "lattice/authoring/quantize.h"
#include "lattice/authoring/utf8.h"

namespace lattice {

/// Unpacks values from bytes that may come from a peer. Every read is checked and failure is sticky: after
/// the first bad read, every read gives zero or the value that its description names. So read everything,
/// then ask at_end() once before you act.
///
///     lattice::BitReader r(bytes);
///     const int32_t value = r.ReadRangedInt(-8, 7);
///     if (r.at_end()) use(value);
class BitReader {
 public:
  /// Reads `bytes`, which are borrowed.
  explicit BitReader(std::span<const uint8_t> bytes) : BitReader(bytes, bytes.size() * 8) {}
  /// Reads only the first `bit_count` bits of `bytes`, which are borrowed.
  BitReader(std::span<const uint8_t> bytes, size_t bit_count)
      : data_(bytes.data()), end_(bit_count < bytes.size() * 8 ? bit_count : bytes.size() * 8) {}

  /// False once a read failed.
  bool ok() const { return ok_; }
  /// How many bits were read. The size of the input after a failure.
  size_t position_bits() const { return position_; }
  /// How many bits are left; 0 after a failure.
  size_t bits_left() const { return end_ - position_; }
  /// Marks the input as malformed. Deserialize() calls it for values that make no sense.
  void fail() { ok_ = false, position_ = end_; }
  /// True if nothing failed and only the padding of the last byte is left: under 8 bits, all zero.
  bool at_end() const { return ok_ && bits_left() < 8 && peek(static_cast<unsigned>(bits_left())) == 0; }

  /// @cond internal
  /// The byte in which the next bit lies, for straight code; it may be the end.
  const uint8_t* next_byte() const { return data_ + position_ / 8; }
  /// @endcond

  // ---- Named types ---------------------------------------------------------------------------

  /// A field of `bits` bits, 0 to 64.
  uint64_t ReadBits(int bits) { return read(static_cast<unsigned>(bits)); }
  /// One bit.
  bool ReadBool() {
    if (position_ >= end_) {
      fail();
      return false;
    }
    const unsigned bit = unsigned{data_[position_ / 8]} >> (7 - position_ % 8) & 1u;
    ++position_;
    return bit != 0;
  }
  /// 8 bits.
  uint8_t ReadByte() { return static_cast<uint8_t>(read(8)); }
  /// A value of an enum that LATTICE_ENUM declares. A position past its list fails. The first value of the
  /// list on failure.
  template <typename E>
  E ReadEnum() {
    return EnumTraits<E>::value(
        static_cast<size_t>(ReadCode(bits_for_count(EnumTraits<E>::kCount), EnumTraits<E>::kCount - 1)));
  }
  /// A signed varint of WriteInt(). One that does not fit 32 bits fails.
  int32_t ReadInt() { return static_cast<int32_t>(un_zig_zag(ReadVarint32())); }
  /// A signed varint of WriteLong().
  int64_t ReadLong() { return un_zig_zag(ReadVarint()); }
  /// A number in [min, max]. A code past max fails; it is not clamped. On failure 0, or `min` when 0 is
  /// outside the range.
  int32_t ReadRangedInt(int32_t min, int32_t max) { return static_cast<int32_t>(ReadRangedLong(min, max)); }
  /// The same for 64 bits.
  int64_t ReadRangedLong(int64_t min, int64_t max) {
    const uint64_t span = range_span(min, max);
    const uint64_t code = ReadCode(bits_for_span(span), span);
    if (!ok_) return min <= 0 && max >= 0 ? 0 : min;
    return ranged_value(code, min);
  }
  /// All 32 bits of a float; NaN and infinity are possible.
  float ReadFloat() { return std::bit_cast<float>(ReadU32()); }
  /// A number of WriteHalf(); NaN and infinity are possible.
  float ReadHalf() { return std::bit_cast<float>(float_of_half(static_cast<uint16_t>(ReadBits(16)))); }
  /// All 64 bits of a double; NaN and infinity are possible.
  double ReadDouble() { return std::bit_cast<double>(ReadU64()); }
  /// A number in [min, max] of WriteCompressedFloat(). A code past the last step fails. 0 on failure, even
  /// outside the range.
  float ReadCompressedFloat(float min, float max, float precision) {
    return static_cast<float>(ReadCompressed(CompressedFloat(min, max, precision)));
  }
  /// The same, with the bounds of `q`.
  float ReadCompressedFloat(FloatQuant q) { return ReadCompressedFloat(q.min, q.max, q.precision); }
  /// The same for a double.
  double ReadCompressedDouble(double min, double max, double precision) {
    return ReadCompressed(CompressedFloat(min, max, precision));
  }
  /// The same, with bounds worked out before.
  double ReadCompressed(const CompressedFloat& q) {
    const uint64_t code = ReadCode(q.bits, q.steps);
    return ok_ ? q.value(code) : 0.0;
  }
  /// An angle in [min, max) of WriteAngle(). 0 on failure.
  double ReadAngle(double min, double max, double precision) {
    return ReadAngle(AngleQuant(min, max, precision));
  }
  /// The same, with bounds worked out before.
  double ReadAngle(const AngleQuant& q) {
    const uint64_t code = ReadCode(q.bits, q.steps - 1);
    return ok_ ? q.value(code) : 0.0;
  }
  /// Two compressed floats with the same bounds.
  Vector2 ReadVector2(FloatQuant q) { return ReadVector2(q, q); }
  /// Two compressed floats with bounds of their own.
  Vector2 ReadVector2(FloatQuant qx, FloatQuant qy) {
    Vector2 v;
    v.x = ReadCompressedFloat(qx), v.y = ReadCompressedFloat(qy);
    return v;
  }
  /// Three compressed floats with the same bounds.
  Vector3 ReadVector3(FloatQuant q) { return ReadVector3(q, q, q); }
  /// Three compressed floats with bounds of their own.
  Vector3 ReadVector3(FloatQuant qx, FloatQuant qy, FloatQuant qz) {
    Vector3 v;
    v.x = ReadCompressedFloat(qx), v.y = ReadCompressedFloat(qy), v.z = ReadCompressedFloat(qz);
    return v;
  }
  /// Four compressed floats with the same bounds.
  Vector4 ReadVector4(FloatQuant q) { return ReadVector4(q, q, q, q); }
  /// Four compressed floats with bounds of their own.
  Vector4 ReadVector4(FloatQuant qx, FloatQuant qy, FloatQuant qz, FloatQuant qw) {
    Vector4 v;
    v.x = ReadCompressedFloat(qx), v.y = ReadCompressedFloat(qy);
    v.z = ReadCompressedFloat(qz), v.w = ReadCompressedFloat(qw);
    return v;
  }
  /// A rotation of WriteQuaternion(). Codes that describe no unit quaternion fail. The identity on failure.
  Quaternion ReadQuaternion(int bits_per_component = 10) {
    const unsigned n = static_cast<unsigned>(bits_per_component);
    const uint64_t packed = read(2 + 3 * n);
    if (ok_ && !smallest_three_valid(packed, n)) fail();
    return ok_ ? smallest_three_unpack(packed, n) : Quaternion{};
  }
  /// UTF-8 of at most `cap` bytes. Longer or invalid text fails and gives "". Allocates the text, whose
  /// claimed length was checked before.
  std::string ReadString(size_t cap = 1024) {
    std::string text;
    const size_t n = ReadLength(cap);
    text.resize(n);
    ReadRaw(reinterpret_cast<uint8_t*>(text.data()), n);
    if (ok_ && utf8_valid_prefix(text) != n) fail();
    if (!ok_) text.clear();
    return text;
  }
  /// Writes at most `cap` bytes to `out` and returns how many there were. More fails and returns 0.
  size_t ReadBytes(uint8_t* out, size_t cap) {
    const size_t n = ReadLength(cap);
    ReadRaw(out, n);
    return ok_ ? n : 0;
  }

  // ---- Further scalars --------------------------------------------------------------------------

  /// A number of 16 bits.
  uint16_t ReadU16() {
    const uint64_t v = read(16);
    return static_cast<uint16_t>(v << 8 | v >> 8);
  }
  /// A number of 32 bits.
  uint32_t ReadU32() { return detail::swapped(static_cast<uint32_t>(read(32))); }
  /// A number of 64 bits.
  uint64_t ReadU64() { return detail::swapped(read(64)); }
  /// A varint of WriteVarint(). One that is longer than it need be fails.
  uint64_t ReadVarint() {
    uint64_t value = read(8);
    if (value < 0x80) return value;
    value &= 0x7F;
    for (unsigned group = 1; group < 8; ++group) {
      const uint64_t byte = read(8);
      value |= (byte & 0x7F) << (7 * group);
      if ((byte & 0x80) == 0) {
        if (byte == 0) fail();
        return ok_ ? value : 0;
      }
    }
    const uint64_t last = read(8);
    if (last == 0) fail();
    return ok_ ? value | last << 56 : 0;
  }
  /// A varint below 2^32; a larger one fails.
  uint32_t ReadVarint32() {
    const uint64_t v = ReadVarint();
    if (v > UINT32_MAX) fail();
    return ok_ ? static_cast<uint32_t>(v) : 0;
  }
  /// A field of `bits` bits. A value past `max` fails.
  uint64_t ReadCode(unsigned bits, uint64_t max) {
    const uint64_t code = read(bits);
    if (code > max) fail();
    return ok_ ? code : 0;
  }
  /// A length as a varint. One above `cap`, or above the number of bytes left, fails.
  size_t ReadLength(size_t cap) {
    const uint64_t n = ReadVarint();
    if (n > cap || n > bits_left() / 8) fail();
    return ok_ ? static_cast<size_t>(n) : 0;
  }
  /// `n` bytes without a length. On failure zeros.
  void ReadRaw(uint8_t* out, size_t n) {
    if (n > bits_left() / 8) fail();
    for (size_t i = 0; i < n; ++i) out[i] = ReadByte();
  }
  /// The next `bits` bits, from bit 7 of `out` down, padded with zeros to (bits + 7) / 8 bytes.
  void ReadBitSpan(uint8_t* out, size_t bits) {
    if (bits > bits_left()) fail();
    for (; bits >= 8; bits -= 8) *out++ = ReadByte();
    if (bits != 0) *out = static_cast<uint8_t>(read(static_cast<unsigned>(bits)) << (8 - bits));
  }
  /// As ReadBitSpan(), but without moving, and with at most as many bits as are left. Returns how many there
  /// were. For custom serializers.
  size_t PeekBitSpan(uint8_t* out, size_t bits) const {
    BitReader ahead = *this;
    const size_t n = bits < bits_left() ? bits : bits_left();
    ahead.ReadBitSpan(out, n);
    return n;
  }
  /// Moves past `bits` bits.
  void Skip(size_t bits) {
    if (bits > bits_left()) {
      fail();
    } else {
      position_ += bits;
    }
  }

 private:
  uint64_t read(unsigned n) {
    if (n > bits_left()) {
      fail();
      return 0;
    }
    const uint64_t v = peek(n);
    position_ += n;
    return v;
  }
  // n <= bits_left(). Loads the 8 bytes the field starts in, and the ninth if it reaches that far. Near the
  // end, loads those of the field.
  uint64_t peek(unsigned n) const {
    if (n == 0) return 0;
    const size_t byte = position_ / 8;
    const unsigned skip = static_cast<unsigned>(position_ % 8);
    const size_t available = (end_ + 7) / 8 - byte;
    uint64_t head = 0;
    if (available >= 8) {
      std::memcpy(&head, data_ + byte, sizeof head);
      head = detail::big_endian(head);
    } else {
      const size_t needed = (skip + n + 7) / 8;
      for (size_t i = 0; i < needed; ++i) head |= static_cast<uint64_t>(data_[byte + i]) << (56 - 8 * i);
    }
    head <<= skip;
    if (skip + n > 64) head |= static_cast<uint64_t>(data_[byte + 8]) >> (8 - skip);
    return head >> (64 - n);
  }

  const uint8_t* data_;
  size_t end_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace lattice
