#include "replication/pinned_versions.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace lattice::replication {

using serialization::Word;

const Word* PinnedVersions::find(uint32_t slot, uint32_t version) const {
  for (uint32_t at = first_of_.find(slot); at != SlotMap::kNone; at = entries_[at].next) {
    if (entries_[at].pinned->version == version)
      return is_free(at) ? nullptr : entries_[at].pinned->words.data();
  }
  return nullptr;
}

std::shared_ptr<const PinnedVersion> PinnedVersions::pin(uint32_t slot, uint32_t version,
                                                         std::span<const Word> words) {
  for (uint32_t at = first_of_.find(slot); at != SlotMap::kNone; at = entries_[at].next) {
    if (entries_[at].pinned->version == version) return entries_[at].pinned;
  }
  const uint32_t at = take_entry();
  const uint32_t next = first_of_.find(slot);
  if (next != SlotMap::kNone) first_of_.erase(slot);
  first_of_.insert(slot, at);
  Entry& entry = entries_[at];
  entry.next = next;
  entry.pinned->slot = slot;
  entry.pinned->version = version;
  entry.pinned->words.assign(words.begin(), words.end());
  return entry.pinned;
}

void PinnedVersions::forget(uint32_t slot) {
  uint32_t at = first_of_.find(slot);
  if (at == SlotMap::kNone) return;
  first_of_.erase(slot);
  while (at != SlotMap::kNone) {
    entries_[at].pinned->slot = kNoSlot;
    at = std::exchange(entries_[at].next, SlotMap::kNone);
  }
}

uint32_t PinnedVersions::take_entry() {
  list_free();
  if (free_.empty()) {
    entries_.push_back({std::make_shared<PinnedVersion>()});
    return static_cast<uint32_t>(entries_.size() - 1);
  }
  const uint32_t at = free_.back();
  free_.pop_back();
  entries_[at].is_listed = false;
  return at;
}

// Looks at the next four entries, so at each one while a quarter of all is taken. Where free_ is empty, each
// one that was free at that look has been taken since. So at least three quarters were held at that look.
void PinnedVersions::list_free() {
  constexpr size_t kLooks = 4;
  for (size_t i = 0; i < std::min(kLooks, entries_.size()); ++i) {
    if (next_look_ >= entries_.size()) next_look_ = 0;
    const auto at = static_cast<uint32_t>(next_look_++);
    if (entries_[at].is_listed || !is_free(at)) continue;
    unlink(at);
    entries_[at].is_listed = true;
    free_.push_back(at);
  }
}

// Takes a free entry out of the list of its object.
void PinnedVersions::unlink(uint32_t at) {
  const uint32_t slot = entries_[at].pinned->slot;
  if (slot == kNoSlot) return;
  const uint32_t next = std::exchange(entries_[at].next, SlotMap::kNone);
  uint32_t before = first_of_.find(slot);
  if (before == at) {
    first_of_.erase(slot);
    if (next != SlotMap::kNone) first_of_.insert(slot, next);
    return;
  }
  while (entries_[before].next != at) before = entries_[before].next;
  entries_[before].next = next;
}

}  // namespace lattice::replication
