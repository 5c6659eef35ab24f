// The inputs of a client's own player for the last ticks, as words of the input layout (§10.3, §11.1, C-06).
//
// The ticks held are contiguous. After a jump of the clock the history starts anew, so the window that is
// sent never has a hole (T-05). The history holds the 32 ticks that may be sent again, and those that may be
// resimulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/sequence.h"
#include "serialization/word.h"
#include "simulation/sight.h"

namespace lattice::simulation {

using base::Tick;

inline constexpr uint32_t kMaxInputsPerMessage = 32;  // T-05
inline constexpr uint32_t kRedundantInputs = 2;       // C-06

struct InputHistoryConfig {
  size_t resimulated_ticks = 64;  ///< find() reaches back at least so many ticks.
  /// The next message repeats at most so many inputs that were sent before. 31 is as many as a message can
  /// repeat.
  uint32_t max_redundant_inputs = kMaxInputsPerMessage - 1;
};

class InputHistory {
 public:
  /// Allocates the whole ring: its ticks are the next power of two from 32 + resimulated_ticks, each with
  /// `word_count` words.
  explicit InputHistory(size_t word_count, const InputHistoryConfig& config = {});

  /// Stores the input of `tick`, which must be newer than the newest tick and not 0. When `tick` does not
  /// follow the newest tick directly, all earlier inputs are dropped. `sight` is what the player saw: what of
  /// it cannot be said is left out (bounded_sight).
  void push(Tick tick, std::span<const serialization::Word> words, const Sight& sight = {});

  /// The words of one tick, or null when the tick is not held. They are valid until the ring reuses their
  /// place.
  const serialization::Word* find(Tick tick) const;

  /// What the player saw; the tick is held.
  const Sight& sight(Tick tick) const { return sights_[tick & (ticks_ - 1)]; }

  /// Drops the inputs after `tick`, where the clock jumped back to. None of them may have been sent.
  void drop_after(Tick tick);

  /// The server has run `tick`: it will never use an input up to that tick. The acknowledged tick never moves
  /// back.
  void acknowledge(Tick tick);
  /// A message whose newest input is that of `tick` has left.
  void mark_sent(Tick tick);

  /// How many inputs, counted back from newest(), the next message should hold: all inputs since the last
  /// message, and before those the inputs that are not acknowledged, at least 2 and at most
  /// max_redundant_inputs. At most 32 in all. 0 only while the history is empty.
  uint32_t window_count() const;

  size_t word_count() const { return word_count_; }
  Tick newest() const { return newest_; }
  Tick newest_sent() const { return newest_sent_; }
  /// The ticks up to newest() whose inputs are held: those of ticks that followed one another.
  uint32_t held_count() const { return held_count_; }
  void clear();

 private:
  serialization::Word* slot(Tick tick) { return &words_[(tick & (ticks_ - 1)) * word_count_]; }
  const serialization::Word* slot(Tick tick) const { return &words_[(tick & (ticks_ - 1)) * word_count_]; }

  size_t word_count_;
  size_t ticks_;  // a power of two, so that slots follow one another also where tick numbers wrap
  uint32_t max_redundant_inputs_;
  std::vector<serialization::Word> words_;
  std::vector<Sight> sights_;
  Tick newest_ = 0;
  Tick newest_sent_ = 0;
  Tick acknowledged_ = 0;
  uint32_t held_count_ = 0;
  uint32_t run_count_ = 0;  // of them, up to newest(), those whose numbers follow one another
};

}  // namespace lattice::simulation
