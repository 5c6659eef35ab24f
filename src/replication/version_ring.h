// The past states of one object: every state of the last ticks, and before these up to kKeptStates older
// ones.
//
// A ring holds its states in a block of a StatePool. A block is small while the object rests and grows in two
// steps when it moves. A state has its tick in front of its words, an older one its version.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/compiler.h"
#include "base/sequence.h"
#include "replication/keep_ticks.h"
#include "replication/object_type.h"
#include "serialization/word.h"

namespace lattice::replication {

using base::Tick;
using serialization::Word;

/// The blocks of all rings: one list of free blocks for each type and size. A block that was given back
/// serves the next ring, so a warm world does not allocate.
class StatePool {
 public:
  /// States that a block of each size has room for.
  static constexpr uint32_t kSizes = 3;
  static constexpr uint32_t kSizeWithOlder = 2;  // from this size on there is room for older states

  /// `newest_states` is the number of states of the largest size, without the older ones.
  explicit StatePool(uint32_t newest_states);

  uint32_t* take(const ObjectType& type, uint32_t size);
  void give_back(const ObjectType& type, uint32_t size, uint32_t* block);
  /// States that a block of `size` has room for, without the older ones.
  uint32_t newest_states(uint32_t size) const { return newest_states_[size]; }
  static uint32_t older_states(uint32_t size) { return size >= kSizeWithOlder ? kKeptStates : 0; }
  /// 32-bit numbers of one state in a block.
  static uint32_t stride(const ObjectType& type);
  uint64_t allocated_bytes() const { return allocated_bytes_; }

 private:
  struct Blocks {
    std::vector<std::unique_ptr<uint32_t[]>> chunks;
    std::vector<uint32_t*> free;
  };
  uint32_t newest_states_[kSizes];
  std::vector<Blocks> blocks_;  // by ObjectType::index * kSizes + size
  uint64_t allocated_bytes_ = 0;
};

class VersionRing {
 public:
  VersionRing() = default;

  void begin(const ObjectType& type, StatePool& pool);
  /// Gives the block back.
  void end(StatePool& pool);
  bool begun() const { return block_ != nullptr; }
  const ObjectType& type() const { return *type_; }

  /// Makes room for the state of `tick`, which is after all others. States more than `history_ticks` old go,
  /// unless one of the `keep` ticks has them. Returns the words to fill.
  Word* push(Tick tick, uint32_t version, int32_t history_ticks, const KeepTicks& keep, StatePool& pool);
  /// Keeps the newest state only.
  void shrink(StatePool& pool);
  /// Gives the newest state a later tick: ticks wrap, and one of long ago would one day lie in the future.
  void age(Tick oldest);

  bool empty() const { return count_ == 0; }
  /// True when the ring holds more than the newest state, or memory for more.
  bool grown() const { return size_ != 0; }
  Tick newest_tick() const { return newest_at(count_ - 1u)[0]; }
  const Word* newest() const { return words_of(newest_at(count_ - 1u)); }
  /// Fetches what push() reads and writes into the cache: the newest state, the room for the next one, and
  /// the state that says whether the oldest goes. Only a hint, as is the next.
  void prefetch_for_push() const {
    if (count_ == 0) return;
    base::prefetch(newest_at(count_ - 1u));
    base::prefetch(newest_at(count_ == capacity_ ? 0u : uint32_t{count_}));
    base::prefetch(newest_at(std::min(1u, count_ - 1u)));
  }
  /// The newest state, and that of `back` ticks before if there is one in each tick.
  void prefetch_at(Tick back) const {
    if (count_ == 0) return;
    base::prefetch(newest_at(count_ - 1u));
    base::prefetch(newest_at(count_ - 1u - std::min<uint32_t>(count_ - 1u, back)));
  }
  /// The state that was current at a tick.
  struct Version {
    uint32_t version = 0;
    bool exact = false;
  };
  /// The newest version at or before `tick`. Not exact where that is no longer kept: then it is the one
  /// before the oldest that is kept, which is not older. The ring is not empty.
  Version version_at(Tick tick) const;
  /// The words of `version`, or null.
  const Word* find(uint32_t version) const;

 private:
  static const Word* words_of(const uint32_t* state) { return reinterpret_cast<const Word*>(state + 1); }
  uint32_t* newest_at(uint32_t index) const {
    const uint32_t at = head_ + index;
    return block_ + size_t{at >= capacity_ ? at - capacity_ : at} * stride_;
  }
  uint32_t* older_at(uint32_t index) const {
    return block_ + size_t{capacity_ + (older_head_ + index) % kKeptStates} * stride_;
  }
  void drop_oldest(const KeepTicks& keep, StatePool& pool);
  void resize(uint32_t size, StatePool& pool);

  const ObjectType* type_ = nullptr;
  uint32_t* block_ = nullptr;
  uint32_t newest_version_ = 0;
  uint32_t stride_ = 0;
  uint8_t size_ = 0;  // of the block, in StatePool
  uint8_t capacity_ = 0;
  uint8_t head_ = 0;
  uint8_t count_ = 0;  // newest states
  uint8_t older_head_ = 0;
  uint8_t older_count_ = 0;
};

}  // namespace lattice::replication
