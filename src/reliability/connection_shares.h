// A batch of work on packets, cut into shares for CallerTasks. All work of one connection is in one share, in
// the order it was added. So one thread touches a connection, and works on its packets by ascending number
// (the nonce ledger requires this order). Shares have about equal cost, and there are several per worker:
// sleeping threads wake late, and the calling thread runs the shares that no other thread has taken.
//
// Must stay true: when run() returns, every item was worked on once, whatever the callbacks did.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/assert.h"
#include "reliability/caller_tasks.h"

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
    auto run_share = [this, &work](uint32_t index) {
      if (index >= share_count_) return;
      Share& share = shares_[index];
      // A share that ran twice would seal twice under one nonce, which reveals the plaintext.
      if (share.taken.exchange(true, std::memory_order_relaxed)) return;
      for (uint32_t i = share.begin; i < share.end; ++i) work(item_of(items_[i]));
      share.done.store(true, std::memory_order_release);
    };
    if (share_count_ > 1) {
      using RunShare = decltype(run_share);
      void* handle = tasks.enqueue(
          tasks.ctx, [](void* task, uint32_t index) { (*static_cast<RunShare*>(task))(index); }, &run_share,
          share_count_);
      tasks.finish(tasks.ctx, handle);
    }
    for (uint32_t i = 0; i < share_count_; ++i) {
      run_share(i);  // Does nothing if another thread took the share.
      LATTICE_CHECK(shares_[i].done.load(std::memory_order_acquire));
    }
    item_count_ = 0;
  }

 private:
  static constexpr uint32_t kSharesPerWorker = 4;
  static constexpr uint32_t kMaxShares = kSharesPerWorker * CallerTasks::kMaxWorkers;
  struct Share {
    uint32_t begin = 0, end = 0;  ///< Of items_.
    std::atomic<bool> taken{false};
    std::atomic<bool> done{false};
  };

  // An item is one word: sorting the words sorts by connection, then by number.
  static size_t item_of(uint64_t item) { return (item >> 16) & 0xFFFF; }
  static uint32_t connection_of(uint64_t item) { return static_cast<uint32_t>(item >> 32); }
  static uint64_t cost_of(uint64_t item);
  void divide(uint32_t worker_count);
  void add_share(size_t begin, size_t end);

  std::unique_ptr<uint64_t[]> items_;
  size_t capacity_;
  size_t item_count_ = 0;
  std::array<Share, kMaxShares> shares_;
  uint32_t share_count_ = 0;
};

}  // namespace lattice::reliability
