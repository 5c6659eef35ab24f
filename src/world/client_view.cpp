// What the client draws (§12): see client_world.h and presentation.h. Drawing is lazy: a pose is computed
// when the game asks for it, once per frame. In a world that never began a frame it is computed once per
// moment.
#include <algorithm>

#include "world/client_world.h"

namespace lattice::world {

const serialization::Word* ClientWorld::confirmed(uint32_t slot, Tick* tick) const {
  const Mirror& mirror = mirrors_[slot];
  if (mirror.newest_tick == 0) return nullptr;
  *tick = mirror.newest_tick;
  return newest_words(slot);
}

const void* ClientWorld::view(uint32_t slot, uint32_t behaviour, Now now) {
  Mirror& mirror = mirrors_[slot];
  if (mirror.newest_tick == 0) return nullptr;
  if (table_.writes(slot)) return host_for_game(slot)[behaviour];  // the true state is here
  if (!mirror.drawn || mirror.drawn_ns != now.ns || mirror.drawn_frame != frame_log_.number()) {
    draw(slot, now);
    mirror.drawn = true;
    mirror.drawn_ns = now.ns;
    mirror.drawn_frame = frame_log_.number();
  }
  return mirror.presentation->shown(behaviour);
}

// The moment is rounded before anything is drawn, so the inputs can name it exactly.
simulation::TickTime ClientWorld::look(Now now) {
  if (!clock_.started() || render_ns_ == now.ns) return seen_time();
  render_ns_ = now.ns;
  const simulation::TickTime time = render_clock_.update(now.ns, clock_.server_time(now.ns),
                                                         clock_.snapshot_interval_ns(), clock_.jitter_ns());
  view_time_ = interpolate_ ? simulation::round_view(time) : simulation::TickTime{snapshot_tick_, 0.0};
  return seen_time();
}

// Of what was before the first snapshot, nothing is known.
simulation::TickTime ClientWorld::seen_time() const {
  const bool is_known = first_snapshot_tick_ != 0 && !base::tick_after(first_snapshot_tick_, view_time_.tick);
  return is_known ? view_time_ : simulation::TickTime{};
}

void ClientWorld::draw(uint32_t slot, Now now) {
  Mirror& mirror = mirrors_[slot];
  Presentation& presentation = presentation_of(mirror);
  look(now);
  if (mirror.predicted) {
    const serialization::Word* to = reconciler_->predicted(slot, current_tick_);
    const serialization::Word* from = reconciler_->predicted(slot, current_tick_ - 1);
    if (to != nullptr) {
      const double t = from == nullptr ? 1.0 : std::min(1.0, fixed_tick_.alpha_at(now.ns));
      presentation.show_between(from == nullptr ? to : from, to, t, smooth_, now.ns);
      return;
    }
  }
  if (interpolate_ && presentation.show_interpolated(applier_->states(slot), view_time_, smooth_, now.ns)) {
    return;
  }
  const serialization::Word* newest = newest_words(slot);
  presentation.show_between(newest, newest, 1.0, false, now.ns);
}

}  // namespace lattice::world
