// The client's side of snapshots: checks a whole part, then applies it. Spec: D-11 to D-18, D-26 to D-29,
// P-10.
//
// True at all times: nothing changes unless the entire part is well formed. An object only moves forward in
// ticks. After a removal the object stays a tombstone for 64 ticks, so that entries sent before the removal
// change nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash_index.h"
#include "base/ring.h"
#include "base/spaced_check.h"
#include "lattice/authoring/bit_reader.h"
#include "replication/despawn_reason.h"
#include "replication/encoding/plain_decoder.h"
#include "replication/object_table.h"
#include "replication/received_pieces.h"
#include "replication/received_states.h"
#include "replication/snapshot_format.h"
#include "serialization/bit_window.h"

namespace lattice::replication {

/// Why a part was refused. Every value but kNone, kStale and kLateBaseline means a broken or hostile peer
/// (ProtocolError).
enum class SnapshotRefusal : uint8_t {
  kNone,
#define LATTICE_EVENT_SNAPSHOT(id, name, text) id,
#include "base/events.def"
  kCount,
};
/// A stable lower-case name such as "snapshot_missing_baseline".
const char* snapshot_refusal_name(SnapshotRefusal refusal);

/// The newest state of one object.
struct NewState {
  uint32_t slot = 0;
  const Word* words = nullptr;
};

/// Hears what a part did. It may read the table, and may not call the applier.
class SnapshotListener {
 public:
  virtual ~SnapshotListener() = default;
  /// The object exists now, with zeroed host storage. Its first on_state() follows at once.
  virtual void on_spawn(uint32_t slot, Tick tick) = 0;
  /// The object is about to go. It can still be read.
  virtual void on_despawn(uint32_t slot, Tick tick, DespawnReason reason) = 0;
  /// A removal came, and `rpc_count` reliable RPCs on the object were sent before it (D-35). True lets the
  /// object go. False holds the removal: the object stays, frozen, and each retry_removals() asks again.
  virtual bool may_despawn(uint32_t /*slot*/, uint32_t /*rpc_count*/) { return true; }
  /// A held removal became void: the object came back before it left.
  virtual void on_stays(uint32_t /*slot*/) {}
  /// The newest state of the object. `words` stay valid until its next state. Host values are not changed.
  virtual void on_state(uint32_t slot, Tick tick, const Word* words, EntryKind kind) = 0;
  /// on_state() of several objects that were here before. The deltas of a part come in one call, or in a few
  /// where other events of the same objects lie between them.
  virtual void on_states(Tick tick, std::span<const NewState> states) {
    for (const NewState& state : states) on_state(state.slot, tick, state.words, EntryKind::kDelta);
  }
  /// A state that arrived after a newer one. It is kept as a baseline and is drawn in its place. It is never
  /// applied.
  virtual void on_late_state(uint32_t /*slot*/, Tick /*tick*/, const Word* /*words*/) {}
  /// At `tick`, the object's newest state still holds, and it will until the next one comes (D-17).
  virtual void on_rested(uint32_t /*slot*/, Tick /*tick*/) {}
  /// Owner, mode or authority changed. The table has the new values. Not called at spawn.
  virtual void on_authority(uint32_t /*slot*/, Tick /*tick*/) {}
};

class SnapshotApplier {
 public:
  enum class Result : uint8_t { kApplied, kStale, kRefused };

  /// At most so many removed ids are remembered; beyond that the oldest is forgotten. Parts up to the tick of
  /// its removal are stale from then on: they could be about it, and what is still wanted comes again.
  static constexpr uint32_t kMaxTombstones = 1 << 14;
  /// The states of removed objects stay while they take no more bytes together. Beyond that late deltas of
  /// these objects find no baseline: their part is not acked, and what is still wanted comes again.
  static constexpr size_t kMostSpareBytes = size_t{16} << 20;

  /// `mirror` holds the objects and bounds them. Give it twice the authority's limit: when a removal was
  /// lost, its object is still here beside the object that took its place. Slots of the authority are below
  /// `slot_bound`. All references are borrowed.
  SnapshotApplier(const TypeTable& types, ObjectTable& mirror, SnapshotListener& listener,
                  uint32_t slot_bound);

  /// The session begins at a tick of the authority: the first part is of a tick near it (D-18). Call it
  /// before the first part.
  void begin(Tick server_tick) { session_tick_ = server_tick; }
  /// An object that both sides placed, in the authority's slot `remote_slot`. It is here from now on, in the
  /// state `words` of before the first part; `tick` is before that of the first part too. `words` are
  /// borrowed and stay a baseline for as long as the object lives. Call it before the first part. Returns the
  /// slot in the mirror; the listener is not told.
  uint32_t place(const ObjectInfo& info, uint32_t remote_slot, const Word* words, Tick tick);

