// What the authority believes one client holds: per object the acked baseline, what is owed to it, and
// the removals it has not confirmed. Spec, C-04.
//
// Flat arrays by dense slot. True at all times: a baseline is only ever taken from an acked part; an ack
// that belongs to an earlier incarnation of an object (before a removal that was sent, X-04) changes
// nothing; a removal is repeated until a part that carried it is acked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replication/object_table.h"
#include "replication/part_ledger.h"

namespace lattice::replication {

/// One client's knowledge of one object.
struct ObjectKnowledge {
  uint32_t acked_version = 0;  // version the client has acked, 0 none
  Tick acked_tick = 0;         // snapshot tick of that ack: the baseline's name on the wire
  uint32_t acked_full = 0;     // version of the newest acked full entry
  Tick last_sent_tick = 0;     // last entry of any kind, 0 never
  float accumulator = 0;       // C-04
  uint16_t incarnation = 0;    // counts resets; in-flight entries of an older one are ignored
  bool in_set = false;         // the interest seam: today every live object is in every set
  bool sent = false;           // something of this incarnation was sent: leaving needs a removal
  bool marked = false;         // the last entry sent was an unchanged marker (S-06)
  bool owed_at_join = false;   // still to be acked before the client counts as loaded
  uint32_t rpc_count = 0;      // reliable RPCs on the object that were sent to this client (D-35)
};

/// An object the client may hold and must drop.
struct PendingRemoval {
  uint64_t network_id = 0;
  uint32_t rpc_count = 0;  // reliable RPCs the client must have received before it drops the object (D-35)
  uint16_t incarnation = 0;
  bool used = false;
};

class RecipientState {
 public:
  struct Config {
    uint64_t peer_id = 0;                 // whose objects get the owner boost
    uint32_t max_objects = 4096;          // of the world; also bounds pending removals
    uint32_t max_ledger_entries = 32768;  // entries remembered until acked or lost
  };
  explicit RecipientState(const Config& config);

  /// Puts every live object into the set and marks it owed. Call once, when the client joins.
  void join(const ObjectTable& table);
  void object_added(uint32_t slot);
  /// Call before the table frees the slot.
  void object_removed(uint32_t slot, uint64_t network_id);
  /// The interest seam: leaving makes a removal pending; re-entering starts over with kind 1.
  void set_in_set(uint32_t slot, uint64_t network_id, bool in_set);
  /// A reliable RPC on the object was queued for this client: its removal will say so (D-35).
  void count_reliable_rpc(uint32_t slot) { ++at(slot).rpc_count; }

  /// The transport's verdict on a part; unknown receipts are ignored.
  void on_receipt(uint32_t receipt, bool acked);

  /// Every object that was in the set at join has been acked once, or is gone.
  bool loaded() const { return owed_at_join_ == 0; }
  /// More removals are pending than the world may have objects: the client acks nothing. The caller
  /// closes the connection with ResourceLimit.
  bool overflowed() const { return overflowed_; }
  uint32_t pending_removals() const { return static_cast<uint32_t>(removal_order_.size()); }
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
  /// Null when none was pending.
  const PendingRemoval* cancel_removal(uint64_t network_id);
  void free_removal(uint32_t index);
  void on_acked(const SentEntry& entry, Tick tick);
  void on_lost(const SentEntry& entry);
  void validate() const;

  Config config_;
  std::vector<ObjectKnowledge> objects_;  // by slot, grows with the table
  std::vector<PendingRemoval> removals_;  // pool
  std::vector<uint32_t> free_removals_;
  std::vector<uint32_t> removal_order_;  // indexes of used removals, ascending network_id
  PartLedger ledger_;
  uint32_t owed_at_join_ = 0;
  bool overflowed_ = false;
};

}  // namespace lattice::replication
