#include "prediction/prediction_history.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace lattice::prediction {

PredictionHistory::PredictionHistory(size_t word_count, size_t window_ticks)
    : word_count_(word_count), ticks_(std::bit_ceil(window_ticks)), words_(ticks_.size() * word_count) {}

serialization::Word* PredictionHistory::write(Tick tick) {
  LATTICE_ASSERT(tick != 0);
  const size_t at = slot(tick);
  ticks_[at] = tick;
  return words_.data() + at * word_count_;
}

const serialization::Word* PredictionHistory::find(Tick tick) const {
  const size_t at = slot(tick);
  return tick != 0 && ticks_[at] == tick ? words_.data() + at * word_count_ : nullptr;
}

serialization::Word* PredictionHistory::find(Tick tick) {
  const size_t at = slot(tick);
  return tick != 0 && ticks_[at] == tick ? words_.data() + at * word_count_ : nullptr;
}

void PredictionHistory::clear() {
  std::fill(ticks_.begin(), ticks_.end(), Tick{0});
}

}  // namespace lattice::prediction