  /// Makes room for so many objects at once, here and in the mirror.
  void reserve(uint32_t objects);
  /// How many ticks lie between two snapshots at present, 1 or more: an object that rested, and then moves,
  /// rested until one snapshot before.
  void set_interval(uint32_t ticks) { interval_ticks_ = ticks; }
  /// From which tick on states are drawn: what a pose at it or later needs stays, of the newest
  /// kBaselineSends states of each object. 0: nothing is drawn, or only what is new.
  void set_drawn_from(Tick tick) { drawn_from_ = tick; }
  /// The client has what it was to have when it joined. Until then what comes of a placed object for the
  /// first time had mostly changed long before: the object is not drawn as it was placed, and then on its
  /// way.
  void end_join() { joined_ = true; }
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
  /// What came about the objects of a type: entries that were decoded, and their bits without the head of
  /// their block.
  struct TypeTraffic {
    uint64_t entries = 0;
    uint64_t bits = 0;
  };
  const TypeTraffic& traffic(const ObjectType& type) const { return traffic_[type.index]; }
  /// The newest server tick seen; 0 before the first part.
  Tick newest_tick() const { return newest_tick_; }
  /// The object's newest received state and its tick.
  /// Null for a slot without an object. The words stay valid until the next part.
  const Word* confirmed(uint32_t slot, Tick* tick) const {
    if (slot >= known_of_mirror_.size() || known_of_mirror_[slot] == kNotKnown) return nullptr;
    const ReceivedStates& received = states(slot);
    if (tick != nullptr) *tick = received.newest_tick();
    return received.newest();
  }
  /// All received states of an object that is there. They stay valid until the next part.
  const ReceivedStates& states(uint32_t slot) const { return known_[known_of_mirror_[slot]].states; }
  /// Bytes of the states that are of no object here: of tombstones, and what is kept for new objects.
  size_t spare_bytes() const { return spare_bytes_; }
  /// Inside on_state(): the state that was the newest before, or null.
  const Word* former(uint32_t slot) const { return states(slot).before_newest(); }

 private:
  static constexpr uint32_t kNotKnown = base::HashIndex::kNone;

  /// An object or its tombstone. Its states outlive a removal, within kMostSpareBytes: entries sent before
  /// the removal may still arrive, and should still decode. What every delta reads and writes stands first,
  /// in one cache line.
  struct alignas(64) Known {
    ReceivedStates states;
    const ObjectType* type = nullptr;  // null: removed before any state was received
    uint32_t slot = kNoSlot;           // in the mirror; kNoSlot: tombstone
    uint32_t decoded = 0;              // number of the last part with an entry about it
    Tick applied_tick = 0;             // of the newest state that was told of
    bool was_removed = false;
    bool leaving = false;     // the authority removed it and it is still here: see may_despawn
    bool left = false;        // the newest removal says that the object lives on
    bool rest_waits = false;  // a rested entry was about a state that has not come
    Tick removed_tick = 0;
    const Word* placed = nullptr;    // the state in which both sides placed it; null: they did not
    Tick rest_tick = 0;              // of that rested entry
    Tick rest_baseline = 0;          // the tick of that state
    Tick full_tick = 0;              // tick of the newest full entry, which gave owner and mode
    uint64_t network_id = 0;         // 0: free
    uint32_t remote_slot = kNoSlot;  // the authority's; kNoSlot: another object has it by now
    uint32_t rpc_count = 0;          // count that the held removal names
    uint32_t leaves_before = kNotKnown, leaves_after = kNotKnown;  // its neighbours among those that leave

    bool staying() const { return slot != kNoSlot && !leaving; }
  };
  struct Tombstone {
    uint64_t network_id = 0;
    Tick removed_tick = 0;
  };
  /// One decoded delta, not yet committed. Its state is in the draft of its object's states.
  struct Delta {
    uint32_t known = kNotKnown;  // in known_
    Tick baseline = 0;           // the tick of the part: the state as placed
  };
  /// One decoded entry of another kind, not yet committed.
  struct Pending {
    EntryKind kind = EntryKind::kDelta;
    bool left = false;  // kRemoved: the object lives on
    uint32_t remote_slot = 0;
    Tick baseline = 0;                 // kRested
    uint32_t full = 0;                 // kFull: in fulls_
    uint32_t rpc_count = 0;            // kRemoved
    uint64_t network_id = 0;           // kFull, kRemoved
    const ObjectType* type = nullptr;  // kFull
  };
  /// What a full entry has beside.
  struct Full {
    ObjectInfo info;          // all fields but spawn_tick
    uint32_t first_word = 0;  // in scratch_
  };
  /// A state whose last piece is in the part.
  struct Long {
    Pending entry;  // kDelta: `delta` instead
    Delta delta;
    uint32_t remote_slot = 0;
    Tick tick = 0;
  };
  /// What one block says before its entries.
  struct BlockHead {
    EntryKind kind = EntryKind::kDelta;
    bool mixed = false;
    uint32_t k = 0;
    uint32_t count = 0;
    uint32_t age = 0;
    uint32_t slot = 0;
  };
  /// Entries of one type that follow each other in a block.
  struct TrafficRun {
    const ObjectType* type = nullptr;  // null: not known
    uint32_t entries = 0;
    size_t first_bit = 0;
  };
  /// What an entry takes over from the one before.
  struct Previous {
    PlainDecoder::Context changes;
    ObjectInfo head;  // of a full entry
  };
  /// What an entry says before its content.
  struct EntryHead {
    uint64_t slot = 0;  // a gap cannot make it wrap
    uint32_t age = 0;
  };

