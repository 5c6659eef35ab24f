// The bounded memories of the server handshake: claims, half-open entries, rates, buckets.
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "unit/transport/connection/handshake_rig.h"

namespace lattice::connection {
namespace {

using test::kMs;
using test::kSecond;

wire::Id16 id_of(uint64_t n) {
  wire::Id16 id{};
  platform::store_u64_le(id.data(), n);
  return id;
}

TEST(ClaimTable, KeepsUnexpiredClaimsAndRefusesWhenFull) {
  ClaimTable table(3, 42);
  for (uint64_t i = 1; i <= 3; ++i) ASSERT_NE(table.insert(id_of(i), {i}, i, 100 + i, 50), nullptr);
  EXPECT_EQ(table.room_for({9}, 50), ClaimTable::Room::kFull);
  EXPECT_EQ(table.insert(id_of(4), {4}, 4, 200, 50), nullptr);
  EXPECT_NE(table.find(id_of(1)), nullptr);
  // At second 102 two have expired, and make room.
  EXPECT_EQ(table.room_for({9}, 102), ClaimTable::Room::kRoom);
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.find(id_of(1)), nullptr);
  EXPECT_NE(table.find(id_of(3)), nullptr);
}

TEST(ClaimTable, AnEndedConnectionKeepsItsClaim) {
  ClaimTable table(4, 42);
  const Claim* claim = table.insert(id_of(1), {1}, 77, 100, 0);
  ASSERT_NE(claim, nullptr);
  EXPECT_TRUE(table.connection_lives(*claim));
  EXPECT_TRUE(table.has_connection(77));
  table.on_connection_ended(77);
  claim = table.find(id_of(1));
  ASSERT_NE(claim, nullptr);
  EXPECT_FALSE(table.connection_lives(*claim));
  EXPECT_FALSE(table.has_connection(77));
}

TEST(ClaimTable, AnOwnerHasItsShareOfAHalfFullTable) {
  constexpr uint64_t kGreedy = 7, kOther = 8;
  ClaimTable table(2048, 42);
  ASSERT_EQ(table.share(), 8u);
  uint64_t id = 0;
  const auto claim_until_refused = [&](uint64_t owner, uint64_t now_s) {
    uint32_t claimed = 0;
    for (; table.insert(id_of(id + 1), {owner}, id + 1, now_s + 100, now_s) != nullptr; ++claimed) ++id;
    return claimed;
  };
  EXPECT_EQ(claim_until_refused(kGreedy, 50), 1024u) << "half of the table";
  EXPECT_EQ(table.room_for({kGreedy}, 50), ClaimTable::Room::kShareUsed);
  EXPECT_EQ(claim_until_refused(kOther, 50), 8u);
  EXPECT_EQ(table.room_for({kOther + 1}, 50), ClaimTable::Room::kRoom);
  // Claims count until they expire. Erasing moves entries, and their owners with them.
  EXPECT_EQ(table.room_for({kGreedy}, 149), ClaimTable::Room::kShareUsed);
  EXPECT_EQ(claim_until_refused(kGreedy, 150), 1024u);
}

TEST(ClaimTable, EqualsAMapUnderRandomUse) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    base::Random random(seed);
    ClaimTable table(40, seed);
    std::map<uint64_t, std::pair<uint64_t, bool>> model;  // id → drop time, lives
    uint64_t now_s = 1;
    for (int step = 0; step < 3000; ++step) {
      const uint64_t id = 1 + random.next_below(90);
      const auto drop_expired = [&] {
        std::erase_if(model, [now_s](const auto& entry) { return entry.second.first <= now_s; });
      };
      switch (random.next_below(4)) {
        case 0:
          if (model.count(id) == 0) {
            if (model.size() >= 20) drop_expired();
            const uint64_t drop_at_s = now_s + 1 + random.next_below(30);
            const Claim* claim = table.insert(id_of(id), {id}, id, drop_at_s, now_s);
            ASSERT_EQ(claim != nullptr, model.size() < 40) << "seed " << seed << " step " << step;
            if (claim != nullptr) model[id] = {drop_at_s, true};
          }
          break;
        case 1:
          table.on_connection_ended(id);
          if (const auto it = model.find(id); it != model.end()) it->second.second = false;
          break;
        case 2:
          now_s += random.next_below(3);
          break;
        default:
          table.sweep(now_s);
          drop_expired();
      }
      ASSERT_EQ(table.size(), model.size()) << "seed " << seed << " step " << step;
      for (uint64_t each = 1; each <= 90; ++each) {
        const Claim* claim = table.find(id_of(each));
        const auto it = model.find(each);
        ASSERT_EQ(claim != nullptr, it != model.end()) << "seed " << seed << " step " << step;
        const bool lives = claim != nullptr && table.connection_lives(*claim);
        ASSERT_EQ(lives, claim != nullptr && it->second.second);
      }
    }
  }
}

