// The smallest unit of state: how one number, rotation, string or blob is stored in words, on the wire and in
// host memory. Leaves are in a flat list, and a switch handles their kinds. LeafExtra holds what encoding
// does not need. Source: §21.1, Y-05..Y-14.
#pragma once

#include <cstdint>
#include <vector>

#include "lattice/authoring/quantize.h"
#include "lattice/schema.h"
#include "serialization/word.h"

namespace lattice::serialization {

/// The content of a leaf's words and its encoding. Up to kLastCode, a leaf is an n-bit field with a code
/// 0..max_code.
enum class LeafKind : uint8_t {
  kBool,
  kEnum,           ///< ordinal
  kRanged,         ///< offset from the minimum
  kBits,           ///< unsigned value
  kCompressed,     ///< code of a compressed float
  kHalf,           ///< IEEE bits of 16
  kAngle,          ///< code of an angle; after the last code comes the first
  kCount,          ///< how many elements of a list or a map count
  kTag,            ///< which alternative of a union is active; 0: none
  kSmallestThree,  ///< index and three codes
  kLastCode = kSmallestThree,
  kFixed,              ///< `bits` (8..64) raw bits, bytes little-endian
  kFloatFull,          ///< IEEE bits, 32 or 64
  kVarintUnsigned,     ///< value; `bits` 32 or 64 bounds it
  kVarintSigned,       ///< zig-zag of the value
  kFixed64Difference,  ///< raw q32.32; on the wire the zig-zag difference to the baseline
  kTickDifference,     ///< 32 bits; on the wire the zig-zag difference to the baseline
  kQuaternionFull,     ///< four words: IEEE bits of x, y, z, w
  kString,             ///< word 0: number of bytes; then the data, first byte lowest
  kFixedString,
  kBytes,
  kCustom,  ///< word 0: number of bits; then the bits, eight per byte, first byte lowest
};

enum class HostKind : uint8_t { kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF32, kF64, kOther };

struct Leaf {
  LeafKind kind = LeafKind::kBool;
  HostKind host = HostKind::kOther;
  uint8_t bits = 1;
  uint8_t behaviour = 0;
  uint16_t word_count = 1;    ///< 1 or 2, low word first, for numbers of up to 64 bits
  bool interpolates = false;  ///< interpolated between samples; otherwise it holds
  bool extrapolates = false;  ///< goes on in a line past the newest sample, see LATTICE_MEMBER_EXTRAPOLATE
  bool predicted = true;      ///< compared with the authority's state, see LATTICE_MEMBER_NOT_PREDICTED
  bool in_container = false;  ///< belongs to a list, a map or a union, so it may not count
  uint16_t conditions = 0;    ///< those of the member of the behaviour that it belongs to
  uint32_t word = 0;
  uint32_t host_offset = 0;  ///< within the behaviour's host structure
  uint32_t capacity = 0;     ///< in bytes; for strings, bytes and custom values
  uint64_t max_code = 1;     ///< for the kinds up to kLastCode
};

/// What the distance of two contents is.
enum class Measure : uint8_t {
  kNumber,   ///< their difference, if the leaf has a number
  kFixed64,  ///< their difference in units of 2^-32
  kTick,     ///< the number of ticks between, over the wrap
  kNone,
};

struct LeafExtra {
  Measure measure = Measure::kNumber;
  CompressedFloat quant;             ///< kCompressed
  AngleQuant angle;                  ///< kAngle
  int64_t min_value = 0;             ///< kRanged
  std::vector<int64_t> enum_values;  ///< kEnum; empty: the ordinal is the value
  lattice_custom_desc custom = {};   ///< kCustom
  std::vector<Word> custom_zero;     ///< kCustom: words of the all-zero host value
};

/// How many words a number of `bits` bits owns.
constexpr uint16_t words_for_bits(unsigned bits) {
  return bits > kWordBits ? 2 : 1;
}

/// The number of a leaf, which is its whole content up to kTickDifference.
inline uint64_t leaf_value(const Leaf& leaf, const Word* words) {
  return leaf.word_count == 1 ? words[0] : words[0] | static_cast<uint64_t>(words[1]) << kWordBits;
}
inline void set_leaf_value(const Leaf& leaf, Word* words, uint64_t value) {
  words[0] = static_cast<Word>(value);
  if (leaf.word_count != 1) words[1] = static_cast<Word>(value >> kWordBits);
}

}  // namespace lattice::serialization
