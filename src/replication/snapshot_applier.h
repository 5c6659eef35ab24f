// The client's side of snapshots: checks a whole part, then applies it. Spec: X-02…, P-10.
//
// True at all times: nothing changes unless the entire part is well formed. Every state received in the last
// 128 ticks can be found as a baseline. An object only moves forward in ticks. After a removal an id stays a
// tombstone for 64 ticks, so that entries sent before the removal change nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "base/ring.h"
#include "lattice/authoring/bit_reader.h"
#include "replication/object_table.h"
#include "replication/snapshot_format.h"
#include "replication/state_ring.h"

namespace lattice::replication {

/// Why a part was refused. Every value but kNone and kStale means a broken or hostile peer (ProtocolError).
enum class SnapshotRefusal : uint8_t {
  kNone,
  kStale,      // more than 64 ticks behind the newest: the part is dropped, and its packet must not be acked
  kTooLarge,   // longer than any datagram
  kMalformed,  // the part ends inside an entry, or holds a value that its codec refuses
  kTrailingBits,     // more than padding after the end bit, or padding that is not zero
  kTick,             // server_tick 0, or more than kMaxTickJump ahead of the newest
  kPartNumber,       // parts 0, or part >= parts
  kIdOrder,          // an id of 0, not ascending, or past 64 bits
  kUnknownType,      // a full entry of a type_id that is not registered
  kTypeChanged,      // a full entry for a known object with another type
  kMode,             // an authority mode that does not exist
  kBaselineAge,      // an age of 0 or above 60
  kUnknownObject,    // a delta or unchanged entry for an object never received
  kMissingBaseline,  // a delta against a tick for which no state was received
  kTooManyObjects,   // more objects than the world's limit
  kCount
};
/// A stable lower-case name such as "snapshot_missing_baseline".
const char* snapshot_refusal_name(SnapshotRefusal refusal);

/// Hears what a part did, in ascending network_id. It may read the table, and may not call the applier.
class SnapshotListener {
 public:
  virtual ~SnapshotListener() = default;
  /// The object exists now, with zeroed host storage. Its first on_state() follows at once.
  virtual void on_spawn(uint32_t slot, Tick tick) = 0;
  /// The object is about to go. It can still be read.
  virtual void on_despawn(uint32_t slot, Tick tick) = 0;
  /// A removal came, and `rpc_count` reliable RPCs on the object were sent before it (D-35). True lets the
  /// object go. False holds the removal: the object stays, frozen, and each retry_removals() asks again.
  virtual bool may_despawn(uint32_t /*slot*/, uint32_t /*rpc_count*/) { return true; }
  /// A held removal became void: the object came back before it left.
  virtual void on_stays(uint32_t /*slot*/) {}
  /// The newest state of the object. `words` stay valid until its next state. Host values are not changed.
  virtual void on_state(uint32_t slot, Tick tick, const serialization::Word* words, EntryKind kind) = 0;
  /// A state that arrived after a newer one. It is kept as a baseline and may serve interpolation. It is
  /// never applied.
  virtual void on_late_state(uint32_t /*slot*/, Tick /*tick*/, const serialization::Word* /*words*/) {}
  /// At `tick`, the object is unchanged since its last state (S-06).
  virtual void on_unchanged(uint32_t slot, Tick tick) = 0;
  /// Owner, mode or authority_tick changed. The table has the new values. Not called at spawn.
  virtual void on_authority(uint32_t /*slot*/, Tick /*tick*/) {}
};

class SnapshotApplier {
 public:
  enum class Result : uint8_t { kApplied, kStale, kRefused };

  /// At most so many removed ids are remembered; beyond that the oldest is forgotten. An entry from before
  /// its removal, 64 ticks late at most, is then malformed.
  static constexpr uint32_t kMaxTombstones = 1 << 14;

  /// `mirror` holds the objects and bounds them. Give it twice the authority's limit: when a removal was
  /// lost, its object is still here beside the object that took its place. All arguments are borrowed.
  SnapshotApplier(const TypeTable& types, ObjectTable& mirror, SnapshotListener& listener);

  /// Decodes one part. kStale: do not ack its packet. kRefused: refusal() says why, no state moved.
  Result apply(std::span<const uint8_t> body);

  /// Asks again about every held removal, oldest first, and despawns what may go.
  void retry_removals();
  /// True when an entry about the object, sent at `tick`, belongs to a life of the object that has ended
  /// here.
  bool is_gone(uint64_t network_id, Tick tick) const;

