// BitReader: the mirror image of BitWriter. Bytes come from a peer, so every read is checked and failure is
// sticky: after the first bad read everything is zero, and the caller asks at_end() once, before
// acting. Source: docs/spec/data.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "lattice/authoring/enum_traits.h"
#include "lattice/authoring/math.h"
#include "lattice/authoring/quantize.h"
#include "lattice/authoring/utf8.h"

namespace lattice {

class BitReader {
 public:
  /// Reads `bytes`, which the caller keeps.
  explicit BitReader(std::span<const uint8_t> bytes) : BitReader(bytes, bytes.size() * 8) {}
  /// Reads only the first `bit_count` bits of `bytes`.
  BitReader(std::span<const uint8_t> bytes, size_t bit_count)
      : data_(bytes.data()), end_(bit_count < bytes.size() * 8 ? bit_count : bytes.size() * 8) {}

  bool ok() const { return ok_; }
  size_t position_bits() const { return position_; }
  size_t bits_left() const { return end_ - position_; }
  /// Marks the input as malformed: used by Deserialize() for values that make no sense.
  void fail() { ok_ = false, position_ = end_; }
  /// True if nothing failed and all that is left is the padding of the last byte: under 8 bits, all zero.
  bool at_end() const { return ok_ && bits_left() < 8 && peek(static_cast<unsigned>(bits_left())) == 0; }

  // ---- Named types ---------------------------------------------------------------------------

  /// `bits` in 0..64.
  uint64_t ReadBits(int bits) { return read(static_cast<unsigned>(bits)); }
  bool ReadBool() { return read(1) != 0; }
  uint8_t ReadByte() { return static_cast<uint8_t>(read(8)); }
  /// A type declared with LATTICE_ENUM; an ordinal past its list fails.
  template <typename E>
  E ReadEnum() {
    return EnumTraits<E>::value(
        static_cast<size_t>(ReadCode(bits_for_count(EnumTraits<E>::kCount), EnumTraits<E>::kCount - 1)));
  }
  int32_t ReadInt() { return static_cast<int32_t>(un_zig_zag(ReadVarint32())); }
  int64_t ReadLong() { return un_zig_zag(ReadVarint()); }
  int32_t ReadRangedInt(int32_t min, int32_t max) { return static_cast<int32_t>(ReadRangedLong(min, max)); }
  /// A code past max is malformed, not clamped. `min` when the read fails and 0 is outside the range.
  int64_t ReadRangedLong(int64_t min, int64_t max) {
    const uint64_t span = range_span(min, max);
    const uint64_t code = ReadCode(bits_for_span(span), span);
    if (!ok_) return min <= 0 && max >= 0 ? 0 : min;
    return ranged_value(code, min);
  }
  float ReadFloat() { return std::bit_cast<float>(ReadU32()); }
  double ReadDouble() { return std::bit_cast<double>(ReadU64()); }
  float ReadCompressedFloat(float min, float max, float precision) {
    return static_cast<float>(ReadCompressed(CompressedFloat(min, max, precision)));
  }
  float ReadCompressedFloat(FloatQuant q) { return ReadCompressedFloat(q.min, q.max, q.precision); }
  double ReadCompressedDouble(double min, double max, double precision) {
    return ReadCompressed(CompressedFloat(min, max, precision));
  }
  double ReadCompressed(const CompressedFloat& q) {
    const uint64_t code = ReadCode(q.bits, q.steps);
    return ok_ ? q.value(code) : 0.0;
  }
  double ReadAngle(double min, double max, double precision) {
    return ReadAngle(AngleQuant(min, max, precision));
  }
  double ReadAngle(const AngleQuant& q) {
    const uint64_t code = ReadCode(q.bits, q.steps - 1);
    return ok_ ? q.value(code) : 0.0;
  }
  Vector2 ReadVector2(FloatQuant q) { return ReadVector2(q, q); }
  Vector2 ReadVector2(FloatQuant qx, FloatQuant qy) {
    Vector2 v;
    v.x = ReadCompressedFloat(qx), v.y = ReadCompressedFloat(qy);
    return v;
  }
  Vector3 ReadVector3(FloatQuant q) { return ReadVector3(q, q, q); }
  Vector3 ReadVector3(FloatQuant qx, FloatQuant qy, FloatQuant qz) {
    Vector3 v;
    v.x = ReadCompressedFloat(qx), v.y = ReadCompressedFloat(qy), v.z = ReadCompressedFloat(qz);
    return v;
  }
  Vector4 ReadVector4(FloatQuant q) { return ReadVector4(q, q, q, q); }
  Vector4 ReadVector4(FloatQuant qx, FloatQuant qy, FloatQuant qz, FloatQuant qw) {
    Vector4 v;
    v.x = ReadCompressedFloat(qx), v.y = ReadCompressedFloat(qy);
    v.z = ReadCompressedFloat(qz), v.w = ReadCompressedFloat(qw);
    return v;
  }
  /// Codes past 2^n - 2, and codes that describe no unit quaternion, fail. Identity when the read fails.
  Quaternion ReadQuaternion(int bits_per_component = 10) {
    const unsigned n = static_cast<unsigned>(bits_per_component);
    const uint64_t packed = read(2 + 3 * n);
    if (ok_ && !smallest_three_valid(packed, n)) fail();
    return ok_ ? smallest_three_unpack(packed, n) : Quaternion{};
  }
  /// UTF-8 of at most `cap` bytes; longer or invalid text fails and gives "".
  std::string ReadString(size_t cap = 1024) {
    std::string text;
    const size_t n = ReadLength(cap);
    text.resize(n);
    ReadRaw(reinterpret_cast<uint8_t*>(text.data()), n);
    if (ok_ && utf8_valid_prefix(text) != n) fail();
    if (!ok_) text.clear();
    return text;
  }
  /// At most `cap` bytes into `out`; more fails and returns 0.
  size_t ReadBytes(uint8_t* out, size_t cap) {
    const size_t n = ReadLength(cap);
    ReadRaw(out, n);
    return ok_ ? n : 0;
  }

