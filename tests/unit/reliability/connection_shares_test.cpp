#include "reliability/endpoint/connection_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/random.h"

namespace lattice::reliability {
namespace {

/// Keeps what was enqueued until finish().
struct Deferred {
  CallerTasks::Run run = nullptr;
  void* task = nullptr;
  uint32_t count = 0;
  uint32_t batches = 0;
  uint32_t running = UINT32_MAX;  ///< The share under way.
};

void* enqueue(void* ctx, CallerTasks::Run run, void* task, uint32_t count) {
  auto& deferred = *static_cast<Deferred*>(ctx);
  deferred.run = run;
  deferred.task = task;
  deferred.count = count;
  ++deferred.batches;
  return ctx;
}
void run_all_backwards(void*, void* handle) {
  auto& deferred = *static_cast<Deferred*>(handle);
  for (uint32_t i = deferred.count; i-- > 0;) {
    deferred.running = i;
    deferred.run(deferred.task, i);
  }
}
void run_nothing(void*, void*) {}
void run_twice_and_beyond(void*, void* handle) {
  auto& deferred = *static_cast<Deferred*>(handle);
  for (uint32_t i = 0; i < deferred.count + 1000; ++i) {
    deferred.run(deferred.task, i);
    deferred.run(deferred.task, i);
  }
}

TEST(ConnectionShares, EachConnectionIsInOneShareInOrder) {
  base::Random random(1);
  ConnectionShares shares(256);
  for (uint32_t round = 0; round < 200; ++round) {
    Deferred deferred;
    const uint32_t workers = 2 + static_cast<uint32_t>(random.next_below(63));
    const CallerTasks tasks{&enqueue, &run_all_backwards, &deferred, workers};
    const size_t items = 1 + random.next_below(256);
    const uint64_t connections = 1 + random.next_below(64);
    std::vector<uint32_t> connection_of;
    for (size_t i = 0; i < items; ++i) {
      connection_of.push_back(static_cast<uint32_t>(random.next_below(connections)));
      shares.add(connection_of.back(), i, random.next_below(1500));
    }
    std::map<uint32_t, std::vector<size_t>> order;
    std::map<uint32_t, uint32_t> share_of;
    shares.run(tasks, [&](size_t item) {
      order[connection_of[item]].push_back(item);
      const auto [at, is_new] = share_of.emplace(connection_of[item], deferred.running);
      EXPECT_EQ(at->second, deferred.running);
    });
    size_t seen = 0;
    for (const auto& [connection, its_items] : order) {
      EXPECT_TRUE(std::is_sorted(its_items.begin(), its_items.end()));
      EXPECT_EQ(std::adjacent_find(its_items.begin(), its_items.end()), its_items.end());
      seen += its_items.size();
    }
    EXPECT_EQ(seen, items);
    EXPECT_LE(deferred.count, 4 * workers);
    EXPECT_EQ(shares.item_count(), 0u);
  }
}

TEST(ConnectionShares, SharesCostAboutTheSame) {
  Deferred deferred;
  const CallerTasks tasks{&enqueue, &run_all_backwards, &deferred, 2};
  ConnectionShares shares(256);
  for (uint32_t i = 0; i < 256; ++i) shares.add(i, i, 1000);
  std::map<uint32_t, size_t> items_of;
  shares.run(tasks, [&](size_t) { ++items_of[deferred.running]; });
  ASSERT_EQ(items_of.size(), 8u);
  for (const auto& [share, items] : items_of) EXPECT_EQ(items, 32u);
}

TEST(ConnectionShares, AFewPacketsAreNotWorthWakingAnybody) {
  Deferred deferred;
  const CallerTasks tasks{&enqueue, &run_all_backwards, &deferred, 4};
  ConnectionShares shares(16);
  std::vector<size_t> order;
  for (uint32_t i = 0; i < 10; ++i) shares.add(10 - i, i, 64);
  shares.run(tasks, [&](size_t item) { order.push_back(item); });
  EXPECT_EQ(deferred.batches, 0u);
  EXPECT_EQ(order.size(), 10u);
  shares.run(tasks, [&](size_t) { ADD_FAILURE() << "nothing was added since"; });
}

TEST(ConnectionShares, EveryItemIsWorkedOnOnceWhateverThePoolDoes) {
  ConnectionShares shares(256);
  for (const auto finish : {&run_nothing, &run_twice_and_beyond}) {
    Deferred deferred;
    const CallerTasks tasks{&enqueue, finish, &deferred, 64};
    std::vector<int> worked(256);
    for (uint32_t i = 0; i < 256; ++i) shares.add(i / 2, i, 1200);
    shares.run(tasks, [&](size_t item) { ++worked[item]; });
    EXPECT_EQ(deferred.batches, 1u);
    EXPECT_EQ(std::count(worked.begin(), worked.end(), 1), 256);
  }
}

}  // namespace
}  // namespace lattice::reliability
