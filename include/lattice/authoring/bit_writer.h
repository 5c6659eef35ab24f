/// @file
/// BitWriter packs values into bits. Hand-written serializers use it, and the library itself does.
///
/// **Bit order.** Each byte fills from bit 7 down. A field of n bits is written with its most significant bit
/// first. A number of a full width is written as its bytes, least significant byte first, each byte as a
/// field of 8 bits, at any bit position. Nothing is aligned or padded until finish(), which fills the last
/// byte with zero bits. Source: docs/spec/data.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "lattice/authoring/byte_order.h"
#include "lattice/authoring/enum_traits.h"
#include "lattice/authoring/math.h"
#include "lattice/authoring/quantize.h"
#include "lattice/authoring/utf8.h"

namespace lattice {

/// Packs values into a buffer. Writing past its end is sticky: ok() turns false and nothing more is written,
/// so ask once at the end.
///
///     uint8_t buffer[64];
///     lattice::BitWriter w(buffer);
///     w.WriteRangedInt(-3, -8, 7);
///     if (w.ok()) store(w.finish());
class BitWriter {
 public:
  /// Writes into `buffer`, which is borrowed and overwritten.
  explicit BitWriter(std::span<uint8_t> buffer) : data_(buffer.data()), capacity_bits_(buffer.size() * 8) {}

  /// False once something did not fit.
  bool ok() const { return ok_; }
  /// How many bits were written.
  size_t bit_count() const { return bit_count_; }
  /// How many bytes they take, the begun one included.
  size_t byte_count() const { return (bit_count_ + 7) / 8; }
  /// How many bits still fit.
  size_t bits_left() const { return capacity_bits_ - bit_count_; }
  /// How many values were outside their declared range or not finite, and were changed.
  uint32_t clamped_count() const { return clamped_count_; }

  /// Stores the bytes begun so far, the last one padded with zeros, and returns all bytes written. They lie
  /// in the buffer, and up to 7 bytes behind them may be set to zero. Writing may go on afterwards.
  std::span<const uint8_t> finish() {
    if (byte_ + sizeof pending_ <= capacity_bits_ / 8) {
      const uint64_t v = detail::big_endian(pending_);
      std::memcpy(data_ + byte_, &v, sizeof v);
      return {data_, byte_count()};
    }
    for (unsigned stored = 0; stored < used_; stored += 8) {
      data_[byte_ + stored / 8] = static_cast<uint8_t>(pending_ >> (56 - stored));
    }
    return {data_, byte_count()};
  }

  /// A position to come back to when what follows turns out not to fit. Its members are the state of the
  /// writer.
  struct Mark {
    /// Bits not stored yet.
    uint64_t pending;
    /// Bytes stored.
    size_t byte;
    /// Bits written.
    size_t bit_count;
    /// How many bits are not stored yet.
    unsigned used;
    /// Values changed.
    uint32_t clamped_count;
    /// Whether everything fit.
    bool ok;
  };
  /// The position now.
  Mark mark() const { return {pending_, byte_, bit_count_, used_, clamped_count_, ok_}; }
  /// Forgets everything that was written after `m` was taken.
  void rewind(const Mark& m) {
    pending_ = m.pending, byte_ = m.byte, bit_count_ = m.bit_count;
    used_ = m.used, clamped_count_ = m.clamped_count, ok_ = m.ok;
  }

  /// @cond internal
  /// Where straight code goes on. The caller knows that there is room.
  template <class Output>
  Output output() const {
    return {data_ + byte_, pending_, used_, 0};
  }
  /// Goes on where straight code stopped.
  template <class Output>
  void resume(const Output& output) {
    byte_ = static_cast<size_t>(output.next - data_);
    pending_ = output.pending, used_ = output.used;
    bit_count_ = byte_ * 8 + used_;
  }
  /// @endcond

  // ---- Named types ---------------------------------------------------------------------------

