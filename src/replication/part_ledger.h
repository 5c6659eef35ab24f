// Records what each sent snapshot part carried, until the transport says whether the part arrived.
//
// Receipts are consecutive, so subtraction finds a record. Bounded: kMaxOpenParts parts and `max_entries`
// entries; at either bound the oldest record is forgotten. Its entries count as lost and are sent again, so a
// forgotten record costs bandwidth, never correctness.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.h"
#include "base/compiler.h"
#include "replication/snapshot_format.h"

namespace lattice::replication {

/// One object, or one removal, or one block of objects in step, in one sent part. In 8 bytes, because a
/// crowd's ledgers are larger than any cache.
struct SentEntry {
  static constexpr uint32_t kIndexBits = 20;
  static constexpr uint32_t kKindBits = 3;
  static constexpr uint32_t kStayBits = 9;
  static constexpr uint32_t kIndexMask = (1u << kIndexBits) - 1;
  static constexpr uint32_t kKindMask = (1u << kKindBits) - 1;
  static constexpr uint32_t kStayMask = (1u << kStayBits) - 1;
  static constexpr uint32_t kBlock = kEntryKinds;  // as kind()

  /// The stay that follows `stay`.
  static uint16_t next_stay(uint32_t stay) { return static_cast<uint16_t>((stay + 1) & kStayMask); }

  /// `kind` is not kRemoved.
  static SentEntry of(EntryKind kind, uint32_t index, uint32_t stay, uint32_t version = 0,
                      uint32_t send = 0) {
    LATTICE_ASSERT(kind != EntryKind::kRemoved);
    return {head_of(static_cast<uint32_t>(kind), index, stay), static_cast<uint16_t>(version),
            static_cast<uint16_t>(send)};
  }
  /// There may be a removal for each slot, which is more than kIndexBits count. An index may serve for
  /// another one in each build, which kStayBits would soon count again. A removal names no state, so both
  /// numbers fit.
  static SentEntry removal(uint32_t index, uint32_t stay) {
    return {head_of(static_cast<uint32_t>(EntryKind::kRemoved), index, index >> kIndexBits),
            static_cast<uint16_t>(stay), static_cast<uint16_t>(stay >> 16)};
  }
  /// `place` is that of the group in the StepList when the block was sent.
  static SentEntry block(uint32_t group, uint32_t mask, uint32_t place) {
    return {head_of(kBlock, group, place & kStayMask), static_cast<uint16_t>(mask),
            static_cast<uint16_t>(mask >> 16)};
  }
  /// An entry about nothing: no group has the number.
  static SentEntry nothing() { return block(kIndexMask, 0, 0); }

  /// Of the replica; for kBlock, the group.
  uint32_t index() const { return head & kIndexMask; }
  void set_index(uint32_t index) { head = (head & ~kIndexMask) | (index & kIndexMask); }
  /// An EntryKind or kBlock.
  uint32_t kind() const { return head >> kIndexBits & kKindMask; }
  /// Of the replica. When the recipient's differs by now, the entry is about a stay that has ended.
  uint32_t stay() const { return head >> (kIndexBits + kKindBits); }
  /// Where the group of a block most likely still is in the StepList.
  uint32_t likely_place() const { return stay(); }
  bool is(EntryKind wanted) const { return kind() == static_cast<uint32_t>(wanted); }
  /// About an object of the set: neither a removal nor a block.
  bool is_of_replica() const { return kind() != kBlock && !is(EntryKind::kRemoved); }
  /// The objects of a block.
  uint32_t mask() const { return both_halves(); }
  /// The numbers of a removal, as removal() got them.
  uint32_t removal_index() const { return index() | stay() << kIndexBits; }
  uint32_t removal_stay() const { return both_halves(); }

  // One word, not bit fields: those are written piece by piece, and read back before they are in the cache.
  uint32_t head = 0;
  // Of a replica: low bits of the version to which the entry leads, and the count of its states that were
  // sent. Else two halves of one number.
  uint16_t version = 0;
  uint16_t send = 0;

 private:
  uint32_t both_halves() const { return uint32_t{version} | uint32_t{send} << 16; }
  static uint32_t head_of(uint32_t kind, uint32_t index, uint32_t stay) {
    return (index & kIndexMask) | kind << kIndexBits | stay << (kIndexBits + kKindBits);
  }
};
static_assert(sizeof(SentEntry) == 8);

class PartLedger {
 public:
  static constexpr uint32_t kMaxOpenParts = 1024;
  static constexpr uint32_t kMinEntries = 2048;  // more than a builder puts into one part

  /// Receipts count from 1 to this number and then start again. The bits above are for other kinds of
  /// receipts.
  static constexpr uint32_t kMaxReceipt = (1u << 30) - 1;

  /// `max_entries` is at least kMinEntries: a smaller value is raised. `first_receipt` is the first that
  /// open() returns.
  explicit PartLedger(uint32_t max_entries, uint32_t first_receipt = 1);

