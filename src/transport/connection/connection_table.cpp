#include "transport/connection/connection_table.h"

#include <bit>

#include "base/assert.h"

namespace lattice::connection {

ConnectionTable::ConnectionTable(uint32_t capacity) : slots_(capacity) {
  LATTICE_CHECK(capacity >= 1 && capacity <= 65536);
  const size_t index_size = std::bit_ceil(size_t{capacity} * 2);
  by_id_.resize(index_size);
  by_path_.resize(index_size);
  index_mask_ = index_size - 1;
  for (uint32_t i = 0; i + 1 < capacity; ++i) slots_[i].next_free = i + 1;
}

void ConnectionTable::index_insert(Index& index, uint64_t key, ConnectionHandle handle) {
  size_t i = home(key);
  while (!index[i].is_free()) i = (i + 1) & index_mask_;
  index[i] = {key, handle};
}

void ConnectionTable::index_erase(Index& index, uint64_t key, uint32_t slot) {
  size_t hole = home(key);
  while (index[hole].handle.slot != slot) hole = (hole + 1) & index_mask_;
  // Backward shift: an entry moves into the hole unless its home lies strictly behind the hole.
  for (size_t i = (hole + 1) & index_mask_; !index[i].is_free(); i = (i + 1) & index_mask_) {
    if (((i - home(index[i].key)) & index_mask_) >= ((i - hole) & index_mask_)) {
      index[hole] = index[i];
      hole = i;
    }
  }
  index[hole] = {};
}

std::optional<ConnectionHandle> ConnectionTable::take_slot() {
  if (first_free_ == kNoSlot) return std::nullopt;
  const uint32_t slot = first_free_;
  first_free_ = slots_[slot].next_free;
  slots_[slot].next_free = kNoSlot;
  slots_[slot].live = true;
  ++live_count_;
  return ConnectionHandle{slot, slots_[slot].generation};
}

std::optional<ConnectionHandle> ConnectionTable::insert(uint64_t connection_id) {
  LATTICE_CHECK(connection_id != 0);
  if (find(connection_id)) return std::nullopt;
  const std::optional<ConnectionHandle> handle = take_slot();
  if (!handle) return std::nullopt;
  slots_[handle->slot].connection_id = connection_id;
  index_insert(by_id_, connection_id, *handle);
  LATTICE_ASSERT(slots_.size() > 64 || validate());
  return handle;
}

std::optional<ConnectionHandle> ConnectionTable::insert_pending(const base::PathId& server) {
  LATTICE_CHECK(base::is_path(server));
  if (find_pending(server)) return std::nullopt;
  const std::optional<ConnectionHandle> handle = take_slot();
  if (!handle) return std::nullopt;
  slots_[handle->slot].pending_path = server;
  index_insert(by_path_, base::hash_path(server), *handle);
  LATTICE_ASSERT(slots_.size() > 64 || validate());
  return handle;
}

bool ConnectionTable::assign_id(ConnectionHandle handle, uint64_t connection_id) {
  LATTICE_CHECK(connection_id != 0);
  if (!live(handle) || slots_[handle.slot].connection_id != 0 || find(connection_id)) return false;
  index_erase(by_path_, base::hash_path(slots_[handle.slot].pending_path), handle.slot);
  slots_[handle.slot].pending_path = {};
  slots_[handle.slot].connection_id = connection_id;
  index_insert(by_id_, connection_id, handle);
  LATTICE_ASSERT(slots_.size() > 64 || validate());
  return true;
}

void ConnectionTable::stop_pending(ConnectionHandle handle) {
  if (!live(handle) || !base::is_path(slots_[handle.slot].pending_path)) return;
  index_erase(by_path_, base::hash_path(slots_[handle.slot].pending_path), handle.slot);
  slots_[handle.slot].pending_path = {};
}

void ConnectionTable::erase(ConnectionHandle handle) {
  if (!live(handle)) return;
  stop_pending(handle);
  Slot& slot = slots_[handle.slot];
  if (slot.connection_id != 0) index_erase(by_id_, slot.connection_id, handle.slot);
  slot.connection_id = 0;
  slot.live = false;
  if (++slot.generation == 0) slot.generation = 1;
  slot.next_free = first_free_;
  first_free_ = handle.slot;
  --live_count_;
  LATTICE_ASSERT(slots_.size() > 64 || validate());
}

std::optional<ConnectionHandle> ConnectionTable::find_pending(const base::PathId& server) const {
  const uint64_t hash = base::hash_path(server);
  for (size_t i = home(hash); !by_path_[i].is_free(); i = (i + 1) & index_mask_) {
    const Entry& entry = by_path_[i];
    if (entry.key == hash && slots_[entry.handle.slot].pending_path == server) return entry.handle;
  }
  return std::nullopt;
}

std::optional<ConnectionHandle> ConnectionTable::at(uint32_t slot) const {
  if (slot >= slots_.size() || !slots_[slot].live) return std::nullopt;
  return ConnectionHandle{slot, slots_[slot].generation};
}

bool ConnectionTable::validate() const {
  uint32_t live = 0;
  for (uint32_t i = 0; i < capacity(); ++i) {
    const Slot& slot = slots_[i];
    if (!slot.live) continue;
    ++live;
    const bool pending = base::is_path(slot.pending_path);
    if (pending && slot.connection_id != 0) return false;
    if (!pending && slot.connection_id == 0) continue;  // The attempt has ended.
    const std::optional<ConnectionHandle> found =
        pending ? find_pending(slot.pending_path) : find(slot.connection_id);
    if (!found || found->slot != i) return false;
  }
  uint32_t free = 0;
  for (uint32_t i = first_free_; i != kNoSlot && free <= capacity(); i = slots_[i].next_free) {
    if (slots_[i].live) return false;
    ++free;
  }
  return live == live_count_ && live + free == capacity();
}

}  // namespace lattice::connection
