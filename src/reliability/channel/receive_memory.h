// Memory for received messages and fragments that cannot be delivered yet. Each takes one block, and all
// blocks have the same size, so a block that one connection gives back fits every other connection.
//
//   who                                             gets a block
//   reliable channel, ids base … base + 255         always
//   reliable channel, ids from base + 256 on        while may_grow()
//   incomplete unreliable messages of a connection  always up to 256 blocks; more while may_grow()
//
// A row says who has a right to a block. has_room() says besides whether the operating system has memory for
// it; a message without a block is refused and, if it is reliable, comes again.
//
// `base` is the first id of the oldest incomplete message of a channel, or the next id it expects. A message
// has at most 256 fragments, so the blocks that are always there complete it: nobody waits for what others
// hold.
//
// Why the blocks suffice: take the last moment at which may_grow() held. At most `growth_blocks` were on loan
// then. Since then a channel took only ids of its window. What it took and still holds has ids from today's
// base on, and below today's base + 256, because a base never falls. So it holds at most 256 blocks more than
// then, which is its share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/buffer_pool.h"
#include "reliability/limits.h"

namespace lattice::reliability {

/// Room for blocks beyond the shares, by default.
inline constexpr uint64_t kReceiveGrowthBytes = 16u << 20;

class ReceiveMemory {
 public:
  static constexpr uint32_t kBlockBytes = 1536;
  /// Blocks of one share: a reliable channel has one, and the unreliable channels of a connection together.
  static constexpr uint32_t kShareBlocks = kMaxFragments;

  /// Memory is taken as it is needed, except for `reserved_blocks`.
  ReceiveMemory(uint64_t share_count, uint64_t growth_blocks, uint64_t reserved_blocks, base::PageSize pages);

  /// Blocks that may be taken beyond the shares, and below: whether there is one.
  uint64_t spare_blocks() const { return growth_blocks_ - std::min(growth_blocks_, blocks_live()); }
  bool may_grow() const { return spare_blocks() != 0; }
  /// Makes sure that take() has a block, and one more for the copy of a stored fragment that its channel
  /// delivers: it is on loan twice then. False when the system has no memory.
  bool has_room() { return pool_.reserve(kBlockBytes, 2); }
  /// A block, aligned to 16. The caller has a right to it by the table above, and has_room() held for its
  /// message.
  uint8_t* take();
  void give(uint8_t* block);

  /// Returns to the system what nobody needed since the last call.
  void give_back_idle() { pool_.give_back_idle(); }

  uint64_t blocks_live() const { return pool_.stats().buffers_live; }
  const base::BufferPoolStats& stats() const { return pool_.stats(); }

 private:
  static uint64_t limit_bytes(uint64_t blocks);

  uint64_t growth_blocks_;
  base::BufferPool pool_;
};

}  // namespace lattice::reliability
