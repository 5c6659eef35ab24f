// Lattice over a bad link, in virtual time: the effect of loss, delay and a bottleneck on reliable messages.
// Both endpoints run in this process over the simulated network, pumped every millisecond, so the numbers are
// the protocol's and do not depend on the machine.
#pragma once

#include <cstdint>

namespace bench {

struct LatencyResult {
  double p50_ms = 0, p99_ms = 0, max_ms = 0;
  double bytes_ratio = 0;  // UDP payload upwards over message bytes
  bool all_came = false;
};
/// 100 reliable-ordered messages of 64 bytes per second for `seconds`; 25 ms, at most 2 · `jitter_ms` more,
/// and `loss` (0 to 1) each way. The latency is from send() to on_message().
LatencyResult run_lossy_link(double jitter_ms, double loss, double seconds, uint64_t seed);

struct TransferResult {
  double kb_per_s = 0;      // kB of 1000 bytes, from the offer until the receiver has all of it
  double bytes_ratio = 0;   // UDP payload sent over the bytes of the transfer
  double queue_p95_ms = 0;  // round trips above the empty link's
  bool all_came = false;
};
/// 8 MiB as one large transfer through a link with `one_way_ms` and `loss` each way, and
/// a bottleneck of `bits_per_s` (0: none) with a 64 KB queue.
TransferResult run_transfer(double one_way_ms, double loss, uint64_t bits_per_s, uint64_t seed);

}  // namespace bench
