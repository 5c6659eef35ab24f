#include "replication/state_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "serialization/layout.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kFirstChanges = 1024;
// The change log has room for changes of every object from one snapshot of a client to the next, and so many
// ticks more.
constexpr uint32_t kSpareChangeTurns = 2;
constexpr uint32_t kAnnounced = 1024;
constexpr size_t kUnannouncedLooks = 4096;
constexpr uint32_t kShrinkTurns = 32;  // every grown object is looked at once in so many ticks

// Room for one state per tick, for the one that was current before these ticks, and for the one that is being
// added.
uint32_t newest_states(int32_t history_ticks) {
  LATTICE_CHECK(history_ticks >= 2 && history_ticks <= kHistoryTicks);
  return static_cast<uint32_t>(history_ticks) + 2;
}

// What only one of the two gets tells the other nothing, not even by the time at which its rest is said.
void note_motion(const serialization::Layout& layout, const Word* words, const Word* before,
                 StateSummary* out) {
  const auto moves_for = [&](bool is_owner) {
    return layout.moving(words, before, {.is_owner = is_owner, .has_baseline = true});
  };
  out->moves_for_owner = moves_for(true);
  out->moves_for_others = layout.has_conditions() ? moves_for(false) : out->moves_for_owner;
}

}  // namespace

StateStore::StateStore(int32_t history_ticks, KeepTicks keep)
    : history_ticks_(history_ticks), keep_(keep), pool_(newest_states(history_ticks)) {
  announced_.reserve(kAnnounced);
}

void StateStore::begin(uint32_t slot, const ObjectType& type) {
  begin_unmarked(slot, type);
  mark(slot);
}

void StateStore::place(uint32_t slot, const ObjectType& type, const Word* words) {
  LATTICE_ASSERT(slot == placed_count() && last_tick_ == 0);
  begin_unmarked(slot, type);
  placed_first_.push_back(static_cast<uint32_t>(placed_words_.size()));
  placed_words_.insert(placed_words_.end(), words, words + type.word_count);
  StateSummary& summary = summaries_[slot];
  summary.version = summary.full_version = 1;
  note_motion(*type.layout, words, nullptr, &summary);
  std::copy_n(words, type.word_count, objects_[slot].ring.push(0, 1, history_ticks_, keep_, pool_));
}

void StateStore::begin_unmarked(uint32_t slot, const ObjectType& type) {
  if (slot >= objects_.size()) {
    objects_.resize(slot + 1);
    summaries_.resize(slot + 1);
    changes_.reserve(std::max(kFirstChanges, (keep_.turns() + kSpareChangeTurns) * (slot + 1)));
  }
  Object& object = objects_[slot];
  object.ring.begin(type, pool_);
  object.announced = false;
  object.asleep = false;
  summaries_[slot] = StateSummary{};
  if (scratch_.size() < type.word_count) scratch_.resize(type.word_count);
  clamps_.add_type(type);
  compare_always(slot);
}

void StateStore::end(uint32_t slot) {
  LATTICE_ASSERT(slot < objects_.size());
  Object& object = objects_[slot];
  if (!object.asleep) compare_when_marked(slot);
  object.ring.end(pool_);
  summaries_[slot] = StateSummary{};
  pinned_.forget(slot);
}

void StateStore::compare_always(uint32_t slot) {
  if (!objects_[slot].ring.type().compare_always) return;
  objects_[slot].always_place = static_cast<uint32_t>(always_.size());
  always_.push_back(slot);
}

void StateStore::compare_when_marked(uint32_t slot) {
  const Object& object = objects_[slot];
  if (!object.ring.type().compare_always) return;
  objects_[always_.back()].always_place = object.always_place;
  always_[object.always_place] = always_.back();
  always_.pop_back();
}

void StateStore::mark(uint32_t slot) {
  if (std::exchange(objects_[slot].asleep, false)) compare_always(slot);
  if (std::exchange(objects_[slot].marked, true)) return;
  marked_.push_back(slot);
}

void StateStore::sleep(uint32_t slot) {
  mark(slot);  // what was written in this tick still counts
  objects_[slot].asleep = true;
  compare_when_marked(slot);
}

void StateStore::announce(uint32_t slot) {
  objects_[slot].announced = true;
  mark(slot);
}

uint32_t StateStore::record(ObjectTable& table, Tick tick) {
  LATTICE_ASSERT(last_tick_ == 0 || base::tick_after(tick, last_tick_));
  if (last_tick_ == 0) aged_tick_ = tick;
  last_tick_ = tick;
  if (base::tick_distance(tick, aged_tick_) >= kAgingTicks) age(tick);
  for (const uint32_t slot : always_) mark(slot);
  uint32_t changed = 0;
  for (size_t i = 0; i < marked_.size(); ++i) {
    constexpr size_t kFar = 8, kNear = 4;
    if (i + kFar < marked_.size()) {
      base::prefetch(&objects_[marked_[i + kFar]], sizeof(Object));
      base::prefetch(&summaries_[marked_[i + kFar]]);
    }
    if (i + kNear < marked_.size()) objects_[marked_[i + kNear]].ring.prefetch_for_push();
    const uint32_t slot = marked_[i];
    objects_[slot].marked = false;
    if (objects_[slot].ring.begun() && record_one(table, slot, tick)) ++changed;
  }
  marked_.clear();
  shrink_resting(tick);
#if defined(LATTICE_VALIDATION)
  if (unannounced_ != nullptr) find_unannounced(table, tick);
#endif
  return changed;
}

