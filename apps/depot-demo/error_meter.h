// The distance between one client's own pawn and the same pawn on the server, at the same tick.
//
// A prediction is compared as the client first made it, before any snapshot of that tick could correct it.
// A tick is *undisturbed* when nothing unforeseeable (a push by another pawn, a hit) happened to the pawn on
// either side in the `settle_ticks` before it. Only at an undisturbed tick can a client be expected to be
// right.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace app {

struct Sighting {
  uint32_t tick = 0;
  double x = 0, y = 0;  // metres
  bool disturbed = false;
};

struct ErrorSummary {
  uint64_t ticks = 0;              // compared
  uint64_t undisturbed_ticks = 0;  // of the compared ticks
  uint64_t beyond_step = 0;        // undisturbed ticks with an error above one quantization step in x or y
  uint64_t beyond_step_all = 0;    // the same, of all compared ticks
  double mean_mm = 0;              // of all ticks
  double p99_mm = 0;
  double max_mm = 0;
};

class ErrorMeter {
 public:
  /// `step_m` is one quantization step. For `settle_ticks` after a disturbance, no tick counts as
  /// undisturbed.
  ErrorMeter(double step_m, uint32_t settle_ticks) : step_m_(step_m), settle_ticks_(settle_ticks) {}

  void set_settle_ticks(uint32_t settle_ticks) { settle_ticks_ = settle_ticks; }
  /// Adds a sighting of the server, or of the client below. Each side's sightings come in ascending ticks.
  /// The two sightings of a tick may come in either order, within kWindowTicks.
  void truth(const Sighting& sighting) { add(truths_, predictions_, sighting); }
  void prediction(const Sighting& sighting) { add(predictions_, truths_, sighting); }

  /// The largest error since the last call, in millimetres; nullopt when no tick was compared.
  std::optional<double> take_recent_mm();
  /// Resets the totals and keeps the sightings.
  void start_measuring();
  ErrorSummary summary() const;

 private:
  static constexpr size_t kWindowTicks = 1024;
  using Window = std::array<Sighting, kWindowTicks>;

  void add(Window& own, const Window& other, const Sighting& sighting);
  void compare(const Sighting& a, const Sighting& b);

  double step_m_;
  uint32_t settle_ticks_;
  Window truths_{};
  Window predictions_{};
  uint32_t disturbed_tick_ = 0;  // tick of the newest disturbance
  std::optional<double> recent_mm_;
  ErrorSummary totals_;
  std::vector<float> errors_mm_;
};

}  // namespace app
