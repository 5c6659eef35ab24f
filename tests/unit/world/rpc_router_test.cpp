#include "world/rpc_router.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "support/durations.h"

namespace lattice::world {
namespace {

using replication::RpcHeader;
using replication::RpcRefusal;

using lattice::test::kMs;
constexpr uint32_t kDoorType = 9;
constexpr uint64_t kDoor = 5;
constexpr uint16_t kAlignedRpc = 0;
constexpr uint64_t kOwner = 2;
constexpr uint64_t kStranger = 3;
constexpr lattice_channel kChannel = LATTICE_CHANNEL_RELIABLE_UNORDERED;

lattice_struct_desc one_number(const lattice_member_desc* member) {
  lattice_struct_desc desc;
  lattice_struct_desc_init(&desc);
  desc.name = "Door";
  desc.host_bytes = sizeof(uint32_t);
  desc.host_align = alignof(uint32_t);
  desc.members = member;
  desc.member_count = 1;
  return desc;
}

/// One door; only its owner may make the call.
struct Host : RpcHost {
  Host() {
    lattice_member_desc member;
    lattice_member_desc_init(&member);
    member.name = "angle";
    member.type = LATTICE_WIRE_UINT32;
    const lattice_struct_desc state = one_number(&member);
    lattice_behaviour_desc behaviour;
    lattice_behaviour_desc_init(&behaviour);
    behaviour.structure = &state;
    lattice_rpc_desc rpc;
    lattice_rpc_desc_init(&rpc);
    rpc.rpc_id = kAlignedRpc;
    rpc.name = "aligned";
    rpc.channel = kChannel;
    rpc.target = LATTICE_RPC_TO_SERVER;
    rpc.owner_only = 1;
    rpc.delivery = LATTICE_RPC_TICK_ALIGNED;
    lattice_type_desc type;
    lattice_type_desc_init(&type);
    type.type_id = kDoorType;
    type.name = "Door";
    type.behaviours = &behaviour;
    type.behaviour_count = 1;
    type.rpcs = &rpc;
    type.rpc_count = 1;
    std::string error;
    EXPECT_TRUE(schema.add_type(type, &error)) << error;
  }
  const serialization::TypeInfo* type_of(uint64_t network_id, uint32_t* slot) const override {
    *slot = 0;
    return network_id == kDoor && is_there ? schema.find(kDoorType) : nullptr;
  }
  Tick rpc_tick() const override { return stamped; }
  Tick known_until(uint32_t) const override { return tick; }
  RpcRefusal check_rpc(const RpcHeader&, uint32_t, const lattice_rpc_desc* rpc,
                       uint64_t sender) const override {
    if (rpc == nullptr) return RpcRefusal::kUnknownRpc;
    return rpc->owner_only != 0 && sender != owner ? RpcRefusal::kNotOwner : RpcRefusal::kNone;
  }
  Schema schema;
  bool is_there = true;
  uint64_t owner = kOwner;
  Tick tick = 100;
  Tick stamped = 100;
};

struct Game : Observer {
  void on_rpc(uint64_t, uint16_t, const void*, size_t) override { callers.push_back(router->sender()); }
  void on_connect_refused(const connection::RefusedClient&) override {}
  void on_path_moved(world::ConnectionHandle, const base::PathId&, const base::PathId&) override {}
  void on_connected(ConnectionHandle, const reliability::ConnectedInfo&) override {}
  void on_disconnected(ConnectionHandle, connection::DisconnectReason, uint64_t, std::string_view) override {}
  void on_loaded(ConnectionHandle) override {}
  void on_spawn(uint64_t, uint32_t) override {}
  void on_despawn(uint64_t, replication::DespawnReason) override {}
  void on_authority_changed(uint64_t, uint64_t) override {}
  void on_tick(Tick, bool) override {}
  void on_sample_input(Tick, void*, size_t) override {}
  void on_message(ConnectionHandle, uint8_t, std::span<const uint8_t>) override {}
  void on_receipt(ConnectionHandle, uint32_t, bool) override {}
  uint16_t on_admit(const Admission&) override { return 0; }
  void on_resync(Tick, Tick) override {}
  void on_silence(uint64_t) override {}
  bool on_relevant(ConnectionHandle, uint64_t) override { return true; }
  void on_value_clamped(uint64_t, uint16_t, Tick) override {}
  void on_argument_clamped(std::optional<uint16_t>, std::string_view) override {}
  transfer::TransferHandler& transfer_handler() override { std::abort(); }