  /// The header of the last part that was applied.
  const SnapshotHeader& header() const { return header_; }
  SnapshotRefusal refusal() const { return refusal_; }
  /// How often each reason occurred.
  uint64_t refusals(SnapshotRefusal reason) const { return refusals_[static_cast<size_t>(reason)]; }
  /// The newest server tick seen; 0 before the first part.
  Tick newest_tick() const { return newest_tick_; }
  /// The object's newest received state and its tick.
  const serialization::Word* confirmed(uint32_t slot, Tick* tick) const;
  /// The tick of the newest entry about the object, unchanged markers included.
  Tick last_heard(uint32_t slot) const;

 private:
  static constexpr uint32_t kNotKnown = base::HashIndex::kNone;
  static constexpr uint32_t kNoRing = UINT32_MAX;

  /// An object or its tombstone. The ring of received states outlives a removal: entries sent before the
  /// removal may still arrive, and must still decode.
  struct Known {
    uint64_t network_id = 0;
    const ObjectType* type = nullptr;  // null: removed before any state was received
    uint32_t slot = kNoSlot;           // kNoSlot: tombstone
    uint32_t ring = kNoRing;
    Tick applied_tick = 0;
    Tick full_tick = 0;   // tick of the newest full entry, which gave owner and mode
    Tick heard_tick = 0;  // tick of the newest entry that gave or confirmed the state
    Tick removed_tick = 0;
    uint32_t rpc_count = 0;  // count that the held removal names
    bool was_removed = false;
    bool leaving = false;  // the authority removed it and it is still here: see may_despawn
  };
  struct Tombstone {
    uint64_t network_id = 0;
    Tick removed_tick = 0;
  };
  /// One decoded entry, not yet committed.
  struct Pending {
    ObjectInfo info;  // for kFull: all fields but spawn_tick; otherwise network_id only
    EntryKind kind = EntryKind::kDelta;
    uint32_t first_word = 0;  // in scratch_
    uint32_t rpc_count = 0;   // kRemoved
  };

  SnapshotRefusal decode(std::span<const uint8_t> body, SnapshotHeader* header);
  SnapshotRefusal decode_entry(BitReader& in, Tick tick, const Known* known, Pending* entry);
  SnapshotRefusal decode_delta(BitReader& in, Tick tick, const Known* known, Pending* entry);
  SnapshotRefusal decode_full(BitReader& in, const Known* known, Pending* entry);
  static bool lives_at(const Known& known, Tick tick);
  uint32_t take_words(uint32_t count);

  void commit(const SnapshotHeader& header);
  void commit_state(const Pending& entry, Tick tick);
  void commit_removal(const Pending& entry, Tick tick);
  void despawn(Known& known);
  void revive_leaving(Tick tick);
  uint32_t revived_by(const Pending& entry, const Known* known, Tick tick) const;
  void commit_unchanged(uint64_t network_id, Tick tick);
  void spawn(Known& known, const ObjectInfo& info, Tick tick);
  void update_authority(uint32_t slot, const ObjectInfo& info, Tick tick);
  void bury(const Known& known);
  void expire_tombstones();
  void free_tombstone(const Tombstone& grave);
  void age();

  uint32_t find_known(uint64_t network_id) const;
  Known& find_or_insert(uint64_t network_id);
  uint32_t take_ring(const ObjectType& type);
  void validate() const;

  const TypeTable& types_;
  ObjectTable& mirror_;
  SnapshotListener& listener_;
  std::vector<Known> known_;  // pool; network_id 0: free
  std::vector<uint32_t> free_known_;
  base::HashIndex index_of_;                      // network_id -> index in known_
  base::Ring<Tombstone> graves_{kMaxTombstones};  // in the order of burial, those that came back included
  std::vector<StateRing> rings_;
  std::vector<uint32_t> free_rings_;
  std::vector<uint32_t> ring_of_slot_;
  std::vector<Pending> pending_;
  std::vector<serialization::Word> scratch_;  // decoded words of pending_
  uint32_t used_words_ = 0;
  SnapshotHeader header_;
  SnapshotRefusal refusal_ = SnapshotRefusal::kNone;
  std::array<uint64_t, static_cast<size_t>(SnapshotRefusal::kCount)> refusals_{};
  Tick newest_tick_ = 0;
  Tick aged_tick_ = 0;
  uint32_t tombstones_ = 0;
  std::vector<uint64_t> leaving_;  // ids of held removals, oldest first
};

}  // namespace lattice::replication
