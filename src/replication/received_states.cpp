#include "replication/received_states.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace lattice::replication {
namespace {

// An object that rests has few states. One that moves holds those of parts with keep and those that came
// since its baseline, or are drawn: 24 of these are 0.4 s at 60 snapshots a second, and 0.8 s at 30. A
// quarter of the cells beyond that makes closing up seldom. Only a longer round trip takes the most there can
// be.
constexpr uint32_t kFirstCells = 4;
constexpr uint32_t kSteadyCells = 54;
static_assert(kKeptStates + 24 <= kSteadyCells - kSteadyCells / 4 && kDrawnStates <= 24);

}  // namespace

void ReceivedStates::reset(uint32_t word_count) {
  static_assert(kMostCells <= UINT8_MAX);
  stride_ = static_cast<uint32_t>(kWords) + word_count;
  head_ = count_ = kept_ = 0;
  draft_ = 0;
  if (capacity_ != 0 && capacity_ * stride_ <= size_) return;
  grow(std::max<uint32_t>(kFirstCells, capacity_));
}

const Word* ReceivedStates::search(Tick tick, uint32_t* depth) const {
  for (uint32_t i = count_; i > 0; --i) {
    const Word* cell = at(i - 1);
    if (base::tick_after(tick, cell[kTick])) return nullptr;
    if (cell[kTick] != tick) continue;
    *depth = count_ - i;
    return let_go(i - 1) ? nullptr : words_of(cell);
  }
  return nullptr;
}

// If the earlier state was said to hold up to `tick` or later, the object had changed before that. The time
// of the change is unknown, so the earlier state holds at its own tick only.
void ReceivedStates::end_before(Word* before, Tick tick, uint32_t interval_ticks) {
  if (!base::tick_after(tick, before[kHeldUntil])) {
    before[kHeldUntil] = before[kTick];
    before[kFlags] &= ~kRests;
  }
  const Tick last_rest = tick - interval_ticks;
  if ((before[kFlags] & kRests) != 0 && base::tick_after(last_rest, before[kHeldUntil]))
    before[kHeldUntil] = last_rest;
}

void ReceivedStates::rest(Tick tick) {
  if (count_ == 0) return;
  Word* newest = recent(0);
  newest[kFlags] |= kRests;
  if (base::tick_after(tick, newest[kHeldUntil])) newest[kHeldUntil] = tick;
}

uint32_t ReceivedStates::drawn_count() const {
  const uint32_t most = std::min<uint32_t>(count_, kDrawnStates);
  uint32_t drawn = 0;
  while (drawn < most && !base::tick_after(stay_began_, recent(drawn)[kTick])) ++drawn;
  return drawn;
}

Word* ReceivedStates::insert_anywhere(Tick tick, bool keep, uint32_t interval_ticks) {
  if (count_ == capacity_) make_room();
  if (count_ == 0) first_needed_ = stay_began_ = tick - static_cast<Tick>(kMaxBaselineTicks);
  uint32_t index = count_;
  while (index > 0 && base::tick_after(at(index - 1)[kTick], tick)) --index;
  if (index > 0 && at(index - 1)[kTick] == tick) return nullptr;
  if (keep && kept_ == kKeptStates) {
    uint32_t oldest = 0;
    while (!keeps(oldest)) ++oldest;
    keep = index > oldest;  // of those with keep, the newest stay
    if (keep) {
      at(oldest)[kFlags] &= ~kKeep;
      --kept_;
    }
  }
  if (count_ == kMostStates) {
    // At most kKeptStates have keep, the new state included. So the oldest without keep, or a state before
    // it, has kBaselineSends newer ones.
    uint32_t oldest = 0;
    while (keeps(oldest)) ++oldest;
    if (index <= oldest && !keep) return nullptr;
    drop(oldest);
    index -= index > oldest ? 1 : 0;
  }
  Word* cell = open_cell(index);  // nothing moves when states come in order
  begin_cell(cell, tick, keep);
  if (index > 0) end_before(at(index - 1), tick, interval_ticks);
  count_draft();
  if (keep) ++kept_;
  validate();
  return words_of(cell);
}

// Moves the draft to `index`, and the states from there on by one.
Word* ReceivedStates::open_cell(uint32_t index) {
  for (uint32_t i = count_; i > index; --i) std::swap_ranges(at(i), at(i) + stride_, at(i - 1));
  return at(index);
}

// The older states move, so that the draft stays in its cell.
void ReceivedStates::drop(uint32_t index) {
  if (keeps(index)) --kept_;
  for (uint32_t i = index; i > 0; --i) copy_cell(at(i - 1), at(i));
  head_ = static_cast<uint8_t>(index_of(1));
  --count_;
}

// Closes up what was let go and is not drawn: of the states before the first needed one, all without keep.
// What stays of the older states moves, so that the draft stays in its cell. Grows when few cells came free,
// so that this happens seldom.
void ReceivedStates::make_room() {
  uint32_t old_states = count_ - std::min<uint32_t>(count_, kDrawnStates);
  while (old_states > 0 && !base::tick_after(first_needed_, at(old_states - 1)[kTick])) --old_states;
  uint32_t free = old_states;  // before this index; those that stay gather behind it
  for (uint32_t i = old_states; i > 0; --i) {
    if (keeps(i - 1) && --free != i - 1) copy_cell(at(i - 1), at(free));
  }
  head_ = static_cast<uint8_t>(index_of(free));
  count_ = static_cast<uint8_t>(count_ - free);
  if (count_ > capacity_ - capacity_ / 4) grow(capacity_ < kSteadyCells ? kSteadyCells : kMostCells);
  LATTICE_ASSERT(count_ < capacity_);
}

// To `cells`, which is no less than before.
void ReceivedStates::grow(uint32_t cells) {
  const uint32_t size = cells * stride_;
  auto grown = std::make_unique_for_overwrite<Word[]>(size);
  for (uint32_t i = 0; i < count_; ++i) copy_cell(at(i), grown.get() + size_t{i} * stride_);
  cells_ = std::move(grown);
  size_ = size;
  draft_ = count_ * stride_;
  head_ = 0;
  capacity_ = static_cast<uint8_t>(cells);
}

void ReceivedStates::age(Tick oldest) {
  if (empty()) return;
  while (count_ > 1 && base::tick_after(oldest, at(0)[kTick])) drop(0);
  for (const size_t tick : {kTick, kHeldUntil}) {
    if (base::tick_after(oldest, at(0)[tick])) at(0)[tick] = oldest;
  }
  for (Tick* tick : {&first_needed_, &stay_began_}) {
    if (base::tick_after(oldest, *tick)) *tick = oldest;
  }
}

void ReceivedStates::validate() const {
#if defined(LATTICE_VALIDATION)
  LATTICE_ASSERT(count_ <= kMostStates && kept_ <= kKeptStates);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    kept += keeps(i) ? 1u : 0u;
    LATTICE_ASSERT(base::tick_distance(at(i)[kHeldUntil], at(i)[kTick]) >= 0);
    LATTICE_ASSERT(i == 0 || base::tick_after(at(i)[kTick], at(i - 1)[kHeldUntil]));
  }
  LATTICE_ASSERT(kept == kept_ && capacity_ * stride_ <= size_);
  LATTICE_ASSERT(draft_ == index_of(count_) * stride_);
#endif
}

}  // namespace lattice::replication
