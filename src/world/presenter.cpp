// See presenter.h.
#include "world/presenter.h"

#include <algorithm>
#include <utility>

#include "base/tick.h"
#include "simulation/sight.h"

namespace lattice::world {

Presenter::Presenter(const Config& config, const replication::ObjectTable& table,
                     const StateReceiver& received, const Predictor& predictor,
                     const simulation::FixedTick& ticks, const FrameLog& frames)
    : config_(config),
      table_(table),
      received_(received),
      predictor_(predictor),
      ticks_(ticks),
      frames_(frames),
      clock_(config.clock) {}

void Presenter::set_smoothing(bool enabled) {
  smooths_ = enabled;
  for (const Drawn& drawn : drawn_) {
    if (drawn.presentation) drawn.presentation->snap();
  }
}

// --- The moment

simulation::TickTime Presenter::look(const simulation::ClockSync& clock, uint64_t now_ns) {
  if (!clock.started() || looked_ns_ == now_ns) return seen_time();
  looked_ns_ = now_ns;
  clock_.update(now_ns, clock.server_time(now_ns), clock.snapshot_interval_ns(), clock.jitter_ns());
  if (const Tick oldest = received_.drawable_from(); oldest != 0) clock_.skip_to({oldest, 0.0});
  view_time_ = interpolates_ ? simulation::round_view(clock_.render_time())
                             : simulation::TickTime{received_.snapshot_tick(), 0.0};
  return seen_time();
}

// Who has not looked for long sees later moments than that: render time jumps (S-05).
base::Tick Presenter::drawn_from() const {
  const auto most_ns = static_cast<double>(clock_.wanted_delay_ns() + prediction::kRenderResyncNs);
  const Tick far = received_.snapshot_tick() - static_cast<Tick>(most_ns / ticks_.tick_ns());
  const Tick last = clock_.render_time().tick;  // 0: none yet
  return last == 0 || base::tick_after(far, last) ? far : last;
}

simulation::TickTime Presenter::seen_time() const {
  const Tick first = received_.first_snapshot_tick();
  const bool is_known = first != 0 && !base::tick_after(first, view_time_.tick);
  return is_known ? view_time_ : simulation::TickTime{};
}

// --- Poses

const void* Presenter::shown(uint32_t slot, uint32_t behaviour, Tick tick, uint64_t now_ns) {
  Drawn& drawn = drawn_of(slot);
  if (!drawn.is_current || drawn.moment_ns != now_ns || drawn.frame != frames_.number()) {
    draw(slot, *drawn.presentation, tick, now_ns);
    drawn.is_current = true;
    drawn.moment_ns = now_ns;
    drawn.frame = frames_.number();
  }
  return drawn.presentation->shown(behaviour);
}

void Presenter::draw(uint32_t slot, Presentation& presentation, Tick tick, uint64_t now_ns) {
  if (const Word* to = predictor_.predicted(slot, tick)) {
    const Word* from = predictor_.predicted(slot, base::previous_tick(tick));
    const double t = from == nullptr ? 1.0 : std::min(1.0, ticks_.alpha_at(now_ns));
    presentation.show_between(from == nullptr ? to : from, to, t, smooths_, now_ns);
    return;
  }
  // Its ticks were forgotten when the clock jumped: it stands still until the next one.
  if (predictor_.predicts(slot)) {
    const serialization::Layout& layout = presentation.layout();
    present_.resize(layout.word_count());
    static_cast<void>(layout.quantize(table_.host(slot), present_.data()));
    presentation.show_between(present_.data(), present_.data(), 1.0, smooths_, now_ns);
    return;
  }
  if (interpolates_ && presentation.show_interpolated(received_.states(slot), view_time_, smooths_, now_ns)) {
    return;
  }
  const Word* newest = received_.newest(slot);
  presentation.show_between(newest, newest, 1.0, false, now_ns);
}

void Presenter::on_states(std::span<const replication::NewState> states, uint64_t now_ns) {
  const bool in_frame = frames_.number() != 0;
  const std::span<Drawn> all = drawn_;
  for (const replication::NewState& state : states) {
    if (state.slot >= all.size()) continue;
    Drawn& drawn = all[state.slot];
    Presentation* presentation = drawn.presentation.get();
    if (presentation == nullptr) continue;
    if (!in_frame) drawn.is_current = false;  // within a frame, the pose that was shown stays
    const bool is_interpolated = interpolates_ && !predictor_.predicts(state.slot);
    if (!smooths_ || !is_interpolated) continue;
    const Word* former = received_.former(state.slot);
    const bool teleported = table_.info(state.slot).type->layout->teleported(former, state.words);
    presentation->received(received_.states(state.slot), teleported, view_time_, now_ns);
  }
}

void Presenter::on_corrected(uint32_t slot, const Word* before, const Word* after, uint64_t now_ns) {
  Presentation* presentation = presentation_of(slot);
  if (!smooths_ || presentation == nullptr) return;  // what was never drawn has no step to ease
  const bool teleported = table_.info(slot).type->layout->teleported(before, after);
  presentation->corrected(before, after, teleported, now_ns);
}

void Presenter::snap(uint32_t slot) {
  if (Presentation* presentation = presentation_of(slot)) presentation->snap();
}

void Presenter::on_gone(uint32_t slot) {
  if (presentation_of(slot) == nullptr) return;
  Drawn& drawn = drawn_[slot];
  gone_poses_ += drawn.presentation->poses();
  gone_underruns_ += drawn.presentation->underrun_poses();
  spare_.push_back(std::move(drawn.presentation));
  drawn.is_current = false;
}

void Presenter::end_session() {
  clock_ = prediction::InterpolationClock(config_.clock);
  view_time_ = {};
}

uint64_t Presenter::sum(uint64_t (Presentation::*count)() const, uint64_t gone) const {
  for (const Drawn& drawn : drawn_) {
    if (drawn.presentation) gone += (drawn.presentation.get()->*count)();
  }
  return gone;
}

// --- The memory of presentations

Presenter::Drawn& Presenter::drawn_of(uint32_t slot) {
  if (drawn_.size() <= slot) drawn_.resize(slot + 1);
  Drawn& drawn = drawn_[slot];
  if (!drawn.presentation) drawn.presentation = take_presentation(*table_.info(slot).type);
  return drawn;
}

std::unique_ptr<Presentation> Presenter::take_presentation(const replication::ObjectType& type) {
  for (std::unique_ptr<Presentation>& spare : spare_) {
    if (&spare->layout() != type.layout) continue;
    std::unique_ptr<Presentation> taken = std::move(spare);
    spare = std::move(spare_.back());
    spare_.pop_back();
    taken->reset();
    return taken;
  }
  return std::make_unique<Presentation>(*type.layout, scratch_of(type), config_.poses);
}

PoseScratch& Presenter::scratch_of(const replication::ObjectType& type) {
  for (TypePoses& poses : pose_scratch_) {
    if (poses.type == &type) return *poses.scratch;
  }
  pose_scratch_.push_back({&type, std::make_unique<PoseScratch>(*type.layout)});
  return *pose_scratch_.back().scratch;
}

}  // namespace lattice::world
