// The states of one object that a client received: the baselines to which the authority may refer (D-26), and
// what is drawn between them. Each says until when it held: to its own tick, or longer once a rested entry
// said so (D-17).
//
// They lie in a ring of cells, and a cell is what is said about a state and then its words. So a state is
// decoded into the words that it keeps, and one that comes in order moves nothing. The newest state and the
// draft behind it are neighbours in memory. A state of a part with keep that makes room for newer ones moves
// once, to the older states. So the ring stays short, and with it what a client reads and writes again and
// again.
//
// True at all times: states ascend in tick and do not overlap, the older ones before those of the ring; the
// newest kBaselineSends are here, and of those in parts with keep the newest kKeptStates, but for what
// forget_before() let go. In the ring are the newest kDrawnStates in any case, and of the newest
// kBaselineSends those that a pose needs. The memory grows in two steps at most, and stays.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/compiler.h"
#include "base/sequence.h"
#include "replication/keep_ticks.h"
#include "replication/snapshot_format.h"
#include "serialization/word.h"

namespace lattice::replication {

using base::Tick;
using serialization::Word;

inline constexpr uint32_t kDrawnStates = 16;  // that stay, however late a pose is; S-05 asks for 8 or more

class ReceivedStates {
 public:
  /// A state that held from `tick` to `until`.
  struct Held {
    Tick tick = 0;
    Tick until = 0;
    const Word* words = nullptr;
  };

  /// Empties it. Keeps the memory that it has, unless that is far more than states of so many words can use.
  void reset(uint32_t word_count);
  /// Gives its memory back. reset() follows before it holds states again; until then it finds none.
  void release() {
    cells_.reset();
    size_ = draft_ = 0;
    keep_ = 0;
    count_ = older_head_ = older_count_ = capacity_ = 0;
  }
  size_t memory_bytes() const { return size_ * sizeof(Word); }
  /// The object comes to this client, once more or for the first time: what is drawn begins after `removed`.
  void begin_stay(Tick removed) { stay_began_ = removed + 1; }

  bool empty() const { return count_ == 0; }
  Tick newest_tick() const { return recent(0)[kTick]; }
  /// Until when the newest state is known to hold: its tick, or a later one that a rested entry said (D-17).
  Tick newest_until() const { return until_of(recent(0)); }
  const Word* newest() const { return words_of(recent(0)); }
  /// The state before the newest, or null.
  const Word* before_newest() const { return count_ < 2 ? nullptr : words_of(recent(1)); }
  /// The words of exactly `tick`, or null. `depth` is a guess of how many states are newer, and is put right.
  const Word* find(Tick tick, uint32_t* depth) const {
    if (!may_be_at(*depth, tick)) return search(tick, depth);
    const Word* words = at_depth(*depth);
    return is_of(words, tick) ? words : search(tick, depth);
  }
  const Word* find(Tick tick) const {
    uint32_t depth = 0;
    return find(tick, &depth);
  }
  /// find() in steps: whether states of `tick` are kept and `depth` of them are newer than another one; the
  /// words of that one; and whether they are of `tick`. The last step waits for the memory of the state.
  bool may_be_at(uint32_t depth, Tick tick) const {
    return depth < count_ && !base::tick_after(first_needed_, tick);
  }
  const Word* at_depth(uint32_t depth) const { return words_of(recent(depth)); }
  static bool is_of(const Word* words, Tick tick) { return *(words - kWords + kTick) == tick; }

  /// Asks for what a delta reads and writes, or for the beginning and the end of it: the state of `words`,
  /// and draft().
  void prefetch(const Word* words, const Word* draft) const {
    const Word *cell = words - kWords, *draft_cell = draft - kWords;
    base::prefetch(draft_cell), base::prefetch(draft_cell + stride_ - 1);
    base::prefetch(cell), base::prefetch(cell + stride_ - 1);
  }

  /// Words to fill for a state that may follow. The next insert() takes them over. Valid until then; states
  /// that were let go may leave, but for what a pose at `drawn_from` or later needs. 0: only the newest
  /// kDrawnStates are drawn.
  Word* draft(Tick drawn_from = 0) {
    if (count_ == capacity_) make_room(drawn_from);
    return words_of(cells_.get() + draft_);
  }
  /// Puts the state of `tick` in its place and returns its words, which hold what draft() was filled with.
  /// Null when the tick is already there, or when the state is older than all that must be kept. If the state
  /// before it rested, that held until `interval_ticks` earlier: snapshots are so far apart. `drawn_from` is
  /// as in draft().
  Word* insert(Tick tick, bool keep, uint32_t interval_ticks = 1, Tick drawn_from = 0) {
    // The first state is none of the plain ones, nor is one for which another has to go.
    const bool fits = count_ != capacity_ && uint32_t{count_} - 1 < kBaselineSends - 1;
    const bool plain = fits && !keep && base::tick_after(tick, newest_tick());
    return plain ? append(tick, interval_ticks) : insert_anywhere(tick, keep, interval_ticks, drawn_from);
  }
  /// The newest state still held at `tick`, and holds until the next one comes.
  void rest(Tick tick);
  /// True when `newer` states of this stay followed a state of it that is in the ring.
  bool draws(uint32_t newer) const {
    return newer < count_ && !base::tick_after(stay_began_, recent(newer)[kTick]);
  }
  /// That state.
  Held held_state(uint32_t newer) const {
    const Word* cell = recent(newer);
    return {cell[kTick], until_of(cell), words_of(cell)};
  }
  /// Lets go of the states before `baseline` that are more than kLateBaselineTicks older than `now`. The
  /// newest state and those of parts with keep stay.
  void forget_before(Tick baseline, Tick now) {
    const Tick late = now - static_cast<Tick>(kLateBaselineTicks);
    const Tick from = base::tick_after(baseline, late) ? late : baseline;
    if (base::tick_after(from, first_needed_)) first_needed_ = from;
  }
  /// Gives states of long ago a later tick: ticks wrap.
  void age(Tick oldest);
  /// States in memory, those that were let go included.
  uint32_t held() const { return uint32_t{count_} + older_count_; }

