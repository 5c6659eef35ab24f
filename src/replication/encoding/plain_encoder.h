// The encoder `plain` (D-43): an entry states which members of its object changed, and each of them at its
// width. It looks at one baseline, at the current words, and at the mask of the entry before in the block.
//
// The bits of the members do not depend on their place, so they can be copied: EntryCache makes them once for
// all clients. Nothing outside of this room knows how a change looks. Why there is no interface above it yet,
// and what the next encoders will ask for: docs/decisions/0031-encoders-code-whole-blocks.md.
#pragma once

#include <cstdint>

#include "lattice/authoring/bit_writer.h"
#include "replication/encoding/wire_mask.h"
#include "serialization/layout.h"

namespace lattice::replication {

/// The changes of one entry. Bits past the last are zero.
struct EntryBody {
  const uint64_t* words = nullptr;  // the members, borrowed; the first wire bit in bit 63
  uint32_t bits = 0;                // of the members
  WireMask mask;                    // count 0: the type has no flat mask, and words hold all
};

/// Appends the members that differ, for a type without a flat mask with the marks in front of them. Returns
/// the mask that is to stand before them.
WireMask encode_members(BitWriter& out, const serialization::Layout& layout, const serialization::Word* from,
                        const serialization::Word* to);

/// What stands before the members: the mask, unless the entry before said the same. `before` is the mask of
/// the entry before where that has the same type, or null.
void write_mask(BitWriter& out, const WireMask& mask, const WireMask* before);
/// The bits that write_mask() takes.
inline uint32_t mask_bits(const WireMask& mask, const WireMask* before) {
  if (before == nullptr || mask.count == 0) return mask.count;
  return mask == *before ? 1 : 1 + mask.count;
}

/// A few bits that stand before something longer, 32 at most.
struct FrontBits {
  uint32_t bits = 0;
  uint32_t count = 0;
};

/// `front`, then the mask and the members.
void write_long_changes(BitWriter& out, const FrontBits& front, const EntryBody& body,
                        const WireMask* before);
/// The same. Most entries are short: the writer takes all of one at once.
inline void write_changes(BitWriter& out, const FrontBits& front, const EntryBody& body,
                          const WireMask* before) {
  const uint32_t marks = mask_bits(body.mask, before);
  const uint32_t bits = front.count + marks + body.bits;
  if (bits > 64 || body.bits == 0 || body.bits == 64) return write_long_changes(out, front, body, before);
  const uint64_t mask = marks == 1 && before != nullptr ? 1 : body.mask.bits;  // 1: that of the entry before
  const uint64_t head = uint64_t{front.bits} << marks | mask;
  out.WriteBits(head << body.bits | body.words[0] >> (64 - body.bits), static_cast<int>(bits));
}
/// The same, encoded in place, for an entry with none of its type before it.
void write_changes(BitWriter& out, const serialization::Layout& layout, const serialization::Word* from,
                   const serialization::Word* to);

}  // namespace lattice::replication