using Owner = HalfOpenTable::Owner;

uint64_t who_gives_way(HalfOpenTable& table, const Owner& owner, uint64_t now_ns, bool needs_place = false) {
  const auto room = table.room_for(owner, now_ns, needs_place);
  EXPECT_TRUE(room.has_value());
  return room ? room->gives_way : 0;
}

TEST(HalfOpenTable, CapsInAllAndPerPrefixAndForgetsByAge) {
  HalfOpenTable table(5, 2, 5 * kSecond);
  for (uint64_t id = 1; id <= 2; ++id) {
    ASSERT_EQ(who_gives_way(table, {{.id = 1}, 0}, 0), 0u);
    table.insert(id, {{.id = 1}, 0}, 0);
  }
  EXPECT_FALSE(table.room_for({{.id = 1}, 0}, 0));
  for (uint64_t id = 3; id <= 5; ++id) {
    ASSERT_EQ(who_gives_way(table, {{.id = id}, 0}, kMs), 0u);
    table.insert(id, {{.id = id}, 0}, kMs);
  }
  EXPECT_FALSE(table.room_for({{.id = 99}, 0}, kMs)) << "full in all";
  table.confirm(4);
  EXPECT_EQ(who_gives_way(table, {{.id = 99}, 0}, kMs), 0u);
  EXPECT_EQ(who_gives_way(table, {{.id = 1}, 0}, 5 * kSecond - 1), 1u) << "still there";
  EXPECT_EQ(who_gives_way(table, {{.id = 1}, 0}, 5 * kSecond), 0u);
  EXPECT_EQ(table.size(5 * kSecond), 2u);
}

constexpr uint64_t kSure = HalfOpenTable::kSureNs;

TEST(HalfOpenTable, AnOldEntryGivesWay) {
  HalfOpenTable table(64, 2, 5 * kSecond);
  table.insert(1, {{.id = 1}, 0}, 0);
  table.insert(2, {{.id = 1}, 0}, 100 * kMs);
  EXPECT_FALSE(table.room_for({{.id = 1}, 0}, kSure - 1));
  EXPECT_EQ(who_gives_way(table, {{.id = 1}, 0}, kSure), 1u) << "the oldest";
  EXPECT_EQ(who_gives_way(table, {{.id = 2}, 0}, kSure), 0u) << "there is room for others";
  table.confirm(1);
  table.insert(3, {{.id = 1}, 0}, kSure);
  EXPECT_FALSE(table.room_for({{.id = 1}, 0}, kSure));
}

TEST(HalfOpenTable, APlayerHasHalfOfThePlacesOfAPrefix) {
  HalfOpenTable table(64, 4, 5 * kSecond);
  table.insert(1, {{.id = 1}, 7}, 0);
  table.insert(2, {{.id = 2}, 7}, 0);
  EXPECT_FALSE(table.room_for({{.id = 3}, 7}, 0)) << "wherever he is";
  EXPECT_EQ(who_gives_way(table, {{.id = 1}, 8}, 0), 0u);
  EXPECT_EQ(who_gives_way(table, {{.id = 3}, 7}, kSure), 1u) << "his own";
  // Without a player only the prefix counts.
  for (uint64_t id = 3; id <= 6; ++id) {
    ASSERT_EQ(who_gives_way(table, {{.id = 9}, 0}, 0), 0u);
    table.insert(id, {{.id = 9}, 0}, 0);
  }
  EXPECT_FALSE(table.room_for({{.id = 9}, 0}, 0));
}

TEST(HalfOpenTable, WhereAllIsFullTheFullestPrefixGivesWay) {
  HalfOpenTable table(6, 4, 5 * kSecond);
  table.insert(1, {{.id = 1}, 0}, 0);  // the oldest of all, and alone
  for (uint64_t id = 2; id <= 4; ++id) table.insert(id, {{.id = 2}, 0}, kMs);
  for (uint64_t id = 5; id <= 6; ++id) table.insert(id, {{.id = 3}, 0}, 2 * kMs);
  EXPECT_FALSE(table.room_for({{.id = 4}, 0}, 2 * kMs));
  EXPECT_EQ(who_gives_way(table, {{.id = 4}, 0}, kSure + 10 * kMs), 2u);
}

