// Many clients behind one address range, at a server that takes few of them at a time: who is not taken
// repeats, and who gives up is told that nobody accepted, not that the token was bad.
#include <gtest/gtest.h>

#include "endpoint_rig.h"

namespace lattice::reliability {
namespace {

using test::EndpointRig;
using test::kSecond;

constexpr size_t kCrowd = 24;

test::RigOptions crowd_options() {
  test::RigOptions options;
  options.client_count = kCrowd;
  options.path.delay_ms = 50;
  options.server.max_connections = 64;
  return options;
}

size_t refused_count(const EndpointRig& rig, connection::ServerRefusal refusal) {
  return rig.server.endpoint->server_handshake()->refusal_count(refusal);
}

TEST(EndpointCrowd, WhoIsKeptOutByALimitDoesNotBlameTheToken) {
  test::RigOptions options = crowd_options();
  options.server.responses_per_s = 1;
  options.client.connect_budget_ns = 4 * kSecond;
  EndpointRig rig(std::move(options));
  for (const auto& client : rig.clients) ASSERT_EQ(rig.connect(*client), ConnectResult::kOk);
  rig.run(6 * kSecond);
  EXPECT_GT(refused_count(rig, connection::ServerRefusal::kResponseRate), kCrowd);
  size_t in = 0, out = 0;
  for (const auto& client : rig.clients) {
    in += client->handler.connected.size();
    for (const test::Ended& end : client->handler.ended) {
      ++out;
      EXPECT_EQ(end.reason, connection::DisconnectReason::kTimeout);
      EXPECT_NE(end.text.find("never accepted"), std::string::npos) << end.text;
    }
  }
  EXPECT_GE(in, 2u);
  EXPECT_GE(out, kCrowd / 2);
  EXPECT_EQ(in + out, kCrowd);
}

TEST(EndpointCrowd, TheHalfOpenLimitMakesACrowdWaitAndKeepsNobodyOut) {
  test::RigOptions options = crowd_options();
  options.server.max_half_open = 2;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all(10 * kSecond));
  EXPECT_GT(refused_count(rig, connection::ServerRefusal::kHalfOpenLimit), 0u);
  EXPECT_EQ(rig.server.endpoint->connection_count(), kCrowd);
}

// Clients that vanish between their response and their first packet hold places, but for a second only.
TEST(EndpointCrowd, ClientsThatNeverConfirmDoNotFillAServer) {
  constexpr uint32_t kPlaces = 8;
  test::RigOptions options = crowd_options();
  options.server.max_connections = kPlaces;
  EndpointRig rig(std::move(options));
  for (uint32_t i = 0; i < kPlaces; ++i) ASSERT_EQ(rig.connect(*rig.clients[i]), ConnectResult::kOk);
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return rig.server.endpoint->connection_count() == kPlaces; }));
  for (uint32_t i = 0; i < kPlaces; ++i) rig.clients[i]->endpoint.reset();
  for (uint32_t i = kPlaces; i < 2 * kPlaces; ++i)
    ASSERT_EQ(rig.connect(*rig.clients[i]), ConnectResult::kOk);
  rig.run(3 * kSecond);
  for (uint32_t i = kPlaces; i < 2 * kPlaces; ++i) {
    EXPECT_EQ(rig.clients[i]->handler.connected.size(), 1u) << i;
    EXPECT_TRUE(rig.clients[i]->handler.ended.empty()) << i;
  }
  EXPECT_EQ(rig.server.handler.connected.size(), kPlaces);
  EXPECT_TRUE(rig.server.handler.ended.empty()) << "nobody was told of those that gave way";
  EXPECT_EQ(rig.server.endpoint->connection_count(), kPlaces);
}

}  // namespace
}  // namespace lattice::reliability
