// A session does what its parts can do, and refuses the rest.
#include "world/session.h"

#include <gtest/gtest.h>

#include "unit/world/session_rig.h"

namespace lattice::world::test {
namespace {

struct SessionTest : ::testing::Test {
  void SetUp() override {
    ASSERT_TRUE(rig.connect());
    ball = rig.authority->spawn(kBallType, LATTICE_AUTHORITY_SERVER, 0);
    rig.pump(30);
  }
  SessionRig rig;
  uint64_t ball = 0;
};

TEST_F(SessionTest, a_side_that_does_not_listen_makes_no_objects) {
  Session& client = rig.client();
  const uint32_t slot = client.objects().find(ball);
  ASSERT_NE(slot, replication::kNoSlot);
  EXPECT_EQ(client.spawn(kBallType, LATTICE_AUTHORITY_SERVER, 0), 0u);
  EXPECT_EQ(client.despawn(ball), OpResult::kNotAllowed);
  EXPECT_FALSE(client.let_sleep(slot));
  EXPECT_EQ(client.interest(), nullptr);
  lattice_why_info why;
  EXPECT_FALSE(client.why(rig.clients[0]->connection, slot, &why));
  EXPECT_FALSE(client.sees(rig.clients[0]->connection, slot));
  EXPECT_NE(client.objects().find(ball), replication::kNoSlot);
}

// Ids are the authority's choice, and it must not know how a client finds them.
TEST_F(SessionTest, a_client_hashes_ids_with_a_seed_of_its_own) {
  EXPECT_NE(rig.client().objects().id_seed(), 0u);
  EXPECT_EQ(rig.authority->objects().id_seed(), 0u);
}

TEST_F(SessionTest, a_side_that_does_not_connect_has_no_connection_of_its_own) {
  const char* error = nullptr;
  ConnectionHandle connection;
  EXPECT_EQ(rig.authority->connect(base::ipv4_path(10, 0, 0, 2, 1), {}, &connection, &error),
            OpResult::kNotAllowed);
  EXPECT_NE(error, nullptr);
  rig.authority->set_option(Session::Option::kPrediction, false);
  EXPECT_EQ(rig.authority->next_tick(), rig.authority->current_tick() + 1);
}

TEST_F(SessionTest, only_a_player_has_inputs) {
  const Push push{1};
  EXPECT_EQ(rig.authority->set_input(&push, sizeof push), OpResult::kNotAllowed);
  EXPECT_FALSE(rig.authority->is_owner(kAuthorityPeer));
  SessionRig host({true, 0, true, false});
  EXPECT_EQ(host.authority->set_input(&push, sizeof push), OpResult::kOk);
  EXPECT_TRUE(host.authority->is_owner(kAuthorityPeer));
}

TEST_F(SessionTest, both_sides_tell_how_far_the_client_has_come) {
  const uint64_t peer = rig.client().local_peer();
  EXPECT_TRUE(rig.authority->joining(rig.authority->connection_of(peer)).loaded);
  EXPECT_TRUE(rig.client().joining(rig.clients[0]->connection).loaded);
}

}  // namespace
}  // namespace lattice::world::test
