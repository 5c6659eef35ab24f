// See presentation.h.
#include "world/presentation.h"

#include <cstring>
#include <utility>

namespace lattice::world {

HostScratch::HostScratch(const serialization::Layout& layout) {
  for (const serialization::LayoutBehaviour& behaviour : layout.behaviours()) {
    // The memory is zeroed, so bytes between members are equal in every copy.
    blocks_.push_back(std::make_unique<std::byte[]>(behaviour.host_bytes + behaviour.host_align));
    const auto address = reinterpret_cast<uintptr_t>(blocks_.back().get());
    const uintptr_t mask = behaviour.host_align - 1;
    pointers_.push_back(reinterpret_cast<void*>((address + mask) & ~mask));
  }
}

DrawnSamples::DrawnSamples(const replication::ReceivedStates& states, simulation::TickTime render_time,
                           uint32_t skipped) {
  for (uint32_t newer = skipped; count_ < samples_.size() && states.draws(newer); ++newer) {
    const replication::ReceivedStates::Held state = states.held_state(newer);
    const bool reached = simulation::ticks_since(render_time, state.tick) >= 0.0;
    if (!reached) count_ = 0;  // of the states to come, only the next one counts
    samples_[count_++] = {state.tick, state.until, state.words};
  }
}

Presentation::Presentation(const serialization::Layout& layout, PoseScratch& scratch,
                           const PresentationConfig& config)
    : layout_(layout),
      config_(config),
      smoother_(layout, config.smoother),
      shown_(layout),
      scratch_(scratch) {}

void Presentation::reset() {
  smoother_.snap();
  poses_ = underrun_poses_ = 0;
}

void Presentation::received(const replication::ReceivedStates& states, bool teleported,
                            simulation::TickTime render_time, uint64_t now_ns) {
  if (!states.draws(1)) return;
  if (simulation::ticks_since(render_time, states.held_state(1).until) <= 0.0) return;
  prediction::write_pose(layout_, pose_at(DrawnSamples(states, render_time, 1), render_time),
                         scratch_.before.behaviours());
  prediction::write_pose(layout_, pose_at(DrawnSamples(states, render_time), render_time),
                         scratch_.after.behaviours());
  smoother_.correct(std::as_const(scratch_.before).behaviours(), std::as_const(scratch_.after).behaviours(),
                    teleported, now_ns);
}

void Presentation::corrected(const serialization::Word* before, const serialization::Word* after,
                             bool teleported, uint64_t now_ns) {
  layout_.dequantize(before, scratch_.before.behaviours());
  layout_.dequantize(after, scratch_.after.behaviours());
  smoother_.correct(std::as_const(scratch_.before).behaviours(), std::as_const(scratch_.after).behaviours(),
                    teleported, now_ns);
}

bool Presentation::show_interpolated(const replication::ReceivedStates& states,
                                     simulation::TickTime render_time, bool smooth, uint64_t now_ns) {
  const prediction::Pose pose = pose_at(DrawnSamples(states, render_time), render_time);
  if (!prediction::write_pose(layout_, pose, shown_.behaviours())) return false;
  ++poses_;
  if (pose.underrun) ++underrun_poses_;
  if (smooth) smoother_.apply(shown_.behaviours(), now_ns);
  return true;
}

void Presentation::show_between(const serialization::Word* from, const serialization::Word* to, double t,
                                bool smooth, uint64_t now_ns) {
  layout_.interpolate(from, to, t, shown_.behaviours());
  if (smooth) smoother_.apply(shown_.behaviours(), now_ns);
}

}  // namespace lattice::world
