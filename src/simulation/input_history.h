// A client's own inputs of the last ticks, as words of the input layout (§10.3, §11.1, C-06).
//
// Ticks in it are contiguous: after a jump of the clock the history starts anew, so the window that is
// sent never has a hole (T-05). It holds the 32 ticks that may be resent and those that may be re-simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/sequence.h"

namespace lattice::simulation {

using base::Tick;

inline constexpr uint32_t kMaxInputsPerMessage = 32;  // T-05
inline constexpr uint32_t kRedundantInputs = 2;       // C-06

struct InputHistoryConfig {
  size_t resimulated_ticks = 64;  ///< So far back find() answers at least.
  /// Inputs sent before that the next message repeats at most. 31: as many as a message holds.
  uint32_t max_redundant_inputs = kMaxInputsPerMessage - 1;
};

class InputHistory {
 public:
  /// Allocates the whole ring: the next power of two from 32 + resimulated_ticks, times `word_count` words.
  explicit InputHistory(size_t word_count, const InputHistoryConfig& config = {});

  /// Stores the input of `tick`, which must be newer than the newest and not 0. A tick that does not
  /// follow the newest directly drops everything before it.
  void push(Tick tick, std::span<const uint64_t> words);

  /// The words of one tick, or null when it is not held. Valid until the ring comes round.
  const uint64_t* find(Tick tick) const;

  /// The server will never use an input up to `tick`: it has run that tick. Never moves back.
  void acknowledge(Tick tick);
  /// A message whose newest input is `tick` has left.
  void mark_sent(Tick tick);

  /// How many inputs, counted back from newest(), the next message wants: everything since the last message,
  /// and before it what is not acknowledged, at least 2 and at most max_redundant_inputs; in all up to 32.
  /// 0 only while the history is empty.
  uint32_t window_count() const;

  size_t word_count() const { return word_count_; }
  Tick newest() const { return newest_; }
  Tick newest_sent() const { return newest_sent_; }
  /// Contiguous inputs held, ending at newest().
  uint32_t held_count() const { return held_count_; }
  void clear();

 private:
  uint64_t* slot(Tick tick) { return &words_[(tick & (ticks_ - 1)) * word_count_]; }
  const uint64_t* slot(Tick tick) const { return &words_[(tick & (ticks_ - 1)) * word_count_]; }

  size_t word_count_;
  size_t ticks_;  // a power of two, so that slots follow one another also where tick numbers wrap
  uint32_t max_redundant_inputs_;
  std::vector<uint64_t> words_;
  Tick newest_ = 0;
  Tick newest_sent_ = 0;
  Tick acknowledged_ = 0;
  uint32_t held_count_ = 0;
};

}  // namespace lattice::simulation
