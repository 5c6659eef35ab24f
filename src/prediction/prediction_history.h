// What one predicted object was predicted to be, for each of the last 64 ticks (§11.1).
//
// States are quantized words, because that is what the server's are compared with (S-02). The inputs that
// led to them are not repeated here: they belong to the player, not the object, and are kept for 128 ticks
// in simulation/input_history.
//
// Must stay true: a slot answers only for the tick it was written for; nothing is allocated after creation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sequence.h"

namespace lattice::prediction {

using base::Tick;

inline constexpr size_t kPredictionWindowTicks = 64;  // §22

class PredictionHistory {
 public:
  explicit PredictionHistory(size_t word_count);

  /// The words to fill for `tick` (not 0); replaces whatever tick was 64 before.
  uint64_t* write(Tick tick);
  /// The words of `tick`, or null when they were never written or are gone.
  const uint64_t* find(Tick tick) const;
  uint64_t* find(Tick tick);
  void clear();

  size_t word_count() const { return word_count_; }

 private:
  size_t word_count_;
  std::array<Tick, kPredictionWindowTicks> ticks_{};  // 0: empty
  std::vector<uint64_t> words_;
};

}  // namespace lattice::prediction
