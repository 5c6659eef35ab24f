#include "replication/object_table.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "serialization/layout.h"

namespace lattice::replication {
namespace {

size_t align_up(size_t n) {
  return (n + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
}

}  // namespace

ObjectTable::ObjectTable(uint32_t max_objects) : max_objects_(max_objects) {
  LATTICE_ASSERT(max_objects > 0);
  order_.reserve(max_objects);
  ids_.reserve(max_objects);
  free_slots_.reserve(max_objects);
}

ObjectTable::~ObjectTable() = default;

uint32_t ObjectTable::spawn(const ObjectType& type, uint64_t owner, lattice_authority_mode mode,
                            Tick authority_tick, Tick spawn_tick) {
  ObjectInfo info;
  info.network_id = next_id_;
  info.type = &type;
  info.owner = owner;
  info.mode = mode;
  info.authority_tick = authority_tick;
  info.spawn_tick = spawn_tick;
  return mirror(info);
}

uint32_t ObjectTable::mirror(const ObjectInfo& info) {
  LATTICE_ASSERT(info.type != nullptr);
  if (info.network_id == 0 || order_.size() >= max_objects_) return kNoSlot;
  const auto place = std::lower_bound(ids_.begin(), ids_.end(), info.network_id);
  if (place != ids_.end() && *place == info.network_id) return kNoSlot;
  const uint32_t slot = take_slot();
  order_.insert(order_.begin() + (place - ids_.begin()), slot);
  ids_.insert(place, info.network_id);
  slots_[slot].info = info;
  slots_[slot].written = true;
  prepare_storage(slots_[slot]);
  next_id_ = std::max(next_id_, info.network_id + 1);
  validate();
  return slot;
}

void ObjectTable::despawn(uint32_t slot) {
  LATTICE_ASSERT(live(slot));
  const auto place = std::lower_bound(ids_.begin(), ids_.end(), slots_[slot].info.network_id);
  order_.erase(order_.begin() + (place - ids_.begin()));
  ids_.erase(place);
  slots_[slot].info = ObjectInfo{};
  free_slots_.push_back(slot);
  validate();
}

void ObjectTable::set_authority(uint32_t slot, uint64_t owner, lattice_authority_mode mode,
                                Tick authority_tick) {
  LATTICE_ASSERT(live(slot));
  slots_[slot].info.owner = owner;
  slots_[slot].info.mode = mode;
  slots_[slot].info.authority_tick = authority_tick;
}

uint32_t ObjectTable::find(uint64_t network_id) const {
  const auto place = std::lower_bound(ids_.begin(), ids_.end(), network_id);
  if (place == ids_.end() || *place != network_id) return kNoSlot;
  return order_[static_cast<size_t>(place - ids_.begin())];
}

uint32_t ObjectTable::take_slot() {
  if (!free_slots_.empty()) {
    const uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }
  slots_.emplace_back();
  return static_cast<uint32_t>(slots_.size() - 1);
}

void ObjectTable::prepare_storage(Slot& slot) {
  const serialization::Layout& layout = *slot.info.type->layout;
  size_t bytes = 0;
  for (size_t b = 0; b < layout.behaviour_count(); ++b) bytes += align_up(layout.host_bytes(b));
  if (slot.storage_bytes < bytes || !slot.storage) {
    slot.storage = std::make_unique<std::byte[]>(bytes + kHostAlignment);
    slot.storage_bytes = bytes;
  }
  void* start = slot.storage.get();
  size_t space = slot.storage_bytes + kHostAlignment;
  auto* at = static_cast<std::byte*>(std::align(kHostAlignment, bytes, start, space));
  LATTICE_CHECK(at != nullptr);
  std::memset(at, 0, bytes);
  slot.behaviours.clear();
  for (size_t b = 0; b < layout.behaviour_count(); ++b) {
    LATTICE_ASSERT(layout.host_align(b) <= kHostAlignment);
    slot.behaviours.push_back(at);
    at += align_up(layout.host_bytes(b));
  }
}

void ObjectTable::validate() const {
#if defined(LATTICE_VALIDATION)
  LATTICE_ASSERT(order_.size() == ids_.size());
  LATTICE_ASSERT(order_.size() + free_slots_.size() == slots_.size());
  for (size_t i = 0; i < order_.size(); ++i) {
    LATTICE_ASSERT(slots_[order_[i]].info.network_id == ids_[i]);
    LATTICE_ASSERT(i == 0 || ids_[i - 1] < ids_[i]);
  }
#endif
}

}  // namespace lattice::replication
