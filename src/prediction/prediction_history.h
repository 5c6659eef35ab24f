// The predicted states of one object, for each tick of the prediction window (§11.1).
//
// States are quantized words, because they are compared with the server's words (S-02). The inputs that led
// to them are not kept here: they belong to the player, not to the object, and simulation/input_history keeps
// them.
//
// Must stay true: a slot is read only for the tick for which it was written; nothing is allocated after
// creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sequence.h"
#include "serialization/word.h"

namespace lattice::prediction {

using base::Tick;

inline constexpr size_t kPredictionWindowTicks = 64;  // §22, the default

class PredictionHistory {
 public:
  /// Keeps at least the last `window_ticks` ticks. The number of slots is the next power of two, so that
  /// slots follow one another also where tick numbers wrap.
  explicit PredictionHistory(size_t word_count, size_t window_ticks = kPredictionWindowTicks);

  /// Returns the words to fill for `tick`, which is not 0. They replace those of an older tick.
  serialization::Word* write(Tick tick);
  /// The words of `tick`; null when they were never written or were replaced.
  const serialization::Word* find(Tick tick) const;
  serialization::Word* find(Tick tick);
  void clear();

  size_t word_count() const { return word_count_; }

 private:
  size_t slot(Tick tick) const { return tick & (ticks_.size() - 1); }

  size_t word_count_;
  std::vector<Tick> ticks_;  // 0: empty
  std::vector<serialization::Word> words_;
};

}  // namespace lattice::prediction