  /// How far the deltas of a block are read: the bits, what the last entry said, and where the next one goes.
  struct DeltaCursor {
    BitWindow in;
    EntryHead entry;
    PlainDecoder::Context changes;
    Delta* next;
  };
  /// A delta whose members wait to be decoded: where they begin, the words to fill, and the state that is
  /// mostly its baseline.
  struct DeltaMembers {
    const serialization::MemberPlan* plan;
    size_t first_bit;
    const Word* baseline;
    Word* words;
  };
  static constexpr uint32_t kDeltasAtOnce = 32;

  /// What a delta reads and fills, or why it is refused.
  struct DeltaPlaces {
    SnapshotRefusal refusal = SnapshotRefusal::kNone;
    const Word* baseline = nullptr;
    Word* words = nullptr;
  };

  SnapshotRefusal decode(std::span<const uint8_t> body, SnapshotHeader* header);
  void forget_pending();
  SnapshotRefusal decode_header(BitReader& in, SnapshotHeader* header) const;
  SnapshotRefusal check_tick(Tick tick) const;
  SnapshotRefusal decode_block(BitReader& in, const SnapshotHeader& header);
  SnapshotRefusal read_block_head(BitReader& in, BlockHead* head) const;
  SnapshotRefusal read_entry_head(BitWindow& in, const BlockHead& head, bool is_first,
                                  EntryHead* entry) const;
  SnapshotRefusal decode_deltas(BitWindow* in, Tick tick, const BlockHead& head);
  uint32_t read_alike(const BlockHead& head, Tick of_tick, uint32_t most, DeltaCursor* at,
                      DeltaMembers* members);
  SnapshotRefusal take_deltas(std::span<const Delta> deltas, const DeltaMembers* members, Tick tick);
  SnapshotRefusal decode_delta(const BlockHead& head, Tick tick, bool is_first, DeltaCursor* at);
  DeltaPlaces places_of(Known& known, Tick tick, Tick of_tick);
  DeltaPlaces find_unusual(Known& known, Tick tick, Tick of_tick);
  SnapshotRefusal decode_others(BitWindow* in, Tick tick, const BlockHead& head);
  SnapshotRefusal decode_other(BitWindow* in, Tick tick, uint32_t index, Pending* entry, Previous* previous);
  SnapshotRefusal decode_full_head(BitReader& in, Tick tick, Pending* entry, Previous* previous) const;
  SnapshotRefusal decode_full(BitWindow& in, Tick tick, Pending* entry, Previous* previous);
  SnapshotRefusal decode_removed(BitReader& in, uint32_t index, Tick tick, Pending* entry);
  bool keeps_slot(uint32_t former, Tick tick) const;
  SnapshotRefusal decode_pieces(BitReader& in, const SnapshotHeader& header, const BlockHead& head);
  SnapshotRefusal take_run(ReceivedRun run, const SnapshotHeader& header);
  SnapshotRefusal decode_long(const ReceivedRun& run, SnapshotHeader header);
  bool is_over(uint32_t remote_slot, Tick tick) const;
  SnapshotRefusal check_full(const Pending& entry, Tick tick) const;
  static bool lives_at(const Known& known, Tick tick);
  static bool is_before_removal(const Known& known, Tick tick);
  void draw_from(Known& known, Tick tick);
  uint32_t take_words(uint32_t count);
  Delta* room_for_deltas(uint32_t count);
  Word* discarded_words(const ObjectType& type);
  /// The deltas of the part.
  std::span<const Delta> deltas() const { return {deltas_.data(), delta_count_}; }
  TrafficRun with_entry(TrafficRun run, const ObjectType* type, size_t first_bit);
  void count_traffic(const TrafficRun& run, size_t end_bit);

