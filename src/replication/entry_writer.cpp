#include "replication/entry_writer.h"

#include <algorithm>
#include <bit>

namespace lattice::replication {
namespace {

constexpr uint32_t kMaxK = 15;

}  // namespace

uint32_t best_gap_k(uint32_t range, uint32_t count) {
  const uint32_t gap = count < 2 ? 0 : (range - (count - 1)) / (count - 1);
  return std::min(gap < 2 ? 0 : static_cast<uint32_t>(std::bit_width(gap * 3 / 4)) - 1, kMaxK);
}

void write_block_head(BitWriter& out, const BlockHead& head) {
  out.WriteBits(static_cast<uint64_t>(head.kind) << 5 | (head.mixed ? 0x10u : 0) | head.k, 8);
  out.WriteVarint(head.count);
  if (has_age(head.kind)) out.WriteVarint(head.age);
  out.WriteVarint(head.slot);
}

void end_block(BitWriter& out) {
  out.WriteBits(0, static_cast<int>((8 - out.bit_count() % 8) % 8));
}

}  // namespace lattice::replication
