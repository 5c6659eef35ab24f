#include "replication/version_ring.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace lattice::replication {
namespace {

constexpr size_t kChunkBytes = 32 * 1024;
constexpr uint32_t kStateHead = 1;  // the tick, or of an older state the version

}  // namespace

StatePool::StatePool(uint32_t newest_states) : newest_states_{1, std::min(6u, newest_states), newest_states} {
  LATTICE_ASSERT(newest_states >= 2 && newest_states <= UINT8_MAX);
}

uint32_t StatePool::stride(const ObjectType& type) {
  return kStateHead + static_cast<uint32_t>((size_t{type.word_count} * sizeof(Word) + 3) / 4);
}

uint32_t* StatePool::take(const ObjectType& type, uint32_t size) {
  const size_t list = size_t{type.index} * kSizes + size;
  if (list >= blocks_.size()) blocks_.resize(list + kSizes);
  Blocks& blocks = blocks_[list];
  if (blocks.free.empty()) {
    const size_t length = size_t{newest_states(size) + older_states(size)} * stride(type);
    const size_t count = std::clamp<size_t>(kChunkBytes / (length * sizeof(uint32_t)), 1, 64);
    blocks.chunks.push_back(std::make_unique<uint32_t[]>(length * count));
    allocated_bytes_ += length * count * sizeof(uint32_t);
    for (size_t i = count; i > 0; --i) blocks.free.push_back(blocks.chunks.back().get() + (i - 1) * length);
  }
  uint32_t* block = blocks.free.back();
  blocks.free.pop_back();
  return block;
}

void StatePool::give_back(const ObjectType& type, uint32_t size, uint32_t* block) {
  blocks_[size_t{type.index} * kSizes + size].free.push_back(block);
}

void VersionRing::begin(const ObjectType& type, StatePool& pool) {
  LATTICE_ASSERT(!begun());
  type_ = &type;
  stride_ = StatePool::stride(type);
  size_ = 0;
  capacity_ = static_cast<uint8_t>(pool.newest_states(0));
  head_ = count_ = older_head_ = older_count_ = 0;
  block_ = pool.take(type, 0);
}

void VersionRing::end(StatePool& pool) {
  LATTICE_ASSERT(begun());
  pool.give_back(*type_, size_, block_);
  *this = VersionRing();
}

Word* VersionRing::push(Tick tick, uint32_t version, int32_t history_ticks, const KeepTicks& keep,
                        StatePool& pool) {
  // The oldest state goes when the second oldest covers all ticks that are kept.
  while (count_ > 1 && base::tick_distance(tick, newest_at(1)[0]) >= history_ticks) drop_oldest(keep, pool);
  if (count_ == capacity_) {
    LATTICE_CHECK(size_ + 1u < StatePool::kSizes);  // the largest size has room for one state in each tick
    resize(size_ + 1u, pool);
  }
  ++count_;
  uint32_t* state = newest_at(count_ - 1u);
  state[0] = tick;
  newest_version_ = version;
  return reinterpret_cast<Word*>(state + kStateHead);
}

void VersionRing::drop_oldest(const KeepTicks& keep, StatePool& pool) {
  LATTICE_ASSERT(count_ > 1);
  if (keep.any_in(newest_at(0)[0], newest_at(1)[0])) {
    if (StatePool::older_states(size_) == 0) resize(StatePool::kSizeWithOlder, pool);
    if (older_count_ == kKeptStates) {
      older_head_ = static_cast<uint8_t>((older_head_ + 1) % kKeptStates);
      --older_count_;
    }
    uint32_t* older = older_at(older_count_);
    std::memcpy(older, newest_at(0), size_t{stride_} * sizeof(uint32_t));
    older[0] = newest_version_ - (count_ - 1u);
    ++older_count_;
  }
  head_ = static_cast<uint8_t>(head_ + 1 == capacity_ ? 0 : head_ + 1);
  --count_;
}

// Keeps the newest states, as many as the new block has room for, and the older ones in a larger block.
void VersionRing::resize(uint32_t size, StatePool& pool) {
  uint32_t* block = pool.take(*type_, size);
  const uint32_t capacity = pool.newest_states(size);
  if (size > size_) {
    for (uint32_t i = 0; i < older_count_; ++i) {
      std::memcpy(block + size_t{capacity + i} * stride_, older_at(i), size_t{stride_} * sizeof(uint32_t));
    }
  } else {
    older_count_ = 0;
  }
  older_head_ = 0;
  const uint32_t kept = std::min<uint32_t>(count_, capacity);
  for (uint32_t i = 0; i < kept; ++i) {
    std::memcpy(block + size_t{i} * stride_, newest_at(count_ - kept + i),
                size_t{stride_} * sizeof(uint32_t));
  }
  pool.give_back(*type_, size_, block_);
  block_ = block;
  size_ = static_cast<uint8_t>(size);
  capacity_ = static_cast<uint8_t>(capacity);
  head_ = 0;
  count_ = static_cast<uint8_t>(kept);
}

void VersionRing::shrink(StatePool& pool) {
  if (size_ != 0) resize(0, pool);
}

void VersionRing::age(Tick oldest) {
  if (count_ != 0 && base::tick_after(oldest, newest_tick())) newest_at(count_ - 1u)[0] = oldest;
}

VersionRing::Version VersionRing::version_at(Tick tick) const {
  LATTICE_ASSERT(count_ != 0);
  const int32_t distance = base::tick_distance(newest_tick(), tick);
  // No two versions have the same tick, so one as many versions back is not after `tick`.
  const uint32_t last = count_ - 1u;
  uint32_t at = distance <= 0 ? last : last - std::min(last, static_cast<uint32_t>(distance));
  const Tick found = newest_at(at)[0];
  if (base::tick_after(found, tick)) return {newest_version_ - count_, false};
  if (found == tick) return {newest_version_ - (last - at), true};  // with no look at the one after it
  while (at < last && !base::tick_after(newest_at(at + 1)[0], tick)) ++at;
  return {newest_version_ - (last - at), true};
}

const Word* VersionRing::find(uint32_t version) const {
  if (count_ == 0) return nullptr;
  const uint32_t back = newest_version_ - version;  // the newest states have consecutive versions
  if (version > newest_version_) return nullptr;
  if (back < count_) return words_of(newest_at(count_ - 1u - back));
  for (uint32_t i = 0; i < older_count_; ++i) {
    if (older_at(i)[0] == version) return words_of(older_at(i));
  }
  return nullptr;
}

}  // namespace lattice::replication
