// See state_receiver.h.
#include "world/state_receiver.h"

#include "serialization/layout.h"

namespace lattice::world {

StateReceiver::StateReceiver(replication::ObjectTable& table, StateListener& listener, uint32_t max_objects)
    : table_(table), listener_(listener), max_objects_(max_objects), rpc_counts_(table.id_seed()) {}

StateReceiver::~StateReceiver() = default;

void StateReceiver::start(const replication::TypeTable& types) {
  types_ = &types;
  restart();
}

void StateReceiver::restart() {
  replication::SnapshotListener& self = *this;
  applier_ = std::make_unique<replication::SnapshotApplier>(*types_, table_, self,
                                                            replication::slot_bound(max_objects_));
}

// --- The session

void StateReceiver::begin_session(const PlacedSet& placed, Tick server_tick) {
  applier_->begin(server_tick);
  const Tick tick = server_tick <= 1 ? server_tick - 2 : server_tick - 1;  // not 0, which says "none"
  uint32_t remote_slot = 0;
  for (const PlacedSet::Object& object : placed.objects()) {
    replication::ObjectInfo info;
    info.network_id = uint64_t{remote_slot} + 1;
    info.type = object.type;
    const uint32_t slot = applier_->place(info, remote_slot, placed.words(object), tick);
    on_spawn(slot, tick);
    records_[slot].has_state = true;
    ++remote_slot;
  }
}

void StateReceiver::end_session() {
  rpc_counts_.clear();
  while (table_.size() != 0) {
    const uint32_t slot = table_.ascending().back();
    records_[slot].gate.stay();  // no call is missing any more
    listener_.on_gone(slot, replication::DespawnReason::kSessionEnded);
    table_.despawn(slot);
  }
  restart();
  joining_ = {};
  joining_tick_ = snapshot_tick_ = first_snapshot_tick_ = 0;
  recent_ticks_ = {};
}

// --- Receiving

void StateReceiver::begin_receive(uint64_t now_ns, uint32_t interval_ticks, Tick drawn_from) {
  now_ns_ = now_ns;
  applier_->set_interval(interval_ticks);
  applier_->set_drawn_from(drawn_from);
}

reliability::Verdict StateReceiver::receive(std::span<const uint8_t> body,
                                            const replication::SnapshotHeader** header) {
  *header = nullptr;
  switch (applier_->apply(body)) {
    case replication::SnapshotApplier::Result::kStale:
      refusals_.add(applier_->refusal());
      return reliability::Verdict::kAcceptButDoNotAck;
    case replication::SnapshotApplier::Result::kRefused:
      refusals_.add(applier_->refusal());
      return reliability::Verdict::kProtocolError;
    case replication::SnapshotApplier::Result::kApplied:
      break;
  }
  if (applier_->header().progress) {
    note_progress(applier_->header());
  } else {
    *header = &applier_->header();
    note_snapshot(applier_->header().server_tick);
  }
  return reliability::Verdict::kAccept;
}

// The authority says how much comes. With room for it, no table has to double on the way: a client would move
// all that it has within one frame.
void StateReceiver::reserve_for_join(uint32_t objects) {
  constexpr uint32_t kMostAtOnce = 1u << 16;  // clearing the tables for more would itself be felt
  const uint32_t room = std::min({objects, kMostAtOnce, table_.max_objects()});
  applier_->reserve(room);
  records_.reserve(room);
}

void StateReceiver::note_progress(const replication::SnapshotHeader& header) {
  if (joining_tick_ != 0 && !base::tick_after(header.server_tick, joining_tick_)) return;
  if (joining_tick_ == 0) reserve_for_join(header.join_objects);
  joining_tick_ = header.server_tick;
  joining_.count = {header.join_objects, header.join_missing};
  if (joining_.loaded || header.join_missing != 0) return;
  joining_.loaded = true;
  applier_->end_join();
  listener_.on_loaded();
}

void StateReceiver::note_snapshot(Tick tick) {
  recent_ticks_.note(tick);
  if (first_snapshot_tick_ == 0) first_snapshot_tick_ = tick;
  if (snapshot_tick_ != 0 && !base::tick_after(tick, snapshot_tick_)) return;
  snapshot_tick_ = tick;
  ++snapshots_applied_;
}

void StateReceiver::on_reliable_rpc(uint64_t network_id) {
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) {
    rpc_counts_.add(network_id);
  } else {
    records_[slot].gate.rpc_arrived();
  }
}

// --- Objects

void* const* StateReceiver::host(uint32_t slot) {
  Record& record = records_[slot];
  void* const* host = table_.host(slot);
  if (!record.host_kept && record.has_state) {
    record.host_kept = true;  // the caller may keep the pointer
    update_host(slot);
  }
  return host;
}

void StateReceiver::update_host(uint32_t slot) {
  if (records_[slot].host_kept) table_.info(slot).type->layout->dequantize(newest(slot), table_.host(slot));
}

void StateReceiver::on_spawn(uint32_t slot, Tick) {
  if (records_.size() <= slot) records_.resize(slot + 1);
  records_[slot] = {};
  records_[slot].gate = replication::DespawnGate(rpc_counts_.take(table_.network_id(slot)));
}

// The game hears of the object when its first state is in place.
void StateReceiver::on_state(uint32_t slot, Tick tick, const Word* words, replication::EntryKind) {
  if (has_state(slot)) {
    const replication::NewState state{slot, words};
    return listener_.on_states(tick, {&state, 1});
  }
  records_[slot].has_state = true;
  listener_.on_object(slot, tick);
}

void StateReceiver::on_states(Tick tick, std::span<const replication::NewState> states) {
  listener_.on_states(tick, states);
}

void StateReceiver::on_authority(uint32_t slot, Tick) {
  listener_.on_authority(slot);
}

void StateReceiver::on_despawn(uint32_t slot, Tick, replication::DespawnReason reason) {
  if (reason == replication::DespawnReason::kLeft) {
    rpc_counts_.keep(table_.network_id(slot), records_[slot].gate.count());
  }
  listener_.on_gone(slot, reason);
}

// D-35. While the object waits, it keeps its last state: nothing simulates it any more.
bool StateReceiver::may_despawn(uint32_t slot, uint32_t rpc_count) {
  replication::DespawnGate& gate = records_[slot].gate;
  const bool has_waited = gate.waiting();
  const bool may_go = gate.may_go(now_ns_, rpc_count);
  if (gate.waiting() != has_waited) listener_.on_frozen(slot);
  return may_go;
}

void StateReceiver::on_stays(uint32_t slot) {
  records_[slot].gate.stay();
  listener_.on_frozen(slot);
}

}  // namespace lattice::world
