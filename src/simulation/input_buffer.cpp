#include "simulation/input_buffer.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "base/tick.h"

namespace lattice::simulation {

namespace {
constexpr uint32_t kSeenTicks = 64;  // bits of seen_mask_
static_assert(kSeenTicks > kMaxInputsPerMessage, "a whole late message can be told from its duplicates");
constexpr double kMarginClampTicks = 32.0;  // just beyond the range of the reported margin
}  // namespace

InputBuffer::InputBuffer(const InputBufferConfig& config, std::span<const serialization::Word> default_words,
                         Tick newest_tick)
    : word_count_(default_words.size()),
      repeat_max_ticks_(static_cast<uint32_t>(config.repeat_max_ns * config.tick_rate_hz / kNsPerSecond)),
      words_(kJitterBufferTicks * default_words.size()),
      last_(default_words.begin(), default_words.end()),
      default_(default_words.begin(), default_words.end()),
      refilled_at_(newest_tick),
      history_ticks_(config.history_ticks),
      newest_taken_(newest_tick) {
  LATTICE_CHECK(word_count_ > 0);
  taken_.words = default_.data();
}

bool InputBuffer::admit(Tick tick) {
  const auto ticks = static_cast<uint32_t>(base::tick_distance(tick, refilled_at_));
  if (ticks >= kInputMessagesAtOnce / kInputMessagesPerTick) {
    admissible_ = kInputMessagesAtOnce;
  } else {
    admissible_ = std::min(admissible_ + ticks * kInputMessagesPerTick, kInputMessagesAtOnce);
  }
  refilled_at_ = tick;
  if (admissible_ == 0) {
    ++stats_.over_rate;
    return false;
  }
  --admissible_;
  return true;
}

void InputBuffer::receive(const DecodedInputs& inputs, std::span<const serialization::Word> words,
                          TickTime server_position) {
  const Tick newest_tick = inputs.newest_tick;
  const uint32_t count = inputs.count;
  LATTICE_ASSERT(count >= 1 && count <= kMaxInputsPerMessage);
  LATTICE_ASSERT(words.size() >= count * word_count_);
  ++stats_.messages;
  fold_margin(inputs, server_position);
  // Oldest first. Each input beyond the buffer is refused on its own, so the near ticks of such a message are
  // kept.
  for (uint32_t i = count; i-- > 0;) {
    store(newest_tick - i, words.data() + i * word_count_, inputs.sights[i]);
  }
  validate();
}

void InputBuffer::store(Tick tick, const serialization::Word* words, const Sight& sight) {
  const int32_t ahead = base::tick_distance(tick, newest_taken_);
  if (ahead > static_cast<int32_t>(kJitterBufferTicks)) {
    ++stats_.too_early;
    return;
  }
  if (ahead <= 0) {
    const auto age = static_cast<uint32_t>(-static_cast<int64_t>(ahead));
    if (age >= kSeenTicks || (seen_mask_ >> age & 1) != 0) {
      ++stats_.duplicates;
    } else {
      ++stats_.late;
      seen_mask_ |= uint64_t{1} << age;
    }
    return;
  }
  serialization::Word* held = slot(tick);
  Tick& held_tick = ticks_[tick % kJitterBufferTicks];
  if (held_tick == tick) {
    ++(std::equal(held, held + word_count_, words) ? stats_.duplicates : stats_.conflicting);
    return;
  }
  // The slot can only hold a tick that has run: ticks ahead are within 32, and no two of them share a slot.
  LATTICE_ASSERT(held_tick == 0 || !base::tick_after(held_tick, newest_taken_));
  std::copy(words, words + word_count_, held);
  sights_[tick % kJitterBufferTicks] = sight;
  held_tick = tick;
  ++stats_.accepted;
}

void InputBuffer::fold_margin(const DecodedInputs& inputs, TickTime server_position) {
  const Tick newest_tick = inputs.newest_tick;
  const double margin = ticks_between(TickTime{newest_tick, 0.0}, server_position);
  if (newest_seen_ != 0 && !base::tick_after(newest_tick, newest_seen_)) return;
  lead_quarter_ticks_ = inputs.lead_quarter_ticks;
  // A tick far ahead still counts for the margin, which tells the client to slow down. But it must not make
  // every later message look old.
  if (base::tick_distance(newest_tick, newest_taken_) <= static_cast<int32_t>(kJitterBufferTicks)) {
    newest_seen_ = newest_tick;
  }
  const double clamped = std::clamp(margin, -kMarginClampTicks, kMarginClampTicks);
  const auto sample_q8 = static_cast<int32_t>(std::lround(clamped * 4.0 * 256.0));
  margin_q8_ = margin_known_ ? margin_q8_ + (sample_q8 - margin_q8_) / 8 : sample_q8;
  margin_known_ = true;
}

TakenInput InputBuffer::take(Tick tick) {
  const int32_t step = base::tick_distance(tick, newest_taken_);
  LATTICE_ASSERT(step >= 0);
  if (step <= 0 && taken_any_) return taken_;

  const auto steps = static_cast<uint32_t>(step);
  seen_mask_ = steps >= kSeenTicks ? 0 : seen_mask_ << steps;
  // Skipped ticks count as run. An input of a skipped tick that had arrived is not late.
  for (uint32_t back = 1; back < steps && back < kSeenTicks; ++back) {
    if (ticks_[(tick - back) % kJitterBufferTicks] == tick - back) seen_mask_ |= uint64_t{1} << back;
  }
  newest_taken_ = tick;
  taken_any_ = true;

  if (ticks_[tick % kJitterBufferTicks] == tick) {
    seen_mask_ |= 1;
    std::copy(slot(tick), slot(tick) + word_count_, last_.begin());
    last_sight_ = sights_[tick % kJitterBufferTicks];
    last_fresh_tick_ = tick;
    ++stats_.fresh;
    taken_ = TakenInput{last_.data(), InputSource::kFresh, tick, believed_sight(last_sight_, tick, true)};
  } else if (last_fresh_tick_ != 0 &&
             static_cast<uint32_t>(base::tick_distance(tick, last_fresh_tick_)) <= repeat_max_ticks_) {
    ++stats_.repeated;
    taken_ = TakenInput{last_.data(), InputSource::kRepeated, last_fresh_tick_,
                        believed_sight(last_sight_, tick, false)};
  } else {
    ++stats_.defaulted;
    taken_ = TakenInput{default_.data(), InputSource::kDefault, 0, {}};
  }
  taken_.sight_clamped = taken_.source != InputSource::kDefault && taken_.sight != last_sight_;
  return taken_;
}

TakenInput InputBuffer::take_up_to(Tick tick) {
  LATTICE_ASSERT(!base::tick_after(newest_taken_, tick));
  while (newest_taken_ != tick) take(base::next_tick(newest_taken_));
  return taken_;
}

// The newest state that a player can have seen is that of the tick before. A client that says otherwise is
// not refused: after a stall of its own, an honest one says such things too.
Sight InputBuffer::believed_sight(const Sight& said, Tick tick, bool counts) {
  Sight sight = said;
  const TickTime newest{tick - 1, 0.0};
  const TickTime oldest{tick - history_ticks_, 0.0};
  const TickTime view = view_time(said);
  const bool has_view = said.view_tick != 0;
  const bool future_view = has_view && ticks_between(view, newest) > 0;
  const bool old_view = has_view && ticks_between(view, oldest) < 0;
  const bool future_snapshot = said.snapshot_tick != 0 && base::tick_after(said.snapshot_tick, newest.tick);
  if (future_snapshot) sight.snapshot_tick = newest.tick;
  if (future_view || old_view) {
    sight.view_tick = future_view ? newest.tick : oldest.tick;
    sight.view_fraction = 0;
  }
  if (counts && (future_view || future_snapshot)) ++stats_.sights_future;
  if (counts && old_view) ++stats_.sights_old;
  return sight;
}

void InputBuffer::validate() const {
#if defined(LATTICE_VALIDATION)
  for (size_t i = 0; i < kJitterBufferTicks; ++i) {
    if (ticks_[i] == 0) continue;
    LATTICE_ASSERT(ticks_[i] % kJitterBufferTicks == i);
    LATTICE_ASSERT(base::tick_distance(ticks_[i], newest_taken_) <= static_cast<int32_t>(kJitterBufferTicks));
  }
  LATTICE_ASSERT(last_fresh_tick_ == 0 || !base::tick_after(last_fresh_tick_, newest_taken_));
#endif
}

int8_t InputBuffer::margin_quarter_ticks() const {
  const int32_t rounded = (margin_q8_ + (margin_q8_ >= 0 ? 128 : -128)) / 256;
  return static_cast<int8_t>(std::clamp(rounded, -127, 127));
}

uint32_t InputBuffer::depth() const {
  uint32_t count = 0;
  for (const Tick tick : ticks_) {
    if (tick != 0 && base::tick_after(tick, newest_taken_)) ++count;
  }
  return count;
}

}  // namespace lattice::simulation