  /// The low `bits` bits of `v`, 0 to 64, most significant first.
  void WriteBits(uint64_t v, int bits) { write(v, static_cast<unsigned>(bits)); }
  /// One bit.
  void WriteBool(bool v) { write(v ? 1u : 0u, 1); }
  /// 8 bits.
  void WriteByte(uint8_t v) { write(v, 8); }
  /// The position of `v` in the list of LATTICE_ENUM. A value that is not listed travels as the first one,
  /// and is counted.
  template <typename E>
  void WriteEnum(E v) {
    const int64_t ordinal = EnumTraits<E>::ordinal(v);
    if (ordinal < 0) ++clamped_count_;
    write(ordinal < 0 ? 0 : static_cast<uint64_t>(ordinal), bits_for_count(EnumTraits<E>::kCount));
  }
  /// A signed number as a varint of 1 to 5 bytes: small magnitudes are short.
  void WriteInt(int32_t v) { WriteVarint(zig_zag(v)); }
  /// A signed number as a varint of 1 to 9 bytes: small magnitudes are short.
  void WriteLong(int64_t v) { WriteVarint(zig_zag(v)); }
  /// ceil(log2(max - min + 1)) bits. A value outside [min, max] is clamped and counted.
  void WriteRangedInt(int32_t v, int32_t min, int32_t max) { WriteRangedLong(v, min, max); }
  /// The same for 64 bits.
  void WriteRangedLong(int64_t v, int64_t min, int64_t max) {
    if (v < min || v > max) ++clamped_count_;
    write(ranged_code(v, min, max), bits_for_span(range_span(min, max)));
  }
  /// `bits` bits, 0 to 64, of an unsigned value. One that needs more is clamped and counted.
  void WriteRangedBits(uint64_t v, unsigned bits) {
    const uint64_t max = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    if (v > max) ++clamped_count_;
    write(v < max ? v : max, bits);
  }
  /// All 32 bits of the number.
  void WriteFloat(float v) { WriteU32(std::bit_cast<uint32_t>(v)); }
  /// All 64 bits of the number.
  void WriteDouble(double v) { WriteU64(std::bit_cast<uint64_t>(v)); }
  /// 16 bits: the nearest number of 11 bits of precision. A finite value beyond 65504 is clamped and counted.
  void WriteHalf(float v) {
    const uint32_t bits = std::bit_cast<uint32_t>(v);
    if (!fits_half(bits)) ++clamped_count_;
    write(half_of_float(bits), 16);
  }
  /// As few bits as [min, max] and `precision` need. A value outside is clamped and counted; NaN counts as 0,
  /// or as min where 0 is outside.
  void WriteCompressedFloat(float v, float min, float max, float precision) {
    WriteCompressed(static_cast<double>(v), CompressedFloat(min, max, precision));
  }
  /// The same for a double.
  void WriteCompressedDouble(double v, double min, double max, double precision) {
    WriteCompressed(v, CompressedFloat(min, max, precision));
  }
  /// The same, with bounds worked out before.
  void WriteCompressed(double v, const CompressedFloat& q) {
    if (!(v >= q.min && v <= q.max)) ++clamped_count_;
    write(q.code(v), q.bits);
  }
  /// An angle in [min, max), where max is min again. A value outside wraps.
  void WriteAngle(double v, double min, double max, double precision) {
    WriteAngle(v, AngleQuant(min, max, precision));
  }
  /// The same, with bounds worked out before.
  void WriteAngle(double v, const AngleQuant& q) { write(q.code(v), q.bits); }
  /// Two compressed floats with the same bounds.
  void WriteVector2(Vector2 v, FloatQuant q) { WriteVector2(v, q, q); }
  /// Two compressed floats with bounds of their own.
  void WriteVector2(Vector2 v, FloatQuant qx, FloatQuant qy) {
    WriteCompressedFloat(v.x, qx), WriteCompressedFloat(v.y, qy);
  }
  /// Three compressed floats with the same bounds.
  void WriteVector3(Vector3 v, FloatQuant q) { WriteVector3(v, q, q, q); }
  /// Three compressed floats with bounds of their own.
  void WriteVector3(Vector3 v, FloatQuant qx, FloatQuant qy, FloatQuant qz) {
    WriteCompressedFloat(v.x, qx), WriteCompressedFloat(v.y, qy), WriteCompressedFloat(v.z, qz);
  }
  /// Four compressed floats with the same bounds.
  void WriteVector4(Vector4 v, FloatQuant q) { WriteVector4(v, q, q, q, q); }
  /// Four compressed floats with bounds of their own.
  void WriteVector4(Vector4 v, FloatQuant qx, FloatQuant qy, FloatQuant qz, FloatQuant qw) {
    WriteCompressedFloat(v.x, qx), WriteCompressedFloat(v.y, qy);
    WriteCompressedFloat(v.z, qz), WriteCompressedFloat(v.w, qw);
  }
  /// A compressed float with the bounds of `q`.
  void WriteCompressedFloat(float v, FloatQuant q) { WriteCompressedFloat(v, q.min, q.max, q.precision); }
  /// A rotation in 2 + 3 * bits_per_component bits, by its three smallest components. bits_per_component is 4
  /// to 20.
  void WriteQuaternion(Quaternion v, int bits_per_component = 10) {
    const unsigned n = static_cast<unsigned>(bits_per_component);
    write(smallest_three_pack(v, n), 2 + 3 * n);
  }
  /// The length in bytes as a varint, then the text. Text that is not UTF-8 is cut before its first bad byte,
  /// and counted.
  void WriteString(std::string_view text) {
    const size_t valid = utf8_valid_prefix(text);
    if (valid != text.size()) ++clamped_count_;
    WriteBytes(reinterpret_cast<const uint8_t*>(text.data()), valid);
  }
  /// The length as a varint, then `n` bytes.
  void WriteBytes(const uint8_t* p, size_t n) {
    WriteVarint(n);
    WriteRaw(p, n);
  }

