#include "replication/received_states.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace lattice::replication {
namespace {

// An object that rests has few states. One that moves holds in its ring those that came since its baseline,
// or are drawn: 24 of these are 0.4 s at 60 snapshots a second, and 0.8 s at 30. A quarter of the cells
// beyond that makes it seldom that there is no room. Only a longer round trip takes the most there can be.
constexpr uint32_t kFirstCells = 4;
constexpr uint32_t kSteadyCells = 32;
static_assert(24 <= kSteadyCells - kSteadyCells / 4 && kDrawnStates <= 24);
constexpr uint32_t kSmallWords = 4096;

/// Cells in all where the ring has `cells`. With so few no state makes room for another, so none gets older.
uint32_t with_older(uint32_t cells) {
  return cells <= kFirstCells ? cells : cells + kKeptStates;
}

}  // namespace

void ReceivedStates::reset(uint32_t word_count) {
  static_assert(kMostCells <= UINT8_MAX);
  stride_ = static_cast<uint32_t>(kWords) + word_count;
  keep_ = 0;
  count_ = older_head_ = older_count_ = 0;
  draft_ = 0;
  const auto has_room = [&](uint32_t cells) { return with_older(cells) * stride_ <= size_; };
  // An object of another type may have left far more than this one could ever come to.
  const bool has_far_more = size_ > std::max(kSmallWords, 2 * with_older(kMostCells) * stride_);
  if (capacity_ != 0 && !has_far_more) {
    if (has_room(capacity_)) return;
    // Small states get as many cells as there were: records go from type to type, and soon none allocates.
    if (with_older(capacity_) * stride_ <= kSmallWords) return grow(capacity_);
    if (has_room(kFirstCells)) {
      capacity_ = uint8_t{kFirstCells};
      return;
    }
  }
  grow(kFirstCells);
}

const Word* ReceivedStates::search(Tick tick, uint32_t* depth) const {
  const uint32_t guess = *depth - count_;
  if (*depth >= count_ && guess < older_count_) {
    const Word* cell = older(older_count_ - 1 - guess);
    if (cell[kTick] == tick) return words_of(cell);
  }
  for (uint32_t newer = 0; newer < count_; ++newer) {
    const Word* cell = recent(newer);
    if (base::tick_after(tick, cell[kTick])) return nullptr;
    if (cell[kTick] != tick) continue;
    *depth = newer;
    return let_go(count_ - 1 - newer) ? nullptr : words_of(cell);
  }
  for (uint32_t newer = 0; newer < older_count_; ++newer) {
    const Word* cell = older(older_count_ - 1 - newer);
    if (base::tick_after(tick, cell[kTick])) return nullptr;
    if (cell[kTick] != tick) continue;
    *depth = count_ + newer;
    return words_of(cell);
  }
  return nullptr;
}

// Ends what was said of the state before that of `cell`. If it was said to hold up to the tick of `cell` or
// later, `cell` has the same state, which was sent again before that was said, and so holds as long (D-17).
// Members that travel once may differ.
void ReceivedStates::end_before(Word* before, Word* cell, uint32_t interval_ticks) {
  const Tick tick = cell[kTick];
  if (!base::tick_after(tick, until_of(before))) {
    hold(cell, until_of(before), rests(before));
    hold(before, before[kTick], false);
  }
  const Tick last_rest = tick - interval_ticks;
  if (rests(before) && base::tick_after(last_rest, until_of(before))) hold(before, last_rest, true);
}

void ReceivedStates::rest(Tick tick) {
  if (count_ == 0) return;
  Word* newest = recent(0);
  const Tick until = until_of(newest);
  hold(newest, base::tick_after(tick, until) ? tick : until, true);
}

Word* ReceivedStates::insert_anywhere(Tick tick, bool keep, uint32_t interval_ticks, Tick drawn_from) {
  if (count_ == capacity_) make_room(drawn_from);
  if (count_ == 0) first_needed_ = stay_began_ = tick - static_cast<Tick>(kMaxBaselineTicks);
  uint32_t index = count_;
  while (index > 0 && base::tick_after(at(index - 1)[kTick], tick)) --index;
  if (index > 0 && at(index - 1)[kTick] == tick) return nullptr;
  // Where there are older states, one that is not newer than these was let go. Where the ring is full, one
  // before it has kBaselineSends newer ones.
  const bool is_older =
      index == 0 && (count_ == kBaselineSends ||
                     (older_count_ != 0 && !base::tick_after(tick, older(older_count_ - 1)[kTick])));
  if (is_older) return keep ? insert_older(tick, interval_ticks) : nullptr;
  if (keep && kept() == kKeptStates) keep = release_oldest_kept(index);
  if (count_ == kBaselineSends) {
    drop_oldest();
    --index;
  }
  Word* cell = open_cell(index);  // nothing moves when states come in order
  begin_cell(cell, tick);
  if (index > 0) {
    end_before(at(index - 1), cell, interval_ticks);
  } else if (older_count_ != 0) {
    end_before(older(older_count_ - 1), cell, interval_ticks);
  }
  count_draft(count_ - index, keep);
  validate();
  return words_of(cell);
}

