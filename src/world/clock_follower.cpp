// See clock_follower.h.
#include "world/clock_follower.h"

#include <algorithm>
#include <cmath>

namespace lattice::world {
namespace {

simulation::ClockSync make_clock(const simulation::FixedTick& ticks) {
  simulation::ClockSyncConfig config;
  config.tick_rate_hz = ticks.tick_rate_hz();
  return simulation::ClockSync(config);
}

// Time passes 0, and no tick has that number (T-04).
base::Tick first_at(base::Tick tick) {
  return tick == 0 ? 1 : tick;
}

}  // namespace

ClockFollower::ClockFollower(simulation::FixedTick& ticks) : ticks_(ticks), clock_(make_clock(ticks)) {}

void ClockFollower::start(Tick server_tick, uint64_t now_ns, uint64_t rtt_ns) {
  clock_.start(server_tick, now_ns, rtt_ns);
}

void ClockFollower::stop() {
  clock_ = make_clock(ticks_);
  ticking_ = false;
  heard_at_ns_ = 0;
}

// Only the newest snapshot of a receive phase tells the time: where the socket does not say how long they
// waited, the others have waited for it, after a pause of this process for as long as the pause.
void ClockFollower::on_part(const replication::SnapshotHeader& header, uint64_t srtt_ns,
                            uint64_t arrived_ns) {
  if (heard_.server_tick != 0 && !base::tick_after(header.server_tick, heard_.server_tick)) return;
  heard_.server_tick = header.server_tick;
  heard_.last_input_tick = header.last_input_tick;
  heard_.margin_quarter_ticks = header.input_margin;
  heard_.received_ns = arrived_ns;
  heard_.interval_ticks = header.interval_ticks;
  heard_.srtt_ns = srtt_ns;
}

uint64_t ClockFollower::end_receive() {
  if (heard_.server_tick == 0) return 0;
  clock_.on_snapshot(heard_);
  // The time of arrival comes from a clock that somebody may set back in between.
  const bool is_later = heard_at_ns_ != 0 && heard_.received_ns > heard_at_ns_;
  const uint64_t silent_ns = is_later ? heard_.received_ns - heard_at_ns_ : 0;
  heard_at_ns_ = heard_.received_ns;
  return silent_ns;
}

ClockFollower::Step ClockFollower::step(Tick newest_tick, Tick newest_sent, uint64_t now_ns) {
  Step step;
  step.newest_tick = newest_tick;
  if (!clock_.started()) return step;
  if (!ticking_) {
    // Starts at the tick whose input would arrive just in time.
    step.newest_tick = first_at(clock_.target_time(now_ns).tick);
    ticks_.restart(now_ns);
    ticking_ = true;
  }
  const simulation::TickTime position = ticks_.position_at(step.newest_tick, now_ns);
  simulation::Steering steering = clock_.steer(position, newest_sent, now_ns);
  ticks_.set_rate_factor(steering.rate_factor);
  if (steering.event != simulation::ClockEvent::kJump) {
    const simulation::TickAdvance advance = ticks_.advance(now_ns);
    // After a frame too long for its ticks, steering would take ten times as long to catch up, and every
    // input until then would be late.
    const bool behind = advance.dropped_ns != 0 &&
                        base::tick_after(clock_.target_time(now_ns).tick, step.newest_tick + advance.ticks);
    if (!behind) {
      step.due = advance.ticks;
      return step;
    }
    steering = clock_.jump(now_ns);
  }
  // The last ticks before the new place still run, or a client whose every frame is that long would never
  // send an input.
  const int32_t gap = base::tick_distance(steering.newest_tick, newest_tick);
  const auto most = static_cast<int32_t>(ticks_.most_at_once());
  step.due = static_cast<uint32_t>(std::clamp(gap, 0, most));
  step.newest_tick = first_at(steering.newest_tick - step.due);
  step.jumped = step.newest_tick != newest_tick;
  ticks_.restart(now_ns);
  return step;
}

void ClockFollower::on_inputs_sent(Tick newest_tick, uint64_t now_ns) {
  clock_.on_input_sent(ticks_.position_at(newest_tick, now_ns), now_ns);
}

uint8_t ClockFollower::lead_quarter_ticks() const {
  return static_cast<uint8_t>(std::clamp(std::lround(clock_.wanted_ticks() * 4), 0L, 255L));
}

uint32_t ClockFollower::snapshot_interval_ticks() const {
  const double ticks = static_cast<double>(clock_.snapshot_interval_ns()) / ticks_.tick_ns();
  return std::max(1u, static_cast<uint32_t>(ticks + 0.5));
}

}  // namespace lattice::world
