// Threads of the caller's, lent for the length of a call. The core starts no thread and takes no lock: it
// cuts a batch into shares that touch different connections, hands them out through this pair of callbacks,
// and goes on when all are done. What is in a share is decided before any of it runs, and nothing outside of
// it depends on when it does: the result is the same for any number of workers, also for none.
#pragma once

#include <cstdint>

namespace lattice::reliability {

struct CallerTasks {
  static constexpr uint32_t kMaxWorkers = 64;

  /// Does share `index` of `task`. Any thread, each index once, several at a time.
  using Run = void (*)(void* task, uint32_t index);

  /// run(task, i) is to be called for every i below `count`. May call it at once, or leave it to finish().
  void* (*enqueue)(void* ctx, Run run, void* task, uint32_t count) = nullptr;
  /// Returns when no call of run() for what enqueue() returned is under way, nor will be. Their writes are
  /// visible then.
  void (*finish)(void* ctx, void* handle) = nullptr;
  void* ctx = nullptr;
  /// How many threads work at a time, the calling one included. 1: nothing is ever handed out.
  uint32_t worker_count = 1;

  bool enabled() const { return worker_count > 1; }
};

}  // namespace lattice::reliability