  const RpcRouter* router = nullptr;
  std::vector<uint64_t> callers;
};

struct RpcRouterTest : testing::Test {
  RpcRouterTest() {
    router.prepare(host.schema, 1147);
    game.router = &router;
  }
  void call(uint64_t now_ms, uint64_t sender, Tick tick, bool waits_for_object = false) {
    const bool was_there = std::exchange(host.is_there, true);
    host.stamped = tick;
    RpcCall rpc;
    rpc.network_id = kDoor;
    rpc.rpc_id = kAlignedRpc;
    rpc.channel = kChannel;
    ASSERT_EQ(router.encode(rpc), RpcCallError::kNone);
    const std::vector<uint8_t> body(router.body().begin(), router.body().end());
    host.is_there = was_there;
    router.receive(now_ms * kMs, sender, kChannel, body, waits_for_object);
  }
  Host host;
  Game game;
  RpcRouter router{host, game};
};

TEST_F(RpcRouterTest, WhereTooManyWaitForTheirTickTheyComeEarlyAndNoneIsLost) {
  constexpr size_t kCalls = 3 * replication::RpcInbox::kMaxHeldPerObject;
  for (size_t i = 0; i < kCalls; ++i) call(0, kOwner, 1'000'000);
  EXPECT_EQ(router.refused(), 0u);
  EXPECT_EQ(game.callers.size(), 2 * replication::RpcInbox::kMaxHeldPerObject);
  host.tick = 1'000'000;
  router.poll(1 * kMs);
  EXPECT_EQ(game.callers.size(), kCalls);
}

TEST_F(RpcRouterTest, ThoseThatWaitedForTheObjectComeEarlyToo) {
  host.is_there = false;
  for (size_t i = 0; i < replication::RpcInbox::kMaxHeldPerObject; ++i) call(0, kOwner, 1'000'000, true);
  host.is_there = true;
  call(1, kOwner, 1'000'000, true);
  EXPECT_EQ(router.refused(), 0u);
  EXPECT_EQ(game.callers.size(), replication::RpcInbox::kMaxHeldPerObject);
}

TEST_F(RpcRouterTest, ACallThatIsNotAllowedHoldsNothingBack) {
  for (int i = 0; i < 100; ++i) call(0, kStranger, 1'000'000);
  EXPECT_FALSE(router.holds(kDoor, kStranger));
  EXPECT_EQ(router.refused(RpcRefusal::kNotOwner), 100u);
  call(0, kOwner, 100);
  EXPECT_EQ(game.callers, std::vector<uint64_t>{kOwner});
}

TEST_F(RpcRouterTest, ACallOfTheFarFutureDelaysOnlyItsSender) {
  host.owner = kStranger;
  call(0, kStranger, 1'000'000);
  host.owner = kOwner;
  call(0, kOwner, 100);
  EXPECT_EQ(game.callers, std::vector<uint64_t>{kOwner});
  EXPECT_TRUE(router.holds(kDoor, kStranger));
}

// D-25: the receiver holds a tick-aligned call, and this receiver is the authority.
TEST_F(RpcRouterTest, TheAuthorityHoldsATickAlignedCall) {
  call(0, kOwner, 101);
  EXPECT_TRUE(game.callers.empty());
  EXPECT_TRUE(router.holds(kDoor, kOwner));
  host.tick = 101;
  router.poll(17 * kMs);
  EXPECT_EQ(game.callers, std::vector<uint64_t>{kOwner});
}

TEST_F(RpcRouterTest, TheOwnerIsLookedAtAgainAfterTheWait) {
  call(0, kOwner, 101);
  host.owner = kStranger;
  host.tick = 101;
  router.poll(17 * kMs);
  EXPECT_TRUE(game.callers.empty());
  EXPECT_EQ(router.refused(RpcRefusal::kNotOwner), 1u);
}

TEST_F(RpcRouterTest, WhatWaitsWhenASenderGoesIsCounted) {
  call(0, kOwner, 101);
  call(0, kOwner, 102);
  router.forget(kOwner);
  EXPECT_TRUE(game.callers.empty());
  EXPECT_EQ(router.refused(RpcRefusal::kUnknownObject), 2u);
}

TEST_F(RpcRouterTest, OwnCallsWaitForThePollAndAreBounded) {
  RpcCall rpc;
  rpc.network_id = kDoor;
  rpc.rpc_id = kAlignedRpc;
  rpc.channel = kChannel;
  ASSERT_EQ(router.encode(rpc), RpcCallError::kNone);
  for (uint32_t i = 0; i < replication::RpcInbox::kMaxHeldPerObject; ++i) {
    EXPECT_TRUE(router.loop_back(0, kOwner));
  }
  EXPECT_FALSE(router.loop_back(0, kOwner));
  EXPECT_TRUE(game.callers.empty());
  router.poll(0);
  EXPECT_EQ(game.callers.size(), replication::RpcInbox::kMaxHeldPerObject);
}

}  // namespace
}  // namespace lattice::world
