// Versions of objects that stay, however old they become, while somebody holds them. To find one costs as
// much as the object has of them, whatever other objects have.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replication/object_table.h"
#include "replication/slot_map.h"
#include "serialization/word.h"

namespace lattice::replication {

struct PinnedVersion {
  uint32_t slot = kNoSlot;  // kNoSlot: the object is gone
  uint32_t version = 0;
  std::vector<serialization::Word> words;
};

class PinnedVersions {
 public:
  /// The words of a version that somebody holds, or null.
  const serialization::Word* find(uint32_t slot, uint32_t version) const;
  /// Keeps a version until the last holder lets it go. All who pin one version share it.
  std::shared_ptr<const PinnedVersion> pin(uint32_t slot, uint32_t version,
                                           std::span<const serialization::Word> words);
  /// The object is gone: find() finds nothing of it any more.
  void forget(uint32_t slot);
  /// Versions that somebody holds, or held: for tests.
  size_t memory() const { return entries_.size(); }

 private:
  struct Entry {
    std::shared_ptr<PinnedVersion> pinned;  // free when nobody else holds it
    uint32_t next = SlotMap::kNone;         // of the same object
    bool is_listed = false;                 // in free_
  };
  bool is_free(uint32_t at) const { return entries_[at].pinned.use_count() == 1; }
  uint32_t take_entry();
  void list_free();
  void unlink(uint32_t at);

  std::vector<Entry> entries_;
  SlotMap first_of_;            // slot -> place in entries_
  std::vector<uint32_t> free_;  // places of free entries that list_free() found
  size_t next_look_ = 0;        // where it looks next
};

}  // namespace lattice::replication