  // ---- Further scalars --------------------------------------------------------------------------

  /// A number of 16 bits, as two bytes.
  void WriteU16(uint16_t v) { write(static_cast<uint64_t>((v & 0xFFu) << 8 | v >> 8), 16); }
  /// A number of 32 bits, as four bytes.
  void WriteU32(uint32_t v) { write(detail::swapped(v), 32); }
  /// A number of 64 bits, as eight bytes.
  void WriteU64(uint64_t v) { write(detail::swapped(v), 64); }
  /// 1 to 9 bytes: groups of 7 bits, the lowest first; a ninth byte carries 8 bits.
  void WriteVarint(uint64_t v) {
    unsigned groups = 1;
    for (; groups < 9 && v >= 0x80; ++groups, v >>= 7) write((v & 0x7F) | 0x80, 8);
    write(v, 8);
  }
  /// `n` bytes without a length.
  void WriteRaw(const uint8_t* p, size_t n) {
    if (n > bits_left() / 8) {
      ok_ = false;
      return;
    }
    for (size_t i = 0; i < n; ++i) write(p[i], 8);
  }
  /// The first `bits` bits of `p`, packed as a BitWriter packs them.
  void WriteBitSpan(const uint8_t* p, size_t bits) {
    if (bits > bits_left()) {
      ok_ = false;
      return;
    }
    for (; bits >= 8; bits -= 8) write(*p++, 8);
    if (bits != 0) write(static_cast<uint64_t>(*p >> (8 - bits)), static_cast<unsigned>(bits));
  }

 private:
  // pending_ holds the last used_ (0..63) bits, left-aligned; full groups of 64 go to the buffer, which has
  // room for them because bit_count_ never passes capacity_bits_.
  void write(uint64_t v, unsigned n) {
    if (!ok_ || n > capacity_bits_ - bit_count_) {
      ok_ = false;
      return;
    }
    if (n == 0) return;
    if (n < 64) v &= (uint64_t{1} << n) - 1;
    bit_count_ += n;
    const unsigned room = 64 - used_;
    if (n < room) {
      pending_ |= v << (room - n);
      used_ += n;
      return;
    }
    const unsigned rest = n - room;
    store(pending_ | v >> rest);
    pending_ = rest != 0 ? v << (64 - rest) : 0;
    used_ = rest;
  }
  void store(uint64_t v) {
    v = detail::big_endian(v);
    std::memcpy(data_ + byte_, &v, sizeof v);
    byte_ += sizeof v;
  }

  uint8_t* data_;
  size_t capacity_bits_;
  size_t bit_count_ = 0;
  size_t byte_ = 0;
  uint64_t pending_ = 0;
  unsigned used_ = 0;
  uint32_t clamped_count_ = 0;
  bool ok_ = true;
};

}  // namespace lattice
