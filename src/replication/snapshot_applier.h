// A client's side of snapshots: checks a part whole, then moves state. Spec: X-02…, P-10.
//
// True at all times: nothing changes unless the entire part is well formed; every state received in the
// last 128 ticks can be found as a baseline; an object only ever moves forward in ticks; after a removal
// an id stays a tombstone for 64 ticks, so that what was sent before the removal changes nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lattice/authoring/bit_reader.h"
#include "replication/object_table.h"
#include "replication/snapshot_format.h"
#include "replication/state_ring.h"

namespace lattice::replication {

/// Why a part was refused. All but kNone and kStale mean a broken or hostile peer (ProtocolError).
enum class SnapshotRefusal : uint8_t {
  kNone,
  kStale,            // more than 64 ticks behind the newest: dropped, and its packet must not be acked
  kTooLarge,         // longer than any datagram
  kMalformed,        // ends inside an entry, or carries a value its codec refuses
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

/// Told what a part did, in ascending network_id. May read the table; may not call the applier.
class SnapshotListener {
 public:
  virtual ~SnapshotListener() = default;
  /// The object exists now (host storage zeroed); its first on_state follows at once.
  virtual void on_spawn(uint32_t slot, Tick tick) = 0;
  /// Called while the object can still be read.
  virtual void on_despawn(uint32_t slot, Tick tick) = 0;
  /// A removal came: may the object go, when `rpc_count` reliable RPCs on it were sent before (D-35)? False
  /// holds the removal: the object stays, frozen, and the same is asked at each retry_removals().
  virtual bool may_despawn(uint32_t /*slot*/, uint32_t /*rpc_count*/) { return true; }
  /// A held removal is void: the object came back before it left.
  virtual void on_stays(uint32_t /*slot*/) {}
  /// The newest state. `words` stay valid until the object's next state. Host values are not touched.
  virtual void on_state(uint32_t slot, Tick tick, const uint64_t* words, EntryKind kind) = 0;
  /// A state that arrived after a newer one: kept as a baseline, useful to interpolation, never applied.
  virtual void on_late_state(uint32_t /*slot*/, Tick /*tick*/, const uint64_t* /*words*/) {}
  /// Still what it was at its last state (S-06).
  virtual void on_unchanged(uint32_t slot, Tick tick) = 0;
  /// Owner, mode or authority_tick changed; the table has the new values. Not called at spawn.
  virtual void on_authority(uint32_t /*slot*/, Tick /*tick*/) {}
};

class SnapshotApplier {
 public:
  enum class Result : uint8_t { kApplied, kStale, kRefused };

  /// `mirror` holds the objects; its max_objects bounds them, and twice that bounds objects and
  /// tombstones together. Give it twice the authority's limit: while a removal is lost its object is
  /// still here, next to the one that took its place. All arguments are borrowed.
  SnapshotApplier(const TypeTable& types, ObjectTable& mirror, SnapshotListener& listener);

  /// Decodes one part. kStale: do not ack its packet. kRefused: refusal() says why, no state moved.
  Result apply(std::span<const uint8_t> body);

  /// Asks again about every held removal, oldest first, and despawns what may go.
  void retry_removals();
  /// True when what was sent about the object at `tick` belongs to a life that is over here.
  bool is_gone(uint64_t network_id, Tick tick) const;

  /// Header of the last part that was applied.
  const SnapshotHeader& header() const { return header_; }
  SnapshotRefusal refusal() const { return refusal_; }
  /// How often each reason occurred.
  uint64_t refusals(SnapshotRefusal reason) const { return refusals_[static_cast<size_t>(reason)]; }
  /// Newest server tick seen, 0 before the first part.
  Tick newest_tick() const { return newest_tick_; }
  /// The object's newest received state and its tick.
  const uint64_t* confirmed(uint32_t slot, Tick* tick) const;
  /// Tick of the newest entry about the object, unchanged markers included.
  Tick last_heard(uint32_t slot) const;

 private:
  static constexpr uint32_t kNotKnown = UINT32_MAX;
  static constexpr uint32_t kNoRing = UINT32_MAX;

  /// An object or its tombstone. The ring of received states outlives a removal, because what was sent
  /// before it may still arrive and must still parse.
  struct Known {
    uint64_t network_id = 0;
    const ObjectType* type = nullptr;  // null: removed before any state was received
    uint32_t slot = kNoSlot;           // kNoSlot: tombstone
    uint32_t ring = kNoRing;
    Tick applied_tick = 0;
    Tick full_tick = 0;   // newest full entry: where owner and mode come from
    Tick heard_tick = 0;  // newest entry that said what the object is now
    Tick removed_tick = 0;
    uint32_t rpc_count = 0;  // of the held removal
    bool was_removed = false;
    bool leaving = false;  // removed by the authority, and still here: see may_despawn
  };
  /// One decoded entry, not yet committed.
  struct Pending {
    ObjectInfo info;  // kFull: everything but spawn_tick; otherwise only network_id
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
  void expire_tombstones();
  void age();

  size_t max_known() const { return size_t{2} * mirror_.max_objects(); }
  uint32_t find_known(uint64_t network_id) const;
  Known& find_or_insert(uint64_t network_id);
  uint32_t take_ring(const ObjectType& type);
  void validate() const;

  const TypeTable& types_;
  ObjectTable& mirror_;
  SnapshotListener& listener_;
  std::vector<Known> known_;  // ascending network_id
  std::vector<StateRing> rings_;
  std::vector<uint32_t> free_rings_;
  std::vector<uint32_t> ring_of_slot_;
  std::vector<Pending> pending_;
  std::vector<uint64_t> scratch_;  // decoded words of pending_
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
