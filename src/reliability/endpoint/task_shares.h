// A batch of numbered items, cut into shares that the threads of the caller take. Shares are runs of
// consecutive items.
//
// Must stay true: when run() returns, every share was worked on once, whatever the callbacks did.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/assert.h"
#include "reliability/endpoint/caller_tasks.h"

namespace lattice::reliability {

class TaskShares {
 public:
  static constexpr uint32_t kSharesPerWorker = 4;
  static constexpr uint32_t kMostShares = kSharesPerWorker * CallerTasks::kMaxWorkers;

  void clear() { count_ = 0; }
  uint32_t count() const { return count_; }
  /// The items [begin, end) are a share. At most kMostShares until the next clear().
  void add(size_t begin, size_t end) {
    LATTICE_CHECK(count_ < kMostShares);
    Share& share = shares_[count_++];
    share.begin = static_cast<uint32_t>(begin);
    share.end = static_cast<uint32_t>(end);
    share.taken.store(false, std::memory_order_relaxed);
    share.done.store(false, std::memory_order_relaxed);
  }

  /// Calls work(share, begin, end) for every share, on several threads when there are several. `tasks` must
  /// be enabled, unless there is one share at most.
  template <class Work>
  void run(const CallerTasks& tasks, Work&& work) {
    auto run_share = [this, &work](uint32_t index) {
      if (index >= count_) return;
      Share& share = shares_[index];
      // A share that ran twice would seal twice under one nonce, which reveals the plaintext.
      if (share.taken.exchange(true, std::memory_order_relaxed)) return;
      work(index, share.begin, share.end);
      share.done.store(true, std::memory_order_release);
    };
    if (count_ > 1) {
      using RunShare = decltype(run_share);
      void* handle = tasks.enqueue(
          tasks.ctx, [](void* task, uint32_t index) { (*static_cast<RunShare*>(task))(index); }, &run_share,
          count_);
      tasks.finish(tasks.ctx, handle);
    }
    for (uint32_t i = 0; i < count_; ++i) {
      run_share(i);  // Does nothing if another thread took the share.
      LATTICE_CHECK(shares_[i].done.load(std::memory_order_acquire));
    }
  }

 private:
  struct Share {
    uint32_t begin = 0, end = 0;
    std::atomic<bool> taken{false};
    std::atomic<bool> done{false};
  };
  std::array<Share, kMostShares> shares_;
  uint32_t count_ = 0;
};

}  // namespace lattice::reliability
