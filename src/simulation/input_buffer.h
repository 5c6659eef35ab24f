// A server's jitter buffer for one client's inputs (§10.3, T-06).
//
// Each tick takes exactly one input. The first copy of a tick's input to arrive counts. Later copies are the
// redundancy of the sliding window; they are dropped, even when they differ. When the input of a tick is
// missing, the last input is repeated for at most 250 ms. After that the default ("no input") is used. The
// source of each input is reported, so that a misprediction can be explained.
//
// The margin tells the client how early its inputs come, in quarter ticks, smoothed 7/8 (T-02). Every message
// that brings a newer input than any before is measured, also a late one.
//
// What the player saw comes with each input. take() holds it within what can be judged: not after the last
// tick, and not before the oldest state that the server keeps.
//
// Must stay true: take() returns one and the same input for a tick, however often it is called.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/compiler.h"
#include "simulation/input_codec.h"
#include "simulation/tick_time.h"

namespace lattice::simulation {

inline constexpr uint32_t kJitterBufferTicks = 32;          // T-06
inline constexpr uint64_t kInputRepeatMaxNs = 250'000'000;  // T-06
/// Messages of inputs that a server reads (D-60). A client sends one for each tick that it runs.
inline constexpr uint32_t kInputMessagesPerTick = 2;
inline constexpr uint32_t kInputMessagesAtOnce = 64;

struct InputBufferConfig {
  uint32_t tick_rate_hz = 60;
  uint64_t repeat_max_ns = kInputRepeatMaxNs;
  uint32_t history_ticks = 64;  // how far back a view is believed
  Tick first_tick = 0;          // and not before this one, the first that the server ran; 0: no such bound
};

enum class InputSource : uint8_t {
  kFresh,     // the client's own input for this tick
  kRepeated,  // the input is missing: the last fresh input again
  kDefault,   // no input for longer than the repeat time, or never one
};

struct TakenInput {
  const serialization::Word* words = nullptr;  // valid until the next call
  InputSource source = InputSource::kDefault;
  Tick input_tick = 0;         // the tick with which the input was stamped; 0 for the default
  Sight sight;                 // what the player saw then, bounded
  bool sight_clamped = false;  // the client said another view or snapshot
};

struct InputBufferStats {
  uint64_t messages = 0;
  uint64_t over_rate = 0;    // messages that were not read, because ticks cannot use so many
  uint64_t accepted = 0;     // inputs stored
  uint64_t duplicates = 0;   // copies of inputs that came before: the redundancy of the window
  uint64_t conflicting = 0;  // of those that were read, second, different inputs for a tick; the first counts
  uint64_t late = 0;         // inputs that first came after their tick had run
  uint64_t too_early = 0;    // inputs more than 32 ticks ahead
  uint64_t sights_future = 0;  // inputs used whose view or snapshot was not yet there
  uint64_t sights_old = 0;     // inputs used whose view is older than what the server keeps, or before it ran
  uint64_t fresh = 0;          // from here on: ticks by the source of their input
  uint64_t repeated = 0;
  uint64_t defaulted = 0;
};

class InputBuffer {
 public:
  /// `default_words` is the "no input" command; its length is the word count. Allocates all memory.
  /// `newest_tick` is the last tick that the server has run; 0 before the first.
  InputBuffer(const InputBufferConfig& config, std::span<const serialization::Word> default_words,
              Tick newest_tick);
  InputBuffer(InputBuffer&&) = default;
  InputBuffer& operator=(InputBuffer&&) = default;

  /// Whether one more message may be read at `tick`, the last that ran. False is counted: drop it unread.
  bool admit(Tick tick);
  /// The inputs of all ticks up to this one are here, or were taken: decode_inputs() need not read them.
  Tick known_until() const { return newest_taken_ + static_cast<Tick>(std::countr_one(held_mask_)); }
  /// Stores the result of decode_inputs(), newest input first. Inputs that were not read are of ticks up to
  /// known_until(), and no take() came in between. `server_position` is the position of the server's clock
  /// (FixedTick::position_at): only the margin uses it.
  void receive(const DecodedInputs& inputs, std::span<const serialization::Word> words,
               TickTime server_position);

