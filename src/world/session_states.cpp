// The states of a session's objects, for the game: to read, to write and to draw; see session.h.
#include <cstring>

#include "world/session.h"

namespace lattice::world {

void Session::announce_write(uint32_t slot) {
  if (sender_ && table_.writes(slot)) sender_->store().mark(slot);
}

void* Session::object_state(uint32_t slot, uint32_t behaviour) {
  if (behaviour >= table_.info(slot).type->layout->behaviour_count()) return nullptr;
  announce_write(slot);
  return host_for_game(slot)[behaviour];
}

const void* Session::read_state(uint32_t slot, uint32_t behaviour) {
  if (behaviour >= table_.info(slot).type->layout->behaviour_count()) return nullptr;
  return host_for_game(slot)[behaviour];
}

OpResult Session::set_prop(uint64_t network_id, uint16_t prop_id, const void* data, size_t bytes) {
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) return OpResult::kNotFound;
  const serialization::LayoutNode* member = table_.info(slot).type->layout->member(prop_id);
  if (member == nullptr || member->host_bytes != bytes) return OpResult::kInvalid;
  if (!writable(slot)) return OpResult::kNotAllowed;
  announce_write(slot);
  auto* host = static_cast<std::byte*>(host_for_game(slot)[member->behaviour]);
  std::memcpy(host + member->host_offset, data, bytes);
  return OpResult::kOk;
}

size_t Session::get_prop(uint64_t network_id, uint16_t prop_id, void* out, size_t capacity) {
  const uint32_t slot = table_.find(network_id);
  if (slot == replication::kNoSlot) return 0;
  const serialization::LayoutNode* member = table_.info(slot).type->layout->member(prop_id);
  if (member == nullptr || member->host_bytes > capacity) return 0;
  const auto* host = static_cast<const std::byte*>(host_for_game(slot)[member->behaviour]);
  std::memcpy(out, host + member->host_offset, member->host_bytes);
  return member->host_bytes;
}

const serialization::Word* Session::confirmed(uint32_t slot, Tick* tick) const {
  if (!is_known(slot)) return nullptr;
  *tick = receiver_ ? receiver_->newest_tick(slot) : current_tick_;
  return receiver_ ? receiver_->newest(slot) : sender_->store().current(slot);
}

size_t Session::read_confirmed(uint32_t slot, uint32_t behaviour, void* out, size_t capacity,
                               Tick* tick) const {
  const serialization::Layout& layout = *table_.info(slot).type->layout;
  if (behaviour >= layout.behaviour_count() || layout.host_bytes(behaviour) > capacity) return 0;
  Tick at = 0;
  const serialization::Word* words = confirmed(slot, &at);
  if (words == nullptr) return 0;
  const HostScratch& host = scratch_for(*table_.info(slot).type);
  layout.dequantize(words, host.writable());
  std::memcpy(out, host.behaviours()[behaviour], layout.host_bytes(behaviour));
  if (tick != nullptr) *tick = at;
  return layout.host_bytes(behaviour);
}

const HostScratch& Session::scratch_for(const replication::ObjectType& type) const {
  for (const TypeScratch& scratch : type_scratch_) {
    if (scratch.type == &type) return *scratch.host;
  }
  type_scratch_.push_back({&type, std::make_unique<HostScratch>(*type.layout)});
  return *type_scratch_.back().host;
}

uint64_t Session::state_hash() const {
  uint64_t hash = 0xCBF29CE484222325u;
  const auto mix = [&hash](uint64_t value) { hash = (hash ^ value) * 0x100000001B3u; };
  for (const uint32_t slot : table_.ascending()) {
    Tick tick = 0;
    const serialization::Word* words = confirmed(slot, &tick);
    if (words == nullptr) continue;
    const replication::ObjectInfo& info = table_.info(slot);
    mix(info.network_id);
    mix(info.type->type_id);
    mix(info.owner);
    mix(info.type->layout->state_hash(words));
  }
  return hash;
}

// --- Drawing

void Session::set_option(Option option, bool enabled) {
  if (!presenter_) return;
  switch (option) {
    case Option::kPrediction:
      predicts_own_ = enabled;
      for (const uint32_t slot : table_.ascending()) update_prediction(slot);
      break;
    case Option::kSmoothing:
      presenter_->set_smoothing(enabled);
      break;
    case Option::kInterpolation:
      presenter_->set_interpolation(enabled);
      break;
  }
}

void Session::begin_frame(Now now) {
  frame_ = now;
  if (!frame_log_.collects()) {
    frame_log_.start();
    for (const uint32_t slot : table_.ascending()) {
      const bool is_new = is_known(slot) && !placed_.has(table_.network_id(slot));
      if (is_new) frame_log_.spawned(slot, table_.info(slot));
    }
    log_placed();
  }
  frame_log_.begin(current_tick_, look(now));
}

// The game has loaded the level. So its first frame has what is no longer as it was placed.
void Session::log_placed() {
  const bool are_here = endpoint_ && local_peer() != 0;
  if (!are_here) return;
  replication::ObjectInfo info;
  for (const PlacedSet::Object& object : placed_.objects()) {
    ++info.network_id;
    info.type = object.type;
    const uint32_t slot = table_.find(info.network_id);
    if (slot == replication::kNoSlot) {
      frame_log_.left(slot, info, replication::DespawnReason::kDestroyed);
      continue;
    }
    Tick tick = 0;
    const serialization::Word* words = confirmed(slot, &tick);
    frame_log_.changed(slot, info, frame_members(*object.type->layout, placed_.words(object), words));
  }
}

simulation::TickTime Session::look(Now now) {
  return presenter_ ? presenter_->look(clock_->sync(), now.ns) : simulation::TickTime{current_tick_, 0.0};
}

const void* Session::view(uint32_t slot, uint32_t behaviour, Now now) {
  if (!is_known(slot)) return nullptr;
  if (!presenter_ || table_.writes(slot)) return host_for_game(slot)[behaviour];  // the true state is here
  look(now);
  return presenter_->shown(slot, behaviour, current_tick_, now.ns);
}

}  // namespace lattice::world
