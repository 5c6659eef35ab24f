// The memory a counted process and the bench share. Written by one process, read by another, so each field
// is atomic; only sums over seconds are compared, so their order does not matter.
#pragma once

#include <atomic>
#include <cstdint>

namespace bench {

struct UdpCounters {
  std::atomic<uint64_t> send_calls, sent_datagrams, sent_bytes;
  std::atomic<uint64_t> receive_calls, received_datagrams, received_bytes;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr const char* kUdpCounterVariable = "LATTICE_BENCH_COUNTER_FD";
inline constexpr int kUdpCounterDescriptor = 9;

}  // namespace bench
