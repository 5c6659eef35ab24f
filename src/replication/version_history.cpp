#include "replication/version_history.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "serialization/layout.h"

namespace lattice::replication {

VersionHistory::VersionHistory(int32_t history_ticks) : history_ticks_(history_ticks) {
  LATTICE_CHECK(history_ticks >= 2 && history_ticks <= kHistoryTicks);
}

void VersionHistory::begin(uint32_t slot, const ObjectType& type) {
  if (slot >= objects_.size()) {
    objects_.resize(slot + 1);
    summaries_.resize(slot + 1);
  }
  Object& object = objects_[slot];
  object.type = &type;
  object.announced = false;
  // Room for one version per tick, for the version that was current before these ticks, and for the version
  // that is being added.
  object.ring.reset(type.word_count, static_cast<uint32_t>(history_ticks_) + 2);
  summaries_[slot] = VersionSummary{};
  if (scratch_.size() < type.word_count) scratch_.resize(type.word_count);
}

void VersionHistory::end(uint32_t slot) {
  LATTICE_ASSERT(slot < objects_.size());
  objects_[slot].type = nullptr;
  objects_[slot].ring.clear();
  summaries_[slot] = VersionSummary{};
}

uint32_t VersionHistory::record(ObjectTable& table, Tick tick) {
  LATTICE_ASSERT(last_tick_ == 0 || base::tick_after(tick, last_tick_));
  if (last_tick_ == 0) aged_tick_ = tick;
  last_tick_ = tick;
  if (base::tick_distance(tick, aged_tick_) >= kAgingTicks) age(tick);
  uint32_t changed = 0;
  for (const uint32_t slot : table.ascending()) {
    Object& object = objects_[slot];
    const bool written = table.take_written(slot);
    const bool first = summaries_[slot].version == 0;
    if (!written && !first && !object.announced) continue;
    const ObjectType& type = *object.type;
    type.layout->quantize(const_cast<const ObjectTable&>(table).host(slot), scratch_.data());
    if (type.round_host) type.layout->dequantize(scratch_.data(), table.host(slot));
    if (!first && !object.announced &&
        std::memcmp(scratch_.data(), current(slot), size_t{type.word_count} * sizeof(serialization::Word)) ==
            0) {
      continue;
    }
    add_version(slot, tick, scratch_.data());
    if (first || object.announced) summaries_[slot].full_version = summaries_[slot].version;
    object.announced = false;
    ++changed;
    validate(slot);
  }
  return changed;
}

void VersionHistory::add_version(uint32_t slot, Tick tick, const serialization::Word* words) {
  StateRing& ring = objects_[slot].ring;
  // The oldest version goes when the second oldest covers all ticks that are kept.
  while (ring.size() > 1 && base::tick_distance(tick, ring.tick(1)) >= history_ticks_) ring.pop_front();
  serialization::Word* room = ring.insert(tick);
  LATTICE_CHECK(room != nullptr);  // ticks only grow, so the ring has no version of this tick yet
  std::copy_n(words, objects_[slot].type->word_count, room);
  VersionSummary& summary = summaries_[slot];
  ++summary.version;
  summary.moving = objects_[slot].type->layout->moving(words);
}

const serialization::Word* VersionHistory::current(uint32_t slot) const {
  const StateRing& ring = objects_[slot].ring;
  return ring.empty() ? nullptr : ring.words(ring.size() - 1);
}

const serialization::Word* VersionHistory::words(uint32_t slot, uint32_t version) const {
  const Object& object = objects_[slot];
  if (version == 0) return object.type->zero_words.data();
  const uint32_t newest = summaries_[slot].version;
  if (version > newest || newest - version >= object.ring.size()) return nullptr;
  return object.ring.words(object.ring.size() - 1 - (newest - version));
}

uint32_t VersionHistory::version_at(uint32_t slot, Tick tick) const {
  if (base::tick_distance(last_tick_, tick) > history_ticks_) return 0;
  const StateRing& ring = objects_[slot].ring;
  const int32_t index = ring.at_or_before(tick);
  if (index < 0) return 0;
  return summaries_[slot].version - (ring.size() - 1 - static_cast<uint32_t>(index));
}

const serialization::Word* VersionHistory::at_tick(uint32_t slot, Tick tick) const {
  const uint32_t version = version_at(slot, tick);
  return version == 0 ? nullptr : words(slot, version);
}

void VersionHistory::age(Tick tick) {
  aged_tick_ = tick;
  for (Object& object : objects_) object.ring.age(tick - static_cast<Tick>(history_ticks_) - 1);
}

void VersionHistory::validate(uint32_t slot) const {
#if defined(LATTICE_VALIDATION)
  const StateRing& ring = objects_[slot].ring;
  LATTICE_ASSERT(ring.size() <= summaries_[slot].version);
  LATTICE_ASSERT(summaries_[slot].full_version <= summaries_[slot].version);
  for (uint32_t i = 1; i < ring.size(); ++i) {
    LATTICE_ASSERT(base::tick_after(ring.tick(i), ring.tick(i - 1)));
  }
#else
  static_cast<void>(slot);
#endif
}

}  // namespace lattice::replication