TEST(HalfOpenTable, AServerWithoutAPlaceTakesOneOfAHalfOpenConnection) {
  HalfOpenTable table(64, 4, 5 * kSecond);
  EXPECT_FALSE(table.room_for({{.id = 1}, 0}, 0, true)) << "none is half open";
  table.insert(1, {{.id = 2}, 0}, 0);
  EXPECT_FALSE(table.room_for({{.id = 1}, 0}, kSure - 1, true));
  EXPECT_EQ(who_gives_way(table, {{.id = 1}, 0}, kSure, true), 1u);
}

// Else one player with a few tokens a second holds the last places of a server, each for kSureNs.
TEST(HalfOpenTable, WhoDidNotConfirmIsSureOfNothing) {
  const Owner bad{{.id = 1}, 7}, bad_elsewhere{{.id = 5}, 7}, good{{.id = 1}, 8}, other{{.id = 2}, 9};
  HalfOpenTable table(64, 16, 10 * kSecond);
  table.insert(1, bad, 0);
  table.insert(2, bad_elsewhere, kMs);
  EXPECT_FALSE(table.room_for(other, 2 * kMs, true)) << "nobody is known yet";
  table.end(1, kSure);
  EXPECT_EQ(who_gives_way(table, other, kSure + 1, true), 2u) << "his other entry too, at any age";
  table.end(2, kSure + 1);
  table.insert(3, bad, kSure + 2);
  table.insert(4, good, kSure + 2);
  EXPECT_EQ(who_gives_way(table, other, kSure + 3, true), 3u) << "and those to come, but no neighbour's";
  table.confirm(3);
  EXPECT_FALSE(table.room_for(other, kSure + 3, true));
  table.confirm(4);

  constexpr uint64_t kForgotten = kSure + 1 + HalfOpenTable::kRememberNs;
  table.insert(5, bad, kForgotten);
  EXPECT_FALSE(table.room_for(other, kForgotten, true)) << "a minute later he is as good as anybody";
  EXPECT_EQ(table.size(kForgotten + 10 * kSecond), 0u);  // it ended by its age
  table.insert(6, bad, kForgotten + 10 * kSecond);
  EXPECT_EQ(who_gives_way(table, other, kForgotten + 10 * kSecond, true), 6u);
}

TEST(HalfOpenTable, WithoutAPlayerThePrefixIsRemembered) {
  HalfOpenTable table(64, 16, 10 * kSecond);
  table.insert(1, {{.id = 1}, 0}, 0);
  table.end(1, kMs);
  table.insert(2, {{.id = 1}, 0}, kMs);
  table.insert(3, {{.id = 2}, 0}, kMs);
  EXPECT_EQ(who_gives_way(table, {{.id = 3}, 4}, kMs, true), 2u);
}

TEST(HalfOpenTable, SoManyAreRememberedAndNoMore) {
  HalfOpenTable table(64, 16, 10 * kSecond);
  for (uint64_t player = 1; player <= HalfOpenTable::kMostRemembered + 1; ++player) {
    table.insert(player, {{.id = player}, player}, 0);
    table.end(player, 0);
  }
  table.insert(1000, {{.id = 1}, 1}, 0);
  EXPECT_FALSE(table.room_for({{.id = 9}, 0}, 0, true)) << "the oldest is forgotten";
  table.insert(1001, {{.id = 2}, 2}, 0);
  EXPECT_EQ(who_gives_way(table, {{.id = 9}, 0}, 0, true), 1001u);
}

TEST(HalfOpenTable, EachRouteHasItsPart) {
  HalfOpenTable table(8, 4, 5 * kSecond, 2);
  // A flood on route 1, each of another subject.
  for (uint64_t id = 1; id <= 4; ++id) {
    ASSERT_EQ(who_gives_way(table, {{.id = id, .route = 1}, 0}, 0), 0u);
    table.insert(id, {{.id = id, .route = 1}, 0}, 0);
  }
  EXPECT_FALSE(table.room_for({{.id = 5, .route = 1}, 0}, 0));
  for (uint64_t id = 5; id <= 8; ++id) {
    ASSERT_EQ(who_gives_way(table, {{.id = 1, .route = 0}, 0}, kMs), 0u) << "the same number, another route";
    table.insert(id, {{.id = 1, .route = 0}, 0}, kMs);
  }
  EXPECT_EQ(who_gives_way(table, {{.id = 9, .route = 1}, 0}, kSure + kMs), 1u) << "one of its own route";
  EXPECT_EQ(who_gives_way(table, {{.id = 9, .route = 0}, 0}, kSure + kMs), 5u);
}

