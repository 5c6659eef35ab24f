// How the changed members of one mask lie on the wire, worked out once for the many entries that have it. A
// plan joins neighbouring members, so that a decoder asks the reader once for several and tests no forms.
// Made by Layout::plan(), used by Layout::decode_members(). It owns no memory, so that a mask that was never
// seen before allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "serialization/word.h"

namespace lattice::serialization {

class Layout;

struct MemberPlan {
  static constexpr size_t kMaxBools = 16;
  static constexpr size_t kMaxFields = 48;
  static constexpr size_t kMaxReads = 16;

  /// One code. Its member's bit in the mask is `member`.
  struct Field {
    uint64_t member = 0;
    uint32_t word = 0;
    uint32_t max_code = 0;
    uint32_t bit_mask = 0;
    uint8_t shift = 0;                    ///< of its lowest bit within the read
    uint8_t rotation_component_bits = 0;  ///< 0: no rotation
  };
  /// Up to 64 bits that are read at once. `fields_end` is one past the last code in them.
  struct Read {
    uint8_t bits = 0;
    uint8_t fields_end = 0;
  };

  const Layout* layout = nullptr;  ///< null: no plan
  uint64_t mask = 0;
  uint64_t bool_mask = 0;  ///< the bools in `mask`
  bool whole = false;      ///< false: not all of the mask fits a plan, so its members are decoded one by one
  bool has_rotation = false;
  uint8_t bool_count = 0;
  uint8_t read_count = 0;
  uint8_t field_count = 0;
  std::array<uint32_t, kMaxBools> bools{};
  std::array<Read, kMaxReads> reads{};
  std::array<Field, kMaxFields> fields{};
};

}  // namespace lattice::serialization
