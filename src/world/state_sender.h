// Sends the states that this side writes: records their versions, and gives each client those of its set that
// it lacks, in snapshots (§14, §15). It knows nothing of roles, of inputs or of the game.
//
//   each tick   record(), after the game wrote and announced what it wrote (StateStore::mark): versions, and
//               whose turn for a snapshot it is
//   each send   send(): for each client whose snapshot is due, its set, then the snapshot within its budget;
//               a batch of clients at a time (SnapshotBatch)
//
// Must stay true: state is recorded once per tick, after the game ran and before anything is sent. What a
// client may not see leaves its set before anything is sent to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "fragment/fragmenting_endpoint.h"
#include "lattice/why.h"
#include "replication/replica_list.h"
#include "replication/state_store.h"
#include "simulation/fixed_tick.h"
#include "world/input_receiver.h"
#include "world/interest_hub.h"
#include "world/snapshot_batch.h"
#include "world/snapshot_brake.h"
#include "world/waiting_receipts.h"
#include "world/world_config.h"

namespace lattice::world {

class StateSender {
 public:
  /// `config`, `table` and `clock` outlive this.
  StateSender(const WorldConfig& config, const replication::ObjectTable& table,
              const simulation::FixedTick& clock, Observer& observer);

  /// The types are fixed. Comes before all that follows.
  void start(fragment::FragmentingEndpoint& endpoint);

  // --- Objects. The table has the object already, or still.
  void begin(uint32_t slot, bool always_relevant);
  /// An object that both sides placed, with `words` as its state. Comes before any begin().
  void place(uint32_t slot, const serialization::Word* words, bool always_relevant);
  void end(uint32_t slot);
  replication::StateStore& store() { return store_; }
  const replication::StateStore& store() const { return store_; }
  /// Null when every client gets every object.
  InterestHub* interest() { return interest_ ? &*interest_ : nullptr; }

  // --- Ticks
  /// Makes versions of what was written and begins the snapshots of those whose turn it is. What changed
  /// begins at the returned place of the change log.
  uint64_t record(replication::ObjectTable& table, Tick tick);
  /// Visits the slots of the objects that changed, until the next record().
  template <class Visit>
  void each_change_since(uint64_t place, Visit visit) const {
    const replication::ChangeLog& changes = store_.changes();
    LATTICE_ASSERT(changes.reaches(place));  // the log has room for all objects
    for (uint64_t at = place; at != changes.end(); ++at) visit(changes.at(at));
  }
  /// Sends what is due. `inputs` is null when this side receives none.
  void send(uint64_t now_ns, InputReceiver* inputs);

  // --- Clients. All but join() do nothing, or answer false or nothing, when the client is not here.
  void join(ConnectionHandle connection, uint64_t peer);
  void leave(ConnectionHandle connection);
  /// What became of a part. It is looked at when the client's next snapshot is made.
  void on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked);
  /// Fetches what on_receipt() reads into the cache. Only a hint.
  void prefetch_receipts(uint32_t slot) const { receipts_.prefetch(slot); }
  /// Inputs of the client came: it hears at once what became of them.
  void heard_inputs(ConnectionHandle connection);
  /// The client owns one object more or less: +1, -1.
  void count_owned(ConnectionHandle connection, int change);
  /// A reliable call on the object went to the client, which has the object (D-35).
  void count_reliable_rpc(ConnectionHandle connection, uint32_t slot);
  /// A tick-aligned call on the object went to the client, which waits for the state of this tick (D-25).
  void say_unchanged(ConnectionHandle connection, uint32_t slot);
  /// Makes sure that calls on an object of the client's set are counted: a placed one may have no replica
  /// yet.
  void begin_calls(ConnectionHandle connection, uint32_t slot);
  /// True when the object is in the client's set, and no rule of room, team or owner hides it by now. The set
  /// is made with the client's snapshots, so it can be older.
  bool has(ConnectionHandle connection, uint32_t slot) const;
  /// True when the object came after the client's set was made last: nobody knows yet whether it enters.
  bool is_to_be_judged(ConnectionHandle connection, uint32_t slot) const;
  /// True when the client's set was made in the last recorded tick.
  bool was_judged(ConnectionHandle connection) const {
    const Recipient* recipient = find(connection);
    return recipient != nullptr && recipient->looked && recipient->look_tick == tick_;
  }
  /// True when every object that was in the client's set at join has been acked once or is gone.
  bool loaded(ConnectionHandle connection);
  /// Takes the connection of a client that a send() found to be loaded(), each once; it may have left since.
  /// False when there is none.
  bool take_loaded(ConnectionHandle* connection);
  /// Of the objects in the client's set at join, how many there were and how many it lacks.
  replication::JoinCount join_count(ConnectionHandle connection);
  /// Why the client has the object, has it not, or has an old state of it, at `tick`; the next snapshot is
  /// one of `next_tick`. `out` has its defaults.
  bool why(ConnectionHandle connection, uint32_t slot, Tick tick, Tick next_tick, lattice_why_info* out);

