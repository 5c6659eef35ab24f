#include "replication/despawn_gate.h"

#include <gtest/gtest.h>

#include "replication/rpc_counts.h"

namespace lattice::replication {
namespace {

TEST(DespawnGate, OpensWhenTheLastRpcCameOrTenSecondsPassed) {
  DespawnGate gate(1);
  EXPECT_TRUE(gate.may_go(5, 1));
  EXPECT_FALSE(gate.waiting());
  EXPECT_FALSE(gate.may_go(5, 3));
  EXPECT_TRUE(gate.waiting());
  gate.rpc_arrived();
  EXPECT_FALSE(gate.may_go(4 + DespawnGate::kMaxWaitNs, 3));
  EXPECT_TRUE(gate.may_go(5 + DespawnGate::kMaxWaitNs, 3));
  EXPECT_TRUE(gate.overdue());
  gate.rpc_arrived();
  EXPECT_TRUE(gate.may_go(6, 3));
  EXPECT_FALSE(gate.overdue());
}

TEST(DespawnGate, AVoidRemovalLeavesNoTrace) {
  DespawnGate gate;
  EXPECT_FALSE(gate.may_go(0, 1));
  gate.stay();
  EXPECT_FALSE(gate.waiting());
  EXPECT_FALSE(gate.overdue());
  EXPECT_FALSE(gate.may_go(DespawnGate::kMaxWaitNs, 1));  // a new wait begins
}

TEST(DespawnGate, CountsWrap) {
  DespawnGate gate(UINT32_MAX);
  EXPECT_FALSE(gate.may_go(0, 1));
  gate.rpc_arrived();
  gate.rpc_arrived();
  EXPECT_TRUE(gate.may_go(0, 1));
}

TEST(DespawnGate, TheEndOfAWaitSettlesTheCount) {
  DespawnGate gate;
  EXPECT_FALSE(gate.may_go(0, 2));
  EXPECT_TRUE(gate.may_go(DespawnGate::kMaxWaitNs, 2));
  EXPECT_EQ(gate.count(), 2u);
  EXPECT_TRUE(DespawnGate(gate.count()).may_go(0, 2));  // the next stay
}

TEST(RpcCounts, CountPerObjectAndForgetTheOldest) {
  RpcCounts counts;
  counts.add(7);
  counts.add(7);
  counts.add(8);
  EXPECT_EQ(counts.take(9), 0u);
  EXPECT_EQ(counts.take(7), 2u);
  EXPECT_EQ(counts.take(7), 0u);
  for (uint64_t id = 100; id < 100 + RpcCounts::kMaxObjects; ++id) counts.add(id);
  EXPECT_EQ(counts.take(8), 0u);
  EXPECT_EQ(counts.take(100), 1u);
  counts.clear();
  EXPECT_EQ(counts.take(101), 0u);
  counts.add(101);
  EXPECT_EQ(counts.take(101), 1u);
}

TEST(RpcCounts, OneThatComesAndGoesTakesNoOthersPlace) {
  RpcCounts counts;
  counts.keep(5, 2);
  for (size_t turn = 0; turn < 2 * RpcCounts::kMaxObjects; ++turn) {
    counts.keep(6, 1 + counts.take(6));
    counts.add(7);
  }
  EXPECT_EQ(counts.take(5), 2u);
  EXPECT_EQ(counts.take(6), 2 * RpcCounts::kMaxObjects);
  EXPECT_EQ(counts.take(7), 2 * RpcCounts::kMaxObjects);
  for (uint64_t id = 100; id < 100 + RpcCounts::kMaxObjects; ++id) counts.keep(id, 3);
  EXPECT_EQ(counts.take(100 + RpcCounts::kMaxObjects / 2), 3u);  // from between others
  counts.keep(50, 4);
  counts.keep(51, 5);  // in the place of 100
  EXPECT_EQ(counts.take(100), 0u);
  EXPECT_EQ(counts.take(101), 3u);
  EXPECT_EQ(counts.take(50) + counts.take(51), 9u);
}

TEST(RpcCounts, GoOnWhereAnObjectLeft) {
  RpcCounts counts;
  counts.keep(5, 0);
  counts.keep(6, 3);
  counts.add(6);  // came after the object left
  EXPECT_EQ(counts.take(5), 0u);
  EXPECT_EQ(counts.take(6), 4u);
}

}  // namespace
}  // namespace lattice::replication
