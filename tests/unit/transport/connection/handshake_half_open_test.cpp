// Connections whose client has not confirmed yet: how many there may be, and who gives way (S-42).
#include <gtest/gtest.h>

#include <vector>

#include "unit/transport/connection/handshake_rig.h"

namespace lattice::connection {
namespace {

using test::Bytes;
using test::kMs;
using test::kSecond;
using test::Rig;

/// A client whose message 4 never arrives, so that it never confirms. Returns its connection.
uint64_t half_open_as(Rig& rig, uint8_t player) {
  ClientHandshake client = rig.client_as(player);
  rig.ask(rig.response_of(client));
  return rig.last.accepted ? rig.last.accepted->connection_id : 0;
}

TEST(Handshake, HalfOpenEntriesAreCappedPerPrefixUntilConfirmed) {
  Rig rig({.max_half_open_per_prefix = 4});
  std::vector<uint64_t> ids;
  for (uint8_t player = 1; player <= 4; ++player) {
    ids.push_back(half_open_as(rig, player));
    ASSERT_NE(ids.back(), 0u);
  }
  ClientHandshake fifth = rig.client_as(5);
  const Bytes response = rig.response_of(fifth);
  EXPECT_TRUE(rig.ask(response).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kHalfOpenLimit);
  rig.server.handshake.on_confirmed(ids[0]);
  EXPECT_EQ(rig.tell(fifth, rig.ask(response)).outcome, ClientOutcome::kAccepted)
      << "the token was not spent";
  EXPECT_EQ(rig.last.gave_way, 0u);
}

TEST(Handshake, WhoNeverConfirmsGivesWayToANewcomer) {
  Rig rig({.max_half_open_per_prefix = 4});
  std::vector<uint64_t> ids;
  for (uint8_t player = 1; player <= 4; ++player) ids.push_back(half_open_as(rig, player));
  rig.now_ns += HalfOpenTable::kSureNs;
  ClientHandshake fifth = rig.client_as(5);
  EXPECT_EQ(rig.tell(fifth, rig.ask(rig.response_of(fifth))).outcome, ClientOutcome::kAccepted);
  EXPECT_EQ(rig.last.gave_way, ids[0]);
  EXPECT_EQ(rig.server.handshake.refusal_count(ServerRefusal::kHalfOpenLimit), 1u);
}

TEST(Handshake, OnePlayerWithManyTokensKeepsNobodyOut) {
  Rig rig({.max_half_open_per_prefix = 4});
  int taken = 0;
  for (int i = 0; i < 100; ++i) {  // a new token every 100 ms, for ten seconds
    taken += half_open_as(rig, 1) != 0 ? 1 : 0;
    ClientHandshake honest = rig.client_as(static_cast<uint8_t>(2 + i));
    ASSERT_EQ(rig.tell(honest, rig.ask(rig.response_of(honest))).outcome, ClientOutcome::kAccepted) << i;
    rig.server.handshake.on_confirmed(rig.last.accepted->connection_id);
    rig.now_ns += 100 * kMs;
  }
  EXPECT_GE(taken, 50) << "his own entries give way to each other, and soon at once";
}

// With one place left, each of his entries kept it for kSureNs.
TEST(Handshake, OnePlayerWithManyTokensDoesNotHoldTheLastPlace) {
  Rig rig({.max_half_open_per_prefix = 16});
  uint64_t held = 0;
  int joined = 0;
  for (int i = 0; i < 300; ++i, rig.now_ns += 100 * kMs) {
    rig.server.policy.full = held != 0;  // one place, and nobody plays
    if (const uint64_t id = half_open_as(rig, 1)) held = id;
    rig.server.policy.full = held != 0;
    if (i % 10 != 0) continue;
    ClientHandshake honest = rig.client_as(static_cast<uint8_t>(2 + i));
    const Bytes accepted = rig.ask(rig.response_of(honest));
    if (accepted.empty()) continue;
    ++joined;
    EXPECT_EQ(rig.last.gave_way, held);
    rig.server.handshake.on_confirmed(rig.last.accepted->connection_id);
    rig.server.handshake.on_ended(rig.last.accepted->connection_id, rig.now_ns);
    held = 0;
  }
  EXPECT_GE(joined, 26) << "of 30; the first entry lasts 2.5 s";
}

TEST(Handshake, AServerFullOfHalfOpenConnectionsStillTakesAClient) {
  Rig rig({.max_half_open_per_prefix = 4});
  const uint64_t first = half_open_as(rig, 1);
  rig.server.policy.full = true;
  ClientHandshake second = rig.client_as(2);
  const Bytes response = rig.response_of(second);
  EXPECT_TRUE(rig.ask(response).empty()) << "not refused for good";
  EXPECT_EQ(rig.refusal(), ServerRefusal::kHalfOpenLimit);
  rig.now_ns += HalfOpenTable::kSureNs;
  EXPECT_EQ(rig.tell(second, rig.ask(response)).outcome, ClientOutcome::kAccepted);
  EXPECT_EQ(rig.last.gave_way, first);
  EXPECT_TRUE(rig.server.policy.last_has_place);
}

}  // namespace
}  // namespace lattice::connection
