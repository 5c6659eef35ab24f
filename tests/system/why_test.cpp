// The why-not query: each reason is brought about through the public interface, and asked for by name.
#include "lattice/why.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "interest_pair.h"
#include "lattice/lattice.hpp"

namespace lattice::test::why_test {
namespace {

constexpr uint32_t kBudgetBytes = 128;

class Why : public testing::Test {
 protected:
  lattice_why_info ask(InterestPair& pair, lattice_netid object) {
    const auto why = Connection(pair.conn()).why(object);
    EXPECT_TRUE(why) << lattice_last_error();
    return why ? *why : lattice_why_info{};
  }
  std::string text(const lattice_why_info& why) { return why_text(why).c_str(); }
};

TEST_F(Why, RulesThatHideAnObjectAreNamed) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  const lattice_netid far = pair.spawn_at(200);
  const lattice_netid room = pair.spawn_at(1);
  const lattice_netid team = pair.spawn_at(2);
  const lattice_netid owner = pair.spawn_at(3);
  const lattice_netid child = pair.spawn_at(4);
  const WorldRef world(pair.server());
  ObjectInterest rule;
  rule.room = 7;
  ASSERT_EQ(world.set_interest(room, rule), LATTICE_OK);
  rule = ObjectInterest();
  rule.team_mask = 4;
  ASSERT_EQ(world.set_interest(team, rule), LATTICE_OK);
  rule = ObjectInterest();
  rule.relevance = LATTICE_RELEVANCE_OWNER;
  ASSERT_EQ(world.set_interest(owner, rule), LATTICE_OK);
  ASSERT_EQ(world.attach(child, far), LATTICE_OK);
  pair.run(300);

  const lattice_why_info distance = ask(pair, far);
  EXPECT_EQ(distance.reason, uint32_t{LATTICE_WHY_DISTANCE});
  EXPECT_NEAR(distance.distance, 200, 4);
  EXPECT_EQ(distance.border, InterestPair::kRadius);
  EXPECT_EQ(distance.is_in_set, 0u);
  EXPECT_EQ(text(distance),
            "object " + std::to_string(far) + ": not sent: 200.0 away, and the border is 30.0");
  EXPECT_EQ(ask(pair, room).reason, uint32_t{LATTICE_WHY_ROOM});
  EXPECT_EQ(ask(pair, room).object_room, 7u);
  EXPECT_EQ(ask(pair, team).reason, uint32_t{LATTICE_WHY_TEAM});
  EXPECT_EQ(ask(pair, team).object_team_mask, 4u);
  EXPECT_EQ(ask(pair, owner).reason, uint32_t{LATTICE_WHY_OWNER});
  EXPECT_EQ(ask(pair, child).reason, uint32_t{LATTICE_WHY_PARENT});
  EXPECT_EQ(ask(pair, child).root, far);
}

TEST_F(Why, AClientWithoutAPlaceSeesNothingNear) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  lattice_viewer viewer;
  lattice_viewer_init(&viewer);
  ASSERT_EQ(lattice_conn_set_viewer(pair.conn(), &viewer), LATTICE_OK);  // before the first snapshot
  const lattice_netid object = pair.spawn_at(1);
  pair.run(200);
  EXPECT_EQ(ask(pair, object).reason, uint32_t{LATTICE_WHY_NO_VIEWER});
  EXPECT_LT(ask(pair, object).distance, 0);
}

TEST_F(Why, TheGameMayRefuse) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_relevant = [](void*, lattice_world*, lattice_conn*, lattice_netid) { return 0; };
  ASSERT_EQ(lattice_set_callbacks(pair.server(), &callbacks, nullptr), LATTICE_OK);
  const lattice_netid object = pair.spawn_at(1);
  ObjectInterest rule;
  rule.is_filtered = 1;
  ASSERT_EQ(WorldRef(pair.server()).set_interest(object, rule), LATTICE_OK);
  pair.run(200);
  EXPECT_EQ(ask(pair, object).reason, uint32_t{LATTICE_WHY_CALLBACK});
}

TEST_F(Why, AnObjectIsFollowedFromItsSpawnToItsAck) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  pair.run(100);
  const lattice_netid object = pair.spawn_at(5);
  EXPECT_EQ(ask(pair, object).reason, uint32_t{LATTICE_WHY_ENTERS});
  ASSERT_TRUE(pair.run_until([&] { return ask(pair, object).reason == LATTICE_WHY_IN_FLIGHT; }));
  const lattice_why_info sent = ask(pair, object);
  EXPECT_EQ(sent.is_in_set, 1u);
  EXPECT_EQ(sent.may_be_held, 1u);
  EXPECT_NE(sent.sent_tick, 0u);
  EXPECT_EQ(sent.acked_tick, 0u);
  EXPECT_EQ(sent.needs_full, 1u);
  EXPECT_GT(sent.last_entry_bits, 64u);
  ASSERT_TRUE(pair.run_until([&] { return ask(pair, object).reason == LATTICE_WHY_UP_TO_DATE; }));
  EXPECT_NE(ask(pair, object).acked_tick, 0u);

  pair.write(object, 6);
  pair.run(20);
  const lattice_why_info changed = ask(pair, object);
  EXPECT_EQ(changed.needs_full, 0u);
  EXPECT_GT(changed.baseline_age_ticks, 0u);
  EXPECT_LT(changed.next_entry_bits, sent.next_entry_bits);

  pair.look_from(500);
  ASSERT_TRUE(pair.run_until([&] { return ask(pair, object).is_in_set == 0; }));
  EXPECT_EQ(ask(pair, object).may_be_held, 1u);
  pair.run(500);
  EXPECT_EQ(ask(pair, object).may_be_held, 0u);
}