TEST(HalfOpenTable, WhereAPlaceIsNeededTheFullestRouteGivesWay) {
  HalfOpenTable table(64, 4, 5 * kSecond, 2);
  table.insert(1, {{.id = 1, .route = 0}, 0}, 0);
  table.insert(2, {{.id = 1, .route = 0}, 0}, 0);  // a prefix with two
  for (uint64_t id = 3; id <= 5; ++id) table.insert(id, {{.id = id, .route = 1}, 0}, kMs);
  EXPECT_EQ(who_gives_way(table, {{.id = 7, .route = 0}, 0}, kSure + kMs, true), 3u);
  EXPECT_EQ(who_gives_way(table, {{.id = 7, .route = 1}, 0}, kSure + kMs, true), 3u);
}

TEST(ClaimTable, ARouteLeavesAPartToEachOther) {
  ClaimTable table(64, 42, 2);
  uint64_t id = 0;
  // Everybody on route 1 is another owner.
  while (table.insert(id_of(id + 1), {id + 1, 1}, id + 1, 100, 50) != nullptr) ++id;
  EXPECT_EQ(id, 48u);
  EXPECT_EQ(table.room_for({999, 1}, 50), ClaimTable::Room::kFull);
  EXPECT_EQ(table.room_for({999, 0}, 50), ClaimTable::Room::kRoom);
  table.sweep(100);
  EXPECT_EQ(table.room_for({999, 1}, 100), ClaimTable::Room::kRoom);
}

TEST(ClaimTable, SubjectsOfTwoRoutesAreTwoOwners) {
  const ClaimTable table(4, 42);
  EXPECT_NE(table.owner_of(RateSubject{.id = 7, .route = 0}),
            table.owner_of(RateSubject{.id = 7, .route = 1}));
  EXPECT_EQ(table.owner_of(RateSubject{.id = 7, .route = 1}),
            table.owner_of(RateSubject{.id = 7, .route = 1}));
}

TEST(PrefixRate, AllowsTheBurstThenTheRate) {
  test::ScriptedEntropy entropy(1);
  PrefixRate rate(10, 3, entropy);
  const uint64_t prefix = prefix_of(base::ipv4_path(192, 0, 2, 1, 1));
  uint64_t now_ns = 5 * kSecond;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rate.take(prefix, now_ns));
  EXPECT_FALSE(rate.take(prefix, now_ns));
  EXPECT_FALSE(rate.take(prefix, now_ns + 99 * kMs));
  EXPECT_TRUE(rate.take(prefix, now_ns + 100 * kMs));
  EXPECT_FALSE(rate.take(prefix, now_ns + 100 * kMs));
  // A long pause gives back the burst and no more.
  now_ns += 3600 * kSecond;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rate.take(prefix, now_ns));
  EXPECT_FALSE(rate.take(prefix, now_ns));
}

TEST(BucketKeys, TheLastTwoAnswerAndOlderOnesAreGone) {
  test::ScriptedEntropy entropy(1);
  BucketKeys keys(entropy);
  const crypto::PublicKey first = keys.current(0).pair.public_key();
  EXPECT_EQ(keys.current(kBucketNs - 1).pair.public_key(), first);
  const crypto::PublicKey second = keys.current(kBucketNs).pair.public_key();
  EXPECT_NE(second, first);
  ASSERT_NE(keys.find(0, kBucketNs), nullptr);
  EXPECT_EQ(keys.find(0, 2 * kBucketNs - 1)->pair.public_key(), first);
  EXPECT_EQ(keys.find(0, 2 * kBucketNs), nullptr);
  EXPECT_EQ(keys.find(1, 2 * kBucketNs)->pair.public_key(), second);
  EXPECT_EQ(keys.find(7, 2 * kBucketNs), nullptr);
  // Idle for long: nothing old survives, also not one that names the same index mod 256.
  EXPECT_EQ(keys.find(1, (1 + 256 + 2) * kBucketNs), nullptr);
  EXPECT_EQ(keys.current((2 + 256) * kBucketNs).key_index(), 2);
}

}  // namespace
}  // namespace lattice::connection
