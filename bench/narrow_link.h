// One connection over a narrow link in virtual time: the throughput of a sender that always has more to send,
// and the time that its datagrams wait in the link's queue. Simulated, so the numbers are the same on every
// machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reliability/congestion/congestion_config.h"
#include "transport/socket/rate_trace.h"

namespace bench {

struct NarrowRun {
  const lattice::socket::RateTrace* trace = nullptr;  // valid; or null:
  uint64_t rate_bits_per_s = 10'000'000;
  uint64_t queue_bytes = 0;  // 0: unlimited
  double delay_ms = 25;      // each way
  double jitter_ms = 0;      // each way, plus or minus; datagrams overtake each other
  double loss = 0;           // each way
  double seconds = 60;
  double skip_s = 0;                 // not counted, at the start
  uint64_t seed = 1;                 // of jitter, loss and late pumps
  double pump_ms = 5;                // of both ends
  double receiver_pump_ms = 0;       // 0: pump_ms
  double late_pump_ms = 0;           // each pump comes up to this much late, at random
  uint64_t offered_bytes_per_s = 0;  // 0: as much as the connection takes
  // A transfer of this many bytes in messages of 1150 over four reliable-ordered channels, instead of
  // unreliable messages for ever; the run ends when everything has arrived.
  uint64_t transfer_bytes = 0;
  // Beside messages of 1000 bytes that always wait on the reliable-ordered channel, or alone, instead of all
  // that: so many unreliable messages of 1000 bytes a second, on an urgent channel.
  uint32_t voice_per_s = 0;
  bool voice_alone = false;
  lattice::reliability::CongestionConfig congestion;
};

struct NarrowResult {
  std::string problem;  // "" or why nothing was measured
  double seconds = 0;
  double goodput_kb_per_s = 0;  // message bodies that arrived, 1000 bytes
  double queue_p50_ms = 0;      // of datagrams, in the link's queue and the link
  double queue_p95_ms = 0;
  double queue_max_ms = 0;
  double bytes_ratio = 0;  // UDP payload sent per body arrived
  uint64_t drops = 0;
  double voice_p99_ms = 0;  // from send() to on_message()
  uint64_t voice_lost = 0;
};

NarrowResult run_narrow(const NarrowRun& run);

}  // namespace bench
