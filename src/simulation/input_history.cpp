#include "simulation/input_history.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/tick.h"

namespace lattice::simulation {

InputHistory::InputHistory(size_t word_count, const InputHistoryConfig& config)
    : word_count_(word_count),
      ticks_(std::bit_ceil(kMaxInputsPerMessage + config.resimulated_ticks)),
      max_redundant_inputs_(config.max_redundant_inputs),
      words_(ticks_ * word_count),
      sights_(ticks_) {
  LATTICE_CHECK(word_count > 0 && max_redundant_inputs_ < kMaxInputsPerMessage);
}

void InputHistory::push(Tick tick, std::span<const serialization::Word> words, const Sight& sight) {
  LATTICE_ASSERT(words.size() == word_count_);
  LATTICE_ASSERT(tick != 0);
  LATTICE_ASSERT(newest_ == 0 || base::tick_after(tick, newest_));
  const bool follows = held_count_ != 0 && tick == base::next_tick(newest_);
  // Where numbers wrap there is one tick more between the two (T-04): a message holds none of both sides.
  const uint32_t step = follows ? tick - newest_ : 1;
  held_count_ = std::min((follows ? held_count_ : 0) + step, static_cast<uint32_t>(ticks_));
  run_count_ = std::min((follows && step == 1 ? run_count_ : 0) + 1, static_cast<uint32_t>(ticks_));
  std::copy(words.begin(), words.end(), slot(tick));
  sights_[tick & (ticks_ - 1)] = bounded_sight(sight, tick);
  newest_ = tick;
}

const serialization::Word* InputHistory::find(Tick tick) const {
  const int32_t age = base::tick_distance(newest_, tick);
  if (age < 0 || static_cast<uint32_t>(age) >= held_count_) return nullptr;
  return slot(tick);
}

void InputHistory::drop_after(Tick tick) {
  LATTICE_ASSERT(newest_sent_ == 0 || !base::tick_after(newest_sent_, tick));
  if (newest_ == 0 || !base::tick_after(newest_, tick)) return;
  const auto dropped = static_cast<uint32_t>(base::tick_distance(newest_, tick));
  held_count_ -= std::min(held_count_, dropped);
  run_count_ -= std::min(run_count_, dropped);
  newest_ = tick;
}

void InputHistory::acknowledge(Tick tick) {
  if (acknowledged_ == 0 || base::tick_after(tick, acknowledged_)) acknowledged_ = tick;
}

void InputHistory::mark_sent(Tick tick) {
  if (newest_sent_ == 0 || base::tick_after(tick, newest_sent_)) newest_sent_ = tick;
}

uint32_t InputHistory::window_count() const {
  if (held_count_ == 0) return 0;
  const auto newer_than = [this](Tick tick) {
    if (tick == 0) return kMaxInputsPerMessage;
    const int32_t distance = base::tick_distance(newest_, tick);
    return static_cast<uint32_t>(std::clamp<int32_t>(distance, 0, kMaxInputsPerMessage));
  };
  const uint32_t unsent = newer_than(newest_sent_);
  const uint32_t at_least = unsent + std::min(kRedundantInputs, max_redundant_inputs_);
  const uint32_t unacknowledged = std::min(newer_than(acknowledged_), unsent + max_redundant_inputs_);
  const uint32_t wanted = std::max({at_least, unacknowledged, uint32_t{1}});
  return std::min({wanted, kMaxInputsPerMessage, run_count_});
}

void InputHistory::clear() {
  newest_ = 0;
  newest_sent_ = 0;
  acknowledged_ = 0;
  held_count_ = 0;
  run_count_ = 0;
}

}  // namespace lattice::simulation
