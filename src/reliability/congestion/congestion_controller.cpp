#include "reliability/congestion/congestion_controller.h"

#include <new>

#include "reliability/congestion/delay_controller.h"
#include "reliability/congestion/good_bad_controller.h"

namespace lattice::reliability {

const char* congestion_config_error(const CongestionConfig& config) {
  if (static_cast<uint8_t>(config.mode) >= kCongestionModeCount) return "congestion.mode: a CongestionMode";
  if (config.max_rate_bytes_per_s != 0 && config.max_rate_bytes_per_s < kDatagramBytes) {
    return "congestion.max_rate_bytes_per_s: 0, or at least 1200";
  }
  if (config.max_rate_bytes_per_s > kMaxRateBytesPerS) return "congestion.max_rate_bytes_per_s: at most 4e9";
  const GoodBadConfig& good_bad = config.good_bad;
  if (good_bad.bad_rate_hz == 0 || good_bad.start_rate_hz == 0 || good_bad.step_rate_hz == 0) {
    return "congestion.good_bad: rates of at least 1";
  }
  if (good_bad.max_rate_hz < good_bad.start_rate_hz || good_bad.max_rate_hz > 1'000'000) {
    return "congestion.good_bad.max_rate_hz: start_rate_hz to 1000000";
  }
  if (good_bad.first_good_ns == 0 || good_bad.max_good_ns < good_bad.first_good_ns) {
    return "congestion.good_bad.max_good_ns: at least first_good_ns, which is above 0";
  }
  const DelayConfig& delay = config.delay;
  if (delay.target_ns < 1'000'000 || delay.target_ns > 1'000'000'000) {
    return "congestion.delay.target_ns: 1 ms to 1 s";
  }
  if (delay.max_noise_ns > 1'000'000'000) return "congestion.delay.max_noise_ns: at most 1 s";
  if (delay.min_window_bytes < kDatagramBytes || delay.min_window_bytes > delay.initial_window_bytes ||
      delay.initial_window_bytes > delay.max_window_bytes || delay.max_window_bytes > (1u << 30)) {
    return "congestion.delay: 1200 <= min_window_bytes <= initial_window_bytes <= max_window_bytes <= 2^30";
  }
  return nullptr;
}

PlacedController place_congestion_controller(const CongestionConfig& config, uint64_t now_ns,
                                             ControllerRoom& room) {
  static_assert(sizeof(DelayController) <= kControllerBytes && sizeof(GoodBadController) <= kControllerBytes);
  static_assert(alignof(DelayController) <= 8 && alignof(GoodBadController) <= 8);
  switch (config.mode) {
    case CongestionMode::kDelay:
      return PlacedController(new (room.bytes.data()) DelayController(config.delay, now_ns));
    case CongestionMode::kGoodBad:
      return PlacedController(new (room.bytes.data()) GoodBadController(config.good_bad, now_ns));
    case CongestionMode::kNone:
      break;
  }
  return nullptr;
}

}  // namespace lattice::reliability
