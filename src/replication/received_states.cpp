#include "replication/received_states.h"

#include <algorithm>
#include <bitset>
#include <utility>

#include "base/assert.h"
#include "replication/keep_ticks.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kFirstCells = 4;
constexpr uint32_t kSteadyCells = 36;  // two growths away; enough for an object that moves, at 30 Hz
constexpr uint32_t kMostStates = kBaselineSends + kKeptStates;
constexpr uint32_t kMostCells = kMostStates + 1;  // one is for the draft

}  // namespace

void ReceivedStates::reset(uint32_t word_count) {
  word_count_ = word_count;
  head_ = count_ = kept_ = 0;
  grow(std::max(kFirstCells, static_cast<uint32_t>(cells_.size())));
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

Word* ReceivedStates::insert_anywhere(Tick tick, bool keep) {
  if (count_ == cells_.size()) make_room();
  if (count_ == 0) first_needed_ = tick - static_cast<Tick>(kMaxBaselineTicks);
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
  at(index).place = place;
  at(index).tick = tick;
  at(index).keep = keep;
  ++count_;
  kept_ += keep ? 1 : 0;
  validate();
  return words_of(at(index));
}

// The older states move, so that the draft stays in its cell.
void ReceivedStates::drop(uint32_t index) {
  const Cell dropped = at(index);
  for (uint32_t i = index; i > 0; --i) at(i) = at(i - 1);
  at(0) = dropped;
  kept_ -= dropped.keep ? 1u : 0u;
  head_ = index_of(1);
  --count_;
}

// Closes up what was let go. Grows when few cells came free, so that this happens seldom.
void ReceivedStates::make_room() {
  uint32_t stay = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    if (let_go(i)) continue;
    if (stay != i) std::swap(at(stay), at(i));
    ++stay;
  }
  count_ = stay;
  const auto cells = static_cast<uint32_t>(cells_.size());
  if (count_ > cells - cells / 4)
    grow(std::min(cells < kSteadyCells ? 3 * cells : cells + cells / 2, kMostCells));
  LATTICE_ASSERT(count_ < cells_.size());
}

// To `cells`, which is no less than before. The words stay where they are.
void ReceivedStates::grow(uint32_t cells) {
  std::rotate(cells_.begin(), cells_.begin() + head_, cells_.end());
  head_ = 0;
  for (auto place = static_cast<uint32_t>(cells_.size()); place < cells; ++place) {
    cells_.push_back(Cell{0, static_cast<uint16_t>(place), false});
  }
  words_.resize(std::max(words_.size(), size_t{cells} * word_count_));
}

void ReceivedStates::age(Tick oldest) {
  if (empty()) return;
  while (count_ > 1 && base::tick_after(oldest, at(0).tick)) drop(0);
  if (base::tick_after(oldest, at(0).tick)) at(0).tick = oldest;
  if (base::tick_after(oldest, first_needed_)) first_needed_ = oldest;
}

void ReceivedStates::validate() const {
#if defined(LATTICE_VALIDATION)
  LATTICE_ASSERT(count_ <= kMostStates && kept_ <= kKeptStates);
  std::bitset<kMostCells> owned;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < cells_.size(); ++i) {
    LATTICE_ASSERT(!owned[at(i).place]);  // each place has one owner
    owned[at(i).place] = true;
    if (i >= count_) continue;
    kept += at(i).keep ? 1u : 0u;
    LATTICE_ASSERT(i == 0 || base::tick_after(at(i).tick, at(i - 1).tick));
  }
  LATTICE_ASSERT(kept == kept_);
#endif
}

}  // namespace lattice::replication
