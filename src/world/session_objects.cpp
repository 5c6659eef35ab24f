// The objects of a session; see session.h.
#include <algorithm>

#include "base/assert.h"
#include "base/tick.h"
#include "world/session.h"

namespace lattice::world {

// --- Placed objects

Session::PlaceResult Session::place(uint64_t key, uint32_t type_id, const void* const* states) {
  if (!may_place()) return PlaceResult::kOutOfOrder;
  if (schema_.find(type_id) == nullptr) return PlaceResult::kUnknownType;
  if (placed_.size() == config_.max_objects) return PlaceResult::kFull;
  schema_.fix(config_.quantize_simulation);
  switch (placed_.add(key, *schema_.types().find(type_id), states)) {
    case PlacedSet::Result::kOk:
      break;
    case PlacedSet::Result::kDuplicate:
      return PlaceResult::kDuplicate;
    case PlacedSet::Result::kDoesNotFit:
      return PlaceResult::kDoesNotFit;
  }
  return PlaceResult::kOk;
}

bool Session::clear_placed() {
  if (!may_place()) return false;
  placed_.clear();
  return true;
}

// A side that connects may place while no session runs.
bool Session::may_place() const {
  if (!connector_) return !endpoint_;
  return table_.size() == 0 && !is_connecting();
}

// Ids and slots are those that every client gives them: see PlacedSet.
void Session::spawn_placed() {
  for (const PlacedSet::Object& object : placed_.objects()) {
    const uint32_t slot = table_.spawn(*object.type, 0, LATTICE_AUTHORITY_SERVER, 0, 0);
    LATTICE_ASSERT(slot != replication::kNoSlot && table_.network_id(slot) == uint64_t{slot} + 1);
    object.type->layout->dequantize(placed_.words(object), table_.host(slot));
    sender_->place(slot, placed_.words(object), is_always_relevant(object.type->type_id));
  }
  table_.keep_slots();
}

// --- The objects that this side makes

bool Session::is_always_relevant(uint32_t type_id) const {
  return (schema_.find(type_id)->flags & LATTICE_TYPE_ALWAYS_RELEVANT) != 0;
}

uint64_t Session::spawn(uint32_t type_id, lattice_authority_mode mode, uint64_t owner) {
  // Checked before the schema is fixed: a spawn that fails leaves the schema open.
  if (!sender_ || schema_.find(type_id) == nullptr) return 0;
  fix_schema();
  const replication::ObjectType* type = schema_.types().find(type_id);
  const Tick tick = phase_ == Phase::kTick ? current_tick_ : base::next_tick(current_tick_);
  const uint32_t slot = table_.spawn(*type, owner, mode, tick, tick);
  if (slot == replication::kNoSlot) return 0;
  sender_->begin(slot, is_always_relevant(type_id));
  sender_->count_owned(connection_of(owner), 1);
  frame_log_.spawned(slot, table_.info(slot));
  return table_.network_id(slot);
}

OpResult Session::despawn(uint64_t network_id) {
  if (!sender_) return OpResult::kNotAllowed;
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) return OpResult::kNotFound;
  if (despawning_.size() <= slot) despawning_.resize(table_.slot_count());
  if (phase_ == Phase::kIdle && !calls_own_player(network_id)) {
    remove_now(network_id);
  } else if (!despawning_[slot]) {
    despawning_[slot] = true;
    pending_despawns_.push_back(network_id);
  }
  return OpResult::kOk;
}

// Only calls to the server's own player count: a client must not be able to keep an object alive.
bool Session::calls_own_player(uint64_t network_id) const {
  return config_.has_player && rpcs_.holds(network_id, local_peer());
}

void Session::remove_pending() {
  std::erase_if(pending_despawns_, [&](uint64_t id) {
    if (calls_own_player(id)) return false;
    remove_now(id);
    return true;
  });
}

void Session::remove_now(uint64_t network_id) {
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) return;
  despawning_[slot] = false;
  frame_log_.left(slot, table_.info(slot), replication::DespawnReason::kDestroyed);
  sender_->count_owned(connection_of(table_.info(slot).owner), -1);
  sender_->end(slot);
  table_.despawn(slot);
}

bool Session::let_sleep(uint32_t slot) {
  if (!sender_ || !table_.writes(slot)) return false;
  sender_->store().sleep(slot);
  return true;
}

bool Session::why(ConnectionHandle connection, uint32_t slot, lattice_why_info* out) {
  if (!sender_) return false;
  const Tick next_snapshot = phase_ == Phase::kSend ? current_tick_ : next_tick();
  return sender_->why(connection, slot, current_tick_, next_snapshot, out);
}

// --- The objects that the other side makes

void Session::on_object(uint32_t slot, Tick tick) {
  const replication::ObjectInfo& info = table_.info(slot);
  update_prediction(slot);
  frame_log_.spawned(slot, info);
  observer_.on_spawn(info.network_id, info.type->type_id);
  if (predictor_->predicts(slot)) predictor_->note_news(tick);
}

void Session::on_states(Tick tick, std::span<const replication::NewState> states) {
  if (frame_log_.collects()) log_changes(states);
  presenter_->on_states(states, now_ns_);
  for (const replication::NewState& state : states) {
    if (predictor_->predicts(state.slot)) {
      predictor_->on_state(state.slot, tick, state.words);
    } else if (receiver_->host_kept(state.slot) && !table_.writes(state.slot)) {
      receiver_->update_host(state.slot);
    }
  }
}

void Session::log_changes(std::span<const replication::NewState> states) {
  for (const replication::NewState& state : states) {
    const replication::ObjectInfo& info = table_.info(state.slot);
    const serialization::Word* former = receiver_->former(state.slot);
    frame_log_.changed(state.slot, info, frame_members(*info.type->layout, former, state.words));
  }
}

void Session::on_authority(uint32_t slot) {
  update_prediction(slot);
  observer_.on_authority_changed(table_.network_id(slot), table_.info(slot).owner);
}

void Session::on_gone(uint32_t slot, replication::DespawnReason reason) {
  const uint64_t network_id = table_.network_id(slot);
  if (receiver_->overdue(slot)) rpcs_.count_refusal(replication::RpcRefusal::kDespawnOverdue);
  rpcs_.release(network_id);  // the RPCs that waited for a later tick: there will be no later tick
  // A placed object does not end with the session: the next one begins with it.
  const bool stays = reason == replication::DespawnReason::kSessionEnded && placed_.has(network_id);
  if (!stays) {
    if (receiver_->has_state(slot)) frame_log_.left(slot, table_.info(slot), reason);
    observer_.on_despawn(network_id, reason);
  }
  predictor_->set_predicted(slot, false);
  presenter_->on_gone(slot);
}

void Session::on_corrected(uint32_t slot, const serialization::Word* before,
                           const serialization::Word* after) {
  const replication::ObjectInfo& info = table_.info(slot);
  if (frame_log_.collects()) {
    frame_log_.corrected(slot, info, frame_members(*info.type->layout, before, after));
  }
  presenter_->on_corrected(slot, before, after, now_ns_);
}

void Session::update_prediction(uint32_t slot) {
  const bool runs_ahead = table_.owns(slot) && !table_.writes(slot) && !receiver_->frozen(slot) &&
                          schema_.info(*table_.info(slot).type).predicted();
  if (predictor_->set_predicted(slot, predicts_own_ && runs_ahead)) presenter_->snap(slot);
}

}  // namespace lattice::world
