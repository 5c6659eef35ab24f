// The live objects of one world: ids, slots, owners, storage. On a client, the table mirrors the authority's.
// Spec: §14.1, X-05, A-01, A-07.
//
// True at all times: every live object has one dense slot. ascending() lists exactly the live slots, in
// ascending network_id: all simulated code visits objects in this order. An id is never reused. The storage
// of an object does not move while the object lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/sequence.h"
#include "lattice/types.h"
#include "replication/object_type.h"

namespace lattice::replication {

using base::Tick;

inline constexpr uint32_t kNoSlot = UINT32_MAX;
inline constexpr size_t kHostAlignment = 64;  // the largest alignment that a description may ask for

/// The properties of an object beside its state. Owner 0 means nobody.
struct ObjectInfo {
  uint64_t network_id = 0;
  const ObjectType* type = nullptr;
  uint64_t owner = 0;
  lattice_authority_mode mode = LATTICE_AUTHORITY_SERVER;
  Tick authority_tick = 0;  // when the owner's tenure began; constant for the tenure
  Tick spawn_tick = 0;
};

class ObjectTable {
 public:
  /// `max_objects` in 1..65535: spawning beyond it is refused.
  explicit ObjectTable(uint32_t max_objects);
  ~ObjectTable();
  ObjectTable(const ObjectTable&) = delete;
  ObjectTable& operator=(const ObjectTable&) = delete;

  /// Authority: creates an object under the next id, its host storage zeroed. kNoSlot at the bound.
  uint32_t spawn(const ObjectType& type, uint64_t owner, lattice_authority_mode mode, Tick authority_tick,
                 Tick spawn_tick);
  /// Client: creates the mirror of an object whose id the authority chose. kNoSlot at the bound, or when the
  /// id is 0 or belongs to a live object.
  uint32_t mirror(const ObjectInfo& info);
  /// Frees the slot. The storage stays for the next object of the slot, so repeated spawns do not allocate.
  void despawn(uint32_t slot);
  /// Begins a new tenure. On the authority, the caller must also call VersionHistory::announce.
  void set_authority(uint32_t slot, uint64_t owner, lattice_authority_mode mode, Tick authority_tick);

  /// The slot of a live object, or kNoSlot. A reference member is resolved with it, when it is used.
  uint32_t find(uint64_t network_id) const;
  bool live(uint32_t slot) const { return slot < slots_.size() && slots_[slot].info.network_id != 0; }
  /// The slot must be live.
  const ObjectInfo& info(uint32_t slot) const { return slots_[slot].info; }
  uint64_t network_id(uint32_t slot) const { return slots_[slot].info.network_id; }

  /// One pointer per behaviour, each aligned to kHostAlignment, valid until despawn. Layout::quantize and
  /// dequantize take pointers in this form.
  void* const* host(uint32_t slot) { return slots_[slot].behaviours.data(); }
  const void* const* host(uint32_t slot) const {
    return const_cast<const void* const*>(slots_[slot].behaviours.data());
  }

  /// Live slots in ascending network_id. Invalid after the next spawn, mirror or despawn.
  std::span<const uint32_t> ascending() const { return order_; }
  uint32_t size() const { return static_cast<uint32_t>(order_.size()); }
  uint32_t max_objects() const { return max_objects_; }
  /// One past the largest slot ever used: the length of arrays indexed by slot.
  uint32_t slot_count() const { return static_cast<uint32_t>(slots_.size()); }

  /// Marks that the host values may have changed: the next VersionHistory::record compares the object.
  void mark_written(uint32_t slot) { slots_[slot].written = true; }
  bool take_written(uint32_t slot) {
    const bool was = slots_[slot].written;
    slots_[slot].written = false;
    return was;
  }

 private:
  struct Slot {
    ObjectInfo info;
    bool written = false;
    std::vector<void*> behaviours;
    std::unique_ptr<std::byte[]> storage;  // with room to align
    size_t storage_bytes = 0;
  };
  uint32_t take_slot();
  void prepare_storage(Slot& slot);
  void validate() const;

  uint32_t max_objects_;
  uint64_t next_id_ = 1;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  std::vector<uint32_t> order_;  // ascending network_id
  std::vector<uint64_t> ids_;    // network_id of order_[i], for the search
};

}  // namespace lattice::replication