  // ---- Further scalars --------------------------------------------------------------------------

  uint16_t ReadU16() {
    const uint64_t v = read(16);
    return static_cast<uint16_t>(v << 8 | v >> 8);
  }
  uint32_t ReadU32() { return swap32(static_cast<uint32_t>(read(32))); }
  uint64_t ReadU64() {
    const uint64_t v = read(64);
    return static_cast<uint64_t>(swap32(static_cast<uint32_t>(v))) << 32 |
           swap32(static_cast<uint32_t>(v >> 32));
  }
  /// Minimal forms only.
  uint64_t ReadVarint() {
    uint64_t value = 0;
    for (unsigned group = 0; group < 8; ++group) {
      const uint64_t byte = read(8);
      value |= (byte & 0x7F) << (7 * group);
      if ((byte & 0x80) == 0) {
        if (group > 0 && byte == 0) fail();
        return ok_ ? value : 0;
      }
    }
    const uint64_t last = read(8);
    if (last == 0) fail();
    return ok_ ? value | last << 56 : 0;
  }
  /// As ReadVarint(), but values of 2^32 and above fail.
  uint32_t ReadVarint32() {
    const uint64_t v = ReadVarint();
    if (v > UINT32_MAX) fail();
    return ok_ ? static_cast<uint32_t>(v) : 0;
  }
  /// A `bits`-bit code; values past `max` fail.
  uint64_t ReadCode(unsigned bits, uint64_t max) {
    const uint64_t code = read(bits);
    if (code > max) fail();
    return ok_ ? code : 0;
  }
  /// A varint length of at most `cap` bytes that are all still there.
  size_t ReadLength(size_t cap) {
    const uint64_t n = ReadVarint();
    if (n > cap || n > bits_left() / 8) fail();
    return ok_ ? static_cast<size_t>(n) : 0;
  }
  /// `n` bytes without a length; zeros on failure.
  void ReadRaw(uint8_t* out, size_t n) {
    if (n > bits_left() / 8) fail();
    for (size_t i = 0; i < n; ++i) out[i] = ReadByte();
  }
  /// The next `bits` bits, left-aligned into `out` of (bits + 7) / 8 bytes, padding zero.
  void ReadBitSpan(uint8_t* out, size_t bits) {
    if (bits > bits_left()) fail();
    for (; bits >= 8; bits -= 8) *out++ = ReadByte();
    if (bits != 0) *out = static_cast<uint8_t>(read(static_cast<unsigned>(bits)) << (8 - bits));
  }
  /// Copies up to `bits` of the bits ahead without moving; returns how many there were. For custom
  /// serializers.
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
  static uint32_t swap32(uint32_t v) { return v << 24 | (v & 0xFF00u) << 8 | (v >> 8 & 0xFF00u) | v >> 24; }

  uint64_t read(unsigned n) {
    if (n > bits_left()) {
      fail();
      return 0;
    }
    const uint64_t v = peek(n);
    position_ += n;
    return v;
  }
  // n <= bits_left(). Loads the 8 bytes the field starts in, and the ninth if it reaches that far.
  uint64_t peek(unsigned n) const {
    if (n == 0) return 0;
    const size_t byte = position_ / 8;
    const unsigned skip = static_cast<unsigned>(position_ % 8);
    const size_t available = (end_ + 7) / 8 - byte;
    uint64_t head = 0;
    if (available >= 8) {
      for (unsigned i = 0; i < 8; ++i) head = head << 8 | data_[byte + i];
    } else {
      for (size_t i = 0; i < available; ++i) head |= static_cast<uint64_t>(data_[byte + i]) << (56 - 8 * i);
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
