// What each sent snapshot part carried, until the transport says whether it arrived.
//
// Receipts are consecutive, so a record is found by subtraction. Bounded: kMaxOpenParts parts and
// `max_entries` entries; at either bound the oldest record is forgotten. Its objects simply stay unacked
// and are sent again, so forgetting costs bandwidth, never correctness.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replication/snapshot_format.h"

namespace lattice::replication {

/// One object (or removal) inside one sent part.
struct SentEntry {
  uint32_t index = 0;        // object slot; for kRemoved the index of the pending removal
  uint32_t version = 0;      // version the entry leads to
  float priority = 0;        // accumulator spent on it (C-04)
  uint16_t incarnation = 0;  // must still match the recipient's, or the entry is about something gone
  EntryKind kind = EntryKind::kDelta;
};

class PartLedger {
 public:
  static constexpr uint32_t kMaxOpenParts = 1024;
  static constexpr uint32_t kMinEntries = 2048;  // more than one part can hold

  /// Receipts are 1 to this, around and around: the bits above are for receipts of other things.
  static constexpr uint32_t kMaxReceipt = (1u << 30) - 1;

  /// `max_entries` is raised to kMinEntries; `first_receipt` is the first open() gives.
  explicit PartLedger(uint32_t max_entries, uint32_t first_receipt = 1);

  /// Opens the record of a new part sent for `tick`; add() fills it. Never returns receipt 0.
  uint32_t open(Tick tick);
  void add(const SentEntry& entry) {
    if (entry_count_ == entries_.size()) make_room();
    entries_[wrap(entry_head_ + entry_count_)] = entry;
    ++entry_count_;
    ++parts_[newest_].count;
  }

  struct Record {
    bool found = false;  // false: unknown, already resolved, or forgotten
    Tick tick = 0;
    std::span<const SentEntry> first;  // the entries, in two runs because the ring wraps
    std::span<const SentEntry> second;
  };
  /// Closes the record of `receipt` and returns it. The spans are valid until the next open() or add().
  Record resolve(uint32_t receipt);

  uint64_t forgotten() const { return forgotten_; }

 private:
  struct Part {
    Tick tick = 0;
    uint32_t first_entry = 0;  // ring position
    uint32_t count = 0;
    bool resolved = false;
  };
  uint32_t wrap(uint32_t at) const {
    const uint32_t n = static_cast<uint32_t>(entries_.size());
    return at >= n ? at - n : at;
  }
  void make_room();
  void drop_oldest();
  void grow();

  std::vector<Part> parts_;         // ring of kMaxOpenParts
  std::vector<SentEntry> entries_;  // ring; doubles up to max_entries_
  uint32_t max_entries_;
  uint32_t oldest_receipt_;
  uint32_t part_head_ = 0;
  uint32_t part_count_ = 0;
  uint32_t newest_ = 0;  // ring position of the open part
  uint32_t entry_head_ = 0;
  uint32_t entry_count_ = 0;
  uint64_t forgotten_ = 0;
};

}  // namespace lattice::replication
