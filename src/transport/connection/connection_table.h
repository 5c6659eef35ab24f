// Routing (P-07, P-06): connection_id → slot, and path → slot while a client's id is still zero. Slots are
// dense and reused. A handle carries the generation of its slot, so a stale handle is refused, never
// followed.
//
// Bound: the capacity given at creation; inserting into a full table fails. Both indexes are open-addressing
// tables of at least twice that size, so a probe always ends. Nothing allocates after construction.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/compiler.h"
#include "base/path_id.h"
#include "base/random.h"

namespace lattice::connection {

struct ConnectionHandle {
  uint32_t slot = 0;
  uint32_t generation = 0;  ///< 0 is never live: a default handle refers to nothing.

  friend bool operator==(const ConnectionHandle&, const ConnectionHandle&) = default;
};

class ConnectionTable {
 public:
  /// `capacity` is 1 … 65536.
  explicit ConnectionTable(uint32_t capacity);

  /// Takes a slot for `connection_id` (non-zero). Empty when the table is full or the id is in use.
  std::optional<ConnectionHandle> insert(uint64_t connection_id);
  /// Takes a slot for the path `server` while the connection id is zero. Empty when the table is full, or
  /// when a handshake with that path is already in progress on this socket.
  std::optional<ConnectionHandle> insert_pending(const base::PathId& server);
  /// The attempt of a pending `handle` has ended: the path no longer routes to it, and a new attempt to
  /// that path may begin while this entry still exists.
  void stop_pending(ConnectionHandle handle);
  /// Gives the pending `handle` its id: the path no longer routes to it. False, and nothing changed, when
  /// the id is in use or `handle` is not pending.
  bool assign_id(ConnectionHandle handle, uint64_t connection_id);
  /// Frees the slot; its handles become stale. Stale handles are ignored.
  void erase(ConnectionHandle handle);

  /// Here, because every packet is looked up: an answer of twelve bytes would go through memory.
  std::optional<ConnectionHandle> find(uint64_t connection_id) const {
    if (connection_id == 0) return std::nullopt;
    for (size_t i = home(connection_id); !by_id_[i].is_free(); i = (i + 1) & index_mask_) {
      if (by_id_[i].key == connection_id) return by_id_[i].handle;
    }
    return std::nullopt;
  }
  /// Fetches what find() reads into the cache. Only a hint.
  void prefetch(uint64_t connection_id) const { base::prefetch(&by_id_[home(connection_id)]); }
  std::optional<ConnectionHandle> find_pending(const base::PathId& server) const;
  bool live(ConnectionHandle handle) const {
    return handle.slot < slots_.size() && slots_[handle.slot].live &&
           slots_[handle.slot].generation == handle.generation;
  }

  uint32_t capacity() const { return static_cast<uint32_t>(slots_.size()); }
  uint32_t size() const { return live_count_; }
  /// The live handle of `slot` (below capacity()), if any: for iterating over all connections.
  std::optional<ConnectionHandle> at(uint32_t slot) const;

  /// True when slots, indexes and free list agree.
  bool validate() const;

 private:
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  struct Slot {
    uint64_t connection_id = 0;
    base::PathId pending_path;
    uint32_t generation = 1;
    uint32_t next_free = kNoSlot;
    bool live = false;
  };

  /// What the indexes hold. `key` is the connection id, or the hash of the path: one access to memory tells
  /// whether an entry may be the one that is looked for.
  struct Entry {
    uint64_t key = 0;
    ConnectionHandle handle{kNoSlot, 0};
    bool is_free() const { return handle.slot == kNoSlot; }
  };
  using Index = std::vector<Entry>;

  size_t home(uint64_t key) const { return base::splitmix64(key) & index_mask_; }
  void index_insert(Index& index, uint64_t key, ConnectionHandle handle);
  void index_erase(Index& index, uint64_t key, uint32_t slot);
  std::optional<ConnectionHandle> take_slot();

  std::vector<Slot> slots_;
  Index by_id_;
  Index by_path_;
  size_t index_mask_;
  uint32_t first_free_ = 0;
  uint32_t live_count_ = 0;
};

}  // namespace lattice::connection