TEST_F(Why, TheLongestSentenceIsWhole) {
  lattice_why_info why;
  lattice_why_info_init(&why);
  why.reason = LATTICE_WHY_WAITS_FOR_TURN;
  why.object = UINT64_MAX;
  why.changed_tick = why.rank = why.waiting_count = why.removal_count = why.next_entry_bits =
      why.budget_bytes = UINT32_MAX;
  why.accumulator = 3e38f;
  char out[LATTICE_WHY_TEXT_BYTES];
  ASSERT_EQ(lattice_why_text(&why, out, sizeof out), LATTICE_OK);
  EXPECT_NE(std::string(out).find("a snapshot has 4294967295 bytes"), std::string::npos) << out;
}

TEST_F(Why, OutsideOfTheSetTheNumbersHoldToo) {
  InterestPair pair(LATTICE_INTEREST_GRID, kBudgetBytes);
  ASSERT_TRUE(pair.connect());
  const lattice_netid gone = pair.spawn_at(5), child = pair.spawn_at(6), root = pair.spawn_at(7);
  ObjectInterest rule;
  rule.room = 7;
  ASSERT_EQ(WorldRef(pair.server()).set_interest(root, rule), LATTICE_OK);
  ASSERT_EQ(WorldRef(pair.server()).attach(child, root), LATTICE_OK);
  std::vector<lattice_netid> many;
  for (uint32_t i = 0; i < 600; ++i) many.push_back(pair.spawn_at(1));
  pair.run(8000);
  ASSERT_EQ(ask(pair, gone).reason, uint32_t{LATTICE_WHY_UP_TO_DATE});
  EXPECT_EQ(text(ask(pair, child)), "object " + std::to_string(child) +
                                        ": not sent: it is attached to object " + std::to_string(root) +
                                        " in room 7, and the client is in room 0");
  for (const lattice_netid each : many) pair.write(each, 1.5);
  pair.write(gone, 400);
  pair.run(100);
  const lattice_why_info outside = ask(pair, gone);
  EXPECT_EQ(outside.is_in_set, 0u);
  EXPECT_GT(outside.changed_tick, outside.acked_tick);
  EXPECT_GT(outside.waiting_count, 50u) << "of the client, whatever object is asked about";
  pair.run(200);
  pair.look_from(600);
  EXPECT_TRUE(pair.run_until([&] { return ask(pair, many.back()).removal_count > 50; }));
}

TEST_F(Why, LossIsCounted) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  const lattice_netid object = pair.spawn_at(5);
  pair.run(500);
  ASSERT_EQ(ask(pair, object).reason, uint32_t{LATTICE_WHY_UP_TO_DATE});
  EXPECT_EQ(ask(pair, object).lost_count, 0u);
  pair.cut(true);
  for (uint32_t i = 1; i < 30; ++i) {
    pair.write(object, 5 + 0.1 * i);
    pair.run(20);
  }
  pair.cut(false);
  pair.run(1000);
  EXPECT_GT(ask(pair, object).lost_count, 0u);
  EXPECT_EQ(ask(pair, object).reason, uint32_t{LATTICE_WHY_UP_TO_DATE});
}

// It changed in a tick without a snapshot. Nothing has passed it over.
TEST_F(Why, AChangeBetweenSnapshotsWaitsForTheNext) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  const lattice_netid object = pair.spawn_at(5);
  pair.run(500);
  bool waited = false;
  for (uint32_t i = 1; i < 40; ++i) {
    pair.write(object, 5 + 0.1 * i);
    pair.run(20);
    const lattice_why_info why = ask(pair, object);
    if (why.reason != LATTICE_WHY_WAITS_FOR_TURN) continue;
    waited = true;
    EXPECT_EQ(why.waiting_count, 0u);
    EXPECT_NE(text(why).find("waits for the next snapshot"), std::string::npos) << text(why);
  }
  EXPECT_TRUE(waited);
}

