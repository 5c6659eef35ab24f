// The memory a counted process and the bench share. Written by one process, read by another, so each field
// is atomic; only sums over seconds are compared, so their order does not matter. The trace is read after the
// writer was told to stop.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace bench {

/// One entry of a sendmmsg call: a run of datagrams of `segment_bytes`, the last perhaps shorter, to one
/// port.
struct SentRun {
  uint64_t time_ns;
  uint32_t bytes;
  uint16_t segment_bytes;
  uint16_t port;
};
static_assert(sizeof(SentRun) == 16);

struct UdpCounters {
  static constexpr size_t kMaxRuns = 1 << 18;

  std::atomic<uint64_t> send_calls, sent_datagrams, sent_bytes;
  std::atomic<uint64_t> receive_calls, received_datagrams, received_bytes;
  std::atomic<uint64_t> send_ns, receive_ns;  // wall time inside the two calls
  std::atomic<uint32_t> traces;               // not 0: runs are recorded
  std::atomic<uint32_t> run_count;
  SentRun runs[kMaxRuns];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr const char* kUdpCounterVariable = "LATTICE_BENCH_COUNTER_FD";
inline constexpr int kUdpCounterDescriptor = 9;

}  // namespace bench
