// Threads that the caller lends for the length of a call. The core starts no thread and takes no lock: it
// cuts a batch into shares that touch different connections, hands them out through this pair of callbacks,
// and continues when all are done. The content of every share is decided before any share runs, and nothing
// outside a share depends on when it runs: the result is the same for any number of workers, also for none.
#pragma once

#include <cstdint>

namespace lattice::reliability {

struct CallerTasks {
  static constexpr uint32_t kMaxWorkers = 64;

  /// Does share `index` of `task`. Any thread, each index once, several at a time.
  using Run = void (*)(void* task, uint32_t index);

  /// run(task, i) is to be called for every i below `count`. May call it at once, or leave it to finish().
  void* (*enqueue)(void* ctx, Run run, void* task, uint32_t count) = nullptr;
  /// Returns when all calls of run() for `handle`, which enqueue() returned, are over and none will follow.
  /// Their writes are then visible to the caller.
  void (*finish)(void* ctx, void* handle) = nullptr;
  void* ctx = nullptr;
  /// How many threads work at a time, the calling thread included. 1: all work stays on the calling thread.
  uint32_t worker_count = 1;

  bool enabled() const { return worker_count > 1; }
};

}  // namespace lattice::reliability
