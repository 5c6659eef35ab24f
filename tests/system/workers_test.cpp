// Worlds whose snapshots are built, and packets sealed and opened, by threads of the application's, through
// the public interface.
#include <gtest/gtest.h>

#include "arena.h"
#include "support/seed_share.h"
#include "thread_pool.h"

namespace lattice::test::workers_test {
namespace {

struct Pool {
  explicit Pool(uint32_t worker_count) : threads(thread_pool_create(worker_count)) {}
  ~Pool() {
    if (threads != nullptr) thread_pool_destroy(threads);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  static void* enqueue(void* ctx, lattice_task_fn run, void* task, uint32_t count) {
    auto& self = *static_cast<Pool*>(ctx);
    ++self.batches;
    return thread_pool_enqueue(self.threads, run, task, count);
  }
  static void finish(void* ctx, void* handle) {
    thread_pool_finish(static_cast<Pool*>(ctx)->threads, handle);
  }

  thread_pool* threads;
  uint64_t batches = 0;
};

ArenaConfig crowd(Pool& pool, uint32_t worker_count) {
  ArenaConfig config;
  config.clients = static_cast<uint32_t>(share_of_seeds(60));  // they take turns: half of them in a tick
  config.props = 200;
  config.churn = false;
  lattice_impairment_init(&config.impairment);
  config.impairment.delay_ms = 30;
  config.impairment.jitter_ms = 10;
  config.impairment.loss_percent = 3;
  config.worker_count = worker_count;
  config.enqueue_tasks = &Pool::enqueue;
  config.finish_tasks = &Pool::finish;
  config.tasks_ctx = &pool;
  return config;
}

struct Outcome {
  uint64_t hash = 0;
  uint64_t delivered = 0;
  lattice_world_stats stats{};
};

Outcome play(uint32_t worker_count, double seconds) {
  Pool pool(worker_count);
  Arena arena(crowd(pool, worker_count));
  arena.run(seconds);
  EXPECT_TRUE(arena.violations().empty()) << arena.violations().front();
  if (worker_count == 1) {
    EXPECT_EQ(pool.batches, 0u) << "one worker is the pumping thread";
  } else {
    EXPECT_GT(pool.batches, 50u);
  }
  Outcome out;
  out.hash = arena.hash_of(arena.server());
  out.delivered = arena.delivered();
  out.stats.struct_size = sizeof out.stats;
  EXPECT_EQ(lattice_world_get_stats(arena.server(), &out.stats), LATTICE_OK);
  return out;
}

TEST(Workers, AWorldIsTheSameWithAnyNumber) {
  const Outcome alone = play(1, 2.0);
  for (const uint32_t worker_count : {2u, 4u, 7u}) {
    SCOPED_TRACE(worker_count);
    const Outcome shared = play(worker_count, 2.0);
    EXPECT_EQ(shared.hash, alone.hash);
    EXPECT_EQ(shared.delivered, alone.delivered);
    EXPECT_EQ(shared.stats.bytes_sent, alone.stats.bytes_sent);
    EXPECT_EQ(shared.stats.bytes_received, alone.stats.bytes_received);
    EXPECT_EQ(shared.stats.inputs_used, alone.stats.inputs_used);
  }
}

// Queues and views still grow now and then at this age; sharing out adds nothing to that.
TEST(Workers, SharingOutAllocatesNothing) {
  uint64_t allocations[2] = {};
  for (const uint32_t worker_count : {1u, 2u}) {
    Pool pool(worker_count);
    Arena arena(crowd(pool, worker_count));
    arena.run(1.0);
    arena.take_pump_allocations();
    const uint64_t batches = pool.batches;
    arena.run(1.0);
    allocations[worker_count - 1] = arena.take_pump_allocations();
    EXPECT_EQ(pool.batches > batches, worker_count == 2);
  }
  EXPECT_EQ(allocations[0], allocations[1]);
}

TEST(Workers, AreRefusedWithoutThePairOfCallbacks) {
  lattice_world_config config;
  lattice_world_config_init(&config);
  EXPECT_EQ(config.worker_count, 1u);
  lattice_role_context role;
  lattice_role_context_init(&role, LATTICE_ROLE_CLIENT);
  Pool pool(1);
  config.tasks_ctx = &pool;
  config.worker_count = 2;
  config.enqueue_tasks = &Pool::enqueue;
  EXPECT_EQ(lattice_world_create(&config, &role), nullptr);
  EXPECT_NE(std::string(lattice_last_error()).find("worker_count"), std::string::npos)
      << lattice_last_error();
  config.finish_tasks = &Pool::finish;
  for (const uint32_t out_of_range : {0u, 65u}) {
    config.worker_count = out_of_range;
    EXPECT_EQ(lattice_world_create(&config, &role), nullptr);
    EXPECT_NE(std::string(lattice_last_error()).find("worker_count"), std::string::npos);
  }
  config.worker_count = 64;
  lattice_world* world = lattice_world_create(&config, &role);
  EXPECT_NE(world, nullptr) << lattice_last_error();
  lattice_world_destroy(world);
}

}  // namespace
}  // namespace lattice::test::workers_test
