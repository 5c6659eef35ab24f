// What one client holds: a dense list of the objects in its set, and the removals that it has not acked.
// Spec, C-04, D-15 to D-17, D-42.
//
// True at all times: a baseline is only taken from an acked part. An ack that belongs to an earlier stay of
// an object changes nothing. An object that has news for the client, or news in flight, is awake; a build
// visits those alone, and those that the change log names. An object in a slot whose former object the client
// may still hold waits. The states of an object in step are told by its group (StepList): what its Replica
// says of sending and acks is of the time when it came into step, and it sleeps. Of an object at rest, about
// which no part is on its way, the list keeps what SettledReplicas has: any news makes a Replica of it again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/spaced_check.h"
#include "replication/changed_groups.h"
#include "replication/join_progress.h"
#include "replication/long_sends.h"
#include "replication/object_table.h"
#include "replication/part_ledger.h"
#include "replication/removals.h"
#include "replication/settled_replicas.h"
#include "replication/slot_index.h"
#include "replication/slot_map.h"
#include "replication/state_store.h"
#include "replication/step_list.h"

namespace lattice::replication {

/// One client's knowledge of one object: what every build and every ack looks at. In 32 bytes, because a
/// crowd's lists are larger than any cache.
struct alignas(32) Replica {
  static constexpr uint16_t kMostLosses = SettledReplicas::kMostLosses;

  uint32_t acked_version = 0;  // the newest version that the client has acked; 0: none
  Tick acked_tick = 0;  // tick of the snapshot with that version: on the wire, it names the baseline. 0: the
                        // client may have forgotten it
  uint32_t sent_version = 0;          // the newest version that was sent; 0: none in this stay
  Tick sent_tick = 0;                 // tick of the newest entry with a state
  uint32_t acked_full = 0;            // the version of the newest acked full entry
  float accumulator = 0;              // C-04
  uint16_t sends = 0;                 // states sent
  uint16_t acked_send = 0;            // the number of the send of acked_version
  uint16_t stay : 9 = 0;              // counts stays; receipts of entries from an older stay are ignored
  uint16_t losses : 6 = 0;            // states that were lost in this stay; kMostLosses: those or more
  uint16_t sent_in_step : 1 = false;  // the state of sent_tick lay in a block of objects in step
  uint8_t entry_bytes = 0;            // of the newest entry with a state, 255 at most
  bool held : 1 = false;  // an entry was sent, so the client may hold the object: leaving needs a removal
  bool in_flight : 1 = false;     // the newest sent version was neither acked nor lost
  bool rest_sent : 1 = false;     // a rested entry about the newest sent version was not lost (D-17)
  bool waits : 1 = false;         // the client may hold the former object of the slot (D-42)
  bool owed_at_join : 1 = false;  // must be acked before the client counts as loaded
  bool lost : 1 = false;          // since the newest acked state, one was lost
  bool regains : 1 = false;       // the newest that was sent was lost: what it spent is to be given back

  /// True when the client has acked a full entry of version `full_version` or later.
  bool has_full(uint32_t full_version) const {
    // The first entry of a stay is a full one.
    return acked_version != 0 && (full_version <= 1 || acked_full >= full_version);
  }
  void count_loss() {
    if (losses != kMostLosses) ++losses;
  }
};
static_assert(sizeof(Replica) == 32);

/// The newest acked version of a part with keep: a baseline for bad times.
struct KeptState {
  uint32_t version = 0;  // 0: none
  Tick tick = 0;
};

class ReplicaList {
 public:
  struct Config {
    uint64_t peer_id = 0;                 // the peer whose own objects get the owner boost
    uint32_t max_ledger_entries = 32768;  // bound on the entries remembered until they are acked or lost
    uint32_t placed_count = 0;  // slots below it are those of placed objects (StateStore::placed_count)
    uint32_t max_objects = kMaxObjects;  // of the world
  };
  /// A group begins with so many objects at least.
  static constexpr uint32_t kLeastInStep = 8;
  /// An object comes out of step where the base of its group is so old, and into step where the state that
  /// it was acked with is younger by what a round trip takes.
  static constexpr int32_t kOldestBaseTicks = static_cast<int32_t>(kBaselineSends) - 1;
  static constexpr int32_t kOldestFirstBaseTicks = kOldestBaseTicks * 3 / 4;
  /// A group takes further objects when so long none came: until each block since is acked, it keeps its
  /// base.
  static constexpr int32_t kStepPauseTicks = 64;
  /// So long the client's own objects stay out of step, once they came out of it.
  static constexpr int32_t kOwnStepPauseTicks = 8 * kStepPauseTicks;
  /// Every so many builds, the list looks for objects that settle. One that rests settles with the second
  /// look.
  static constexpr uint32_t kSettleLooks = 8;