  void commit(const SnapshotHeader& header);
  void commit_deltas(std::span<const Delta> deltas, Tick tick, bool keep);
  void commit_full(const Pending& entry, Tick tick, bool keep);
  void commit_pieces();
  void end_wait_for_rest(Known& known, Tick tick);
  void rest(Known& known, Tick tick);
  void commit_removal(const Pending& entry, Tick tick);
  void commit_rested(const Pending& entry, Tick tick);
  void despawn(Known& known);
  void revive_leaving(const Pending& entry, Tick tick);
  /// Visits the full entries of the part, which is of `tick`, with the tick of each.
  template <class Visit>
  void each_full(Tick tick, Visit visit) const {
    for (const Pending& entry : pending_) {
      if (entry.kind == EntryKind::kFull) visit(entry, tick);
    }
    for (const Long& state : longs_) {
      if (state.entry.kind == EntryKind::kFull) visit(state.entry, state.tick);
    }
  }
  uint32_t revived_by(const Pending& entry, const Known* known, Tick tick) const;
  void spawn(Known& known, const ObjectInfo& info, Tick tick);
  void update_authority(uint32_t slot, const ObjectInfo& info, Tick tick);
  void bury(const Known& known);
  void expire_tombstones();
  bool free_tombstone(const Tombstone& grave);
  void free_known(uint32_t index);
  void begin_leaving(Known& known);
  void end_leaving(Known& known);
  void age();

  uint32_t find_known(uint64_t network_id) const { return index_of_.find(network_id); }
  uint32_t known_at(uint32_t remote_slot) const {
    return remote_slot < known_of_slot_.size() ? known_of_slot_[remote_slot] : kNotKnown;
  }
  bool make_known(uint64_t network_id, uint32_t remote_slot);
  void validate() const;

  const TypeTable& types_;
  ObjectTable& mirror_;
  SnapshotListener& listener_;
  uint32_t slot_bound_;
  std::vector<Known> known_;  // with free ones between; a free one may keep the memory of its states
  std::vector<uint32_t> free_known_;
  std::vector<uint32_t> known_of_slot_;           // by the authority's slot: index in known_
  std::vector<uint32_t> known_of_mirror_;         // by the mirror's slot
  base::HashIndex index_of_;                      // network_id -> index in known_
  base::Ring<Tombstone> graves_{kMaxTombstones};  // in the order of burial, those that came back included
  std::vector<Delta> deltas_;                     // of the part, the first delta_count_
  uint32_t delta_count_ = 0;
  std::vector<NewState> news_;  // room for what its deltas tell
  std::vector<Pending> pending_;
  std::span<const uint8_t> body_;  // of the part or the state in pieces that is being decoded
  std::vector<ReceivedRun> runs_;  // its pieces
  std::vector<Long> longs_;        // the states that they complete
  std::vector<uint8_t> whole_;     // the bytes of the last of these
  ReceivedPieces received_pieces_;
  base::HashIndex full_ids_;   // network_ids of the full entries in pending_
  base::HashIndex new_slots_;  // slots of entries in pending_ of which nothing was known
  std::vector<Full> fulls_;
  PlainDecoder plain_;
  uint32_t baseline_depth_ = 0;  // of the last delta's baseline: the objects of a block were sent together
  std::vector<Word> scratch_;    // decoded words of fulls_: of some of these objects there are no states yet
  uint32_t used_words_ = 0;
  uint32_t decoding_ = 0;  // counts the parts
  uint32_t interval_ticks_ = 1;
  Tick drawn_from_ = 0;
  Tick placed_tick_ = 0;  // of the states in which objects were placed
  bool joined_ = false;
  SnapshotHeader header_;
  SnapshotRefusal refusal_ = SnapshotRefusal::kNone;
  std::array<uint64_t, static_cast<size_t>(SnapshotRefusal::kCount)> refusals_{};
  std::vector<TypeTraffic> traffic_;  // by ObjectType::index
  std::optional<Tick> session_tick_;  // at which it began
  Tick newest_tick_ = 0;
  Tick aged_tick_ = 0;
  Tick forgotten_tick_ = 0;  // tombstones of removals up to it made way; parts up to it are stale. 0: none
  uint32_t tombstones_ = 0;
  // Held removals, by index in known_, in the order in which they came.
  uint32_t first_leaving_ = kNotKnown, last_leaving_ = kNotKnown;
  uint32_t leaving_count_ = 0;
  uint32_t coming_ = kNotKnown;  // a tombstone whose object comes back while another makes way for it
  // Of the objects that both sides placed, the largest id, and one more than the largest slot.
  uint64_t placed_ids_ = 0;
  uint32_t placed_slots_ = 0;
  size_t spare_bytes_ = 0;       // of the states in known_ that are of no object here
  std::vector<Word> discarded_;  // room for a state of a tombstone
#if defined(LATTICE_VALIDATION)
  mutable base::SpacedCheck check_;
#endif
};

}  // namespace lattice::replication