// Puts a state with keep among the older ones: there the draft is copied.
Word* ReceivedStates::insert_older(Tick tick, uint32_t interval_ticks) {
  uint32_t index = older_count_;
  while (index > 0 && base::tick_after(older(index - 1)[kTick], tick)) --index;
  if (index > 0 && older(index - 1)[kTick] == tick) return nullptr;
  if (kept() == kKeptStates) {
    if (index == 0) return nullptr;  // of those with keep, the newest stay
    drop_oldest_of_older();
    --index;
  }
  for (uint32_t i = older_count_; i > index; --i) copy_cell(older(i - 1), older(i));
  Word* cell = older(index);
  copy_cell(cells_.get() + draft_, cell);
  begin_cell(cell, tick);
  if (index > 0) end_before(older(index - 1), cell, interval_ticks);
  ++older_count_;
  validate();
  return words_of(cell);
}

// Of those with keep the newest stay: lets the oldest one go for a state at `index`. False when that is
// older.
bool ReceivedStates::release_oldest_kept(uint32_t index) {
  if (older_count_ != 0) {
    drop_oldest_of_older();
    return true;
  }
  const uint64_t oldest = std::bit_floor(keep_);
  const auto newer = static_cast<uint32_t>(std::countr_zero(oldest));
  if (index < count_ - newer) return false;
  keep_ -= oldest;
  return true;
}

// Moves the draft to `index`, and the states from there on by one.
Word* ReceivedStates::open_cell(uint32_t index) {
  for (uint32_t i = count_; i > index; --i) std::swap_ranges(at(i), at(i) + stride_, at(i - 1));
  return at(index);
}

// The oldest state of the ring goes, or with keep, to the older ones.
void ReceivedStates::drop_oldest() {
  if (keeps(0)) {
    LATTICE_ASSERT(older_count_ < kKeptStates && capacity_ > kFirstCells);
    copy_cell(at(0), older(older_count_++));
    keep_ -= uint64_t{1} << (count_ - 1);
  }
  --count_;
}

void ReceivedStates::drop_oldest_of_older() {
  older_head_ = static_cast<uint8_t>((older_head_ + 1) % kKeptStates);
  --older_count_;
}

// What was let go and is not drawn goes: the states before the first needed one. Grows when few cells came
// free, so that this happens seldom.
void ReceivedStates::make_room(Tick drawn_from) {
  uint32_t old_states = count_ - std::min<uint32_t>(count_, kDrawnStates);
  if (drawn_from != 0) {  // the newest state that is not after it stays
    while (old_states > 0 && base::tick_after(at(old_states)[kTick], drawn_from)) --old_states;
  }
  while (old_states > 0 && !base::tick_after(first_needed_, at(old_states - 1)[kTick])) --old_states;
  for (; old_states > 0 && keep_ >> (count_ - old_states) != 0; --old_states) drop_oldest();
  count_ = static_cast<uint8_t>(count_ - old_states);  // none of them has keep
  if (count_ > capacity_ - capacity_ / 4) grow(capacity_ < kSteadyCells ? kSteadyCells : kMostCells);
  LATTICE_ASSERT(count_ < capacity_);
}

// To `cells`, which has room for the states that there are.
void ReceivedStates::grow(uint32_t cells) {
  const uint32_t size = with_older(cells) * stride_;
  Cells grown(static_cast<Word*>(::operator new[](size * sizeof(Word), kCacheLine)));
  for (uint32_t i = 0; i < count_; ++i) copy_cell(at(i), grown.get() + size_t{i} * stride_);
  for (uint32_t i = 0; i < older_count_; ++i) copy_cell(older(i), grown.get() + size_t{cells + i} * stride_);
  cells_ = std::move(grown);
  size_ = size;
  draft_ = count_ * stride_;
  older_head_ = 0;
  capacity_ = static_cast<uint8_t>(cells);
}

void ReceivedStates::age(Tick oldest) {
  if (empty()) return;
  while (older_count_ != 0 && base::tick_after(oldest, older(0)[kTick])) drop_oldest_of_older();
  while (count_ > 1 && base::tick_after(oldest, at(0)[kTick])) {
    keep_ &= ~(uint64_t{1} << (count_ - 1));
    drop_oldest();
  }
  Word* first = at(0);
  const Tick until = until_of(first);
  if (base::tick_after(oldest, first[kTick])) first[kTick] = oldest;
  hold(first, base::tick_after(oldest, until) ? oldest : until, rests(first));
  for (Tick* tick : {&first_needed_, &stay_began_}) {
    if (base::tick_after(oldest, *tick)) *tick = oldest;
  }
}

void ReceivedStates::validate() const {
#if defined(LATTICE_VALIDATION)
  LATTICE_ASSERT(count_ <= kBaselineSends && kept() <= kKeptStates);
  LATTICE_ASSERT(count_ == kBaselineSends || keep_ >> count_ == 0);
  for (uint32_t i = 0; i < older_count_; ++i) {
    const Word* next = i + 1 < older_count_ ? older(i + 1) : at(0);
    LATTICE_ASSERT(base::tick_after(next[kTick], until_of(older(i))));
  }
  for (uint32_t i = 0; i < count_; ++i) {
    LATTICE_ASSERT(i == 0 || base::tick_after(at(i)[kTick], until_of(at(i - 1))));
  }
  LATTICE_ASSERT(with_older(capacity_) * stride_ <= size_ && draft_ < uint32_t{capacity_} * stride_);
#endif
}

}  // namespace lattice::replication