 private:
  // A cell: the tick of the state; how many ticks later it still held, times two, plus one where it rests;
  // and from kWords on its words. It is short, so that a small state takes no more than half of a cache line.
  static constexpr size_t kTick = 0, kHeld = 1, kWords = 2;
  static Tick until_of(const Word* cell) { return cell[kTick] + (cell[kHeld] >> 1); }
  static bool rests(const Word* cell) { return (cell[kHeld] & 1u) != 0; }
  static void hold(Word* cell, Tick until, bool rests) {
    cell[kHeld] = (until - cell[kTick]) << 1 | (rests ? 1u : 0u);
  }
  static constexpr uint32_t kMostCells = kBaselineSends + 1;  // of the ring; one is for the draft
  // `index` 0 is the oldest state of the ring; at(count_) is the cell of the draft.
  Word* at(uint32_t index) { return before_draft(count_ - index); }
  const Word* at(uint32_t index) const { return before_draft(count_ - index); }
  // The cell of the state that `newer` states followed.
  Word* recent(uint32_t newer) { return before_draft(newer + 1); }
  const Word* recent(uint32_t newer) const { return before_draft(newer + 1); }
  Word* before_draft(uint32_t cells) { return cells_.get() + offset_before_draft(cells); }
  const Word* before_draft(uint32_t cells) const { return cells_.get() + offset_before_draft(cells); }
  size_t offset_before_draft(uint32_t cells) const {
    const uint32_t back = cells * stride_;
    if (back > draft_) [[unlikely]]
      return draft_ + uint32_t{capacity_} * stride_ - back;
    return draft_ - back;
  }
  // One more state, in the cell of the draft; `newer` states follow it.
  void count_draft(uint32_t newer, bool keep) {
    const uint64_t older = keep_ >> newer << newer;
    keep_ = (keep_ - older) | uint64_t{keep} << newer | older << 1;
    ++count_;
    draft_ += stride_;
    if (draft_ == uint32_t{capacity_} * stride_) draft_ = 0;
  }
  // Of the older states, 0 is the oldest.
  Word* older(uint32_t index) {
    return cells_.get() + (capacity_ + (older_head_ + index) % kKeptStates) * stride_;
  }
  const Word* older(uint32_t index) const {
    return cells_.get() + (capacity_ + (older_head_ + index) % kKeptStates) * stride_;
  }
  static Word* words_of(Word* cell) { return cell + kWords; }
  static const Word* words_of(const Word* cell) { return cell + kWords; }
  bool let_go(uint32_t index) const {
    const Word* cell = at(index);
    return !keeps(index) && index + 1 != count_ && base::tick_after(first_needed_, cell[kTick]);
  }
  bool keeps(uint32_t index) const { return (keep_ >> (count_ - 1 - index) & 1) != 0; }
  // States with keep, the older ones included.
  uint32_t kept() const { return static_cast<uint32_t>(std::popcount(keep_)) + older_count_; }
  Word* append(Tick tick, uint32_t interval_ticks) {
    Word* before = recent(0);
    Word* cell = cells_.get() + draft_;
    begin_cell(cell, tick);
    if (rests(before)) end_before(before, cell, interval_ticks);
    count_draft(0, false);
    return words_of(cell);
  }
  static void begin_cell(Word* cell, Tick tick) {
    cell[kTick] = tick;
    cell[kHeld] = 0;
  }
  void copy_cell(const Word* from, Word* to) const { std::copy_n(from, stride_, to); }
  static void end_before(Word* before, Word* cell, uint32_t interval_ticks);
  const Word* search(Tick tick, uint32_t* depth) const;
  Word* insert_anywhere(Tick tick, bool keep, uint32_t interval_ticks, Tick drawn_from);
  Word* insert_older(Tick tick, uint32_t interval_ticks);
  bool release_oldest_kept(uint32_t index);
  Word* open_cell(uint32_t index);
  void drop_oldest();
  void drop_oldest_of_older();
  void make_room(Tick drawn_from);
  void grow(uint32_t cells);
  void validate() const;

  static constexpr std::align_val_t kCacheLine{64};
  struct FreeCells {
    void operator()(Word* cells) const { ::operator delete[](cells, kCacheLine); }
  };
  using Cells = std::unique_ptr<Word[], FreeCells>;
  Cells cells_;
  uint64_t keep_ = 0;      // bit n: the state of the ring that n newer ones followed came in a part with keep
  uint32_t stride_ = 0;    // of cells, in words
  uint32_t size_ = 0;      // of cells_, in words
  uint32_t draft_ = 0;     // where the cell of the draft begins, in words
  Tick first_needed_ = 0;  // states before it that are neither the newest nor have keep were let go
  Tick stay_began_ = 0;    // states before it belong to an earlier stay of the object
  uint8_t capacity_ = 0;   // cells in the ring; those of the older states are behind them
  uint8_t count_ = 0;      // states in the ring
  uint8_t older_head_ = 0;
  uint8_t older_count_ = 0;
};

}  // namespace lattice::replication