  explicit ReplicaList(const Config& config);

  /// Makes room for so many objects in the set: none of them allocates.
  void reserve(size_t objects);
  /// Puts every live object into the set and marks it as owed, but for those that are as they were
  /// placed. Call once, when the client joins.
  void join(const ObjectTable& table, const StateStore& store);
  /// A placed object that was destroyed before the client joined. Call it before anything is sent.
  void join_without(uint32_t slot, uint64_t network_id);
  /// Marks an object of the set as owed, as join() does with all. Call it before anything is sent.
  void owe(uint32_t slot);
  /// The object enters the client's set. It starts with a full entry, or, if it is placed, with its changes
  /// since then. A placed object that is as it was placed may stay outside until it is needed here.
  void enter(uint32_t slot, uint64_t network_id);
  /// The object leaves the client's set and lives on. A placed object stays with the client, as
  /// it is there now.
  void leave(uint32_t slot, uint64_t network_id) { forget(slot, network_id, true); }
  /// The object is destroyed. Call it before the table frees the slot, whether the object was in the set or
  /// not.
  void destroyed(uint32_t slot, uint64_t network_id) { forget(slot, network_id, false); }
  /// Counts a reliable RPC on the object that was queued for this client: the object's removal names the
  /// count (D-35).
  void count_reliable_rpc(uint32_t slot);
  /// Says of an object of the set that it is as it was, with the next snapshots in which that is so: the
  /// client waits for it (D-25).
  void say_unchanged(uint32_t slot);

  /// Takes the transport's verdict on a part. Unknown receipts are ignored.
  void on_receipt(uint32_t receipt, bool acked);

  /// Fetches what verdicts and builds read first into the cache. Only a hint, as is the next.
  void prefetch() const;
  /// After prefetch(), with some work in between: what that leads to.
  void prefetch_replicas() const;

  /// True when every object that was in the set at join has been acked once or is gone, and of every
  /// placed object that was destroyed before, that it is.
  bool loaded() const { return owed_at_join() == 0; }
  /// How far the client has come with the set that it had at join.
  JoinCount join_count() const { return {joined_objects_, owed_at_join()}; }
  uint32_t size() const { return slots_.size() + settled_.size(); }
  /// The objects of the set that rest, as far as the list has noticed.
  uint32_t settled() const { return settled_.size(); }
  /// Removals that the client has not acked.
  uint32_t pending_removals() const { return removals_.unacked(); }
  /// The states that travel to the client in pieces.
  const LongSends& longs() const { return longs_; }
  uint64_t peer_id() const { return config_.peer_id; }
  /// True when the object is in this client's set.
  bool in_set(uint32_t slot) const {
    return slots_.find(slot) != SlotIndex::kNone || settled_.find(slot).has_value();
  }
  /// True when its group speaks for the object.
  bool in_step(uint32_t slot) const { return steps_.holds(slot); }
  /// What the client knows of an object, if that is in its set.
  std::optional<Replica> find(uint32_t slot, const StateStore& store) const;

