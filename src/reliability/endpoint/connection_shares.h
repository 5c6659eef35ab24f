// A batch of work on packets, cut into shares for CallerTasks. All work of one connection is in one share, in
// the order it was added. So one thread touches a connection, and works on its packets by ascending number
// (the nonce ledger requires this order). Shares have about equal cost, and there are several per worker:
// sleeping threads wake late, and the calling thread runs the shares that no other thread has taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "reliability/endpoint/task_shares.h"

namespace lattice::reliability {

class ConnectionShares {
 public:
  /// Takes memory for `capacity` items, at most 65536.
  explicit ConnectionShares(size_t capacity);

  /// Adds one packet. `item` is the caller's number for it, below `capacity`; `bytes`, at most 65535, is the
  /// size to seal or open. At most `capacity` items until the next run().
  void add(uint32_t connection_slot, size_t item, size_t bytes);
  size_t item_count() const { return item_count_; }

  /// Calls work(item) for every added item, on several threads when there is enough work, and then forgets
  /// the items. `tasks` must be enabled.
  template <class Work>
  void run(const CallerTasks& tasks, Work&& work) {
    divide(tasks.worker_count);
    shares_.run(tasks, [this, &work](uint32_t, uint32_t begin, uint32_t end) {
      for (uint32_t i = begin; i < end; ++i) work(item_of(items_[i]));
    });
    item_count_ = 0;
  }

 private:
  // An item is one word: sorting the words sorts by connection, then by number.
  static size_t item_of(uint64_t item) { return (item >> 16) & 0xFFFF; }
  static uint32_t connection_of(uint64_t item) { return static_cast<uint32_t>(item >> 32); }
  static uint64_t cost_of(uint64_t item);
  void divide(uint32_t worker_count);

  std::unique_ptr<uint64_t[]> items_;
  size_t capacity_;
  size_t item_count_ = 0;
  TaskShares shares_;
};

}  // namespace lattice::reliability
