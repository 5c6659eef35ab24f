// What one client knows of the objects at rest: it has the newest state of them, was told that they rest, and
// no part about them is on its way. 15 bytes an object where a Replica and its index take 49, because most
// objects of a client's set rest.
//
// A table with open addressing, linear probing, and removal by moving the rest of the run back; four fifths
// of its cells are full at most. Keys lie apart: where much changes, all keys are read. Slots are numbers of
// our own, so no secret is mixed into the hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/sequence.h"
#include "replication/object_table.h"

namespace lattice::replication {

class SettledReplicas {
 public:
  /// An object with a later version does not settle.
  static constexpr uint32_t kMostVersion = (1u << 26) - 1;
  static constexpr uint32_t kMostLosses = 63;

  /// See Replica.
  struct State {
    uint32_t version = 0;  // acked_version and sent_version
    base::Tick tick = 0;   // acked_tick and sent_tick
    uint8_t losses = 0;
    uint8_t entry_bytes = 0;
    bool acked_full = false;  // a full entry was acked
    bool is_kept = false;     // the state is the newest acked one of a part with keep
  };

  uint32_t size() const { return size_; }
  std::optional<State> find(uint32_t slot) const {
    const size_t at = place_of(slot);
    return at == kNone ? std::nullopt : std::optional(state(at));
  }
  /// Makes room for so many.
  void reserve(size_t objects);
  /// Adds a slot that is not here.
  void add(uint32_t slot, const State& state);
  /// Takes a slot out, if it is here.
  std::optional<State> take(uint32_t slot);
  /// Takes out each object for which `is_wanted(slot, place)`, and calls take(slot, state), which must not
  /// call anything here. is_wanted() may be asked twice, and may call version_at(place).
  template <class IsWanted, class Take>
  void take_if(IsWanted is_wanted, Take take) {
    const size_t cells = keys_.size();
    for (size_t at = 0; at < cells; ++at) {
      // Removal may move another one here, which then was not seen yet, or was at the begin of the table.
      while (keys_[at].used && is_wanted(uint32_t{keys_[at].slot}, at)) {
        const uint32_t slot = keys_[at].slot;
        const State taken = state(at);
        remove(at);
        take(slot, taken);
      }
    }
  }
  uint32_t version_at(size_t place) const { return values_[place].version; }
  /// Moves ticks of long ago forward: ticks wrap.
  void age(base::Tick oldest);
  /// Bytes on the heap.
  size_t heap_bytes() const { return keys_.capacity() * sizeof(Key) + values_.capacity() * sizeof(Value); }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  static constexpr size_t kLeastCells = 16;
  static constexpr uint32_t kSlotBits = 21;
  static_assert(slot_bound(kMaxObjects) <= 1u << kSlotBits);

  struct Key {
    uint32_t slot : kSlotBits = 0;
    uint32_t used : 1 = false;
    uint32_t acked_full : 1 = false;
    uint32_t is_kept : 1 = false;
    uint32_t entry_bytes : 8 = 0;
  };
  struct Value {
    uint32_t version : 26 = 0;
    uint32_t losses : 6 = 0;
    base::Tick tick = 0;
  };
  static_assert(sizeof(Key) == 4 && sizeof(Value) == 8);

  size_t home(uint32_t slot) const { return uint64_t{slot * 0x9E3779B1u} * keys_.size() >> 32; }
  size_t next(size_t at) const { return at + 1 == keys_.size() ? 0 : at + 1; }
  /// The steps of next() from one cell to another.
  size_t steps(size_t from, size_t to) const { return to >= from ? to - from : to + keys_.size() - from; }
  size_t place_of(uint32_t slot) const {
    if (size_ == 0) return kNone;
    for (size_t at = home(slot); keys_[at].used; at = next(at)) {
      if (keys_[at].slot == slot) return at;
    }
    return kNone;
  }
  State state(size_t at) const;
  void place(Key key, Value value);
  void remove(size_t at);
  void resize(size_t cells);

  std::vector<Key> keys_;
  std::vector<Value> values_;  // at the place of the key
  uint32_t size_ = 0;
};

}  // namespace lattice::replication