  /// Fetches what the next admit() reads into the cache. Only a hint.
  void prefetch() const { base::prefetch(this, this + 1); }
  /// Fetches the inputs that receive() and take() need into the cache: of the next tick, and the newest ones.
  /// Only a hint.
  void prefetch_inputs() const {
    base::prefetch(held_words(newest_taken_ + 1));
    base::prefetch(held_words(newest_seen_));
    base::prefetch(held_words(newest_seen_ + 1));
    base::prefetch(&words_[size_t{kLast} * stride_]);
  }

  /// The input for `tick`. Ticks must not decrease. The inputs of skipped ticks are dropped.
  /// The reference is valid until the next call, as what it points to.
  const TakenInput& take(Tick tick);
  /// take() of every tick up to `tick` that was not taken yet, for a server that runs its ticks one by one
  /// and asks only when it needs an answer. Call it before receive() too: what comes after a tick is late for
  /// it. Before the first tick of this buffer it is the default.
  const TakenInput& take_up_to(Tick tick);
  /// take_up_to() of the ticks that ran, up to `ran`. Those after it, up to `tick`, never run: nobody used an
  /// input of theirs, so none counts. The newest of them that came is what later ticks repeat.
  void skip(Tick ran, Tick tick);

  /// How early the newest inputs come, smoothed, saturating at ±127 quarter ticks; 0 before the first input.
  int8_t margin_quarter_ticks() const;
  /// The newest tick for which the client's own input was applied; 0: none.
  Tick last_input_tick() const { return last_fresh_tick_; }
  /// The lead that the client said in the message with its newest input.
  uint8_t lead_quarter_ticks() const { return lead_quarter_ticks_; }
  /// The number of inputs stored for ticks that have not run yet.
  uint32_t depth() const;
  const InputBufferStats& stats() const { return stats_; }

 private:
  /// Places in words_ beside those of the ring.
  static constexpr uint32_t kLast = kJitterBufferTicks, kDefault = kLast + 1, kPlaces = kDefault + 1;

  const serialization::Word* held_words(Tick tick) const {
    return &words_[(tick % kJitterBufferTicks) * stride_];
  }
  serialization::Word* held_words(Tick tick) { return &words_[(tick % kJitterBufferTicks) * stride_]; }
  /// Whether the input of a tick after the last taken one is there, that many ticks ahead.
  bool holds(int32_t ahead) const { return (held_mask_ >> (ahead - 1) & 1) != 0; }
  void store(Tick tick, const serialization::Word* words, const Sight& sight);
  void store_late(uint32_t age);
  const TakenInput& take(Tick tick, bool counts);
  void take_last(Tick tick, InputSource source, bool counts);
  bool bound_sight(Sight* sight, Tick tick, bool counts);
  bool is_young(Tick tick) const;
  Tick oldest_seen(Tick tick) const;
  bool never_ran(Tick seen, Tick tick) const;
  void validate() const;
  void fold_margin(const DecodedInputs& inputs, TickTime server_position);

  // In the order in which a message needs them: with a thousand clients none of it is in the cache.
  uint32_t admissible_ = kInputMessagesAtOnce;  // messages, as of refilled_at_
  Tick refilled_at_;
  Tick newest_taken_;
  uint32_t held_mask_ = 0;  // bit n: the input for tick newest_taken_ + 1 + n is here
  uint64_t seen_mask_ = 0;  // bit n: an input for tick newest_taken_ - n has arrived
  /// In places of `stride_` words: the ring of the next ticks' inputs, each behind its sight; the last fresh
  /// input; the default input.
  std::vector<serialization::Word> words_;
  uint32_t stride_;
  Tick newest_seen_ = 0;
  Tick last_fresh_tick_ = 0;
  uint32_t repeat_max_ticks_;
  uint32_t history_ticks_;
  Tick first_tick_;
  int32_t margin_q8_ = 0;  // quarter ticks × 256
  bool margin_known_ = false;
  bool taken_any_ = false;
  uint8_t lead_quarter_ticks_ = 0;
  Sight last_sight_;  // of the last fresh input, as it was said
  TakenInput taken_;
  InputBufferStats stats_;
};

}  // namespace lattice::simulation
