// Receives the states of objects that the other side writes: takes the parts of its snapshots, and keeps the
// newest state of each object, in words (§14). It knows nothing of roles, of prediction or of drawing.
//
// The host structures of an object follow its newest state from the moment when somebody first asks for them:
// most objects are only drawn. Who predicts or writes an object fills its structures instead.
//
// Nothing follows from an entry that is missing, except where a part says so.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/counters.h"
#include "reliability/endpoint/endpoint_handler.h"
#include "replication/despawn_gate.h"
#include "replication/join_progress.h"
#include "replication/rpc_counts.h"
#include "replication/snapshot_applier.h"
#include "world/placed_set.h"
#include "world/recent_ticks.h"

namespace lattice::world {

/// Hears what the parts did to objects. It may not give the receiver another part.
class StateListener {
 public:
  virtual ~StateListener() = default;
  /// An object has come: its first state is here.
  virtual void on_object(uint32_t slot, base::Tick tick) = 0;
  /// The newest states of objects that were here before. StateReceiver::former() has those in whose place
  /// they come.
  virtual void on_states(base::Tick tick, std::span<const replication::NewState> states) = 0;
  /// The object has another owner or writer, or StateReceiver::frozen() has another answer.
  virtual void on_authority(uint32_t slot) = 0;
  virtual void on_frozen(uint32_t slot) = 0;
  /// The object is about to go. It can still be read.
  virtual void on_gone(uint32_t slot, replication::DespawnReason reason) = 0;
  /// Nothing is missing any more of what was to be here when this side joined. Once in a session.
  virtual void on_loaded() = 0;
};

class StateReceiver final : private replication::SnapshotListener {
 public:
  using Tick = base::Tick;
  using Word = serialization::Word;

  /// `table` and `listener` outlive this. The other side has at most `max_objects`.
  StateReceiver(replication::ObjectTable& table, StateListener& listener, uint32_t max_objects);
  ~StateReceiver() override;

  /// The types are fixed. Comes before all that follows; `types` outlives this.
  void start(const replication::TypeTable& types);

  // --- The session
  /// It begins: the objects that both sides placed are here before the first snapshot, whose tick is not
  /// before `server_tick`.
  void begin_session(const PlacedSet& placed, Tick server_tick);
  /// All objects go.
  void end_session();

  // --- Receiving
  /// A receive phase begins. Two snapshots are `interval_ticks` apart at present. Poses are drawn at
  /// `drawn_from` or later; 0: none.
  void begin_receive(uint64_t now_ns, uint32_t interval_ticks, Tick drawn_from);
  /// Takes one part. With `header` not null afterwards, the part was one of a snapshot: what it says beside
  /// the objects, until the next part.
  reliability::Verdict receive(std::span<const uint8_t> body, const replication::SnapshotHeader** header);
  /// Lets the objects go whose removals have waited long enough.
  void retry_removals() { applier_->retry_removals(); }
  /// A call on a reliable channel arrived (D-35).
  void on_reliable_rpc(uint64_t network_id);

  // --- Objects, by slot. The object is there.
  /// False before its first state.
  bool has_state(uint32_t slot) const { return records_[slot].has_state; }
  /// The tick of the newest state; 0 before the first.
  Tick newest_tick(uint32_t slot) const { return has_state(slot) ? states(slot).newest_tick() : 0; }
  /// The tick until which the newest state is known to hold; 0 before the first.
  Tick known_until(uint32_t slot) const { return has_state(slot) ? states(slot).newest_until() : 0; }
  const Word* newest(uint32_t slot) const { return applier_->confirmed(slot, nullptr); }
  /// Inside on_states(): the state that was the newest before.
  const Word* former(uint32_t slot) const { return applier_->former(slot); }
  /// All states that a pose may need. They stay valid until the next part.
  const replication::ReceivedStates& states(uint32_t slot) const { return applier_->states(slot); }
  /// The host structures. From the first call on they hold the newest state, after each update_host().
  void* const* host(uint32_t slot);
  /// Somebody asked for them.
  bool host_kept(uint32_t slot) const { return records_[slot].host_kept; }
  /// Fills the host structures with the newest state, if somebody asked for them.
  void update_host(uint32_t slot);
  /// The removal of the object came, and waits for calls on it: it keeps its last state.
  bool frozen(uint32_t slot) const { return records_[slot].gate.waiting(); }
  /// It waits, and calls are still missing.
  bool overdue(uint32_t slot) const { return records_[slot].gate.overdue(); }
  /// True when an entry about the object, sent at `tick`, is from a life of it that has ended here.
  bool is_gone(uint64_t network_id, Tick tick) const { return applier_->is_gone(network_id, tick); }

  // --- What came
  /// The tick of the newest snapshot of which a part arrived, and of the first of this session; 0: none.
  Tick snapshot_tick() const { return snapshot_tick_; }
  Tick first_snapshot_tick() const { return first_snapshot_tick_; }
  /// From which tick on all that came is still here to be drawn; 0: from the first.
  Tick drawable_from() const { return recent_ticks_.oldest(); }
  /// How far this side has come with the objects that were to be here when it joined, as the other side last
  /// said. `loaded` once nothing is missing.
  struct Joining {
    replication::JoinCount count;
    bool loaded = false;
  };
  const Joining& joining() const { return joining_; }
  uint64_t snapshots_applied() const { return snapshots_applied_; }
  /// Counts over all sessions.
  uint64_t refusals(replication::SnapshotRefusal reason) const { return refusals_.get(reason); }
  replication::SnapshotApplier::TypeTraffic traffic(const replication::ObjectType& type) const {
    return applier_ ? applier_->traffic(type) : replication::SnapshotApplier::TypeTraffic{};
  }

 private:
  struct Record {
    bool has_state = false;
    bool host_kept = false;  // somebody asked for the host structures
    replication::DespawnGate gate;
  };

  // replication::SnapshotListener
  void on_spawn(uint32_t slot, Tick tick) override;
  void on_despawn(uint32_t slot, Tick tick, replication::DespawnReason reason) override;
  bool may_despawn(uint32_t slot, uint32_t rpc_count) override;
  void on_stays(uint32_t slot) override;
  void on_state(uint32_t slot, Tick tick, const Word* words, replication::EntryKind kind) override;
  void on_states(Tick tick, std::span<const replication::NewState> states) override;
  void on_authority(uint32_t slot, Tick tick) override;

  void restart();
  void reserve_for_join(uint32_t objects);
  void note_progress(const replication::SnapshotHeader& header);
  void note_snapshot(Tick tick);

  replication::ObjectTable& table_;
  StateListener& listener_;
  uint32_t max_objects_;
  const replication::TypeTable* types_ = nullptr;
  std::unique_ptr<replication::SnapshotApplier> applier_;  // of this session
  replication::RpcCounts rpc_counts_;
  std::vector<Record> records_;  // by slot
  uint64_t now_ns_ = 0;          // of the present receive phase
  Tick snapshot_tick_ = 0;
  RecentTicks recent_ticks_;
  Tick first_snapshot_tick_ = 0;
  Joining joining_;
  Tick joining_tick_ = 0;  // when the other side said so; 0: not yet
  uint64_t snapshots_applied_ = 0;
  base::Counters<replication::SnapshotRefusal, static_cast<size_t>(replication::SnapshotRefusal::kCount)>
      refusals_;
};

}  // namespace lattice::world
