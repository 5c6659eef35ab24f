#include "replication/part_ledger.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::replication {
namespace {

constexpr uint32_t kFirstEntries = 96;
constexpr uint32_t kFirstParts = 16;
static_assert((PartLedger::kMaxOpenParts & (PartLedger::kMaxOpenParts - 1)) == 0);

}  // namespace

PartLedger::PartLedger(uint32_t max_entries, uint32_t first_receipt)
    : parts_(kFirstParts),
      entries_(kFirstEntries),
      max_entries_(std::max(max_entries, kMinEntries)),
      oldest_receipt_(first_receipt) {}

uint32_t PartLedger::open(Tick tick, bool keep) {
  if (part_count_ == parts_.size()) grow_parts();
  const uint32_t receipt = (oldest_receipt_ + part_count_) & kMaxReceipt;
  newest_ = part_at(part_head_ + part_count_);
  parts_[newest_] = Part{tick, wrap(entry_head_ + entry_count_), 0, false, keep};
  ++part_count_;
  if (receipt == 0) {  // to the transport 0 means "no receipt": after 2^30 parts, this number is left out
    parts_[newest_].resolved = true;
    return open(tick, keep);
  }
  return receipt;
}

PartLedger::Record PartLedger::resolve(uint32_t receipt) {
  const uint32_t offset = (receipt - oldest_receipt_) & kMaxReceipt;
  if (receipt == 0 || offset >= part_count_) return Record{};
  Part& part = parts_[part_at(part_head_ + offset)];
  if (part.resolved) return Record{};
  part.resolved = true;
  Record record;
  record.found = true;
  record.tick = part.tick;
  record.keep = part.keep;
  const uint32_t until_wrap = static_cast<uint32_t>(entries_.size()) - part.first_entry;
  const uint32_t first = std::min(part.count, until_wrap);
  record.first = std::span<const SentEntry>(entries_).subspan(part.first_entry, first);
  record.second = std::span<const SentEntry>(entries_).first(part.count - first);
  while (part_count_ > 0 && parts_[part_head_].resolved) drop_oldest();
  return record;
}

void PartLedger::drop_oldest() {
  LATTICE_ASSERT(part_count_ > 0);
  const Part& part = parts_[part_head_];
  if (!part.resolved) {
    ++forgotten_;
    for (uint32_t i = 0; i < part.count; ++i) {
      forgotten_entries_.push_back({entries_[wrap(part.first_entry + i)], part.tick});
    }
  }
  LATTICE_ASSERT(entry_count_ >= part.count);
  entry_head_ = wrap(entry_head_ + part.count);
  entry_count_ -= part.count;
  part_head_ = part_at(part_head_ + 1);
  --part_count_;
  oldest_receipt_ = (oldest_receipt_ + 1) & kMaxReceipt;
}

void PartLedger::make_room(size_t count) {
  const auto lacks = [&] { return count > entries_.size() - entry_count_; };
  while (lacks() && entries_.size() < max_entries_) {
    resize(std::min(static_cast<uint32_t>(entries_.size()) * 2, max_entries_));
  }
  // The open part alone never fills the ring (kMinEntries), so an older one exists.
  while (lacks()) drop_oldest();
}

void PartLedger::grow_parts() {
  if (parts_.size() == kMaxOpenParts) return drop_oldest();
  std::rotate(parts_.begin(), parts_.begin() + static_cast<ptrdiff_t>(part_head_), parts_.end());
  part_head_ = 0;
  parts_.resize(parts_.size() * 2);
}

void PartLedger::fit() {
  const uint32_t size = std::max(kFirstEntries, 2 * entry_count_);
  if (size < entries_.size()) resize(size);
}

// Moves the entries to the beginning of a ring with so many places.
void PartLedger::resize(uint32_t entries) {
  std::vector<SentEntry> moved(entries);
  for (uint32_t i = 0; i < entry_count_; ++i) moved[i] = entries_[wrap(entry_head_ + i)];
  entries_.swap(moved);
  uint32_t next = 0;  // the entries of the parts lie one after another
  for (uint32_t i = 0; i < part_count_; ++i) {
    Part& part = parts_[part_at(part_head_ + i)];
    part.first_entry = next;
    next += part.count;
  }
  LATTICE_ASSERT(next == entry_count_);
  entry_head_ = 0;
}

}  // namespace lattice::replication
