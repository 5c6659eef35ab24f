// The settings that decide how fast a connection may send: the controller and its numbers (§6; C-01…C-03).
// Defaults come from the design; where the design has no number, they are measured (docs/decisions).
#pragma once

#include <cstdint>

#include "transport/wire/constants.h"

namespace lattice::reliability {

enum class CongestionMode : uint8_t {
  kDelay,    ///< Keeps the queue of the path short: delay_controller.h. The default.
  kGoodBad,  ///< Two rates and a threshold, as designed (C-01, C-02): good_bad_controller.h.
  kNone,     ///< As fast as messages are queued. For loopback, a private LAN, and measurements.
};
inline constexpr uint8_t kCongestionModeCount = 3;

/// The unit of rates and windows: a datagram of the size that every path carries.
inline constexpr uint64_t kDatagramBytes = wire::kFloorDatagramBytes;
/// No controller states a higher rate.
inline constexpr uint64_t kMaxRateBytesPerS = 4'000'000'000;

/// C-01, C-02. Rates are datagrams of 1200 bytes per second.
struct GoodBadConfig {
  uint32_t bad_rate_hz = 10;
  uint32_t start_rate_hz = 30;
  uint32_t step_rate_hz = 10;  ///< Added per T_good.
  uint32_t max_rate_hz = 60;
  uint64_t bad_rtt_ns = 250'000'000;        ///< Bad above this ...
  uint32_t bad_rtt_over_min_percent = 150;  ///< ... and above this share of the smallest round trip,
  uint32_t bad_loss_percent = 5;            ///< or when more than this was lost in a second.
  uint32_t min_loss_packets = 32;           ///< With fewer packets, loss is not judged.
  uint64_t first_good_ns = 1'000'000'000;   ///< T_good at the start, and its smallest value.
  uint64_t max_good_ns = 60'000'000'000;
  uint64_t relapse_ns =
      10'000'000'000;  ///< A demotion within this time doubles T_good; each such time in GOOD halves it.
};

/// The numbers of DelayController; each is explained where it is used.
struct DelayConfig {
  uint64_t target_ns = 8'000'000;      ///< Queueing delay aimed at by a large window, without jitter.
  uint64_t max_noise_ns = 20'000'000;  ///< Most that jitter may add to the target.
  uint64_t initial_window_bytes = 10 * kDatagramBytes;
  uint64_t min_window_bytes = 2 * kDatagramBytes;
  uint64_t max_window_bytes = 4u << 20;        ///< Below what kMaxSentPackets full datagrams carry.
  uint64_t drain_interval_ns = 5'000'000'000;  ///< After this time without an empty queue, a drain.
  uint64_t loss_floor_bytes_per_s = 30 * kDatagramBytes;  ///< Loss alone slows no connection below this.
};

struct CongestionConfig {
  CongestionMode mode = CongestionMode::kDelay;
  /// A ceiling on the rate of each connection, whatever its mode allows; 0: none.
  uint64_t max_rate_bytes_per_s = 0;
  GoodBadConfig good_bad;
  DelayConfig delay;
};

/// Null when every value is in range; otherwise field and bound.
const char* congestion_config_error(const CongestionConfig& config);

}  // namespace lattice::reliability