  /// The index of an object in the set; SlotIndex::kNone: it is settled.
  uint32_t index_of(uint32_t slot) const { return slots_.find(slot); }
  /// The object with an index.
  uint32_t slot_of(uint32_t index) const { return slots_.slot(index); }
  /// True when the client may hold an object that it must drop: its removal was not acked.
  bool removes(uint32_t slot, uint64_t network_id) const;
  /// How an object stands among those that were passed over. Visits the whole set.
  struct Standing {
    uint32_t rank = 0;  // of those that were passed over, so many have more priority
    uint32_t waiting = 0;
  };
  Standing standing(const Replica& replica) const;
  /// Objects that the client is to drop, and has not been told of.
  uint32_t waiting_removals() const { return removals_.waiting(); }

  /// True when the newest snapshot said that nothing was new, and since then nothing became new or needs
  /// following: a build would find nothing to say. Wakes every object that changed since the last build.
  bool rests(const StateStore& store, ChangedGroups& changed);

  // --- For the snapshot builder.
  /// Wakes every object that changed since the last call, but for those in step. Objects in step that did not
  /// change come out of step. Visits what changed or, if that is less, the set.
  void follow(const StateStore& store, ChangedGroups& changed);
  /// The awake objects in ascending slot, which is in the high half of each. The low half is the index of
  /// replica().
  std::span<uint64_t> awake();
  /// An object of awake() is awake no longer. keep_awake() follows.
  void put_to_rest(uint32_t index) { doing_[index] = Doing::kSleeps; }
  /// Keeps the first `count` of awake(): the others were put to rest.
  void keep_awake(size_t count) { awake_.resize(count); }
  /// The groups of objects in step. A snapshot holds all of a group, or nothing of it.
  std::vector<Step>& steps() { return steps_.steps(); }
  /// True when the version of the attachments is another one than at the last call.
  bool note_groups(uint32_t version) { return std::exchange(groups_version_, version) != version; }
  const Step* step_of(uint32_t slot) const { return steps_.find(slot >> kGroupBits); }
  /// Takes all objects out of step, and lets none come into step for a second.
  void end_steps(const StateStore& store);
  /// Takes objects of one group out of step.
  void end_step(const StateStore& store, uint32_t group, uint32_t mask) {
    leave_step(store, *steps_.find(group), mask);
  }
  /// Takes what has no turns out of step: groups with several base priorities, and the client's own objects.
  void end_steps_without_turns(const StateStore& store);
  /// Takes the client's own objects out of step. If there were any, none comes into step for some seconds.
  void end_own_steps(const StateStore& store);
  /// What comes into step: objects of one group that were just sent at the tick of the build, each on its
  /// own, and that have no reason to be sent on their own.
  struct StepBegin {
    uint32_t group = 0;
    uint32_t mask = 0;
    uint32_t own = 0;     // of them, the client's own
    Tick base = 0;        // the client acked their states at this tick
    float priority = 0;   // the base priority of one
    bool uneven = false;  // another has another one
  };
  /// Does nothing where the group is not ready for more objects.
  void begin_step(const StepBegin& begin);
  /// True while the budget is too small for all that changes: then groups take turns.
  bool takes_turns() const { return takes_turns_; }
  void set_takes_turns(bool on) { takes_turns_ = on; }
  bool may_begin_steps() const { return !base::tick_after(steps_from_, tick_); }
  /// The same for the client's own objects.
  bool may_begin_own_steps() const { return !takes_turns_ && !base::tick_after(own_steps_from_, tick_); }
  /// A state of the object goes to the client, so the client may hold it from now on.
  void note_held(uint32_t index);
  /// So many objects may be sent to the client that it does not hold. It has room for twice as many as the
  /// world, and what it may hold counts, also what was removed and not acked.
  uint32_t room_for_new() const;
  Replica& replica(uint32_t index) { return replicas_[index]; }
  const Replica& replica(uint32_t index) const { return replicas_[index]; }
  /// That of a settled object is never needed: its acked state is the newest one.
  KeptState kept(uint32_t index) const { return index == SlotIndex::kNone ? KeptState() : kept_[index]; }
  Removals& removals() { return removals_; }
  /// Call it once, first in each build. Ends the rest of slots whose removal is long past, and gives up what
  /// the ledger had no room to remember. Removals of which nothing was heard in `resend_ticks` are to be sent
  /// again.
  void begin_build(Tick tick, uint32_t resend_ticks);
  PartLedger& ledger() { return ledger_; }
  LongSends& longs() { return longs_; }
  /// True when the client has room for a further state in pieces, of this replica.
  bool may_begin_long(uint32_t index) const {
    const uint32_t own = partial_of_.find(slot_of(index)) == SlotMap::kNone ? 0 : 1;
    return longs_.size() + partial_states() - own < kMaxLongStates;
  }
  /// Begins a state of the replica in pieces. Its bytes are to be filled in, and pin_longs() follows.
  LongSend& begin_long(uint32_t index, const StateStore& store, EntryKind kind);
  /// Pins the states that were begun since the last call, while they are the newest.
  void pin_longs(StateStore& store);
  /// Call it once before each build: sends pieces again of which nothing was heard in `resend_ticks`, lets go
  /// of baselines that are of no use any more, and gives up states too old to be named by an age (D-54).
  void follow_longs(Tick tick, const StateStore& store, uint32_t resend_ticks);
  /// By how much the builder's estimate of entries was off in the last snapshot that was cut.
  double estimate_scale() const { return estimate_scale_; }
  void set_estimate_scale(double scale) { estimate_scale_ = scale; }
  /// Counts the snapshots in which an entry did not fit beside the client's own objects.
  uint32_t count_own_first() { return ++own_first_; }
  /// What the last snapshot had no room for.
  struct LeftOut {
    float priority = 0;      // of the first state; 0: none was left out
    bool any_whole = false;  // something of it fits no snapshot beside pieces, but one without
  };
  const LeftOut& left_out() const { return left_out_; }
  void note_left_out(const LeftOut& left_out) { left_out_ = left_out; }
  /// Snapshots in a row in which pieces waited and found no room.
  uint32_t without_pieces() const { return without_pieces_; }
  void count_pieces(bool any_sent) { without_pieces_ = any_sent ? 0 : without_pieces_ + 1; }
  /// True when the newest snapshot said that nothing was new to the client (D-44).
  bool told_unchanged() const { return told_unchanged_; }
  void tell_unchanged(bool unchanged) { told_unchanged_ = unchanged; }
  /// The length of its entries.
  double mean_entry_bits() const { return mean_entry_bits_; }
  void set_mean_entry_bits(double bits) { mean_entry_bits_ = bits; }
  /// Replicas, changes and changed groups that follow() and awake() visited, and removals that builds did, in
  /// all.
  uint64_t visited() const { return visited_ + removals_.visited(); }
  /// Entries whose part was acked, in all; a block counts as those in it.
  uint64_t acked_entries() const { return acked_entries_; }
  /// Moves ticks of long ago forward: ticks wrap.
  void age(Tick oldest);

