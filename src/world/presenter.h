// What this side draws of objects that the other side writes (§12): chooses the moment that is shown, and the
// pose of each object at that moment, from its prediction or from its received states.
//
// Drawing is lazy: a pose is computed when the game asks for it, once per frame. In a world that never began
// a frame it is computed once per moment.
//
// Must stay true: nothing here changes simulated state.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "prediction/interpolation_clock.h"
#include "simulation/clock_sync.h"
#include "simulation/fixed_tick.h"
#include "world/frame_log.h"
#include "world/predictor.h"
#include "world/presentation.h"
#include "world/state_receiver.h"

namespace lattice::world {

class Presenter {
 public:
  using Tick = base::Tick;
  using Word = serialization::Word;

  struct Config {
    prediction::InterpolationClockConfig clock;
    PresentationConfig poses;
  };

  /// All but the configuration outlives this.
  Presenter(const Config& config, const replication::ObjectTable& table, const StateReceiver& received,
            const Predictor& predictor, const simulation::FixedTick& ticks, const FrameLog& frames);

  /// Off: an object is drawn where it is, without the rest of a correction.
  void set_smoothing(bool enabled);
  /// Off: objects are drawn in their newest state.
  void set_interpolation(bool enabled) { interpolates_ = enabled; }

  /// Chooses the moment to show at `now_ns`, once. It is rounded before anything is drawn, so the inputs can
  /// name it exactly.
  simulation::TickTime look(const simulation::ClockSync& clock, uint64_t now_ns);
  /// That moment. Tick 0: of what was before the first snapshot, nothing is known.
  simulation::TickTime seen_time() const;
  /// The moments to come are of this tick or later.
  Tick drawn_from() const;
  /// The structure to draw of an object that has a state, at the moment of look(). `tick` is the last that
  /// ran here.
  const void* shown(uint32_t slot, uint32_t behaviour, Tick tick, uint64_t now_ns);

  /// New states of objects came.
  void on_states(std::span<const replication::NewState> states, uint64_t now_ns);
  void on_corrected(uint32_t slot, const Word* before, const Word* after, uint64_t now_ns);
  /// What is drawn of the object begins anew, without a step that is eased.
  void snap(uint32_t slot);
  /// The object is about to go.
  void on_gone(uint32_t slot);
  /// The session has ended, and every object is gone.
  void end_session();

  uint64_t poses() const { return sum(&Presentation::poses, gone_poses_); }
  /// Poses beyond the newest state.
  uint64_t underrun_poses() const { return sum(&Presentation::underrun_poses, gone_underruns_); }
  double delay_ticks() const { return clock_.delay_ticks(); }

 private:
  struct Drawn {
    std::unique_ptr<Presentation> presentation;  // from the first drawing on
    uint64_t moment_ns = 0;                      // of the drawn pose, and its frame
    uint32_t frame = 0;
    bool is_current = false;  // there is a pose, and no state came since that it lacks
  };
  struct TypePoses {
    const replication::ObjectType* type;
    std::unique_ptr<PoseScratch> scratch;
  };

  Presentation* presentation_of(uint32_t slot) const {
    return slot < drawn_.size() ? drawn_[slot].presentation.get() : nullptr;
  }
  Drawn& drawn_of(uint32_t slot);
  void draw(uint32_t slot, Presentation& presentation, Tick tick, uint64_t now_ns);
  std::unique_ptr<Presentation> take_presentation(const replication::ObjectType& type);
  PoseScratch& scratch_of(const replication::ObjectType& type);
  uint64_t sum(uint64_t (Presentation::*count)() const, uint64_t gone) const;

  Config config_;
  const replication::ObjectTable& table_;
  const StateReceiver& received_;
  const Predictor& predictor_;
  const simulation::FixedTick& ticks_;
  const FrameLog& frames_;
  prediction::InterpolationClock clock_;
  simulation::TickTime view_time_;       // the moment of the other side's time line that is drawn
  uint64_t looked_ns_ = 0;               // when it was chosen
  std::vector<TypePoses> pose_scratch_;  // one per type that was drawn; outlives the presentations
  std::vector<Drawn> drawn_;             // by slot
  std::vector<std::unique_ptr<Presentation>> spare_;
  uint64_t gone_poses_ = 0;  // of objects that are gone
  uint64_t gone_underruns_ = 0;
  std::vector<serialization::Word> present_;  // of a prediction without ticks
  bool smooths_ = true;
  bool interpolates_ = true;
};

}  // namespace lattice::world
