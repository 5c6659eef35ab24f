// Those who run the library's tasks in tests: nobody, the pool of examples/, and one who does it badly.
#pragma once

#include <cstdint>

#include "reliability/endpoint/caller_tasks.h"
#include "thread_pool.h"

namespace lattice::test {

using reliability::CallerTasks;

/// Who runs the tasks, and how many there were.
class Workers {
 public:
  virtual ~Workers() = default;
  virtual CallerTasks tasks() = 0;
  uint64_t batches = 0;
  uint64_t shares = 0;
};

class NoWorkers final : public Workers {
 public:
  CallerTasks tasks() override { return {}; }
};

class PoolWorkers final : public Workers {
 public:
  explicit PoolWorkers(uint32_t count) : count_(count), pool_(thread_pool_create(count)) {}
  ~PoolWorkers() override {
    if (pool_ != nullptr) thread_pool_destroy(pool_);
  }
  CallerTasks tasks() override { return {&enqueue, &finish, this, count_}; }

 private:
  static void* enqueue(void* ctx, CallerTasks::Run run, void* task, uint32_t count) {
    auto& self = *static_cast<PoolWorkers*>(ctx);
    ++self.batches;
    self.shares += count;
    return thread_pool_enqueue(self.pool_, run, task, count);
  }
  static void finish(void* ctx, void* handle) {
    thread_pool_finish(static_cast<PoolWorkers*>(ctx)->pool_, handle);
  }

  uint32_t count_;
  thread_pool* pool_;
};

/// Runs shares last to first, every other one twice, and leaves one in three to the library.
class CarelessWorkers final : public Workers {
 public:
  CallerTasks tasks() override { return {&enqueue, &finish, this, 3}; }

 private:
  static void* enqueue(void* ctx, CallerTasks::Run run, void* task, uint32_t count) {
    auto& self = *static_cast<CarelessWorkers*>(ctx);
    ++self.batches;
    self.shares += count;
    for (uint32_t i = count; i-- > 0;) {
      if (i % 3 == 0) continue;
      run(task, i);
      if (i % 2 == 0) run(task, i);
    }
    run(task, count);
    run(task, UINT32_MAX);
    return nullptr;
  }
  static void finish(void*, void*) {}
};

}  // namespace lattice::test
