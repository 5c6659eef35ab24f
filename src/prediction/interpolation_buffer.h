// The samples of one remote object, and the pose at a render time between or after them (§12, S-05, S-06).
//
// A sample is a state that held from `tick` to `held_until`. A rested entry says that the newest sample holds
// until the next one comes: then it held until one snapshot before that. So
//
//   render time within a sample                     hold      (exact)
//   between two samples                             interpolate from held_until to the next tick
//   after the newest, which was a change            extrapolate, at most EXTRAP_MAX, then stay there
//   after the newest, which is known unchanged      hold: an object at rest against a wall stays (S-06)
//
// The third case is an underrun: render time has overtaken an object that was last seen changing. Nothing is
// interpolated into a sample marked `snaps` (a teleport): the earlier sample holds until the later one
// begins.
//
// Must stay true: samples ascend by tick and do not overlap; nothing is allocated after creation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serialization/word.h"
#include "simulation/tick_time.h"

namespace lattice::serialization {
class Layout;
}

namespace lattice::prediction {

using base::Tick;

inline constexpr size_t kInterpolationSamples = 16;         // S-05 asks for 8 or more
inline constexpr uint64_t kExtrapolateMaxNs = 250'000'000;  // §22 EXTRAP_MAX

enum class PoseKind : uint8_t {
  kNone,         // no sample yet
  kBeforeFirst,  // render time has not reached the object's first sample
  kHold,
  kInterpolate,
  kExtrapolate,
};

/// What to show. The words belong to the buffer and are valid until the next push().
struct Pose {
  PoseKind kind = PoseKind::kNone;
  const serialization::Word* from = nullptr;  // the only state, except for kInterpolate
  const serialization::Word* to = nullptr;    // kInterpolate
  double t = 0.0;                             // kInterpolate: in (0, 1)
  double extrapolate_seconds = 0.0;
  Tick from_tick = 0;
  bool underrun = false;  // render time is past all samples, and the newest sample changed an older one
};

struct InterpolationStats {
  uint64_t samples = 0;
  uint64_t stale = 0;      // samples older than all held samples, or of a tick already held
  uint64_t underruns = 0;  // how often an underrun began
  uint64_t underrun_poses = 0;
  uint64_t extrapolated_poses = 0;
};

class InterpolationBuffer {
 public:
  explicit InterpolationBuffer(size_t word_count);

  /// Adds the state of `tick` and copies the words. A sample that comes late is put in its place. `snaps`
  /// says that the object teleported into this state. Snapshots are `interval_ticks` apart. False when the
  /// sample is of no use.
  bool push(Tick tick, const serialization::Word* words, bool snaps, uint32_t interval_ticks);

  /// The object's newest sample was still its state at `tick`, and it stays its state until the next sample.
  void rest(Tick tick);

  /// What to show at `render_time`. Render times should not decrease.
  Pose pose_at(simulation::TickTime render_time, double tick_seconds,
               uint64_t extrapolate_max_ns = kExtrapolateMaxNs);

  /// Forgets all samples, for example when the object leaves and enters the client's set again.
  void clear();

  size_t sample_count() const { return count_; }
  Tick newest_tick() const { return count_ == 0 ? 0 : sample(count_ - 1).tick; }
  /// The tick up to which the object's state is known; 0 without samples.
  Tick known_until() const { return count_ == 0 ? 0 : sample(count_ - 1).held_until; }
  const InterpolationStats& stats() const { return stats_; }

 private:
  struct Sample {
    Tick tick = 0;
    Tick held_until = 0;
    uint32_t slot = 0;  // the sample's place in words_
    bool snaps = false;
    bool rests = false;
  };
  // `index` 0 is the oldest sample; count_ is the place of the next sample, which owns a free slot.
  Sample& sample(size_t index) { return samples_[(head_ + index) % kInterpolationSamples]; }
  const Sample& sample(size_t index) const { return samples_[(head_ + index) % kInterpolationSamples]; }
  const serialization::Word* words_of(const Sample& s) const { return &words_[s.slot * word_count_]; }
  static void end_before(Sample& before, Tick tick, uint32_t interval_ticks);
  void validate() const;
  Pose past_newest(simulation::TickTime render_time, double tick_seconds, uint64_t extrapolate_max_ns);

  size_t word_count_;
  std::vector<serialization::Word> words_;
  std::array<Sample, kInterpolationSamples> samples_{};  // a ring that starts at head_
  size_t head_ = 0;
  size_t count_ = 0;
  bool in_underrun_ = false;
  InterpolationStats stats_;
};

/// Writes a pose into host structures by the rule of each leaf (§21.7). False for kNone, which writes
/// nothing.
bool write_pose(const serialization::Layout& layout, const Pose& pose, void* const* host_behaviours);

}  // namespace lattice::prediction
