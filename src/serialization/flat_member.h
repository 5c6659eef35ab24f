// The top-level members of a type whose changed mask fits 64 bits, prepared for the coder, so that it reads
// neither nodes nor leaves for plain values. Compiled by LayoutCompiler, used by layout_flat.cpp.
#pragma once

#include <cstdint>

namespace lattice::serialization {

struct FlatMember {
  enum class Form : uint8_t {
    kBool,    ///< the mask bit is the whole change (Y-07)
    kPacked,  ///< its fields are at most 64 bits together: one write, one read
    kOther,   ///< arrays, structures with deltas, text, varints, wide numbers: coded by its node
  };
  Form form = Form::kOther;
  uint8_t bits = 0;  ///< kPacked: of all fields together
  uint8_t field_count = 0;
  uint16_t first_field = 0;
  uint16_t node = 0;
  uint32_t first_word = 0;
  uint32_t word_count = 0;
};

/// One code of a packed member.
struct PackedField {
  uint32_t word = 0;
  uint32_t max_code = 0;
  uint32_t bit_mask = 0;     ///< the lowest `bits` bits
  uint8_t bits = 0;          ///< 0..32
  bool is_rotation = false;  ///< its code is checked by smallest_three_valid(), not by max_code
};

}  // namespace lattice::serialization
