#include "replication/object_table.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::replication {
namespace {

constexpr size_t kFirstObjects = 64;

}  // namespace

ObjectTable::ObjectTable(uint32_t max_objects, uint32_t resting_slots, uint64_t local_peer, uint64_t id_seed)
    : max_objects_(max_objects),
      resting_slots_(resting_slots),
      local_peer_(local_peer),
      id_seed_(id_seed),
      slot_of_(kFirstObjects, base::HashIndex::Growth::kDoubling, id_seed) {
  LATTICE_ASSERT(max_objects > 0 && max_objects <= 2 * kMaxObjects);
}

uint32_t ObjectTable::spawn(const ObjectType& type, uint64_t owner, lattice_authority_mode mode,
                            Tick since_tick, Tick spawn_tick) {
  ObjectInfo info;
  info.network_id = next_id_;
  info.type = &type;
  info.owner = owner;
  info.mode = mode;
  info.authority = begin_tenure(mode, owner, since_tick);
  info.spawn_tick = spawn_tick;
  return mirror(info);
}

uint32_t ObjectTable::mirror(const ObjectInfo& info) {
  LATTICE_ASSERT(info.type != nullptr);
  LATTICE_ASSERT(info.authority == begin_tenure(info.mode, info.owner, info.authority.since_tick));
  if (info.network_id == 0 || size_ >= max_objects_ || slot_of_.contains(info.network_id)) return kNoSlot;
  const uint32_t slot = take_slot();
  slots_[slot].info = info;
  slots_[slot].host = cells_.take(*info.type);
  place_[slot] = static_cast<uint32_t>(order_.size());
  in_order_ = in_order_ && (order_.empty() || info.network_id > network_id(order_.back()));
  order_.push_back(slot);
  slot_of_.insert(info.network_id, slot);
  ++size_;
  next_id_ = std::max(next_id_, info.network_id + 1);
  return slot;
}

void ObjectTable::reserve(uint32_t objects) {
  slots_.reserve(objects);
  place_.reserve(objects);
  order_.reserve(objects);
  slot_of_.reserve(objects);
}

void ObjectTable::despawn(uint32_t slot) {
  LATTICE_ASSERT(live(slot));
  order_[place_[slot]] = kNoSlot;
  in_order_ = false;
  slot_of_.erase(slots_[slot].info.network_id);
  cells_.give_back(*slots_[slot].info.type, slots_[slot].host);
  slots_[slot].info = ObjectInfo{};
  slots_[slot].host = nullptr;
  --size_;
  free_slot(slot);
  // Between two calls of ascending(), the list must not grow with the number of objects that came and went.
  if (order_.size() > 2 * size_t{size_} + kFirstObjects) static_cast<void>(ascending());
}

void ObjectTable::set_authority(uint32_t slot, uint64_t owner, lattice_authority_mode mode, Tick since_tick) {
  LATTICE_ASSERT(live(slot));
  slots_[slot].info.owner = owner;
  slots_[slot].info.mode = mode;
  slots_[slot].info.authority = begin_tenure(mode, owner, since_tick);
}

std::span<const uint32_t> ObjectTable::ascending() const {
  if (in_order_) return order_;
  std::erase(order_, kNoSlot);
  const auto by_id = [this](uint32_t a, uint32_t b) { return network_id(a) < network_id(b); };
  if (!std::is_sorted(order_.begin(), order_.end(), by_id)) std::sort(order_.begin(), order_.end(), by_id);
  for (uint32_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
  in_order_ = true;
  validate();
  return order_;
}

uint32_t ObjectTable::take_slot() {
  const bool rests = resting_slots_ != 0 && (free_count_ <= resting_slots_ || !has_rested(first_free_));
  if (first_free_ == kNoSlot || (rests && slots_.size() < slot_bound(max_objects_))) {
    slots_.emplace_back();
    place_.emplace_back();
    return static_cast<uint32_t>(slots_.size() - 1);
  }
  const uint32_t slot = first_free_;
  first_free_ = slots_[slot].next_free;
  if (first_free_ == kNoSlot) last_free_ = kNoSlot;
  --free_count_;
  return slot;
}

bool ObjectTable::has_rested(uint32_t slot) const {
  return base::tick_distance(tick_, slots_[slot].info.spawn_tick) >= static_cast<int32_t>(rest_ticks_);
}

void ObjectTable::keep_slots() {
  LATTICE_ASSERT(size_ == slots_.size());
  kept_slots_ = size_;
}

void ObjectTable::free_slot(uint32_t slot) {
  if (slot < kept_slots_) {
    ++retired_count_;
    return;
  }
  slots_[slot].next_free = kNoSlot;
  slots_[slot].info.spawn_tick = tick_;
  if (last_free_ == kNoSlot) {
    first_free_ = slot;
  } else {
    slots_[last_free_].next_free = slot;
  }
  last_free_ = slot;
  ++free_count_;
}

void ObjectTable::validate() const {
#if defined(LATTICE_VALIDATION)
  if (!check_.is_due(order_.size())) return;
  LATTICE_ASSERT(order_.size() == size_ && slot_of_.size() == size_);
  LATTICE_ASSERT(size_ + free_count_ + retired_count_ == slots_.size());
  for (size_t i = 0; i < order_.size(); ++i) {
    LATTICE_ASSERT(place_[order_[i]] == i);
    LATTICE_ASSERT(i == 0 || network_id(order_[i - 1]) < network_id(order_[i]));
  }
#endif
}

}  // namespace lattice::replication
