#include "prediction/prediction_history.h"

#include "base/assert.h"

namespace lattice::prediction {

PredictionHistory::PredictionHistory(size_t word_count)
    : word_count_(word_count), words_(kPredictionWindowTicks * word_count) {}

uint64_t* PredictionHistory::write(Tick tick) {
  LATTICE_ASSERT(tick != 0);
  const size_t slot = tick % kPredictionWindowTicks;
  ticks_[slot] = tick;
  return words_.data() + slot * word_count_;
}

const uint64_t* PredictionHistory::find(Tick tick) const {
  const size_t slot = tick % kPredictionWindowTicks;
  return tick != 0 && ticks_[slot] == tick ? words_.data() + slot * word_count_ : nullptr;
}

uint64_t* PredictionHistory::find(Tick tick) {
  const size_t slot = tick % kPredictionWindowTicks;
  return tick != 0 && ticks_[slot] == tick ? words_.data() + slot * word_count_ : nullptr;
}

void PredictionHistory::clear() {
  ticks_.fill(0);
}

}  // namespace lattice::prediction
