// Writes the frame of a block around the changes of its entries (D-13, D-14). The parts of one client and the
// blocks that clients share have the same frame.
#pragma once

#include <cstdint>

#include "lattice/authoring/bit_writer.h"
#include "replication/encoding/plain_encoder.h"
#include "replication/snapshot_format.h"

namespace lattice::replication {

struct BlockHead {
  EntryKind kind = EntryKind::kDelta;
  bool mixed = false;
  uint32_t k = 0;
  uint32_t count = 0;
  uint32_t age = 0;  // of most of its entries; only where has_age(kind)
  uint32_t slot = 0;
};

/// The parameter with which the gaps of `count` entries in `range` slots take about the fewest bits.
uint32_t best_gap_k(uint32_t range, uint32_t count);

void write_block_head(BitWriter& out, const BlockHead& head);
/// The bits of a gap, where they are few: a longer gap is written, and the result is empty.
inline FrontBits begin_entry(BitWriter& out, uint32_t gap, uint32_t k) {
  const uint32_t quotient = gap >> k;
  if (quotient < kGapEscape) {
    const uint32_t ones = ((1u << quotient) - 1) << (k + 1);
    return {ones | (gap & ((1u << k) - 1)), quotient + 1 + k};
  }
  out.WriteBits((uint64_t{1} << kGapEscape) - 1, kGapEscape);
  out.WriteVarint(gap);
  return {};
}
/// Fills the last byte of a block.
void end_block(BitWriter& out);

}  // namespace lattice::replication