  /// Opens the record of a new part sent for `tick`, with or without keep (D-26); add() fills it. Never
  /// returns receipt 0.
  uint32_t open(Tick tick, bool keep = false);
  void add(const SentEntry& entry) {
    add(1, [&](size_t) { return entry; });
  }
  /// Adds entry_of(i) for each i below `count`, in order.
  template <class EntryOf>
  void add(size_t count, EntryOf entry_of) {
    if (count > entries_.size() - entry_count_) make_room(count);
    uint32_t at = wrap(entry_head_ + entry_count_);
    for (size_t i = 0; i < count; ++i) {
      entries_[at] = entry_of(i);
      at = at + 1 == entries_.size() ? 0 : at + 1;
    }
    entry_count_ += static_cast<uint32_t>(count);
    parts_[newest_].count += static_cast<uint32_t>(count) & kMostCount;
  }

  /// Fetches the oldest open records into the cache. Only a hint.
  void prefetch() const {
    constexpr uint32_t kEntriesPerLine = 64 / sizeof(SentEntry), kLines = 4;
    base::prefetch(&parts_[part_head_]);
    for (uint32_t i = 0; i < kLines; ++i) {
      base::prefetch(
          &entries_[wrap(std::min(entry_head_ + i * kEntriesPerLine, entry_head_ + entry_count_))]);
    }
    for (uint32_t i = 0; i < kLines; ++i) {  // where add() writes
      const uint32_t next = entry_head_ + entry_count_ + i * kEntriesPerLine;
      base::prefetch(
          &entries_[wrap(std::min(next, entry_head_ + static_cast<uint32_t>(entries_.size()) - 1))]);
    }
    base::prefetch(&parts_[part_at(newest_ + 1)]);
  }
  /// The oldest entries of open records, `most` or fewer: the next verdicts are about them.
  std::span<const SentEntry> oldest(uint32_t most) const {
    const uint32_t count =
        std::min({most, entry_count_, static_cast<uint32_t>(entries_.size()) - entry_head_});
    return std::span(entries_).subspan(entry_head_, count);
  }

  struct Record {
    bool found = false;  // false: unknown, already resolved, or forgotten
    Tick tick = 0;
    bool keep = false;
    std::span<const SentEntry> first;  // the entries, in two runs because the ring wraps
    std::span<const SentEntry> second;
  };
  /// Closes the record of `receipt` and returns it. The spans are valid until the next open() or add().
  Record resolve(uint32_t receipt);

  /// True when the verdict is known on each part of `tick` and of earlier ticks.
  bool knows_all_until(Tick tick) const {
    return part_count_ == 0 || base::tick_after(parts_[part_head_].tick, tick);
  }
  /// Calls visit(entry) for each entry of which the verdict is not known, and for some others.
  template <class Visit>
  void for_each_entry(Visit visit) {
    for (uint32_t i = 0; i < entry_count_; ++i) visit(entries_[wrap(entry_head_ + i)]);
  }
  /// True when what is open takes little of the memory for entries.
  bool is_roomy() const { return 4 * size_t{entry_count_} <= entries_.size(); }
  /// Gives back memory beyond twice of what the open entries take.
  void fit();

  uint64_t forgotten() const { return forgotten_; }
  /// Entries of parts that were forgotten before they were resolved, since the last clear_forgotten().
  struct Forgotten {
    SentEntry entry;
    Tick tick = 0;  // of its part
  };
  std::span<const Forgotten> forgotten_entries() const { return forgotten_entries_; }
  void clear_forgotten() { forgotten_entries_.clear(); }

 private:
  static constexpr uint32_t kMostCount = (1u << 30) - 1;
  struct Part {
    Tick tick = 0;
    uint32_t first_entry = 0;  // ring position
    uint32_t count : 30 = 0;
    bool resolved : 1 = false;
    bool keep : 1 = false;  // the part's states are kept long
  };
  uint32_t wrap(uint32_t at) const {
    const uint32_t n = static_cast<uint32_t>(entries_.size());
    return at >= n ? at - n : at;
  }
  uint32_t part_at(uint32_t position) const { return position & (static_cast<uint32_t>(parts_.size()) - 1); }
  void make_room(size_t count);
  void drop_oldest();
  void resize(uint32_t entries);
  void grow_parts();

  std::vector<Part> parts_;         // ring; doubles up to kMaxOpenParts
  std::vector<SentEntry> entries_;  // ring; doubles up to max_entries_
  uint32_t max_entries_;
  uint32_t oldest_receipt_;
  uint32_t part_head_ = 0;
  uint32_t part_count_ = 0;
  uint32_t newest_ = 0;  // ring position of the open part
  uint32_t entry_head_ = 0;
  uint32_t entry_count_ = 0;
  uint64_t forgotten_ = 0;
  std::vector<Forgotten> forgotten_entries_;
};

}  // namespace lattice::replication
