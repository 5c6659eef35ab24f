// BitWriter: the one bit cursor everything is packed with, in the game and inside the library.
//
// Bit order: each byte fills from bit 7 down. An n-bit field is written most significant bit first;
// a scalar of a full width is written as its bytes, least significant byte first, each byte as an 8-bit
// field, at any bit position. Nothing is aligned or padded until finish(), which zero-pads to a whole byte.
// Writing past the buffer is sticky: ok() turns false and nothing more is written.
// Source: docs/spec/data.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "lattice/authoring/enum_traits.h"
#include "lattice/authoring/math.h"
#include "lattice/authoring/quantize.h"
#include "lattice/authoring/utf8.h"

namespace lattice {

class BitWriter {
 public:
  /// Writes into `buffer`, which the caller keeps; its previous content is overwritten.
  explicit BitWriter(std::span<uint8_t> buffer) : data_(buffer.data()), capacity_bits_(buffer.size() * 8) {}

  bool ok() const { return ok_; }
  size_t bit_count() const { return bit_count_; }
  size_t byte_count() const { return (bit_count_ + 7) / 8; }
  size_t bits_left() const { return capacity_bits_ - bit_count_; }
  /// How many values were out of their declared range or not finite and had to be changed.
  uint32_t clamped_count() const { return clamped_count_; }

  /// Stores the bytes begun so far, the last one zero-padded, and returns them. Writing may go on after.
  std::span<const uint8_t> finish() {
    for (unsigned stored = 0; stored < used_; stored += 8) {
      data_[byte_ + stored / 8] = static_cast<uint8_t>(pending_ >> (56 - stored));
    }
    return {data_, byte_count()};
  }

  /// A position to come back to when what follows turns out not to fit.
  struct Mark {
    uint64_t pending;
    size_t byte;
    size_t bit_count;
    unsigned used;
    uint32_t clamped_count;
    bool ok;
  };
  Mark mark() const { return {pending_, byte_, bit_count_, used_, clamped_count_, ok_}; }
  void rewind(const Mark& m) {
    pending_ = m.pending, byte_ = m.byte, bit_count_ = m.bit_count;
    used_ = m.used, clamped_count_ = m.clamped_count, ok_ = m.ok;
  }

  // ---- Named types ---------------------------------------------------------------------------

