// The pose of one remote object at a render time between or after its received states (§12, S-05, S-06).
//
// A sample is a state that held from `tick` to `held_until`. So
//
//   render time within a sample                     hold      (exact)
//   between two samples                             interpolate from held_until to the next tick
//   after the newest, which was a change            extrapolate, at most EXTRAP_MAX, then stay there
//   after the newest, which is known unchanged      hold: an object at rest against a wall stays (S-06)
//
// The third case is an underrun: render time has overtaken an object that was last seen changing. Nothing is
// interpolated where the object teleported: Layout::interpolate() holds the earlier state.
#pragma once

#include <cstdint>
#include <span>

#include "serialization/word.h"
#include "simulation/tick_time.h"

namespace lattice::serialization {
class Layout;
}

namespace lattice::prediction {

using base::Tick;

inline constexpr uint64_t kExtrapolateMaxNs = 250'000'000;  // §22 EXTRAP_MAX

/// The words are borrowed.
struct Sample {
  Tick tick = 0;
  Tick held_until = 0;
  const serialization::Word* words = nullptr;
};

enum class PoseKind : uint8_t {
  kNone,         // no sample yet
  kBeforeFirst,  // render time has not reached the object's first sample
  kHold,
  kInterpolate,
  kExtrapolate,
};

/// What to show. The words are those of the samples.
struct Pose {
  PoseKind kind = PoseKind::kNone;
  const serialization::Word* from = nullptr;  // the only state, except for kInterpolate
  const serialization::Word* to = nullptr;    // kInterpolate
  double t = 0.0;                             // kInterpolate: in (0, 1)
  double extrapolate_seconds = 0.0;
  const serialization::Word* before = nullptr;  // kExtrapolate: the state before `from`, or null
  double extrapolate_steps = 0.0;  // kExtrapolate: the same time, in units of the time between the two
  Tick from_tick = 0;
  bool underrun = false;  // render time is past all samples, and the newest sample changed an older one
};

/// What to show at `render_time`. The samples come newest first and do not overlap. Samples older than one
/// that `render_time` has reached may be left out, but not the second.
Pose pose_at(std::span<const Sample> newest_first, simulation::TickTime render_time, double tick_seconds,
             uint64_t extrapolate_max_ns = kExtrapolateMaxNs);

/// Writes a pose into host structures by the rule of each leaf (§21.7). False for kNone, which writes
/// nothing.
bool write_pose(const serialization::Layout& layout, const Pose& pose, void* const* host_behaviours);

}  // namespace lattice::prediction
