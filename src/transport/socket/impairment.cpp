// Ranges and presets.
#include "transport/socket/impairment.h"

#include <array>
#include <cstring>

namespace lattice::socket {
namespace {

constexpr double kMaxTimeMs = 60000;
constexpr uint64_t kMaxRateBitsPerS = 1'000'000'000'000;

constexpr uint64_t kilobits(uint64_t n) {
  return n * 1000;
}
constexpr uint64_t megabits(uint64_t n) {
  return n * 1'000'000;
}

// Round trips, loss and rates are the usual figures for such lines. The presets serve to compare builds under
// the same conditions; they do not model any provider.
constexpr std::array<NamedImpairment, 13> kPresets = {{
    {"lan",
     "switched Ethernet: below 1 ms, no loss",
     {.delay_ms = 0.2, .jitter_ms = 0.05, .rate_bits_per_s = megabits(1000)},
     {.delay_ms = 0.2, .jitter_ms = 0.05, .rate_bits_per_s = megabits(1000)}},
    {"fibre",
     "fibre to the home: 10 ms round trip",
     {.delay_ms = 5,
      .jitter_ms = 0.5,
      .loss = 0.0002,
      .rate_bits_per_s = megabits(200),
      .queue_bytes = 262144},
     {.delay_ms = 5,
      .jitter_ms = 0.5,
      .loss = 0.0002,
      .rate_bits_per_s = megabits(500),
      .queue_bytes = 262144}},
    {"cable",
     "cable: 25 ms round trip, narrow upstream",
     {.delay_ms = 14, .jitter_ms = 4, .loss = 0.002, .rate_bits_per_s = megabits(10), .queue_bytes = 131072},
     {.delay_ms = 11,
      .jitter_ms = 2,
      .loss = 0.001,
      .rate_bits_per_s = megabits(100),
      .queue_bytes = 262144}},
    {"dsl",
     "DSL: 40 ms round trip, 1 Mbit/s upstream",
     {.delay_ms = 20, .jitter_ms = 3, .loss = 0.003, .rate_bits_per_s = megabits(1), .queue_bytes = 65536},
     {.delay_ms = 20, .jitter_ms = 3, .loss = 0.002, .rate_bits_per_s = megabits(16), .queue_bytes = 131072}},
    {"wifi-busy",
     "crowded Wi-Fi: jitter that reorders, short bursts of loss",
     {.delay_ms = 12,
      .jitter_ms = 10,
      .jitter_reorders = true,
      .loss = 0.01,
      .burst_enter = 0.004,
      .burst_leave = 0.25,
      .duplicate = 0.001,
      .rate_bits_per_s = megabits(20),
      .queue_bytes = 131072},
     {.delay_ms = 12,
      .jitter_ms = 10,
      .jitter_reorders = true,
      .loss = 0.01,
      .burst_enter = 0.004,
      .burst_leave = 0.25,
      .duplicate = 0.001,
      .rate_bits_per_s = megabits(20),
      .queue_bytes = 131072}},
    {"4g",
     "4G: 60 ms round trip, deep buffers",
     {.delay_ms = 32,
      .jitter_ms = 12,
      .loss = 0.006,
      .burst_enter = 0.001,
      .burst_leave = 0.2,
      .rate_bits_per_s = megabits(8),
      .queue_bytes = 262144},
     {.delay_ms = 28,
      .jitter_ms = 10,
      .loss = 0.004,
      .burst_enter = 0.001,
      .burst_leave = 0.2,
      .rate_bits_per_s = megabits(30),
      .queue_bytes = 524288}},
    {"5g",
     "5G: 24 ms round trip",
     {.delay_ms = 12, .jitter_ms = 4, .loss = 0.002, .rate_bits_per_s = megabits(40), .queue_bytes = 262144},
     {.delay_ms = 12,
      .jitter_ms = 3,
      .loss = 0.001,
      .rate_bits_per_s = megabits(200),
      .queue_bytes = 524288}},
    {"satellite",
     "geostationary satellite: 600 ms round trip",
     {.delay_ms = 300, .jitter_ms = 15, .loss = 0.01, .rate_bits_per_s = megabits(3), .queue_bytes = 262144},
     {.delay_ms = 300,
      .jitter_ms = 15,
      .loss = 0.01,
      .rate_bits_per_s = megabits(25),
      .queue_bytes = 524288}},
    {"hotel",
     "hotel Wi-Fi: 2 Mbit/s shared, bloated queue, reordering",
     {.delay_ms = 35,
      .jitter_ms = 20,
      .jitter_reorders = true,
      .loss = 0.02,
      .duplicate = 0.002,
      .rate_bits_per_s = megabits(1),
      .queue_bytes = 131072},
     {.delay_ms = 35,
      .jitter_ms = 20,
      .jitter_reorders = true,
      .loss = 0.02,
      .duplicate = 0.002,
      .rate_bits_per_s = megabits(2),
      .queue_bytes = 262144}},
    {"train",
     "mobile on a train: long bursts of loss",
     {.delay_ms = 60,
      .jitter_ms = 40,
      .loss = 0.02,
      .burst_enter = 0.005,
      .burst_leave = 0.05,
      .rate_bits_per_s = megabits(2),
      .queue_bytes = 131072},
     {.delay_ms = 60,
      .jitter_ms = 40,
      .loss = 0.02,
      .burst_enter = 0.005,
      .burst_leave = 0.05,
      .rate_bits_per_s = megabits(5),
      .queue_bytes = 262144}},
    {"transatlantic",
     "Europe to North America: 90 ms round trip",
     {.delay_ms = 45,
      .jitter_ms = 2,
      .loss = 0.003,
      .reorder = 0.001,
      .reorder_delay_ms = 5,
      .rate_bits_per_s = megabits(50),
      .queue_bytes = 262144},
     {.delay_ms = 45,
      .jitter_ms = 2,
      .loss = 0.003,
      .reorder = 0.001,
      .reorder_delay_ms = 5,
      .rate_bits_per_s = megabits(100),
      .queue_bytes = 262144}},
    {"worst",
     "everything at once: 300 ms round trip, 12 % loss in bursts, duplicates, 256 kbit/s",
     {.delay_ms = 150,
      .jitter_ms = 80,
      .jitter_reorders = true,
      .loss = 0.08,
      .burst_enter = 0.01,
      .burst_leave = 0.2,
      .duplicate = 0.02,
      .reorder = 0.05,
      .reorder_delay_ms = 60,
      .rate_bits_per_s = kilobits(256),
      .queue_bytes = 32768},
     {.delay_ms = 150,
      .jitter_ms = 80,
      .jitter_reorders = true,
      .loss = 0.08,
      .burst_enter = 0.01,
      .burst_leave = 0.2,
      .duplicate = 0.02,
      .reorder = 0.05,
      .reorder_delay_ms = 60,
      .rate_bits_per_s = kilobits(256),
      .queue_bytes = 32768}},
    {"demo",
     "100 ms round trip, plus or minus 20 ms, 5 % loss each way",
     {.delay_ms = 50, .jitter_ms = 10, .loss = 0.05},
     {.delay_ms = 50, .jitter_ms = 10, .loss = 0.05}},
}};

// NaN fails every comparison, so the checks state which values pass, not which fail.
bool is_probability(double p) {
  return p >= 0 && p <= 1;
}
bool is_time(double ms) {
  return ms >= 0 && ms <= kMaxTimeMs;
}

}  // namespace

const char* impairment_error(const Impairment& impairment) {
  if (!is_time(impairment.delay_ms)) return "delay_ms";
  if (!is_time(impairment.jitter_ms)) return "jitter_ms";
  if (!is_probability(impairment.loss)) return "loss";
  if (!is_probability(impairment.burst_enter)) return "burst_enter";
  if (!is_probability(impairment.burst_leave)) return "burst_leave";
  if (!is_probability(impairment.duplicate)) return "duplicate";
  if (!is_probability(impairment.reorder)) return "reorder";
  if (!is_time(impairment.reorder_delay_ms)) return "reorder_delay_ms";
  if (impairment.rate_bits_per_s > kMaxRateBitsPerS) return "rate_bits_per_s";
  return nullptr;
}

std::span<const NamedImpairment> impairment_presets() {
  return kPresets;
}

const NamedImpairment* find_impairment_preset(const char* name) {
  if (name == nullptr) return nullptr;
  for (const NamedImpairment& preset : kPresets) {
    if (std::strcmp(preset.name, name) == 0) return &preset;
  }
  return nullptr;
}

}  // namespace lattice::socket
