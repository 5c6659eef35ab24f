#include "replication/despawn_gate.h"

#include <gtest/gtest.h>

#include "replication/early_rpcs.h"

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

TEST(EarlyRpcs, CountsPerObjectAndForgetsTheOldest) {
  EarlyRpcs early;
  early.add(7);
  early.add(7);
  early.add(8);
  EXPECT_EQ(early.take(9), 0u);
  EXPECT_EQ(early.take(7), 2u);
  EXPECT_EQ(early.take(7), 0u);
  for (uint64_t id = 100; id < 100 + EarlyRpcs::kMaxObjects; ++id) early.add(id);
  EXPECT_EQ(early.take(8), 0u);
  EXPECT_EQ(early.take(100), 1u);
  early.clear();
  EXPECT_EQ(early.take(101), 0u);
  early.add(101);
  EXPECT_EQ(early.take(101), 1u);
}

}  // namespace
}  // namespace lattice::replication
