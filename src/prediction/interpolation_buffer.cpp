#include "prediction/interpolation_buffer.h"

#include <algorithm>

#include "base/assert.h"
#include "serialization/layout.h"

namespace lattice::prediction {

using simulation::TickTime;

namespace {
double ticks_past(TickTime time, Tick tick) {
  return simulation::ticks_between(time, TickTime{tick, 0.0});
}
}  // namespace

InterpolationBuffer::InterpolationBuffer(size_t word_count)
    : word_count_(word_count), words_(kInterpolationSamples * word_count) {
  clear();
}

void InterpolationBuffer::clear() {
  count_ = 0;
  head_ = 0;
  in_underrun_ = false;
  for (uint32_t i = 0; i < kInterpolationSamples; ++i) samples_[i] = Sample{0, 0, i, false, false};
}

bool InterpolationBuffer::push(Tick tick, const serialization::Word* words, bool snaps,
                               uint32_t interval_ticks) {
  size_t at = count_;
  while (at > 0 && base::tick_after(sample(at - 1).tick, tick)) --at;
  const bool full = count_ == kInterpolationSamples;
  if ((at > 0 && sample(at - 1).tick == tick) || (full && at == 0)) {
    ++stats_.stale;
    return false;
  }
  if (full) {  // the oldest sample makes room; its slot is reused, so every slot keeps exactly one owner
    head_ = (head_ + 1) % kInterpolationSamples;
    --count_;
    --at;
  }
  const uint32_t free_slot = sample(count_).slot;
  for (size_t i = count_; i > at; --i) sample(i) = sample(i - 1);  // moves nothing when samples come in order
  sample(at) = Sample{tick, tick, free_slot, snaps, false};
  serialization::Word* to = words_.data() + free_slot * word_count_;
  for (size_t i = 0; i < word_count_; ++i) to[i] = words[i];
  ++count_;
  if (at > 0) end_before(sample(at - 1), tick, interval_ticks);
  ++stats_.samples;
  validate();
  return true;
}

void InterpolationBuffer::end_before(Sample& before, Tick tick, uint32_t interval_ticks) {
  if (!before.rests && before.held_until == before.tick) return;
  // If the earlier sample was confirmed up to `tick` or later, the object had changed before that. The time
  // of the change is unknown, so the earlier sample holds at its own tick only.
  if (!base::tick_after(tick, before.held_until)) {
    before.held_until = before.tick;
    before.rests = false;
  }
  const Tick last_rest = tick - interval_ticks;
  if (before.rests && base::tick_after(last_rest, before.held_until)) before.held_until = last_rest;
}

void InterpolationBuffer::rest(Tick tick) {
  if (count_ == 0) return;
  Sample& newest = sample(count_ - 1);
  newest.rests = true;
  if (base::tick_after(tick, newest.held_until)) newest.held_until = tick;
  validate();
}

void InterpolationBuffer::validate() const {
#if defined(LATTICE_VALIDATION)
  uint32_t slots_used = 0;
  for (size_t i = 0; i < kInterpolationSamples; ++i) slots_used |= 1u << samples_[i].slot;
  LATTICE_ASSERT(slots_used == (1u << kInterpolationSamples) - 1);  // each slot has one owner
  for (size_t i = 0; i < count_; ++i) {
    LATTICE_ASSERT(base::tick_distance(sample(i).held_until, sample(i).tick) >= 0);
    LATTICE_ASSERT(i == 0 || base::tick_after(sample(i).tick, sample(i - 1).held_until));
  }
#endif
}

Pose InterpolationBuffer::pose_at(TickTime render_time, double tick_seconds, uint64_t extrapolate_max_ns) {
  Pose pose;
  if (count_ == 0) return pose;
  if (ticks_past(render_time, sample(count_ - 1).held_until) > 0.0) {
    return past_newest(render_time, tick_seconds, extrapolate_max_ns);
  }
  in_underrun_ = false;

  size_t at = count_;  // one past the last sample whose tick has come
  while (at > 0 && ticks_past(render_time, sample(at - 1).tick) < 0.0) --at;
  const Sample& from = sample(at == 0 ? 0 : at - 1);
  pose.from = words_of(from);
  pose.from_tick = from.tick;
  if (at == 0) {
    pose.kind = PoseKind::kBeforeFirst;
    return pose;
  }
  pose.kind = PoseKind::kHold;
  const double past_hold = ticks_past(render_time, from.held_until);
  if (past_hold <= 0.0) return pose;
  LATTICE_ASSERT(at < count_);  // a time past the newest sample was dealt with above
  const Sample& to = sample(at);
  if (to.snaps) return pose;
  pose.kind = PoseKind::kInterpolate;
  pose.to = words_of(to);
  pose.t = past_hold / static_cast<double>(base::tick_distance(to.tick, from.held_until));
  return pose;
}

Pose InterpolationBuffer::past_newest(TickTime render_time, double tick_seconds,
                                      uint64_t extrapolate_max_ns) {
  const Sample& newest = sample(count_ - 1);
  Pose pose;
  pose.kind = PoseKind::kHold;
  pose.from = words_of(newest);
  pose.from_tick = newest.tick;
  if (newest.held_until != newest.tick) return pose;  // S-06: the object was last known to be at rest
  // After a first state nothing shows that the object moves. That it rests is said a round trip later (D-17).
  if (count_ > 1) {
    pose.underrun = true;
    ++stats_.underrun_poses;
    if (!in_underrun_) ++stats_.underruns;
    in_underrun_ = true;
  }
  if (extrapolate_max_ns == 0) return pose;

  // Beyond EXTRAP_MAX the object stays where dead reckoning left it: going back to the sample would be a
  // jump.
  const double seconds = ticks_past(render_time, newest.tick) * tick_seconds;
  const double max_seconds = static_cast<double>(extrapolate_max_ns) / 1e9;
  pose.kind = PoseKind::kExtrapolate;
  pose.extrapolate_seconds = std::min(seconds, max_seconds);
  ++stats_.extrapolated_poses;
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
      layout.extrapolate(pose.from, pose.extrapolate_seconds, host_behaviours);
      return true;
  }
  return false;
}

}  // namespace lattice::prediction