 private:
  enum class Doing : uint8_t {
    kSleeps,  // there is nothing to say of it
    kQuiet,   // has slept since settle() looked at settle_tick_
    kAwake,   // in awake_
    kInStep,  // its group speaks for it
  };

  void wake(uint32_t index);
  bool lists_awake(uint32_t slot) const;
  void wake_changed(ChangedGroups& changed, const ChangeLog& changes);
  bool is_worth_asking_each(uint64_t changed) const;
  void wake_own(const ChangedGroups::Changes& since);
  void wake_groups(const ChangedGroups::Changes& changes);
  void wake_settled(const ChangedGroups::Changes& since);
  void wake_outdated(const StateStore& store);
  void drop_stale();
  void fit();
  void forget_stays(uint32_t index);
  uint32_t add_index(uint32_t slot);
  void end_removal(uint32_t slot);
  void remove_index(uint32_t index);
  uint32_t find_active(uint32_t slot);
  uint32_t make_active(uint32_t slot, const SettledReplicas::State& state);
  static Replica settled_replica(const SettledReplicas::State& state);
  void wake_slot(uint32_t slot);
  void settle(const StateStore& store);
  bool may_settle(const StateStore& store, uint32_t index) const;
  void settle_one(uint32_t index);
  void compact();
  void follow_groups(const StateStore& store, const ChangedGroups::Changes& changes);
  void follow_outdated(const StateStore& store);
  void end_idle_steps(const StateStore& store);
  void note_kept(const StateStore& store, const Step& step, uint32_t slot, uint32_t index);
  void leave_step(const StateStore& store, Step step, uint32_t mask);
  Replica replica_in_step(uint32_t slot, const Replica& replica, const Step& step,
                          const StateStore& store) const;
  /// Whether the object came into step at `tick`, at which its state went on its own.
  bool came_into_step(uint32_t index, Tick tick) const {
    return replicas_[index].sent_tick == tick && doing_[index] == Doing::kInStep;
  }
  void on_block(const SentEntry& entry, Tick tick, bool keep, bool acked);
  void on_dropped(uint32_t slot, Tick tick, bool keep, bool acked);
  void on_pieces(const SentEntry& entry, bool acked);
  void keep_state(uint32_t index, uint32_t version, Tick tick);
  void take_ack(uint32_t index, uint32_t version, Tick tick, bool fresh, uint16_t send);
  void forget(uint32_t slot, uint64_t network_id, bool left);
  bool is_placed(uint32_t slot) const { return slot < config_.placed_count; }
  static void begin_placed(Replica& replica);
  void settle(Replica& replica);
  uint32_t owed_at_join() const { return owed_at_join_ + removals_.owed(); }
  /// Objects of which the client may hold pieces that are of no use any more.
  uint32_t partial_states() const { return partial_of_.size() + removals_.partial(); }
  void on_acked(const SentEntry& entry, Tick tick, bool keep);
  void on_lost(const SentEntry& entry, Tick tick);
  void repeat_rest(uint32_t index);
  void validate() const;

