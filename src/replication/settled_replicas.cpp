#include "replication/settled_replicas.h"

#include "base/assert.h"

namespace lattice::replication {

void SettledReplicas::reserve(size_t objects) {
  const size_t cells = objects * 5 / 4 + 1;
  if (cells > keys_.size()) resize(cells);
}

void SettledReplicas::add(uint32_t slot, const State& state) {
  LATTICE_ASSERT(place_of(slot) == kNone);
  LATTICE_ASSERT(slot < 1u << kSlotBits && state.version <= kMostVersion && state.losses <= kMostLosses);
  if ((size_ + size_t{1}) * 5 > keys_.size() * 4) resize(keys_.size() + keys_.size() / 4 + kLeastCells);
  Key key;
  key.slot = slot & ((1u << kSlotBits) - 1);
  key.used = true;
  key.acked_full = state.acked_full;
  key.is_kept = state.is_kept;
  key.entry_bytes = state.entry_bytes;
  Value value;
  value.version = state.version & kMostVersion;
  value.losses = state.losses & kMostLosses;
  value.tick = state.tick;
  place(key, value);
  ++size_;
}

std::optional<SettledReplicas::State> SettledReplicas::take(uint32_t slot) {
  const size_t at = place_of(slot);
  if (at == kNone) return std::nullopt;
  const State taken = state(at);
  remove(at);
  return taken;
}

void SettledReplicas::age(base::Tick oldest) {
  for (size_t at = 0; at < keys_.size(); ++at) {
    if (!keys_[at].used || values_[at].tick == 0 || !base::tick_after(oldest, values_[at].tick)) continue;
    values_[at].tick = oldest;
    keys_[at].is_kept = false;
  }
}

SettledReplicas::State SettledReplicas::state(size_t at) const {
  State state;
  state.version = values_[at].version;
  state.tick = values_[at].tick;
  state.losses = static_cast<uint8_t>(values_[at].losses);
  state.entry_bytes = static_cast<uint8_t>(keys_[at].entry_bytes);
  state.acked_full = keys_[at].acked_full;
  state.is_kept = keys_[at].is_kept;
  return state;
}

void SettledReplicas::place(Key key, Value value) {
  size_t at = home(key.slot);
  while (keys_[at].used) at = next(at);
  keys_[at] = key;
  values_[at] = value;
}

void SettledReplicas::remove(size_t hole) {
  for (size_t at = next(hole); keys_[at].used; at = next(at)) {
    // A cell may move back into the hole unless its home lies behind the hole.
    if (steps(home(keys_[at].slot), at) < steps(hole, at)) continue;
    keys_[hole] = keys_[at];
    values_[hole] = values_[at];
    hole = at;
  }
  keys_[hole] = Key();
  --size_;
}

void SettledReplicas::resize(size_t cells) {
  std::vector<Key> keys(cells);
  std::vector<Value> values(cells);
  keys.swap(keys_);
  values.swap(values_);
  for (size_t at = 0; at < keys.size(); ++at) {
    if (keys[at].used) place(keys[at], values[at]);
  }
}

}  // namespace lattice::replication
