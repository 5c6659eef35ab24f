#include "replication/state_ring.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kFirstCapacity = 4;

}  // namespace

void StateRing::reset(uint32_t word_count, uint32_t max_states) {
  LATTICE_ASSERT(max_states >= kFirstCapacity);
  word_count_ = word_count;
  max_states_ = max_states;
  head_ = 0;
  size_ = 0;
  capacity_ = std::clamp(capacity_, kFirstCapacity, max_states);
  entries_.resize(capacity_);
  for (uint32_t i = 0; i < capacity_; ++i) entries_[i] = Entry{0, i};
  if (words_.size() < size_t{capacity_} * word_count) words_.resize(size_t{capacity_} * word_count);
}

void StateRing::grow() {
  const uint32_t capacity =
      std::min(capacity_ * 4, max_states_);  // large steps, because each growth allocates
  std::rotate(entries_.begin(), entries_.begin() + head_, entries_.end());
  head_ = 0;
  entries_.resize(capacity);
  for (uint32_t i = capacity_; i < capacity; ++i) entries_[i] = Entry{0, i};
  if (words_.size() < size_t{capacity} * word_count_) words_.resize(size_t{capacity} * word_count_);
  capacity_ = capacity;
}

serialization::Word* StateRing::insert(Tick tick) {
  const int32_t before = at_or_before(tick);
  if (before >= 0 && this->tick(static_cast<uint32_t>(before)) == tick) return nullptr;
  uint32_t place = static_cast<uint32_t>(before + 1);
  if (size_ == capacity_) {
    if (capacity_ < max_states_) {
      grow();
    } else {
      if (place == 0) return nullptr;
      pop_front();
      --place;
    }
  }
  const uint32_t free_block = entries_[wrap(size_)].block;
  for (uint32_t i = size_; i > place; --i) entries_[wrap(i)] = entries_[wrap(i - 1)];
  entries_[wrap(place)] = Entry{tick, free_block};
  ++size_;
  return words_.data() + size_t{free_block} * word_count_;
}

void StateRing::pop_front() {
  LATTICE_ASSERT(size_ > 0);
  head_ = wrap(1);
  --size_;
}

void StateRing::age(Tick tick) {
  if (size_ == 0 || !base::tick_after(tick, this->tick(size_ - 1))) return;
  while (size_ > 1) pop_front();
  entries_[wrap(0)].tick = tick;
}

int32_t StateRing::at_or_before(Tick tick) const {
  // Searches from the newest state: most calls ask for one of the newest few.
  for (uint32_t i = size_; i > 0; --i) {
    if (!base::tick_after(this->tick(i - 1), tick)) return static_cast<int32_t>(i - 1);
  }
  return -1;
}

const serialization::Word* StateRing::find(Tick tick) const {
  const int32_t index = at_or_before(tick);
  if (index < 0 || this->tick(static_cast<uint32_t>(index)) != tick) return nullptr;
  return words(static_cast<uint32_t>(index));
}

}  // namespace lattice::replication
