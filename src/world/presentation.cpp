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

Presentation::Presentation(const serialization::Layout& layout, PoseScratch& scratch,
                           const PresentationConfig& config)
    : layout_(layout),
      config_(config),
      samples_(layout.word_count()),
      smoother_(layout, config.smoother),
      shown_(layout),
      scratch_(scratch) {}

void Presentation::reset() {
  samples_.clear();
  smoother_.snap();
}

void Presentation::received(base::Tick tick, const serialization::Word* words, bool snaps, bool smooth,
                            uint32_t interval_ticks, simulation::TickTime render_time, uint64_t now_ns) {
  const bool overtaken = smooth && samples_.sample_count() != 0 &&
                         simulation::ticks_since(render_time, samples_.known_until()) > 0.0;
  if (overtaken) {
    const prediction::Pose pose =
        samples_.pose_at(render_time, config_.tick_seconds, config_.extrapolation_max_ns);
    prediction::write_pose(layout_, pose, scratch_.before.behaviours());
  }
  if (!samples_.push(tick, words, snaps, interval_ticks) || !overtaken) return;
  const prediction::Pose pose =
      samples_.pose_at(render_time, config_.tick_seconds, config_.extrapolation_max_ns);
  if (prediction::write_pose(layout_, pose, scratch_.after.behaviours())) {
    smoother_.correct(std::as_const(scratch_.before).behaviours(), std::as_const(scratch_.after).behaviours(),
                      snaps, now_ns);
  }
}

void Presentation::corrected(const serialization::Word* before, const serialization::Word* after,
                             bool teleported, uint64_t now_ns) {
  layout_.dequantize(before, scratch_.before.behaviours());
  layout_.dequantize(after, scratch_.after.behaviours());
  smoother_.correct(std::as_const(scratch_.before).behaviours(), std::as_const(scratch_.after).behaviours(),
                    teleported, now_ns);
}

bool Presentation::show_interpolated(simulation::TickTime render_time, bool smooth, uint64_t now_ns) {
  const prediction::Pose pose =
      samples_.pose_at(render_time, config_.tick_seconds, config_.extrapolation_max_ns);
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
