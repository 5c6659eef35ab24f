// lattice_world_leave(): the end of a program, in real time over real sockets.
#include <gtest/gtest.h>

#include <vector>

#include "lattice/netsim.h"
#include "message_side.h"
#include "support/durations.h"

namespace lattice::test::leave_test {
namespace {

using lattice::test::kMs;
using lattice::test::Side;

struct LeaveAbi : testing::Test {
  void make(Side& side, lattice_role role) {
    side.prepare(role);
    side.config.clock = nullptr;
    if (role == LATTICE_ROLE_CLIENT) side.bind_address = nullptr;
    ASSERT_TRUE(side.create({}, false)) << lattice_last_error();
  }
  void SetUp() override {
    make(server, LATTICE_ROLE_DEDICATED);
    for (Side& client : clients) {
      make(client, LATTICE_ROLE_CLIENT);
      ASSERT_NE(client.connect(server, server.address().c_str()), nullptr) << lattice_last_error();
    }
    for (int i = 0; i < 5000 && server.conns.size() < std::size(clients); ++i) pump_all();
    ASSERT_EQ(server.conns.size(), std::size(clients));
  }
  void pump_all() {
    lattice_world_wait(server.world, kMs);
    server.pump(0);
    for (Side& client : clients) client.pump(0);
  }
  int reason_of(Side& side) {
    lattice_event event{};
    for (int i = 0; i < 2000; ++i) {
      lattice_world_recv(side.world);
      lattice_world_send(side.world);
      while (lattice_world_events(side.world, &event, 1) == 1) {
        if (event.kind == LATTICE_EVENT_DISCONNECTED) return event.reason;
      }
      lattice_world_wait(side.world, kMs);
    }
    return -1;
  }

  Side server;
  Side clients[3];
};

TEST_F(LeaveAbi, AServerTellsEverybody) {
  ASSERT_EQ(lattice_world_leave(server.world, LATTICE_DISCONNECT_HOST_LEFT, "restart"), LATTICE_OK)
      << lattice_last_error();
  EXPECT_EQ(lattice_world_destroy(server.world), LATTICE_OK);
  server.world = nullptr;
  for (Side& client : clients) EXPECT_EQ(reason_of(client), LATTICE_DISCONNECT_HOST_LEFT);
}

TEST_F(LeaveAbi, AClientsOwnEndIsToldAndSoIsItsServer) {
  ASSERT_EQ(lattice_world_leave(clients[0].world, LATTICE_DISCONNECT_REQUESTED, nullptr), LATTICE_OK);
  EXPECT_EQ(reason_of(clients[0]), LATTICE_DISCONNECT_REQUESTED);
  EXPECT_EQ(reason_of(server), LATTICE_DISCONNECT_REQUESTED);
  // Nothing is left of the connection: the next begins at once.
  EXPECT_NE(clients[0].connect(server, server.address().c_str()), nullptr) << lattice_last_error();
}

TEST_F(LeaveAbi, AWrongReasonOrTextEndsNothing) {
  EXPECT_EQ(lattice_world_leave(clients[0].world, LATTICE_DISCONNECT_HOST_LEFT, nullptr),
            LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lattice_world_leave(server.world, LATTICE_DISCONNECT_TIMEOUT, nullptr),
            LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lattice_world_leave(server.world, 300, "a\nb"), LATTICE_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(lattice_world_leave(nullptr, 300, "text"), LATTICE_ERROR_INVALID_ARGUMENT);
  for (int i = 0; i < 50; ++i) pump_all();
  EXPECT_EQ(server.ended, 0);
}

TEST_F(LeaveAbi, WithoutConnectionsItReturnsAtOnce) {
  Side alone;
  make(alone, LATTICE_ROLE_DEDICATED);
  EXPECT_EQ(lattice_world_leave(alone.world, LATTICE_DISCONNECT_HOST_LEFT, nullptr), LATTICE_OK);
}

TEST(LeaveAbiSimulated, ItSaysThatTimeDoesNotPassThere) {
  lattice_netsim* net = lattice_netsim_create(1);
  {
    Side side;
    side.prepare(LATTICE_ROLE_DEDICATED);
    side.config.netsim = net;
    side.config.bind_address = "10.0.0.1:1";
    ASSERT_TRUE(side.create({}, false)) << lattice_last_error();
    EXPECT_EQ(lattice_world_leave(side.world, LATTICE_DISCONNECT_HOST_LEFT, nullptr),
              LATTICE_ERROR_UNSUPPORTED);
  }
  lattice_netsim_destroy(net);
}

}  // namespace
}  // namespace lattice::test::leave_test