// A filter is asked only about what is near.
TEST_F(Why, DistanceIsNamedBeforeTheGame) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  static uint32_t asked;
  asked = 0;
  lattice_callbacks callbacks;
  lattice_callbacks_init(&callbacks);
  callbacks.on_relevant = [](void*, lattice_world*, lattice_conn*, lattice_netid) {
    ++asked;
    return 0;
  };
  ASSERT_EQ(lattice_set_callbacks(pair.server(), &callbacks, nullptr), LATTICE_OK);
  const lattice_netid object = pair.spawn_at(200);
  ObjectInterest rule;
  rule.is_filtered = 1;
  ASSERT_EQ(WorldRef(pair.server()).set_interest(object, rule), LATTICE_OK);
  pair.run(200);
  EXPECT_EQ(ask(pair, object).reason, uint32_t{LATTICE_WHY_DISTANCE});
  EXPECT_EQ(asked, 0u);
}

// The budget of a snapshot has room for a few of the objects only.
TEST_F(Why, ObjectsOverBudgetWaitForTheirTurn) {
  InterestPair pair(LATTICE_INTEREST_GRID, kBudgetBytes);
  ASSERT_TRUE(pair.connect());
  std::vector<lattice_netid> objects;
  for (int i = 0; i < 80; ++i) objects.push_back(pair.spawn_at(i % 20));
  pair.run(60);
  uint32_t waiting = 0;
  uint32_t last = 0;
  for (const lattice_netid object : objects) {
    const lattice_why_info why = ask(pair, object);
    EXPECT_EQ(why.budget_bytes, kBudgetBytes);
    if (why.reason != LATTICE_WHY_WAITS_FOR_TURN) continue;
    ++waiting;
    last = std::max(last, why.rank);
    EXPECT_GT(why.accumulator, 0);
    EXPECT_GE(why.waiting_count, 1u);
    EXPECT_LT(why.rank, why.waiting_count);
  }
  EXPECT_GT(waiting, 10u);
  EXPECT_GT(last, 5u);
  pair.run(3000);
  for (const lattice_netid object : objects) {
    EXPECT_EQ(ask(pair, object).reason, uint32_t{LATTICE_WHY_UP_TO_DATE}) << text(ask(pair, object));
  }
}

// The budget has no room for a piece either.
TEST_F(Why, AnEntryLongerThanTheBudgetIsNamed) {
  constexpr uint32_t kTinyBytes = 80;
  InterestPair pair(LATTICE_INTEREST_GRID, kTinyBytes,
                    [](lattice_world_config* config) { config->predicted_set_bytes = 8; });
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  const lattice_netid object = pair.spawn_bulk(64);
  pair.run(200);
  const lattice_why_info why = ask(pair, object);
  EXPECT_EQ(why.reason, uint32_t{LATTICE_WHY_OVER_BUDGET});
  EXPECT_GT(why.next_entry_bits, kTinyBytes * 8);
}

TEST_F(Why, WorksWithoutInterestManagement) {
  InterestPair pair(LATTICE_INTEREST_NONE);
  ASSERT_TRUE(pair.connect());
  const lattice_netid object = pair.spawn_at(5000);
  EXPECT_EQ(ask(pair, object).reason, uint32_t{LATTICE_WHY_NO_STATE});
  pair.run(500);
  EXPECT_EQ(ask(pair, object).reason, uint32_t{LATTICE_WHY_UP_TO_DATE});
  EXPECT_LT(ask(pair, object).distance, 0);
}

TEST_F(Why, MisuseIsRefused) {
  InterestPair pair;
  ASSERT_TRUE(pair.connect());
  lattice_why_info why;
  lattice_why_info_init(&why);
  EXPECT_EQ(lattice_conn_why(pair.conn(), 12345, &why), LATTICE_ERROR_NOT_FOUND);
  char text[LATTICE_WHY_TEXT_BYTES];
  EXPECT_EQ(lattice_why_text(&why, text, sizeof text - 1), LATTICE_ERROR_BUFFER_TOO_SMALL);
  for (why.reason = 0; why.reason <= LATTICE_WHY_FAR; ++why.reason) {
    EXPECT_EQ(lattice_why_text(&why, text, sizeof text), LATTICE_OK) << why.reason;
  }
  EXPECT_EQ(lattice_why_text(&why, text, sizeof text), LATTICE_ERROR_INVALID_ARGUMENT);
  why.reason = LATTICE_WHY_WAITS_FOR_TURN;
  why.accumulator = 1;
  why.budget_bytes = 600;
  ASSERT_EQ(lattice_why_text(&why, text, sizeof text), LATTICE_OK);
  EXPECT_NE(std::strstr(text, "has 600 bytes"), nullptr) << text;
  why.budget_bytes = 0;
  ASSERT_EQ(lattice_why_text(&why, text, sizeof text), LATTICE_OK);
  EXPECT_EQ(std::strstr(text, " 0 bytes"), nullptr) << text;
}

}  // namespace
}  // namespace lattice::test::why_test
