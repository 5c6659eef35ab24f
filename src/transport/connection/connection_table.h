// Routing (P-07, P-06): connection_id → slot, and address → slot while a client's id is still zero. Slots are
// dense and reused; a handle carries the generation it was made in, so a stale one is refused, never
// followed.
//
// Bound: the capacity given at creation; inserting into a full table fails. Both indexes are open-addressing
// tables of at least twice that size, so a probe always ends. Nothing allocates after construction.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "platform/address.h"

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

  /// A new slot reached by `connection_id` (non-zero). Nothing when the table is full or the id is taken.
  std::optional<ConnectionHandle> insert(uint64_t connection_id);
  /// A new slot reached by `server` while its id is zero. Nothing when full, or when a handshake with that
  /// address is already under way from this socket.
  std::optional<ConnectionHandle> insert_pending(const platform::Address& server);
  /// The attempt of a pending `handle` has ended: the address stops routing to it, and may be connected to
  /// again while the entry lives on.
  void stop_pending(ConnectionHandle handle);
  /// The pending `handle` got its id: the address stops routing to it. False, and nothing changed, when the
  /// id is taken or `handle` is not pending.
  bool assign_id(ConnectionHandle handle, uint64_t connection_id);
  /// Frees the slot; its handles turn stale. Stale handles are ignored.
  void erase(ConnectionHandle handle);

  std::optional<ConnectionHandle> find(uint64_t connection_id) const;
  std::optional<ConnectionHandle> find_pending(const platform::Address& server) const;
  bool live(ConnectionHandle handle) const {
    return handle.slot < slots_.size() && slots_[handle.slot].live &&
           slots_[handle.slot].generation == handle.generation;
  }

  uint32_t capacity() const { return static_cast<uint32_t>(slots_.size()); }
  uint32_t size() const { return live_count_; }
  /// The handle living in `slot` (below capacity()), if any: for iterating all.
  std::optional<ConnectionHandle> at(uint32_t slot) const;

  /// True when slots, indexes and free list agree.
  bool validate() const;

 private:
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  struct Slot {
    uint64_t connection_id = 0;
    platform::Address pending_address;
    uint32_t generation = 1;
    uint32_t next_free = kNoSlot;
    bool live = false;
  };

  size_t id_home(uint64_t connection_id) const;
  size_t address_home(const platform::Address& address) const;
  size_t slot_home(const std::vector<uint32_t>& index, uint32_t slot) const;
  void index_insert(std::vector<uint32_t>& index, uint32_t slot);
  void index_erase(std::vector<uint32_t>& index, uint32_t slot);
  std::optional<ConnectionHandle> take_slot();

  std::vector<Slot> slots_;
  std::vector<uint32_t> by_id_;
  std::vector<uint32_t> by_address_;
  size_t index_mask_;
  uint32_t first_free_ = 0;
  uint32_t live_count_ = 0;
};

}  // namespace lattice::connection