bool StateStore::record_one(ObjectTable& table, uint32_t slot, Tick tick) {
  Object& object = objects_[slot];
  const ObjectType& type = object.ring.type();
  const bool first = object.ring.empty();
  take_words(table, slot, tick);
  if (!first && !object.announced &&
      std::memcmp(scratch_.data(), object.ring.newest(), size_t{type.word_count} * sizeof(Word)) == 0) {
    return false;
  }
  add_version(slot, tick, scratch_.data());
  if (first || object.announced) summaries_[slot].full_version = summaries_[slot].version;
  if (object.announced) announced_.add(slot);
  object.announced = false;
  return true;
}

// Leaves the words of the object in scratch_: those of the host values, or the recorded ones when another
// peer writes the object. Its first state comes from here all the same: an object is not without one.
void StateStore::take_words(ObjectTable& table, uint32_t slot, Tick tick) {
  const VersionRing& ring = objects_[slot].ring;
  const ObjectType& type = ring.type();
  if (!ring.empty() && !table.writes(slot)) {
    std::copy_n(ring.newest(), type.word_count, scratch_.data());
    return;
  }
  ++compared_;
  const void* const* host = std::as_const(table).host(slot);
  if (!type.layout->quantize(host, scratch_.data())) clamps_.count(type, slot, tick, host, scratch_.data());
  if (type.round_host) type.layout->dequantize(scratch_.data(), table.host(slot));
}

void StateStore::add_version(uint32_t slot, Tick tick, const Word* words) {
  Object& object = objects_[slot];
  StateSummary& summary = summaries_[slot];
  const bool after_rest = base::tick_distance(tick, summary.tick) >= kRestTicks;
  ++summary.version;
  const serialization::Layout& layout = *object.ring.type().layout;
  note_motion(layout, words, object.ring.empty() ? nullptr : object.ring.newest(), &summary);
  Word* room = object.ring.push(tick, summary.version, history_ticks_, keep_, pool_);
  std::copy_n(words, object.ring.type().word_count, room);
  summary.tick = tick;
  changes_.add(slot, after_rest);
  if (object.ring.grown() && !std::exchange(object.in_grown, true)) grown_.push_back(slot);
}

// Gives back the memory of objects that have come to rest. Looks at a part of them in each tick.
void StateStore::shrink_resting(Tick tick) {
  const uint32_t looks = (static_cast<uint32_t>(grown_.size()) + kShrinkTurns - 1) / kShrinkTurns;
  for (uint32_t i = 0; i < looks && !grown_.empty(); ++i) {
    if (next_grown_ >= grown_.size()) next_grown_ = 0;
    const uint32_t slot = grown_[next_grown_];
    Object& object = objects_[slot];
    const bool grown = object.ring.begun() && object.ring.grown();
    const int32_t rest_ticks = grown ? base::tick_distance(tick, object.ring.newest_tick()) : 0;
    // At low tick rates the history is longer than what is kept of it.
    if (grown && rest_ticks <= std::max(static_cast<int32_t>(keep_.span_ticks()), history_ticks_)) {
      ++next_grown_;
      continue;
    }
    if (grown) object.ring.shrink(pool_);
    object.in_grown = false;
    grown_[next_grown_] = grown_.back();
    grown_.pop_back();
  }
}

const Word* StateStore::current(uint32_t slot) const {
  const VersionRing& ring = objects_[slot].ring;
  return !ring.begun() || ring.empty() ? nullptr : ring.newest();
}

const Word* StateStore::words(uint32_t slot, uint32_t version) const {
  const VersionRing& ring = objects_[slot].ring;
  if (version == 0) return ring.type().zero_words.data();
  if (version == 1 && is_placed(slot)) return placed_words_.data() + placed_first_[slot];
  if (const Word* kept = ring.find(version); kept != nullptr) return kept;
  return pinned_.find(slot, version);
}

std::shared_ptr<const PinnedVersion> StateStore::pin(uint32_t slot) {
  return pinned_.pin(slot, summaries_[slot].version, {current(slot), objects_[slot].ring.type().word_count});
}

void StateStore::age(Tick tick) {
  aged_tick_ = tick;
  const Tick oldest = tick - static_cast<Tick>(kAgingTicks);
  for (StateSummary& summary : summaries_) {
    if (summary.version != 0 && base::tick_after(oldest, summary.tick)) summary.tick = oldest;
  }
  for (Object& object : objects_) {
    if (object.ring.begun()) object.ring.age(oldest);
  }
}

// At most kUnannouncedLooks in one tick: in a larger world it takes several ticks to look at all objects.
void StateStore::find_unannounced(ObjectTable& table, Tick tick) {
  const std::span<const uint32_t> slots = table.ascending();
  for (size_t i = 0; i < std::min<size_t>(slots.size(), kUnannouncedLooks); ++i) {
    if (next_unannounced_ >= slots.size()) next_unannounced_ = 0;
    const uint32_t slot = slots[next_unannounced_++];
    if (!table.writes(slot)) continue;  // such a write has no effect, announced or not
    const VersionRing& ring = objects_[slot].ring;
    const ObjectType& type = ring.type();
    type.layout->quantize(std::as_const(table).host(slot), scratch_.data());
    if (std::memcmp(scratch_.data(), ring.newest(), size_t{type.word_count} * sizeof(Word)) == 0) continue;
    unannounced_->on_unannounced_write(slot, tick, ring.newest(), scratch_.data());
  }
}

}  // namespace lattice::replication
