// The changed mask of a type on the wire (D-43): one bit per member. Where a type has several behaviours, one
// bit per behaviour comes first, and the members of a behaviour without a change are left out.
#pragma once

#include <cstdint>

#include "serialization/bit_window.h"
#include "serialization/layout.h"

namespace lattice::replication {

struct WireMask {
  uint64_t bits = 0;  // the last bit lowest
  uint32_t count = 0;

  friend bool operator==(const WireMask&, const WireMask&) = default;
};

/// `mask` is Layout::changed_mask() of a type that has one; the changes of a type with more members are
/// written as D-8 says.
inline WireMask to_wire(const serialization::Layout& layout, uint64_t mask) {
  if (layout.behaviour_count() == 1) return {mask, layout.flat_mask_bits()};
  uint64_t presence = 0;
  uint64_t members = 0;
  uint32_t member_count = 0;
  uint32_t below = layout.flat_mask_bits();  // members behind the present behaviour, and those of it
  for (const serialization::LayoutBehaviour& behaviour : layout.behaviours()) {
    below -= behaviour.node_count;
    const uint64_t of_behaviour = mask >> below & ((uint64_t{1} << behaviour.node_count) - 1);
    presence = presence << 1 | (of_behaviour != 0 ? 1u : 0u);
    if (of_behaviour == 0) continue;
    members = members << behaviour.node_count | of_behaviour;
    member_count += behaviour.node_count;
  }
  return {presence << member_count | members, static_cast<uint32_t>(layout.behaviour_count()) + member_count};
}

/// Reads what to_wire() made into `mask`. False for a behaviour that is marked without a member; a window
/// that ran out of bits says so.
inline bool read_wire_mask(serialization::BitWindow& in, const serialization::Layout& layout,
                           uint64_t* mask) {
  *mask = 0;
  if (layout.behaviour_count() == 1) {
    *mask = in.read(layout.flat_mask_bits());
    return true;
  }
  const auto count = static_cast<uint32_t>(layout.behaviour_count());
  const uint64_t presence = in.read(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t members = layout.behaviours()[i].node_count;
    const bool present = (presence >> (count - 1 - i) & 1) != 0;
    const uint64_t of_behaviour = present ? in.read(members) : 0;
    if (present && of_behaviour == 0) return false;
    *mask = *mask << members | of_behaviour;
  }
  return true;
}

}  // namespace lattice::replication
