// What one predicted object was predicted to be, for each tick of the prediction window (§11.1).
//
// States are quantized words, because that is what the server's are compared with (S-02). The inputs that
// led to them are not repeated here: they belong to the player, not the object, and are kept in
// simulation/input_history.
//
// Must stay true: a slot answers only for the tick it was written for; nothing is allocated after creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sequence.h"

namespace lattice::prediction {

using base::Tick;

inline constexpr size_t kPredictionWindowTicks = 64;  // §22, the default

class PredictionHistory {
 public:
  /// Keeps at least the last `window_ticks` ticks: the next power of two, so that slots follow one another
  /// also where tick numbers wrap.
  explicit PredictionHistory(size_t word_count, size_t window_ticks = kPredictionWindowTicks);

  /// The words to fill for `tick` (not 0); replaces an older tick.
  uint64_t* write(Tick tick);
  /// The words of `tick`, or null when they were never written or are gone.
  const uint64_t* find(Tick tick) const;
  uint64_t* find(Tick tick);
  void clear();

  size_t word_count() const { return word_count_; }

 private:
  size_t slot(Tick tick) const { return tick & (ticks_.size() - 1); }

  size_t word_count_;
  std::vector<Tick> ticks_;  // 0: empty
  std::vector<uint64_t> words_;
};

}  // namespace lattice::prediction
