#include "replication/received_states.h"

#include <algorithm>
#include <bitset>
#include <utility>

#include "base/assert.h"
#include "replication/keep_ticks.h"

namespace lattice::replication {
namespace {

// An object that rests has few states. One that moves holds those of parts with keep and those that came
// since its baseline, or are drawn: 24 of these are 0.4 s at 60 snapshots a second, and 0.8 s at 30. A
// quarter of the cells beyond that makes closing up seldom. Only a longer round trip takes the most there can
// be.
constexpr uint32_t kFirstCells = 4;
constexpr uint32_t kSteadyCells = 54;
constexpr uint32_t kMostStates = kBaselineSends + kKeptStates;
constexpr uint32_t kMostCells = kMostStates + 1;  // one is for the draft
static_assert(kKeptStates + 24 <= kSteadyCells - kSteadyCells / 4 && kDrawnStates <= 24);
static_assert(kMostCells <= UINT8_MAX);

}  // namespace

void ReceivedStates::reset(uint32_t word_count) {
  word_count_ = word_count;
  head_ = count_ = kept_ = 0;
  if (capacity_ != 0 && capacity_ * word_count <= words_size_) return;
  grow(std::max<uint32_t>(kFirstCells, capacity_));
}

const Word* ReceivedStates::search(Tick tick, uint32_t* depth) const {
  for (uint32_t i = count_; i > 0; --i) {
    const Cell& cell = at(i - 1);
    if (base::tick_after(tick, cell.tick)) return nullptr;
    if (cell.tick != tick) continue;
    *depth = count_ - i;
    return let_go(i - 1) ? nullptr : words_of(cell);
  }
  return nullptr;
}

// If the earlier state was said to hold up to `tick` or later, the object had changed before that. The time
// of the change is unknown, so the earlier state holds at its own tick only.
void ReceivedStates::end_before(Cell& before, Tick tick, uint32_t interval_ticks) {
  if (!base::tick_after(tick, before.held_until)) {
    before.held_until = before.tick;
    before.rests = false;
  }
  const Tick last_rest = tick - interval_ticks;
  if (before.rests && base::tick_after(last_rest, before.held_until)) before.held_until = last_rest;
}

void ReceivedStates::rest(Tick tick) {
  if (count_ == 0) return;
  Cell& newest = at(count_ - 1u);
  newest.rests = true;
  if (base::tick_after(tick, newest.held_until)) newest.held_until = tick;
}

uint32_t ReceivedStates::drawn_count() const {
  const uint32_t most = std::min<uint32_t>(count_, kDrawnStates);
  uint32_t drawn = 0;
  while (drawn < most && !base::tick_after(stay_began_, at(count_ - 1 - drawn).tick)) ++drawn;
  return drawn;
}

Word* ReceivedStates::insert_anywhere(Tick tick, bool keep, uint32_t interval_ticks) {
  if (count_ == capacity_) make_room();
  if (count_ == 0) first_needed_ = stay_began_ = tick - static_cast<Tick>(kMaxBaselineTicks);
  uint32_t index = count_;
  while (index > 0 && base::tick_after(at(index - 1).tick, tick)) --index;
  if (index > 0 && at(index - 1).tick == tick) return nullptr;
  if (keep && kept_ == kKeptStates) {
    uint32_t oldest = 0;
    while (!at(oldest).keep) ++oldest;
    keep = index > oldest;  // of those with keep, the newest stay
    if (keep) {
      at(oldest).keep = false;
      --kept_;
    }
  }
  if (count_ == kMostStates) {
    // At most kKeptStates have keep, the new state included. So the oldest without keep, or a state before
    // it, has kBaselineSends newer ones.
    uint32_t oldest = 0;
    while (at(oldest).keep) ++oldest;
    if (index <= oldest && !keep) return nullptr;
    drop(oldest);
    index -= index > oldest ? 1 : 0;
  }
  const uint16_t place = at(count_).place;
  for (uint32_t i = count_; i > index; --i) at(i) = at(i - 1);  // nothing, when states come in order
  at(index) = {tick, tick, place, keep, false};
  if (index > 0) end_before(at(index - 1), tick, interval_ticks);
  ++count_;
  if (keep) ++kept_;
  validate();
  return words_of(at(index));
}

// The older states move, so that the draft stays in its cell.
void ReceivedStates::drop(uint32_t index) {
  const Cell dropped = at(index);
  for (uint32_t i = index; i > 0; --i) at(i) = at(i - 1);
  at(0) = dropped;
  if (dropped.keep) --kept_;
  head_ = static_cast<uint8_t>(index_of(1));
  --count_;
}

// Closes up what was let go and is not drawn. What stays of the older states moves, so that the draft stays
// in its cell. Grows when few cells came free, so that this happens seldom.
void ReceivedStates::make_room() {
  const uint32_t old_states = count_ - std::min<uint32_t>(count_, kDrawnStates);
  uint32_t free = old_states;  // before this index; those that stay gather behind it
  for (uint32_t i = old_states; i > 0; --i) {
    if (let_go(i - 1)) continue;
    --free;
    if (free != i - 1) std::swap(at(free), at(i - 1));
  }
  head_ = static_cast<uint8_t>(index_of(free));
  count_ = static_cast<uint8_t>(count_ - free);
  if (count_ > capacity_ - capacity_ / 4) grow(capacity_ < kSteadyCells ? kSteadyCells : kMostCells);
  LATTICE_ASSERT(count_ < capacity_);
}

// To `cells`, which is no less than before, with words for each. The words keep their places.
void ReceivedStates::grow(uint32_t cells) {
  auto grown = std::make_unique<Cell[]>(cells);
  for (uint32_t i = 0; i < cells; ++i) {
    if (i < capacity_)
      grown[i] = at(i);
    else
      grown[i].place = static_cast<uint16_t>(i);
  }
  cells_ = std::move(grown);
  head_ = 0;
  capacity_ = static_cast<uint8_t>(cells);
  const uint32_t words = cells * word_count_;
  if (words <= words_size_) return;
  auto room = std::make_unique<Word[]>(words);
  std::copy_n(words_.get(), words_size_, room.get());
  words_ = std::move(room);
  words_size_ = words;
}

void ReceivedStates::age(Tick oldest) {
  if (empty()) return;
  while (count_ > 1 && base::tick_after(oldest, at(0).tick)) drop(0);
  Cell& cell = at(0);
  if (base::tick_after(oldest, cell.tick)) cell.tick = oldest;
  if (base::tick_after(oldest, cell.held_until)) cell.held_until = oldest;
  for (Tick* tick : {&first_needed_, &stay_began_}) {
    if (base::tick_after(oldest, *tick)) *tick = oldest;
  }
}

void ReceivedStates::validate() const {
#if defined(LATTICE_VALIDATION)
  LATTICE_ASSERT(count_ <= kMostStates && kept_ <= kKeptStates);
  std::bitset<kMostCells> owned;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < capacity_; ++i) {
    LATTICE_ASSERT(!owned[at(i).place]);  // each place has one owner
    owned[at(i).place] = true;
    if (i >= count_) continue;
    kept += at(i).keep ? 1u : 0u;
    LATTICE_ASSERT(base::tick_distance(at(i).held_until, at(i).tick) >= 0);
    LATTICE_ASSERT(i == 0 || base::tick_after(at(i).tick, at(i - 1).held_until));
  }
  LATTICE_ASSERT(kept == kept_);
#endif
}

}  // namespace lattice::replication
