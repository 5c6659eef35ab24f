// What the authority knows about one client: the acked baseline of each object, the priority of each update
// that the client still needs, and the removals that it has not acked. Spec, C-04.
//
// Flat arrays by dense slot. True at all times: a baseline is only taken from an acked part. An ack that
// belongs to an earlier incarnation of an object, before a removal that was sent, changes nothing. A
// removal is sent again when its part was lost, until a part that carried it is acked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "replication/object_table.h"
#include "replication/part_ledger.h"

namespace lattice::replication {

/// One client's knowledge of one object.
struct ObjectKnowledge {
  uint32_t acked_version = 0;  // the version that the client has acked; 0: none
  Tick acked_tick = 0;         // tick of the snapshot with that version: on the wire, it names the baseline
  uint32_t acked_full = 0;     // the version of the newest acked full entry
  Tick last_sent_tick = 0;     // tick of the last entry of any kind; 0: never
  float accumulator = 0;       // C-04
  uint16_t incarnation = 0;    // counts resets; receipts of entries from an older incarnation are ignored
  bool in_set = false;         // for interest management: in this version every live object is in every set
  bool sent = false;           // an entry of this incarnation was sent, so leaving needs a removal
  bool marked = false;         // the last entry sent was an unchanged marker (S-06)
  bool owed_at_join = false;   // must be acked before the client counts as loaded
  uint32_t rpc_count = 0;      // reliable RPCs on the object that were sent to this client (D-35)
};

/// An object that the client may hold and must drop.
struct PendingRemoval {
  uint64_t network_id = 0;
  /// Reliable RPCs that the client must have received before it drops the object (D-35).
  uint32_t rpc_count = 0;
  Tick sent_tick = 0;     // tick of the entry in flight; 0: none is
  float accumulator = 0;  // C-04
  uint16_t incarnation = 0;
  uint32_t place = 0;  // in pending_; only while pending
};

class RecipientState {
 public:
  struct Config {
    uint64_t peer_id = 0;                 // the peer whose own objects get the owner boost
    uint32_t max_objects = 4096;          // the world's limit
    uint32_t max_ledger_entries = 32768;  // bound on the entries remembered until they are acked or lost
  };
  explicit RecipientState(const Config& config);

  /// Puts every live object into the set and marks it as owed. Call once, when the client joins.
  void join(const ObjectTable& table);
  /// Marks an object of the set as owed, like join() does with all. Call it before anything is sent.
  void owe(uint32_t slot);
  void object_added(uint32_t slot);
  /// Call before the table frees the slot.
  void object_removed(uint32_t slot, uint64_t network_id);
  /// For interest management. Leaving makes a removal pending; entering again starts with a full
  /// entry.
  void set_in_set(uint32_t slot, uint64_t network_id, bool in_set);
  /// Counts a reliable RPC on the object that was queued for this client: the object's removal names the
  /// count (D-35).
  void count_reliable_rpc(uint32_t slot) { ++at(slot).rpc_count; }

  /// Takes the transport's verdict on a part. Unknown receipts are ignored.
  void on_receipt(uint32_t receipt, bool acked);

  /// True when every object that was in the set at join has been acked once or is gone.
  bool loaded() const { return owed_at_join_ == 0; }
  /// How many objects may still be sent for the first time. The client has room for twice the world's limit:
  /// for the live objects, and for those whose removal it has not acked.
  uint32_t room_for_new() const;
  uint32_t pending_removals() const { return static_cast<uint32_t>(pending_.size()); }
  uint64_t peer_id() const { return config_.peer_id; }
  bool knows(uint32_t slot) const { return slot < objects_.size() && objects_[slot].acked_version != 0; }
  /// True when the object is in this client's set.
  bool in_set(uint32_t slot) const { return slot < objects_.size() && objects_[slot].in_set; }
  const ObjectKnowledge& knowledge(uint32_t slot) const { return objects_[slot]; }

 private:
  friend class SnapshotBuilder;

  ObjectKnowledge& at(uint32_t slot);
  void forget(uint32_t slot, uint64_t network_id);
  void settle(ObjectKnowledge& known);
  void add_removal(uint64_t network_id, uint32_t rpc_count);
  /// Frees the object's pending removal and returns it. Null when none was pending.
  const PendingRemoval* cancel_removal(uint64_t network_id);
  void free_removal(uint32_t index);
  void on_acked(const SentEntry& entry, Tick tick);
  void on_lost(const SentEntry& entry);
  void validate() const;

  Config config_;
  std::vector<ObjectKnowledge> objects_;  // by slot, grows with the table
  std::vector<PendingRemoval> removals_;  // pool
  std::vector<uint32_t> free_removals_;
  std::vector<uint32_t> pending_;  // indexes of the removals that are pending, in no order
  base::HashIndex removal_of_;     // network_id of a pending removal -> its index
  uint32_t sent_objects_ = 0;      // live objects that were sent
  PartLedger ledger_;
  uint32_t owed_at_join_ = 0;
};

}  // namespace lattice::replication
