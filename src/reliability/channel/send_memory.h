// Who may use the pool that everything waits in that is to be sent. A peer that acknowledges nothing fills
// the queues towards it; that must not keep a server from sending to others.
//
//   application messages of a connection   always up to kSendShareBytes; more while the pool's growth lasts
//   snapshots, inputs, control, records    always: kSendReserveBytes per connection is theirs
//
// The bounds of the queues hold besides. The pool's limit is twice the sum, because slabs can be
// partly used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer_pool.h"
#include "reliability/limits.h"
#include "transport/wire/message_framing.h"

namespace lattice::reliability {

inline constexpr uint64_t kSendShareBytes = 640u << 10;
inline constexpr uint64_t kSendGrowthBytes = 64u << 20;
/// 64 snapshot parts, the records of 1024 packets, rings, control messages, arrays of early messages.
inline constexpr uint64_t kSendReserveBytes = 256u << 10;

/// At most the pool memory that `messages` queued messages with together `bytes` bytes take: a buffer is less
/// than 64 bytes larger than twice its message, and a ring has room for less than twice its entries of 32
/// bytes.
constexpr uint64_t queue_memory_bytes(uint64_t messages, uint64_t bytes) {
  return 2 * bytes + 128 * messages;
}
static_assert(queue_memory_bytes(kMaxFragments,
                                 kMaxFragments*(kFragmentUnitBytes + sizeof(wire::FragmentHeader))) <=
                  kSendShareBytes,
              "the longest message fits");

constexpr uint64_t send_pool_bytes(uint32_t max_connections, uint64_t growth_bytes) {
  return 2 * (max_connections * (kSendShareBytes + kSendReserveBytes) + growth_bytes) +
         base::BufferPool::kClassBytes.size() * base::BufferPool::kSlabBytes;
}

}  // namespace lattice::reliability
