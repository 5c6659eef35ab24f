#include "simulation/input_buffer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/assert.h"
#include "base/popcount.h"
#include "base/tick.h"

namespace lattice::simulation {

namespace {
constexpr uint32_t kSeenTicks = 64;  // bits of seen_mask_
static_assert(kSeenTicks > kMaxInputsPerMessage, "a whole late message can be told from its duplicates");
static_assert(kJitterBufferTicks == 32, "bits of held_mask_");
constexpr double kMarginClampTicks = 32.0;  // just beyond the range of the reported margin
constexpr uint32_t kSightWords = sizeof(Sight) / sizeof(serialization::Word);
static_assert(std::is_trivially_copyable_v<Sight> && sizeof(Sight) % sizeof(serialization::Word) == 0);
}  // namespace

InputBuffer::InputBuffer(const InputBufferConfig& config, std::span<const serialization::Word> default_words,
                         Tick newest_tick)
    : refilled_at_(newest_tick),
      newest_taken_(newest_tick),
      words_(kPlaces * (kSightWords + default_words.size())),
      stride_(kSightWords + static_cast<uint32_t>(default_words.size())),
      repeat_max_ticks_(static_cast<uint32_t>(config.repeat_max_ns * config.tick_rate_hz / kNsPerSecond)),
      history_ticks_(config.history_ticks),
      first_tick_(config.first_tick) {
  LATTICE_CHECK(!default_words.empty());
  for (const uint32_t place : {kLast, kDefault}) {
    std::copy(default_words.begin(), default_words.end(), &words_[size_t{place} * stride_]);
  }
  taken_.words = &words_[size_t{kDefault} * stride_];
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
  const size_t word_count = stride_ - kSightWords;
  LATTICE_ASSERT(inputs.read_count >= 1 && inputs.read_count <= inputs.count);
  LATTICE_ASSERT(inputs.count <= kMaxInputsPerMessage && words.size() >= inputs.read_count * word_count);
  ++stats_.messages;
  fold_margin(inputs, server_position);
  // Oldest first. Each input beyond the buffer is refused on its own, so the near ticks of such a message are
  // kept.
  const int64_t newest_age = -int64_t{base::tick_distance(newest_tick, newest_taken_)};
  for (uint32_t i = inputs.count; i-- > inputs.read_count;) {
    const int64_t age = newest_age + i;
    LATTICE_ASSERT(age >= 0 || holds(static_cast<int32_t>(-age)));
    if (age >= 0) {
      store_late(static_cast<uint32_t>(age));
    } else {
      ++stats_.duplicates;
    }
  }
  for (uint32_t i = inputs.read_count; i-- > 0;) {
    store(newest_tick - i, words.data() + i * word_count, inputs.sights[i]);
  }
  validate();
}

// An input of a tick that has run, so many ticks before the last.
void InputBuffer::store_late(uint32_t age) {
  if (age >= kSeenTicks || (seen_mask_ >> age & 1) != 0) {
    ++stats_.duplicates;
  } else {
    ++stats_.late;
    seen_mask_ |= uint64_t{1} << age;
  }
}

void InputBuffer::store(Tick tick, const serialization::Word* words, const Sight& sight) {
  const int32_t ahead = base::tick_distance(tick, newest_taken_);
  if (ahead > static_cast<int32_t>(kJitterBufferTicks)) {
    ++stats_.too_early;
    return;
  }
  if (ahead <= 0) return store_late(static_cast<uint32_t>(-static_cast<int64_t>(ahead)));
  const size_t word_count = stride_ - kSightWords;
  serialization::Word* held = held_words(tick);
  if (holds(ahead)) {
    ++(std::equal(words, words + word_count, held + kSightWords) ? stats_.duplicates : stats_.conflicting);
    return;
  }
  std::memcpy(held, &sight, sizeof(Sight));
  std::copy(words, words + word_count, held + kSightWords);
  held_mask_ |= 1u << (ahead - 1);
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
  const auto sample_q8 = static_cast<int32_t>(clamped * 4.0 * 256.0 + (clamped < 0 ? -0.5 : 0.5));
  margin_q8_ = margin_known_ ? margin_q8_ + (sample_q8 - margin_q8_) / 8 : sample_q8;
  margin_known_ = true;
}

const TakenInput& InputBuffer::take(Tick tick) {
  return take(tick, true);
}

const TakenInput& InputBuffer::take(Tick tick, bool counts) {
  const int32_t step = base::tick_distance(tick, newest_taken_);
  LATTICE_ASSERT(step >= 0);
  if (step <= 0 && taken_any_) return taken_;

  // Skipped ticks count as run. An input of a skipped tick that had arrived is not late.
  const auto steps = static_cast<uint32_t>(step);
  const bool is_fresh = steps >= 1 && steps <= kJitterBufferTicks && holds(step);
  for (uint32_t i = 0; i < std::min(steps, kJitterBufferTicks + kSeenTicks); ++i) {
    seen_mask_ = seen_mask_ << 1 | (held_mask_ & 1);
    held_mask_ >>= 1;
  }
  newest_taken_ = tick;
  taken_any_ = true;

  if (is_fresh) {
    const serialization::Word* held = held_words(tick);
    std::memcpy(static_cast<void*>(&last_sight_), held, sizeof(Sight));
    serialization::Word* last = &words_[size_t{kLast} * stride_];
    std::copy(held + kSightWords, held + stride_, last);
    last_fresh_tick_ = tick;
    if (counts) ++stats_.fresh;
    take_last(tick, InputSource::kFresh, counts);
  } else if (last_fresh_tick_ != 0 &&
             static_cast<uint32_t>(base::tick_distance(tick, last_fresh_tick_)) <= repeat_max_ticks_) {
    if (counts) ++stats_.repeated;
    take_last(tick, InputSource::kRepeated, false);
  } else {
    if (counts) ++stats_.defaulted;
    taken_ = TakenInput{&words_[size_t{kDefault} * stride_], InputSource::kDefault, 0, {}};
  }
  return taken_;
}

// The last fresh input, as that of `tick`.
void InputBuffer::take_last(Tick tick, InputSource source, bool counts) {
  taken_.words = &words_[size_t{kLast} * stride_];
  taken_.source = source;
  taken_.input_tick = last_fresh_tick_;
  taken_.sight = last_sight_;
  taken_.sight_clamped = bound_sight(&taken_.sight, tick, counts);
}

const TakenInput& InputBuffer::take_up_to(Tick tick) {
  LATTICE_ASSERT(!base::tick_after(newest_taken_, tick));
  while (newest_taken_ != tick) take(base::next_tick(newest_taken_));
  return taken_;
}

void InputBuffer::skip(Tick ran, Tick tick) {
  take_up_to(ran);
  for (uint32_t i = 0; i < kJitterBufferTicks && newest_taken_ != tick; ++i) {
    take(base::next_tick(newest_taken_), false);
  }
  take(tick, false);
}

// The newest state that a player can have seen is that of the tick before. A client that says otherwise is
// not refused: after a stall of its own, an honest one says such things too. Returns whether `sight` changed.
bool InputBuffer::bound_sight(Sight* sight, Tick tick, bool counts) {
  const TickTime newest{base::previous_tick(tick), 0.0};
  const TickTime oldest{oldest_seen(tick), 0.0};
  const TickTime view = view_time(*sight);
  const bool has_view = sight->view_tick != 0;
  const bool future_view = has_view && ticks_between(view, newest) > 0;
  const bool old_view = has_view && ticks_between(view, oldest) < 0;
  const bool future_snapshot =
      sight->snapshot_tick != 0 && base::tick_after(sight->snapshot_tick, newest.tick);
  if (future_snapshot) sight->snapshot_tick = newest.tick;
  const bool old_snapshot = sight->snapshot_tick != 0 && never_ran(sight->snapshot_tick, tick);
  if (old_snapshot) sight->snapshot_tick = 0;
  if (future_view || old_view) {
    sight->view_tick = future_view ? newest.tick : oldest.tick;
    sight->view_fraction = 0;
  }
  if (counts && (future_view || future_snapshot)) ++stats_.sights_future;
  if (counts && (old_view || old_snapshot)) ++stats_.sights_old;
  return future_view || old_view || future_snapshot || old_snapshot;
}

bool InputBuffer::is_young(Tick tick) const {
  return first_tick_ != 0 && tick - first_tick_ < history_ticks_;
}

// The oldest state that a player can have seen whose input is that of `tick`.
Tick InputBuffer::oldest_seen(Tick tick) const {
  const Tick oldest = is_young(tick) ? first_tick_ : tick - history_ticks_;
  return oldest == 0 ? 1 : oldest;  // 0 is no tick
}

// Whether the server began after `seen`. In its first ticks it knows.
bool InputBuffer::never_ran(Tick seen, Tick tick) const {
  return is_young(tick) && base::tick_after(first_tick_, seen);
}

void InputBuffer::validate() const {
  LATTICE_ASSERT(last_fresh_tick_ == 0 || !base::tick_after(last_fresh_tick_, newest_taken_));
}

int8_t InputBuffer::margin_quarter_ticks() const {
  const int32_t rounded = (margin_q8_ + (margin_q8_ >= 0 ? 128 : -128)) / 256;
  return static_cast<int8_t>(std::clamp(rounded, -127, 127));
}

uint32_t InputBuffer::depth() const {
  return base::popcount(held_mask_);
}

}  // namespace lattice::simulation