  /// The low `bits` (0..64) bits of `v`, most significant first.
  void WriteBits(uint64_t v, int bits) { write(v, static_cast<unsigned>(bits)); }
  void WriteBool(bool v) { write(v ? 1u : 0u, 1); }
  void WriteByte(uint8_t v) { write(v, 8); }
  /// Ordinal of a type declared with LATTICE_ENUM; an undeclared value becomes ordinal 0, counted.
  template <typename E>
  void WriteEnum(E v) {
    const int64_t ordinal = EnumTraits<E>::ordinal(v);
    if (ordinal < 0) ++clamped_count_;
    write(ordinal < 0 ? 0 : static_cast<uint64_t>(ordinal), bits_for_count(EnumTraits<E>::kCount));
  }
  void WriteInt(int32_t v) { WriteVarint(zig_zag(v)); }
  void WriteLong(int64_t v) { WriteVarint(zig_zag(v)); }
  /// ceil(log2(max - min + 1)) bits, offset from min; out-of-range values are clamped and counted.
  void WriteRangedInt(int32_t v, int32_t min, int32_t max) { WriteRangedLong(v, min, max); }
  void WriteRangedLong(int64_t v, int64_t min, int64_t max) {
    if (v < min || v > max) ++clamped_count_;
    write(ranged_code(v, min, max), bits_for_span(range_span(min, max)));
  }
  /// `bits` bits of an unsigned value; one that needs more is clamped and counted.
  void WriteRangedBits(uint64_t v, unsigned bits) {
    const uint64_t max = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    if (v > max) ++clamped_count_;
    write(v < max ? v : max, bits);
  }
  void WriteFloat(float v) { WriteU32(std::bit_cast<uint32_t>(v)); }
  void WriteDouble(double v) { WriteU64(std::bit_cast<uint64_t>(v)); }
  void WriteCompressedFloat(float v, float min, float max, float precision) {
    WriteCompressed(static_cast<double>(v), CompressedFloat(min, max, precision));
  }
  void WriteCompressedDouble(double v, double min, double max, double precision) {
    WriteCompressed(v, CompressedFloat(min, max, precision));
  }
  void WriteCompressed(double v, const CompressedFloat& q) {
    if (!(v >= q.min && v <= q.max)) ++clamped_count_;
    write(q.code(v), q.bits);
  }
  /// An angle in [min, max), where max is min again; values outside wrap.
  void WriteAngle(double v, double min, double max, double precision) {
    WriteAngle(v, AngleQuant(min, max, precision));
  }
  void WriteAngle(double v, const AngleQuant& q) { write(q.code(v), q.bits); }
  void WriteVector2(Vector2 v, FloatQuant q) { WriteVector2(v, q, q); }
  void WriteVector2(Vector2 v, FloatQuant qx, FloatQuant qy) {
    WriteCompressedFloat(v.x, qx), WriteCompressedFloat(v.y, qy);
  }
  void WriteVector3(Vector3 v, FloatQuant q) { WriteVector3(v, q, q, q); }
  void WriteVector3(Vector3 v, FloatQuant qx, FloatQuant qy, FloatQuant qz) {
    WriteCompressedFloat(v.x, qx), WriteCompressedFloat(v.y, qy), WriteCompressedFloat(v.z, qz);
  }
  void WriteVector4(Vector4 v, FloatQuant q) { WriteVector4(v, q, q, q, q); }
  void WriteVector4(Vector4 v, FloatQuant qx, FloatQuant qy, FloatQuant qz, FloatQuant qw) {
    WriteCompressedFloat(v.x, qx), WriteCompressedFloat(v.y, qy);
    WriteCompressedFloat(v.z, qz), WriteCompressedFloat(v.w, qw);
  }
  void WriteCompressedFloat(float v, FloatQuant q) { WriteCompressedFloat(v, q.min, q.max, q.precision); }
  /// Smallest three: 2 + 3 * bits_per_component bits, bits_per_component in [4, 20].
  void WriteQuaternion(Quaternion v, int bits_per_component = 10) {
    const unsigned n = static_cast<unsigned>(bits_per_component);
    write(smallest_three_pack(v, n), 2 + 3 * n);
  }
  /// Varint length in bytes, then UTF-8. Text that is not UTF-8 is cut before the first bad byte.
  void WriteString(std::string_view text) {
    const size_t valid = utf8_valid_prefix(text);
    if (valid != text.size()) ++clamped_count_;
    WriteBytes(reinterpret_cast<const uint8_t*>(text.data()), valid);
  }
  /// Varint length, then the bytes.
  void WriteBytes(const uint8_t* p, size_t n) {
    WriteVarint(n);
    WriteRaw(p, n);
  }

  // ---- Further scalars --------------------------------------------------------------------------

  void WriteU16(uint16_t v) { write(static_cast<uint64_t>((v & 0xFFu) << 8 | v >> 8), 16); }
  void WriteU32(uint32_t v) { write(swap32(v), 32); }
  void WriteU64(uint64_t v) {
    write(static_cast<uint64_t>(swap32(static_cast<uint32_t>(v))) << 32 |
              swap32(static_cast<uint32_t>(v >> 32)),
          64);
  }
  /// Base-128 groups, low first; the ninth byte carries 8 bits. 1..9 bytes.
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
  /// The first `bits` bits of `p`, as another BitWriter packed them.
  void WriteBitSpan(const uint8_t* p, size_t bits) {
    if (bits > bits_left()) {
      ok_ = false;
      return;
    }
    for (; bits >= 8; bits -= 8) write(*p++, 8);
    if (bits != 0) write(static_cast<uint64_t>(*p >> (8 - bits)), static_cast<unsigned>(bits));
  }

 private:
  static uint32_t swap32(uint32_t v) { return v << 24 | (v & 0xFF00u) << 8 | (v >> 8 & 0xFF00u) | v >> 24; }

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
    for (unsigned i = 0; i < 8; ++i) data_[byte_ + i] = static_cast<uint8_t>(v >> (56 - 8 * i));
    byte_ += 8;
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
