// The transport's verdicts on snapshot parts, until their client's next snapshot is made: only then what they
// are about is needed, and it is in the cache anyway. In order for each client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/compiler.h"

namespace lattice::world {

class WaitingReceipts {
 public:
  /// Clients are numbers below `max_clients`.
  explicit WaitingReceipts(uint32_t max_clients) : chains_(max_clients) {
    entries_.reserve(size_t{max_clients} * kUsualPerClient);
  }

  void add(uint32_t client, uint32_t receipt, bool acked) {
    const uint32_t at = place();
    entries_[at] = {receipt, kNone, acked};
    Chain& chain = chains_[client];
    (chain.first == kNone ? chain.first : entries_[chain.last].next) = at;
    chain.last = at;
  }

  /// Fetches what add() and take() read into the cache, in two steps with some work in between. Only hints.
  void prefetch(uint32_t client) const { base::prefetch(&chains_[client]); }
  void prefetch_entries(uint32_t client) const {
    if (const uint32_t first = chains_[client].first; first != kNone) base::prefetch(&entries_[first]);
  }

  /// Takes those of a client: visit(receipt, acked) for each, oldest first. A visit may add others, which
  /// stay.
  template <class Visit>
  void take(uint32_t client, Visit visit) {
    uint32_t at = chains_[client].first;
    chains_[client] = {};
    while (at != kNone) {
      const Entry entry = entries_[at];
      entries_[at].next = free_;
      free_ = at;
      at = entry.next;
      if (at != kNone) base::prefetch(&entries_[at]);
      visit(entry.receipt, entry.acked);
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kUsualPerClient = 8;  // the parts of a snapshot or two
  struct Entry {
    uint32_t receipt = 0;
    uint32_t next = kNone;  // of the client, or free
    bool acked = false;
  };
  struct Chain {
    uint32_t first = kNone, last = kNone;
  };

  uint32_t place() {
    if (free_ == kNone) {
      entries_.emplace_back();
      return static_cast<uint32_t>(entries_.size() - 1);
    }
    const uint32_t at = free_;
    free_ = entries_[at].next;
    if (free_ != kNone) base::prefetch(&entries_[free_]);  // for the next add()
    return at;
  }

  std::vector<Entry> entries_;
  std::vector<Chain> chains_;  // by client
  uint32_t free_ = kNone;
};

}  // namespace lattice::world