  uint64_t snapshots_sent() const { return batch_ ? batch_->snapshots() : 0; }
  uint64_t snapshot_bytes_sent() const { return batch_ ? batch_->bytes() : 0; }
  /// Entries that were longer than the budget of their snapshot and were not sent.
  uint64_t over_budget() const { return batch_ ? batch_->over_budget() : 0; }
  /// Groups of attached objects that were too long to leave in one part.
  uint64_t groups_cut() const { return batch_ ? batch_->groups_cut() : 0; }

 private:
  /// A client, as the one who receives.
  struct Recipient {
    Recipient(ConnectionHandle to, const replication::ReplicaList::Config& known)
        : connection(to), list(known) {}
    ConnectionHandle connection;
    replication::ReplicaList list;
    bool snapshot_due = false;
    bool looked = false;           // its set was made once
    Tick look_tick = 0;            // when it was made last
    uint64_t judged_until_id = 0;  // that look judged the objects with ids below
    bool was_loaded = false;       // in loaded_, or it was
    uint32_t budget_bytes = 0;     // of the last snapshot; 0: unbounded
    Tick snapshot_tick = 0;        // of the last snapshot
    uint32_t owned = 0;            // objects that it owns
    SnapshotBrake brake;
    replication::JoinProgress progress;
  };

  bool is_braked(Recipient& recipient) const;
  Recipient* find(ConnectionHandle connection) const;
  bool in_set(const Recipient& recipient, uint32_t slot) const;
  void touch_placed(uint32_t slot);
  /// Clients take turns: their snapshots leave on different ticks, so no tick has to serve all.
  Tick turn_of(ConnectionHandle connection) const { return connection.slot % interval_ticks_; }
  bool begins_snapshot(Tick tick) const;
  bool is_silent(uint32_t slot, Tick tick) const;
  void begin_snapshots(Tick tick);
  bool rests(Recipient& recipient);
  uint64_t due_budget_bytes(Recipient& recipient, bool begins, uint64_t now_ns);
  uint64_t until_next_snapshot_ns(uint64_t now_ns, Tick turn) const;
  uint32_t snapshot_budget(const Recipient& recipient, uint64_t send_budget_bytes) const;
  replication::SnapshotBuilder::Silence silence_of(const Recipient& recipient) const;
  void update_set(Recipient& recipient);
  void plan_snapshot(Recipient& recipient, uint64_t send_budget_bytes, InputReceiver* inputs);
  void send_batch();
  void send_part(Recipient& recipient, std::span<const uint8_t> bytes, uint32_t receipt);
  void send_progress(Recipient& recipient);
  static void take_receipt(Recipient& recipient, uint32_t receipt, bool acked);
  void settle_receipts(Recipient& recipient);
  void prefetch_due(size_t place, const InputReceiver* inputs) const;
  void explain_rules(const Recipient& recipient, uint32_t slot, lattice_why_info* out) const;
  void explain_sending(const Recipient& recipient, uint32_t slot, const replication::Replica& replica,
                       Tick next_tick, lattice_why_info* out);
  bool is_slowed(const Recipient& recipient, uint32_t slot, const replication::Replica& replica,
                 const lattice_why_info& why) const;

  const WorldConfig& config_;
  const replication::ObjectTable& table_;
  const simulation::FixedTick& clock_;
  uint32_t interval_ticks_;  // from snapshot to snapshot, rounded up
  replication::StateStore store_;
  std::unique_ptr<SnapshotBatch> batch_;
  fragment::FragmentingEndpoint* endpoint_ = nullptr;
  std::optional<InterestHub> interest_;
  std::vector<std::unique_ptr<Recipient>> recipients_;  // by connection slot; null: no client
  std::vector<std::vector<uint32_t>> turns_;            // connection slots by the turn of their clients
  /// Connection slots whose clients may be due a snapshot. A send looks at no others.
  std::vector<uint32_t> due_;
  // By connection slot, and not in Recipient: a tick looks at no client.
  std::vector<bool> begun_;   // since the last send, a tick began a snapshot for the client
  std::vector<bool> listed_;  // in due_
  WaitingReceipts receipts_;
  std::vector<bool> heard_;                 // by connection slot: inputs came since the last snapshot
  std::vector<Tick> acked_at_;              // by connection slot: when a part was acked last, or the join
  std::vector<ConnectionHandle> loaded_;    // not taken yet
  std::vector<uint32_t> destroyed_placed_;  // slots of placed objects that are gone
  Tick tick_;                               // the last that was recorded, or ran before this began
  uint64_t recorded_until_id_ = 0;          // the ids of objects that record() saw are below
  Tick aged_tick_;                          // when the lists of the clients were aged last
};

}  // namespace lattice::world
