// See frame_log.h.
#include "world/frame_log.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "serialization/layout.h"

namespace lattice::world {

lattice_despawn_reason public_reason(replication::DespawnReason reason) {
  switch (reason) {
    case replication::DespawnReason::kDestroyed:
      return LATTICE_DESPAWN_DESTROYED;
    case replication::DespawnReason::kLeft:
      return LATTICE_DESPAWN_LEFT;
    case replication::DespawnReason::kSessionEnded:
      return LATTICE_DESPAWN_SESSION_ENDED;
  }
  return LATTICE_DESPAWN_NONE;
}

uint64_t frame_members(const serialization::Layout& layout, const serialization::Word* before,
                       const serialization::Word* after) {
  uint64_t members = 0;
  if (layout.has_flat_mask()) {
    // changed_mask() has the first member in its highest bit.
    const unsigned last = layout.flat_mask_bits() - 1;
    for (uint64_t mask = layout.changed_mask(before, after); mask != 0; mask &= mask - 1) {
      members |= uint64_t{1} << (last - static_cast<unsigned>(std::countr_zero(mask)));
    }
    return members;
  }
  unsigned member = 0;
  for (const serialization::LayoutBehaviour& behaviour : layout.behaviours()) {
    for (const serialization::LayoutNode& node :
         layout.nodes().subspan(behaviour.first_node, behaviour.node_count)) {
      const bool differs = !std::equal(before + node.first_word, before + node.first_word + node.word_count,
                                       after + node.first_word);
      if (differs) members |= uint64_t{1} << std::min(member, LATTICE_FRAME_LAST_MEMBER);
      ++member;
    }
  }
  return members;
}

// --- One array

lattice_frame_object* FrameLog::Entries::find(uint32_t slot) {
  if (slot >= entry_of_.size()) return nullptr;
  const uint32_t entry = entry_of_[slot];
  return entry < slots.size() && slots[entry] == slot ? &objects[entry] : nullptr;
}

lattice_frame_object& FrameLog::Entries::add(uint32_t slot, const replication::ObjectInfo& info) {
  if (slot >= entry_of_.size()) entry_of_.resize(size_t{slot} + 1);
  entry_of_[slot] = static_cast<uint32_t>(objects.size());
  slots.push_back(slot);
  return objects.emplace_back(lattice_frame_object{info.network_id, 0, info.type->type_id, 0});
}

bool FrameLog::Entries::remove(uint32_t slot) {
  const lattice_frame_object* object = find(slot);
  if (object == nullptr) return false;
  const auto entry = static_cast<uint32_t>(object - objects.data());
  objects[entry] = objects.back();
  slots[entry] = slots.back();
  entry_of_[slots[entry]] = entry;
  objects.pop_back();
  slots.pop_back();
  return true;
}

void FrameLog::Entries::show() {
  shown.swap(objects);
  objects.clear();
  slots.clear();
}

// --- All of them

void FrameLog::begin(base::Tick tick, simulation::TickTime view_time) {
  spawned_.show();
  changed_.show();
  corrected_.show();
  shown_left_.swap(left_);
  left_.clear();
  if (left_of_id_.size() != 0) left_of_id_.clear();
  ++number_;
  tick_ = tick;
  view_time_ = view_time;
}

void FrameLog::spawned(uint32_t slot, const replication::ObjectInfo& info) {
  if (collects()) spawned_.add(slot, info);
}

void FrameLog::left(uint32_t slot, const replication::ObjectInfo& info, replication::DespawnReason reason) {
  if (!collects()) return;
  const auto why = static_cast<uint32_t>(public_reason(reason));
  changed_.remove(slot);
  corrected_.remove(slot);
  const bool was_new = spawned_.remove(slot);
  const uint32_t entry = left_of_id_.find(info.network_id);
  if (entry != base::HashIndex::kNone) {
    left_[entry].reason = why;  // it had left before in this frame, and came back
  } else if (!was_new) {
    left_of_id_.insert(info.network_id, static_cast<uint32_t>(left_.size()));
    left_.push_back({info.network_id, 0, info.type->type_id, why});
  }
}

void FrameLog::mark(Entries* entries, uint32_t slot, const replication::ObjectInfo& info, uint64_t members) {
  lattice_frame_object* object = entries->find(slot);
  if (object == nullptr) object = &entries->add(slot, info);
  object->members |= members;
}

void FrameLog::changed(uint32_t slot, const replication::ObjectInfo& info, uint64_t members) {
  if (!collects() || members == 0 || spawned_.find(slot) != nullptr) return;
  mark(&changed_, slot, info, members);
}

void FrameLog::corrected(uint32_t slot, const replication::ObjectInfo& info, uint64_t members) {
  if (!collects() || members == 0) return;
  mark(&corrected_, slot, info, members);
}

void FrameLog::forget_up_to(uint64_t last_id) {
  for (Entries* entries : {&changed_, &corrected_}) {
    for (size_t i = entries->objects.size(); i-- > 0;) {
      if (entries->objects[i].object <= last_id) entries->remove(entries->slots[i]);
    }
  }
  std::erase_if(left_, [last_id](const lattice_frame_object& gone) { return gone.object <= last_id; });
  left_of_id_.clear();
  for (uint32_t i = 0; i < left_.size(); ++i) left_of_id_.insert(left_[i].object, i);
}

}  // namespace lattice::world
