// The live objects of one world: ids, slots, owners, writers, storage. On a client, the table mirrors the
// authority's.
// Spec: §14.1, X-05, A-01, A-07, D-12.
//
// True at all times: every live object has one dense slot. ascending() lists exactly the live slots, in
// ascending network_id: all simulated code visits objects in this order. An id is never reused. The storage
// of an object does not move while the object lives. Spawning and despawning cost the same in a world of any
// size; the order is put right again by the next ascending().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "base/spaced_check.h"
#include "lattice/types.h"
#include "replication/authority.h"
#include "replication/host_cells.h"
#include "replication/object_type.h"

namespace lattice::replication {

inline constexpr uint32_t kNoSlot = UINT32_MAX;
inline constexpr uint32_t kMaxObjects = 1u << 20;

/// Slots of a world with room for `max_objects` are below this number (D-12). There are more slots than
/// objects, so that a freed slot can rest before another object takes it.
constexpr uint32_t slot_bound(uint32_t max_objects) {
  return 2 * max_objects > 65536 ? 2 * max_objects : 65536;
}

/// The properties of an object beside its state. Owner 0 means nobody.
struct ObjectInfo {
  uint64_t network_id = 0;
  const ObjectType* type = nullptr;
  uint64_t owner = 0;
  Authority authority;
  lattice_authority_mode mode = LATTICE_AUTHORITY_SERVER;
  Tick spawn_tick = 0;

  bool owned_by(uint64_t peer) const { return peer != 0 && owner == peer; }
};

class ObjectTable {
 public:
  /// `max_objects` in 1..kMaxObjects: spawning beyond it is refused. A freed slot is taken again once
  /// `resting_slots` other slots are free, the longest free first. `local_peer` is set_local_peer()'s.
  /// `id_seed` is secret where another side chooses the ids: it cannot aim them at one place of an index.
  explicit ObjectTable(uint32_t max_objects, uint32_t resting_slots = 0, uint64_t local_peer = kAuthorityPeer,
                       uint64_t id_seed = 0);
  ObjectTable(const ObjectTable&) = delete;
  ObjectTable& operator=(const ObjectTable&) = delete;

  /// Authority: creates an object under the next id, its host storage zeroed. kNoSlot at the bound.
  uint32_t spawn(const ObjectType& type, uint64_t owner, lattice_authority_mode mode, Tick since_tick,
                 Tick spawn_tick);
  /// Client: creates the mirror of an object whose id the authority chose. kNoSlot at the bound, or when the
  /// id is 0 or belongs to a live object. `info.authority` must be that of its mode and owner.
  uint32_t mirror(const ObjectInfo& info);
  /// Makes room for so many objects at once: a table that doubles moves all that it has.
  void reserve(uint32_t objects);
  /// Frees the slot. The storage serves the next object of the type, so repeated spawns do not allocate.
  void despawn(uint32_t slot);
  /// Authority: the objects that are here now, in the slots from 0 on, were placed by both sides. No other
  /// object ever takes their slots: every client that joins begins with them in it.
  void keep_slots();
  /// Authority: a freed slot rests for so many ticks, as long as there are slots that were never used. A
  /// client hears of nothing in a slot whose former object it may still have (D-42).
  void let_slots_rest(uint32_t ticks) { rest_ticks_ = ticks; }
  /// Authority: what is freed from here on rests from `tick` on.
  void begin_tick(Tick tick) { tick_ = tick; }
  /// Begins a new tenure. On the authority, the caller must also call StateStore::announce.
  void set_authority(uint32_t slot, uint64_t owner, lattice_authority_mode mode, Tick since_tick);
  /// The peer that this side is; 0 while it is none: a client without a session.
  void set_local_peer(uint64_t peer) { local_peer_ = peer; }
  uint64_t local_peer() const { return local_peer_; }
  /// True when this side is the writer of a live object: its state here is the true one (I5).
  bool writes(uint32_t slot) const { return live(slot) && info(slot).authority.writer == local_peer_; }
  /// True when this side owns a live object.
  bool owns(uint32_t slot) const { return live(slot) && info(slot).owned_by(local_peer_); }

  /// The slot of a live object, or kNoSlot. A reference member is resolved with it, when it is used.
  uint32_t find(uint64_t network_id) const { return slot_of_.find(network_id); }
  /// Asks for what find() reads. Only a hint.
  void prefetch(uint64_t network_id) const { slot_of_.prefetch(network_id); }
  bool live(uint32_t slot) const { return slot < slots_.size() && slots_[slot].info.network_id != 0; }
  /// The slot must be live.
  const ObjectInfo& info(uint32_t slot) const { return slots_[slot].info; }
  uint64_t network_id(uint32_t slot) const { return slots_[slot].info.network_id; }

  /// One pointer per behaviour, valid until despawn. Layout::quantize and dequantize take pointers in this
  /// form.
  void* const* host(uint32_t slot) { return slots_[slot].host; }
  const void* const* host(uint32_t slot) const { return const_cast<const void* const*>(slots_[slot].host); }

  /// Live slots in ascending network_id. Invalid after the next spawn, mirror or despawn.
  std::span<const uint32_t> ascending() const;
  /// For further indexes by id.
  uint64_t id_seed() const { return id_seed_; }
  /// The ids of all objects so far are below. On the authority, the next object gets it.
  uint64_t next_id() const { return next_id_; }
  uint32_t size() const { return size_; }
  uint32_t max_objects() const { return max_objects_; }
  /// One past the largest slot ever used: the length of arrays indexed by slot.
  uint32_t slot_count() const { return static_cast<uint32_t>(slots_.size()); }

 private:
  struct alignas(64) Slot {  // one cache line, and no part of a second
    ObjectInfo info;         // of a free one, spawn_tick is the tick in which it was freed
    void* const* host = nullptr;
    uint32_t next_free = 0;  // kNoSlot: the last; only while free
  };
  uint32_t take_slot();
  bool has_rested(uint32_t slot) const;
  void free_slot(uint32_t slot);
  void validate() const;

  uint32_t max_objects_;
  uint32_t resting_slots_;
  uint32_t rest_ticks_ = 0;
  Tick tick_ = 0;
  uint64_t local_peer_;
  uint64_t next_id_ = 1;
  uint32_t size_ = 0;
  std::vector<Slot> slots_;
  HostCells cells_;
  uint64_t id_seed_;
  base::HashIndex slot_of_;
  uint32_t first_free_ = kNoSlot;  // a queue: the longest free slot first
  uint32_t last_free_ = kNoSlot;
  uint32_t free_count_ = 0;
  uint32_t kept_slots_ = 0;              // slots below it are not taken again
  uint32_t retired_count_ = 0;           // of these, the empty ones
  mutable std::vector<uint32_t> order_;  // kNoSlot: the object is gone
  mutable std::vector<uint32_t> place_;  // by slot: where the slot is in order_
  mutable bool in_order_ = true;         // false: order_ has gaps, or ids that do not ascend
#if defined(LATTICE_VALIDATION)
  mutable base::SpacedCheck check_;
#endif
};

}  // namespace lattice::replication
