#include "replication/rpc_gate.h"

#include <gtest/gtest.h>

#include "support/durations.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

using lattice::test::kSecond;

TEST(RpcGate, a_burst_of_120_then_60_per_second) {
  RpcGate gate{RpcGate::Config{}};
  uint64_t now = 5 * kSecond;
  for (int i = 0; i < 120; ++i) EXPECT_TRUE(gate.take_token(now));
  EXPECT_FALSE(gate.take_token(now));
  int taken = 0;
  for (int ms = 0; ms < 10'000; ++ms) taken += gate.take_token(now += kSecond / 1000) ? 1 : 0;
  EXPECT_GE(taken, 599);
  EXPECT_LE(taken, 600);
  now += 3600 * kSecond;  // a long silence fills the bucket and no more
  for (int i = 0; i < 120; ++i) EXPECT_TRUE(gate.take_token(now));
  EXPECT_FALSE(gate.take_token(now));
  EXPECT_FALSE(gate.take_token(now - kSecond));  // time that goes back gives nothing
}

TEST(RpcGate, what_a_client_may_send) {
  constexpr uint64_t kSender = 9;
  ObjectInfo object;
  object.network_id = 1;
  object.owner = kSender;
  lattice_rpc_desc rpc;
  lattice_rpc_desc_init(&rpc);
  RpcHeader header{1, 0, 5, LATTICE_RPC_TO_SERVER, 0};
  const auto check = [&] { return RpcGate::check_from_client(header, &rpc, object, kSender, true); };
  EXPECT_EQ(check(), RpcRefusal::kNone);
  for (const auto target : {LATTICE_RPC_TO_OWNER, LATTICE_RPC_TO_ALL, LATTICE_RPC_TO_PEER}) {
    header.target = target;
    EXPECT_EQ(check(), RpcRefusal::kTarget);
    header.target = LATTICE_RPC_TO_SERVER;
    rpc.target = target;
    EXPECT_EQ(check(), RpcRefusal::kTarget);
    rpc.target = LATTICE_RPC_TO_SERVER;
  }
  object.owner = 8;
  EXPECT_EQ(check(), RpcRefusal::kNone);
  rpc.owner_only = 1;
  EXPECT_EQ(check(), RpcRefusal::kNotOwner);
  EXPECT_EQ(RpcGate::check_from_client(header, nullptr, object, kSender, true), RpcRefusal::kUnknownRpc);
  EXPECT_EQ(RpcGate::check_from_client(header, &rpc, object, kSender, false), RpcRefusal::kNotInSet);
}

TEST(RpcGate, what_the_authority_may_send) {
  lattice_rpc_desc rpc;
  lattice_rpc_desc_init(&rpc);
  rpc.target = LATTICE_RPC_TO_ALL;
  EXPECT_EQ(RpcGate::check_from_authority(RpcHeader{1, 0, 5, LATTICE_RPC_TO_ALL, 0}, &rpc),
            RpcRefusal::kNone);
  EXPECT_EQ(RpcGate::check_from_authority(RpcHeader{1, 0, 5, LATTICE_RPC_TO_SERVER, 0}, &rpc),
            RpcRefusal::kTarget);
  EXPECT_EQ(RpcGate::check_from_authority(RpcHeader{1, 0, 5, LATTICE_RPC_TO_ALL, 0}, nullptr),
            RpcRefusal::kUnknownRpc);
}

}  // namespace
}  // namespace lattice::replication::test