  static constexpr size_t kUsualMost = 32;  // what more there is of anything is not fetched ahead

  Config config_;
  SettledReplicas settled_;
  SlotIndex slots_;                // the others of the set; the indexes of the next three
  std::vector<Replica> replicas_;  // free ones too
  std::vector<KeptState> kept_;
  std::vector<Doing> doing_;  // apart from replicas_, which a wake() does not touch: it is for changes of all
  std::vector<uint64_t> awake_;  // slot << 32 | index
  uint32_t held_ = 0;            // objects of the set that the client may hold, but for placed ones
  bool awake_in_order_ = true;
  bool awake_is_stale_ = false;  // some entries are of stays that have ended
  uint64_t changes_read_ = 0;    // how far in the change log
  Tick changes_tick_ = 0;        // the newest that was recorded then
  Removals removals_;
  /// Slot -> reliable RPCs on the object that were sent to this client (D-35), also of objects that left the
  /// set.
  SlotMap rpcs_of_;
  /// Objects of the set of which the client may hold pieces of a state that is not sent any more; placed ones
  /// also outside of the set.
  SlotMap partial_of_;
  PartLedger ledger_;
  StepList steps_;
  LongSends longs_;
  uint64_t announced_read_ = 0;  // how far in the log of announced objects
  Tick tick_ = 0;                // of the newest build
  Tick settle_tick_ = 0;
  uint32_t until_settle_ = kSettleLooks;
  bool any_quiet_ = false;
  Tick steps_from_ = 0;      // from here on objects come into step
  Tick own_steps_from_ = 0;  // the same of the client's own objects
  uint32_t groups_version_ = 0;
  uint32_t owed_at_join_ = 0;    // beside removals
  uint32_t joined_objects_ = 0;  // objects that owe() marked, and those of join_without()
  double estimate_scale_ = 1.0;
  LeftOut left_out_;
  uint32_t own_first_ = 0;
  uint32_t without_pieces_ = 0;
  bool takes_turns_ = false;
  bool told_unchanged_ = false;
  bool is_fitted_ = false;  // what only the join needed was given back
  double mean_entry_bits_ = 64.0;
  uint64_t visited_ = 0;
  uint64_t acked_entries_ = 0;
#if defined(LATTICE_VALIDATION)
  mutable base::SpacedCheck check_;
#endif
};

}  // namespace lattice::replication
