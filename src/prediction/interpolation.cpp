#include "prediction/interpolation.h"

#include <algorithm>

#include "base/assert.h"
#include "serialization/layout.h"

namespace lattice::prediction {

using simulation::ticks_since;
using simulation::TickTime;

namespace {

Pose past_newest(std::span<const Sample> samples, TickTime render_time, double tick_seconds,
                 uint64_t extrapolate_max_ns) {
  const Sample& newest = samples.front();
  Pose pose;
  pose.kind = PoseKind::kHold;
  pose.from = newest.words;
  pose.from_tick = newest.tick;
  if (newest.held_until != newest.tick) return pose;  // S-06: the object was last known to be at rest
  // After a first state nothing shows that the object moves. That it rests is said a round trip later (D-17).
  pose.underrun = samples.size() > 1;
  if (extrapolate_max_ns == 0) return pose;

  // Beyond EXTRAP_MAX the object stays where dead reckoning left it: going back to the sample would be a
  // jump.
  const double seconds = ticks_since(render_time, newest.tick) * tick_seconds;
  const double max_seconds = static_cast<double>(extrapolate_max_ns) / 1e9;
  pose.kind = PoseKind::kExtrapolate;
  pose.extrapolate_seconds = std::min(seconds, max_seconds);
  if (samples.size() > 1) {
    const double between_ticks = base::tick_distance(newest.tick, samples[1].held_until);
    pose.before = samples[1].words;
    pose.extrapolate_steps = pose.extrapolate_seconds / (between_ticks * tick_seconds);
  }
  return pose;
}

}  // namespace

Pose pose_at(std::span<const Sample> newest_first, TickTime render_time, double tick_seconds,
             uint64_t extrapolate_max_ns) {
  Pose pose;
  if (newest_first.empty()) return pose;
  if (ticks_since(render_time, newest_first.front().held_until) > 0.0) {
    return past_newest(newest_first, render_time, tick_seconds, extrapolate_max_ns);
  }
  size_t at = 0;  // the newest sample whose tick has come
  while (at < newest_first.size() && ticks_since(render_time, newest_first[at].tick) < 0.0) ++at;
  const bool before_first = at == newest_first.size();
  const Sample& from = before_first ? newest_first.back() : newest_first[at];
  pose.from = from.words;
  pose.from_tick = from.tick;
  pose.kind = before_first ? PoseKind::kBeforeFirst : PoseKind::kHold;
  const double past_hold = ticks_since(render_time, from.held_until);
  if (before_first || past_hold <= 0.0) return pose;
  LATTICE_ASSERT(at > 0);  // a time past the newest sample was dealt with above
  const Sample& to = newest_first[at - 1];
  pose.kind = PoseKind::kInterpolate;
  pose.to = to.words;
  pose.t = past_hold / static_cast<double>(base::tick_distance(to.tick, from.held_until));
  return pose;
}

bool write_pose(const serialization::Layout& layout, const Pose& pose, void* const* host_behaviours) {
  switch (pose.kind) {
    case PoseKind::kNone:
      return false;
    case PoseKind::kBeforeFirst:
    case PoseKind::kHold:
      layout.dequantize(pose.from, host_behaviours);
      return true;
    case PoseKind::kInterpolate:
      layout.interpolate(pose.from, pose.to, pose.t, host_behaviours);
      return true;
    case PoseKind::kExtrapolate:
      layout.extrapolate(pose.from, {pose.extrapolate_seconds, pose.before, pose.extrapolate_steps},
                         host_behaviours);
      return true;
  }
  return false;
}

}  // namespace lattice::prediction
