#include "replication/received_states.h"

#include <algorithm>

#include "base/assert.h"
#include "replication/keep_ticks.h"
#include "replication/snapshot_format.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kFirstStates = 4;
constexpr uint32_t kMostStates = kBaselineSends + kKeptStates;

}  // namespace

void ReceivedStates::reset(uint32_t word_count) {
  const auto places = static_cast<uint16_t>(std::max<size_t>(entries_.capacity(), kFirstStates));
  word_count_ = word_count;
  entries_.clear();
  entries_.reserve(places);
  free_.clear();
  free_.reserve(places);
  for (uint16_t place = places; place > 0; --place) free_.push_back(static_cast<uint16_t>(place - 1));
  words_.resize(std::max(words_.size(), size_t{places} * word_count));
  kept_ = 0;
}

const Word* ReceivedStates::find(Tick tick) const {
  for (size_t i = entries_.size(); i > 0; --i) {
    const Entry& entry = entries_[i - 1];
    if (entry.tick == tick) return words_.data() + size_t{entry.place} * word_count_;
    if (base::tick_after(tick, entry.tick)) return nullptr;
  }
  return nullptr;
}

Word* ReceivedStates::insert(Tick tick, bool keep) {
  size_t at = entries_.size();
  while (at > 0 && base::tick_after(entries_[at - 1].tick, tick)) --at;
  if (at > 0 && entries_[at - 1].tick == tick) return nullptr;
  if (keep && kept_ == kKeptStates) {
    size_t oldest = 0;
    while (!entries_[oldest].keep) ++oldest;
    keep = at > oldest;  // of those with keep, the newest stay
    if (keep) {
      entries_[oldest].keep = false;
      --kept_;
    }
  }
  if (entries_.size() == kMostStates) {
    // At most kKeptStates have keep, the new state included. So the oldest without keep, or a state before
    // it, has kBaselineSends newer ones.
    size_t oldest = 0;
    while (entries_[oldest].keep) ++oldest;
    if (at <= oldest && !keep) return nullptr;
    drop(oldest);
    at -= at > oldest ? 1 : 0;
  }
  if (free_.empty()) make_room();
  const uint16_t place = free_.back();
  free_.pop_back();
  entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at), Entry{tick, place, keep});
  kept_ += keep ? 1 : 0;
  return words_.data() + size_t{place} * word_count_;
}

void ReceivedStates::make_room() {
  const size_t before = entries_.capacity();
  const size_t places = std::min<size_t>(before < 16 ? before * 2 : kMostStates, kMostStates);
  LATTICE_ASSERT(places > entries_.size());
  entries_.reserve(places);
  free_.reserve(places);
  for (size_t place = places; place > entries_.size(); --place)
    free_.push_back(static_cast<uint16_t>(place - 1));
  words_.resize(std::max(words_.size(), places * word_count_));
}

void ReceivedStates::drop(size_t index) {
  kept_ -= entries_[index].keep ? 1u : 0u;
  free_.push_back(entries_[index].place);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(index));
}

void ReceivedStates::forget_before(Tick baseline, Tick now) {
  for (size_t i = 0; i + 1 < entries_.size() && base::tick_after(baseline, entries_[i].tick);) {
    if (entries_[i].keep || base::tick_distance(now, entries_[i].tick) <= kLateBaselineTicks) {
      ++i;
    } else {
      drop(i);
    }
  }
}

void ReceivedStates::age(Tick oldest) {
  if (entries_.empty() || !base::tick_after(oldest, newest_tick())) {
    while (entries_.size() > 1 && base::tick_after(oldest, entries_.front().tick)) drop(0);
    return;
  }
  while (entries_.size() > 1) drop(0);
  entries_.front().tick = oldest;
}

}  // namespace lattice::replication
