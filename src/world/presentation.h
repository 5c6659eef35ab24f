// What a client draws: the pose of one object on the screen. The pose is neither the object's last snapshot
// nor its simulation (§12, S-05…S-07). Three values are kept apart: the true pose (confirmed or predicted),
// the correction that is eased away, and their sum, which view() returns.
//
// Must stay true: nothing here changes simulated state.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "prediction/interpolation.h"
#include "prediction/smoother.h"
#include "replication/received_states.h"
#include "serialization/layout.h"

namespace lattice::world {

/// Host structures for one layout, as scratch: one per behaviour, aligned.
class HostScratch {
 public:
  explicit HostScratch(const serialization::Layout& layout);
  void* const* behaviours() { return pointers_.data(); }
  /// The structures are scratch, so they may be written through a const reference too.
  void* const* writable() const { return pointers_.data(); }
  const void* const* behaviours() const { return const_cast<const void* const*>(pointers_.data()); }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::vector<void*> pointers_;
};

/// Two poses for the time of one call: all objects of a type share them.
struct PoseScratch {
  explicit PoseScratch(const serialization::Layout& layout) : before(layout), after(layout) {}
  HostScratch before;
  HostScratch after;
};

/// The received states of an object that a pose at one render time needs, as samples: those around it, or
/// the two newest.
class DrawnSamples {
 public:
  /// As if the newest `skipped` states had not come.
  DrawnSamples(const replication::ReceivedStates& states, simulation::TickTime render_time,
               uint32_t skipped = 0);
  std::span<const prediction::Sample> newest_first() const { return {samples_.data(), count_}; }

 private:
  std::array<prediction::Sample, 2> samples_;
  size_t count_ = 0;
};

struct PresentationConfig {
  prediction::SmootherConfig smoother;
  double tick_seconds = 1.0 / 60.0;
  uint64_t extrapolation_max_ns = prediction::kExtrapolateMaxNs;
};

class Presentation {
 public:
  /// `scratch` was made for `layout`, and both outlive the presentation.
  Presentation(const serialization::Layout& layout, PoseScratch& scratch, const PresentationConfig& config);

  /// Prepares for another object of the same type, which counts its own poses.
  void reset();

  /// A state came, which is now the newest of `states`. When render time had already passed all earlier ones,
  /// the object was extrapolated or held. The step to the new state is then eased instead of shown (§12.4).
  void received(const replication::ReceivedStates& states, bool teleported, simulation::TickTime render_time,
                uint64_t now_ns);
  /// A correction moved the prediction from `before` to `after`.
  void corrected(const serialization::Word* before, const serialization::Word* after, bool teleported,
                 uint64_t now_ns);
  void snap() { smoother_.snap(); }

  /// Draws from the received states at `render_time`. False before the first state. `smooth` adds the rest of
  /// the corrections.
  bool show_interpolated(const replication::ReceivedStates& states, simulation::TickTime render_time,
                         bool smooth, uint64_t now_ns);
  /// Draws without interpolating between received states: the newest state, or a prediction between two
  /// ticks.
  void show_between(const serialization::Word* from, const serialization::Word* to, double t, bool smooth,
                    uint64_t now_ns);

  /// The last drawn host structure of `behaviour`.
  const void* shown(size_t behaviour) const { return shown_.behaviours()[behaviour]; }
  const serialization::Layout& layout() const { return layout_; }
  uint64_t poses() const { return poses_; }
  uint64_t underrun_poses() const { return underrun_poses_; }

 private:
  prediction::Pose pose_at(const DrawnSamples& samples, simulation::TickTime render_time) const {
    return prediction::pose_at(samples.newest_first(), render_time, config_.tick_seconds,
                               config_.extrapolation_max_ns);
  }

  const serialization::Layout& layout_;
  PresentationConfig config_;
  prediction::Smoother smoother_;
  HostScratch shown_;
  PoseScratch& scratch_;
  uint64_t poses_ = 0;
  uint64_t underrun_poses_ = 0;
};

}  // namespace lattice::world
