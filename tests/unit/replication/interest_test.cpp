// One client's set: each rule alone, hysteresis, the bound on the filter, the cost in entries visited, and a
// crowd of random changes against a judgement of every object.
#include "replication/interest/interest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "allocation_counter.h"
#include "base/random.h"
#include "replication/interest/interest_tree.h"

namespace lattice::replication {
namespace {

using Slots = std::vector<uint32_t>;

constexpr uint64_t kPeer = 7;

Interest::Config config_of(InterestKind kind) {
  Interest::Config config;
  config.objects.kind = kind;
  config.objects.cell = 10;
  config.set.enter_radius = 40;
  config.set.leave_radius = 50;
  config.set.stay_ticks = 60;
  config.rates = {.near_radius = 10, .far_radius = 40, .near_ticks = 2, .far_ticks = 20};
  return config;
}

class Asked : public InterestFilter {
 public:
  bool relevant(const Viewer&, uint32_t slot) override {
    ++calls;
    return says(slot);
  }
  std::function<bool(uint32_t)> says = [](uint32_t) { return true; };
  uint32_t calls = 0;
};

class InterestSetTest : public testing::TestWithParam<InterestKind> {
 protected:
  InterestSetTest() : interest_(config_of(GetParam())), objects_(interest_.objects()) {
    interest_.add_client(0);
    viewer_.peer = kPeer;
    viewer_.placed = true;
  }

  void evaluate(base::Tick ticks = 1) {
    tick_ += ticks;
    const InterestSet::Changes changes = interest_.evaluate(0, viewer_, tick_, filter_);
    entered_.assign(changes.entered.begin(), changes.entered.end());
    left_.assign(changes.left.begin(), changes.left.end());
  }
  const InterestSet& set() const { return interest_.set(0); }
  SendTerms terms(uint32_t slot, bool with_nearness) const {
    SendTerms terms;
    interest_.terms(0, slot, with_nearness, &terms);
    return terms;
  }
  void add_at(uint32_t slot, double x, const InterestRule& rule = {}, uint64_t owner = 0) {
    objects_.add(slot, rule, owner);
    objects_.set_place(slot, {x, 0, 0});
  }

  Interest interest_;
  InterestObjects& objects_;
  Viewer viewer_;
  InterestFilter* filter_ = nullptr;
  base::Tick tick_ = 100;
  Slots entered_;
  Slots left_;
};

TEST_P(InterestSetTest, EntersNearAndLeavesFar) {
  add_at(3, 39);
  add_at(1, 10);
  add_at(2, 41);
  evaluate();
  EXPECT_EQ(entered_, (Slots{1, 3}));
  EXPECT_TRUE(left_.empty());
  objects_.set_place(1, {100, 0, 0});
  objects_.set_place(2, {5, 0, 0});
  evaluate(100);
  EXPECT_EQ(entered_, (Slots{2}));
  EXPECT_EQ(left_, (Slots{1}));
}

TEST_P(InterestSetTest, TheBorderIsWide) {
  add_at(1, 39);
  evaluate();
  objects_.set_place(1, {48, 0, 0});
  evaluate(100);
  EXPECT_TRUE(left_.empty());
  objects_.set_place(1, {52, 0, 0});
  evaluate(100);
  EXPECT_EQ(left_, (Slots{1}));
  objects_.set_place(1, {48, 0, 0});
  evaluate(100);
  EXPECT_TRUE(entered_.empty());
}

TEST_P(InterestSetTest, AnObjectStaysForASecond) {
  add_at(1, 10);
  evaluate();
  objects_.set_place(1, {500, 0, 0});
  evaluate(59);
  EXPECT_TRUE(left_.empty());
  evaluate(1);  // nothing moves: the end of the stay alone wakes the client
  EXPECT_EQ(left_, (Slots{1}));
}

// Ten come at once, in several evaluations; then all are far away, and each leaves a second after it came.
TEST_P(InterestSetTest, ObjectsThatCameOneAfterAnotherLeaveSo) {
  constexpr uint32_t kRounds = 6;
  for (uint32_t slot = 0; slot < 10 * kRounds; ++slot) add_at(slot, 1000);
  evaluate();
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (uint32_t i = 0; i < 10; ++i) objects_.set_place(i * kRounds + round, {5, 0, 0});
    evaluate(5);
    ASSERT_EQ(entered_.size(), 10u);
  }
  for (uint32_t slot = 0; slot < 10 * kRounds; ++slot) objects_.set_place(slot, {1000, 0, 0});
  evaluate(60 - 5 * kRounds);
  EXPECT_TRUE(left_.empty());
  for (uint32_t round = 0; round < kRounds; ++round) {
    evaluate(5);
    ASSERT_EQ(left_.size(), 10u) << "round " << round;
    for (const uint32_t slot : left_) EXPECT_EQ(slot % kRounds, round);
    evaluate(0);
    ASSERT_TRUE(left_.empty());
  }
}

// Who came back is there for a second from then on.
TEST_P(InterestSetTest, AReturnBeginsTheStayAnew) {
  add_at(1, 1000);
  evaluate();
  objects_.set_place(1, {5, 0, 0});
  evaluate();
  objects_.set_rule(1, {.room = 7});
  evaluate();
  EXPECT_EQ(left_, (Slots{1}));
  objects_.set_rule(1, {});
  evaluate(40);
  objects_.set_place(1, {1000, 0, 0});
  evaluate(59);
  EXPECT_TRUE(set().contains(1));
  evaluate();
  EXPECT_FALSE(set().contains(1));
}

TEST_P(InterestSetTest, AMovingViewerTakesItsSetAlong) {
  for (uint32_t slot = 0; slot < 100; ++slot) add_at(slot, slot * 10.0);
  evaluate();
  EXPECT_EQ(set().size(), 5u);
  viewer_.place.x = 500;
  evaluate(100);
  EXPECT_EQ(entered_, (Slots{46, 47, 48, 49, 50, 51, 52, 53, 54}));
  EXPECT_EQ(left_, (Slots{0, 1, 2, 3, 4}));
}

TEST_P(InterestSetTest, AClientWithoutAPlaceSeesWhatNeedsNone) {
  viewer_.placed = false;
  InterestRule always;
  always.relevance = Relevance::kAlways;
  add_at(1, 10);
  add_at(2, 10, always);
  add_at(3, 900, {}, kPeer);
  objects_.add(4, {}, 0);  // no place either
  evaluate();
  EXPECT_EQ(entered_, (Slots{2, 3, 4}));
  viewer_.placed = true;
  evaluate();
  EXPECT_EQ(entered_, (Slots{1}));
}

TEST_P(InterestSetTest, OwnersSeeTheirOwnEverywhere) {
  InterestRule mine;
  mine.relevance = Relevance::kOwner;
  InterestRule elsewhere;
  elsewhere.room = 9;
  elsewhere.teams = 4;
  add_at(1, 9000, {}, kPeer);
  add_at(2, 9000, elsewhere, kPeer);
  add_at(3, 1, mine, kPeer);
  add_at(4, 1, mine, kPeer + 1);
  evaluate();
  EXPECT_EQ(entered_, (Slots{1, 2, 3}));
  objects_.set_owner(3, kPeer + 1);
  objects_.set_owner(4, kPeer);
  objects_.set_owner(2, 0);
  evaluate();
  EXPECT_EQ(entered_, (Slots{4}));
  EXPECT_EQ(left_, (Slots{2, 3}));
}

TEST_P(InterestSetTest, TeamsHideAtOnce) {
  InterestRule red;
  red.teams = 1;
  add_at(1, 10, red);
  add_at(2, 10);
  evaluate();
  EXPECT_EQ(entered_, (Slots{2}));
  viewer_.teams = 3;
  evaluate();
  EXPECT_EQ(entered_, (Slots{1}));
  red.teams = 4;
  objects_.set_rule(1, red);
  evaluate();
  EXPECT_EQ(left_, (Slots{1}));  // no stay for what a rule hides
}

TEST_P(InterestSetTest, RoomsDivideTheWorld) {
  for (uint32_t slot = 0; slot < 40; ++slot) {
    InterestRule rule;
    rule.room = static_cast<uint16_t>(slot % 4);
    rule.relevance = slot < 20 ? Relevance::kDistance : Relevance::kAlways;
    add_at(slot, 5, rule);
  }
  InterestRule everywhere;
  everywhere.room = kRoomAll;
  add_at(50, 5, everywhere);
  everywhere.relevance = Relevance::kAlways;
  add_at(51, 5, everywhere);
  viewer_.room = 2;
  evaluate();
  EXPECT_EQ(entered_, (Slots{2, 6, 10, 14, 18, 22, 26, 30, 34, 38, 50, 51}));
  viewer_.room = 3;
  evaluate();
  EXPECT_EQ(entered_, (Slots{3, 7, 11, 15, 19, 23, 27, 31, 35, 39}));
  EXPECT_EQ(left_, (Slots{2, 6, 10, 14, 18, 22, 26, 30, 34, 38}));
  InterestRule door;
  door.room = 2;
  objects_.set_rule(3, door);
  evaluate();
  EXPECT_EQ(left_, (Slots{3}));
}

TEST_P(InterestSetTest, DestroyedIsNotLeft) {
  add_at(1, 10);
  add_at(2, 10);
  evaluate();
  objects_.remove(1);
  evaluate();
  EXPECT_TRUE(left_.empty());
  EXPECT_FALSE(set().contains(1));
  EXPECT_EQ(set().size(), 1u);
}

TEST_P(InterestSetTest, TheNextObjectOfASlotEnters) {
  add_at(1, 10);
  evaluate();
  objects_.remove(1);
  add_at(1, 20);
  evaluate();
  EXPECT_EQ(entered_, (Slots{1}));
  EXPECT_TRUE(left_.empty());
}

TEST_P(InterestSetTest, AttachedObjectsComeAndGoWithTheirRoot) {
  add_at(1, 10);
  add_at(2, 900);  // its own place does not count
  add_at(3, 900);
  InterestRule red;
  red.teams = 1;
  add_at(4, 10, red);
  ASSERT_EQ(objects_.attach(2, 1), AttachResult::kOk);
  ASSERT_EQ(objects_.attach(3, 2), AttachResult::kOk);
  ASSERT_EQ(objects_.attach(4, 1), AttachResult::kOk);
  evaluate();
  EXPECT_EQ(entered_, (Slots{1, 2, 3}));
  objects_.set_place(1, {500, 0, 0});
  evaluate(100);
  EXPECT_EQ(left_, (Slots{1, 2, 3}));
  objects_.set_place(1, {20, 0, 0});
  viewer_.teams = 1;
  evaluate();
  EXPECT_EQ(entered_, (Slots{1, 2, 3, 4}));
  objects_.detach(2);
  evaluate(100);
  EXPECT_EQ(left_, (Slots{2, 3}));
  objects_.remove(1);
  evaluate(100);
  EXPECT_TRUE(left_.empty());
  EXPECT_TRUE(set().contains(4));  // it has a place of its own, and that is near
}

TEST_P(InterestSetTest, AnAttachedObjectAppearsWhenTheViewerChangesSides) {
  InterestRule red;
  red.teams = 1;
  add_at(1, 10);
  add_at(2, 10, red);
  ASSERT_EQ(objects_.attach(2, 1), AttachResult::kOk);
  evaluate();
  EXPECT_EQ(entered_, (Slots{1}));
  viewer_.teams = 1;
  evaluate();
  EXPECT_EQ(entered_, (Slots{2}));
}

TEST_P(InterestSetTest, AnObjectThatChangesHandsIsNotReportedTwice) {
  add_at(1, 10);
  add_at(2, 900);
  add_at(3, 900);
  ASSERT_EQ(objects_.attach(3, 1), AttachResult::kOk);
  evaluate();
  ASSERT_EQ(objects_.attach(3, 2), AttachResult::kOk);
  objects_.set_place(2, {15, 0, 0});
  evaluate();
  EXPECT_EQ(entered_, (Slots{2}));
  EXPECT_TRUE(left_.empty());
  EXPECT_TRUE(set().contains(3));
}

TEST_P(InterestSetTest, ChainsOfParentsAreBounded) {
  for (uint32_t slot = 0; slot <= kMaxAttachDepth + 1; ++slot) objects_.add(slot, {}, 0);
  for (uint32_t slot = 1; slot <= kMaxAttachDepth; ++slot)
    ASSERT_EQ(objects_.attach(slot, slot - 1), AttachResult::kOk);
  EXPECT_EQ(objects_.attach(kMaxAttachDepth + 1, kMaxAttachDepth), AttachResult::kTooDeep);
  EXPECT_EQ(objects_.attach(0, kMaxAttachDepth + 1), AttachResult::kTooDeep);
  EXPECT_EQ(objects_.attach(0, 3), AttachResult::kCycle);
  EXPECT_EQ(objects_.attach(0, 0), AttachResult::kCycle);
  InterestRule asked;
  asked.filtered = true;
  objects_.set_rule(0, asked);
  EXPECT_EQ(objects_.attach(0, 3), AttachResult::kFiltered) << "nobody would be asked about it";
}

TEST_P(InterestSetTest, TheGameMayRefuse) {
  Asked fog;
  fog.says = [](uint32_t slot) { return slot % 2 == 0; };
  filter_ = &fog;
  InterestRule asked;
  asked.filtered = true;
  InterestRule asked_always = asked;
  asked_always.relevance = Relevance::kAlways;
  add_at(1, 10, asked);
  add_at(2, 10, asked);
  add_at(3, 10);
  add_at(4, 900, asked_always);
  add_at(5, 900, asked_always);
  add_at(6, 900, asked);
  evaluate();
  EXPECT_EQ(entered_, (Slots{2, 3, 4}));
  fog.says = [](uint32_t slot) { return slot % 2 == 1; };
  evaluate();  // the game changed its mind, nothing moved
  EXPECT_EQ(entered_, (Slots{1, 5}));
  EXPECT_EQ(left_, (Slots{2, 4}));
}

TEST_P(InterestSetTest, TheFilterIsAskedABoundedNumberOfTimes) {
  Asked fog;
  filter_ = &fog;
  InterestRule asked;
  asked.filtered = true;
  for (uint32_t slot = 0; slot < 3 * kMaxFilterCalls; ++slot) add_at(slot, 10, asked);
  for (uint32_t round = 1; round <= 3; ++round) {
    fog.calls = 0;
    evaluate();
    EXPECT_LE(fog.calls, kMaxFilterCalls);
    EXPECT_EQ(set().size(), round * kMaxFilterCalls);
  }
  fog.says = [](uint32_t) { return false; };
  for (uint32_t round = 0; round < 4; ++round) evaluate();
  EXPECT_EQ(set().size(), 0u);
}

TEST_P(InterestSetTest, DistanceLowersTheFactor) {
  InterestRule always;
  always.relevance = Relevance::kAlways;
  add_at(1, 0);
  add_at(2, 10);
  add_at(3, 90, always);
  objects_.add(4, always, 0);
  add_at(5, 700);
  objects_.attach(5, 2);
  evaluate();
  EXPECT_FLOAT_EQ(terms(1, true).nearness, 1.0f);
  EXPECT_FLOAT_EQ(terms(2, true).nearness, 0.5f);
  EXPECT_FLOAT_EQ(terms(5, true).nearness, 0.5f);
  EXPECT_FLOAT_EQ(terms(3, true).nearness, 0.1f);
  EXPECT_FLOAT_EQ(terms(4, true).nearness, 1.0f);
  EXPECT_FLOAT_EQ(terms(3, false).nearness, 1.0f) << "nobody asked";
}

TEST_P(InterestSetTest, DistanceLengthensTheInterval) {
  InterestRule always;
  always.relevance = Relevance::kAlways;
  InterestRule full_rate = always;
  full_rate.full_rate = true;
  add_at(1, 10);
  add_at(2, 25);
  add_at(3, 90, always);
  objects_.add(4, always, 0);  // without a place
  add_at(5, 700);
  objects_.attach(5, 2);
  add_at(6, 90, full_rate);
  add_at(7, 0);
  objects_.attach(7, 6);
  evaluate();
  const uint32_t expected[] = {2, 11, 20, 2, 11, 2, 2};
  for (uint32_t slot = 1; slot <= 7; ++slot) {
    EXPECT_EQ(terms(slot, true).interval_ticks, expected[slot - 1]) << slot;
  }
  viewer_.placed = false;
  evaluate();
  EXPECT_EQ(terms(3, true).interval_ticks, 2u);
}

TEST_P(InterestSetTest, WhatIsAttachedIsAGroup) {
  for (uint32_t slot = 1; slot <= 5; ++slot) add_at(slot, 1);
  const auto group = [&](uint32_t slot) { return terms(slot, true).group; };
  EXPECT_EQ(group(1), kNoSlot);
  objects_.attach(2, 1);
  objects_.attach(3, 2);
  const uint32_t version = objects_.attachments_version();
  for (const uint32_t slot : {1u, 2u, 3u}) EXPECT_EQ(group(slot), 1u);
  EXPECT_EQ(group(4), kNoSlot);
  objects_.attach(2, 4);
  EXPECT_EQ(group(1), kNoSlot);
  for (const uint32_t slot : {2u, 3u, 4u}) EXPECT_EQ(group(slot), 4u);
  EXPECT_NE(objects_.attachments_version(), version);
  objects_.remove(4);
  EXPECT_EQ(group(3), 2u);
  objects_.remove(3);
  EXPECT_EQ(group(2), kNoSlot);
}

TEST_P(InterestSetTest, AClientWithTooManyHintsConsidersEverything) {
  const auto count = static_cast<uint32_t>(2 * kMaxHints);
  for (uint32_t slot = 0; slot < count; ++slot) add_at(slot, 45);
  evaluate();
  EXPECT_TRUE(entered_.empty());
  for (uint32_t slot = 0; slot < count; ++slot) objects_.set_place(slot, {10, 0, 0});
  evaluate();
  EXPECT_EQ(entered_.size(), count);
  for (uint32_t slot = 0; slot < count; ++slot) objects_.set_place(slot, {90, 0, 0});
  evaluate(100);
  EXPECT_EQ(left_.size(), count);
}

TEST_P(InterestSetTest, AGoneClientIsToldNothing) {
  add_at(1, 45);
  interest_.add_client(1);
  interest_.evaluate(1, viewer_, 1, nullptr);
  interest_.remove_client(1);
  objects_.set_place(1, {10, 0, 0});
  EXPECT_EQ(interest_.work().watched, 0u);
  interest_.add_client(1);
  EXPECT_EQ(interest_.evaluate(1, viewer_, 2, nullptr).entered.size(), 1u);
}

TEST_P(InterestSetTest, AClientFarBehindConsidersEverything) {
  add_at(1, 10);
  add_at(2, 10);
  evaluate();
  objects_.remove(2);
  InterestRule red;
  red.teams = 1;
  objects_.set_rule(1, red);
  for (uint64_t i = 0; i <= RuleChanges::kCapacity; ++i) {
    objects_.add(9, {}, kPeer);
    if (i < RuleChanges::kCapacity) objects_.remove(9);
  }
  evaluate();
  EXPECT_EQ(left_, (Slots{1}));
  EXPECT_EQ(entered_, (Slots{9}));
  EXPECT_FALSE(set().contains(2));
}

// --- Cost, counted

TEST_P(InterestSetTest, ARestingWorldCostsNothing) {
  for (uint32_t slot = 0; slot < 20000; ++slot) add_at(slot, slot % 100 * 5.0);
  evaluate();
  const Interest::Work before = interest_.work();
  for (int i = 0; i < 100; ++i) {
    for (uint32_t slot = 0; slot < 100; ++slot) objects_.set_place(slot, objects_.place(slot));
    evaluate();
  }
  EXPECT_EQ(interest_.work().index.buckets_probed, before.index.buckets_probed);
  EXPECT_EQ(interest_.work().considered, before.considered);
  EXPECT_EQ(interest_.work().watched, before.watched);
}

TEST_P(InterestSetTest, ASetHasNewsOnlyWhereAnEvaluationMayChangeIt) {
  const auto has_news = [&](bool asks_filter = false) {
    return interest_.has_news(0, viewer_, ++tick_, asks_filter);
  };
  EXPECT_TRUE(has_news()) << "it was never evaluated";
  for (uint32_t slot = 0; slot < 100; ++slot) add_at(slot, slot % 10 * 1.0);
  add_at(100, 5000);
  evaluate();
  EXPECT_FALSE(has_news());
  objects_.set_place(100, {6000, 0, 0});
  EXPECT_FALSE(has_news()) << "far from its borders";
  viewer_.place.x += objects_.slack() / 2;
  EXPECT_FALSE(has_news()) << "less than the slack";
  viewer_.place.x += objects_.slack();
  EXPECT_TRUE(has_news());
  evaluate();
  EXPECT_FALSE(has_news());
  objects_.set_place(100, {1, 0, 0});
  EXPECT_TRUE(has_news()) << "it crossed a border";
  evaluate();
  EXPECT_TRUE(set().contains(100));
  objects_.set_place(100, {5000, 0, 0});
  evaluate();
  EXPECT_TRUE(set().contains(100)) << "not long enough in the set";
  tick_ += 100;
  EXPECT_TRUE(has_news()) << "its stay ends";
  evaluate();
  EXPECT_FALSE(set().contains(100));
  InterestRule rule = objects_.rule(5);
  rule.filtered = true;
  objects_.set_rule(5, rule);
  EXPECT_TRUE(has_news()) << "a rule changed";
  evaluate();
  EXPECT_FALSE(has_news());
  EXPECT_TRUE(has_news(true)) << "the game may change its mind about the object";
  viewer_.room = 3;
  EXPECT_TRUE(has_news());
}

TEST_P(InterestSetTest, MovementElsewhereReachesNobody) {
  for (uint32_t slot = 0; slot < 40; ++slot) add_at(slot, slot * 1.0);
  for (uint32_t slot = 40; slot < 4000; ++slot) add_at(slot, 5000 + slot * 5.0);
  evaluate();
  const Interest::Work before = interest_.work();
  for (uint32_t round = 1; round <= 50; ++round) {
    for (uint32_t slot = 40; slot < 400; ++slot)
      objects_.set_place(slot, {5000 + slot * 5.0, round * 3.0, 0});
    evaluate();
  }
  EXPECT_EQ(interest_.work().considered, before.considered);
  EXPECT_EQ(interest_.work().watched, before.watched);
}

TEST_P(InterestSetTest, ACrowdInsideTheBordersIsNotConsidered) {
  for (uint32_t slot = 0; slot < 500; ++slot) add_at(slot, slot % 20 * 1.0);
  evaluate();
  EXPECT_EQ(set().size(), 500u);
  const Interest::Work before = interest_.work();
  for (uint32_t round = 1; round <= 20; ++round) {
    for (uint32_t slot = 0; slot < 500; ++slot)
      objects_.set_place(slot, {slot % 20 * 1.0, round % 2 * 5.0, 0});
    evaluate();
  }
  EXPECT_EQ(interest_.work().considered, before.considered);
}

TEST_P(InterestSetTest, ASetOf64CostsTheSameInEveryWorld) {
  Interest::Work of_small;
  for (const uint32_t count : {64u, 4096u, 16384u}) {
    Interest interest(config_of(GetParam()));
    interest.add_client(0);
    for (uint32_t slot = 0; slot < count; ++slot) {
      interest.objects().add(slot, {}, 0);
      interest.objects().set_place(slot, {slot < 64 ? slot * 0.5 : 3000 + slot * 2.0, 0, 0});
    }
    interest.evaluate(0, viewer_, 1, nullptr);
    ASSERT_EQ(interest.set(0).size(), 64u);
    const Interest::Work before = interest.work();
    Viewer viewer = viewer_;
    for (base::Tick tick = 2; tick < 200; ++tick) {
      for (uint32_t slot = 0; slot < 64; ++slot) {
        interest.objects().set_place(slot, {slot * 0.5, 0, tick % 8 * 8.0});
      }
      viewer.place.z = tick % 5 * 3.0;
      interest.evaluate(0, viewer, tick, nullptr);
    }
    Interest::Work work = interest.work();
    work.index.objects_visited -= before.index.objects_visited;
    work.considered -= before.considered;
    work.watched -= before.watched;
    if (count == 64) of_small = work;
    EXPECT_GT(work.considered, 1000u);
    EXPECT_EQ(work.considered, of_small.considered);
    EXPECT_EQ(work.watched, of_small.watched);
    // A leaf of the tree may hold a few objects of elsewhere.
    EXPECT_LE(work.index.objects_visited, of_small.index.objects_visited + 200 * InterestTree::kSplit);
    EXPECT_LE(interest.set(0).heap_bytes(), 4096u);
  }
}

TEST_P(InterestSetTest, ATickAllocatesNothingAfterWarmUp) {
  for (uint32_t slot = 0; slot < 600; ++slot) add_at(slot, slot % 60 * 10.0);
  uint64_t allocated = 0;
  for (base::Tick tick = 0; tick < 720; ++tick) {
    const uint64_t before = lattice::test::allocation_count();
    for (uint32_t slot = 0; slot < 600; ++slot) {
      objects_.set_place(slot, {(slot * 10 + tick * 5) % 600 * 1.0, slot % 7 * 3.0, 0});
    }
    viewer_.place.x = tick % 240 * 2.0;
    interest_.evaluate(0, viewer_, tick, nullptr);
    if (tick >= 480) allocated += lattice::test::allocation_count() - before;
  }
  EXPECT_EQ(allocated, 0u);
}

// --- Everything at once

class Crowd {
 public:
  Crowd(InterestKind kind, uint64_t seed)
      : config_(config_of(kind)), interest_(config_), objects_(interest_.objects()), random_(seed) {
    interest_.add_client(0);
    viewer_.peer = kPeer;
    viewer_.placed = true;
  }

  void step(base::Tick tick) {
    for (int i = 0; i < 12; ++i) change_something();
    viewer_.place.x += random_.next_unit() * 6 - 3;
    if (random_.next_below(200) == 0) viewer_.room = static_cast<uint16_t>(random_.next_below(2));
    if (random_.next_below(200) == 0) viewer_.teams = static_cast<uint32_t>(random_.next_below(4));
    const InterestSet::Changes changes = interest_.evaluate(0, viewer_, tick, nullptr);
    for (const uint32_t slot : changes.left) {
      ASSERT_EQ(mirror_.erase(slot), 1u) << "left, but was not in the set: " << slot;
    }
    for (const uint32_t slot : changes.entered) {
      ASSERT_TRUE(mirror_.insert(slot).second) << "entered twice: " << slot;
      entered_[slot] = tick;
    }
    check(tick);
  }

 private:
  static constexpr uint32_t kSlots = 200;

  InterestRule random_rule() {
    InterestRule rule;
    rule.relevance = static_cast<Relevance>(random_.next_below(8) < 6 ? 0 : random_.next_below(3));
    rule.room = random_.next_below(10) == 0 ? kRoomAll : static_cast<uint16_t>(random_.next_below(2));
    rule.teams = random_.next_below(3) == 0 ? static_cast<uint32_t>(random_.next_below(4)) : 0;
    return rule;
  }
  Place random_place() { return {random_.next_unit() * 200 - 100, random_.next_unit() * 10, 0}; }
  uint64_t random_owner() { return random_.next_below(12) == 0 ? kPeer : random_.next_below(3); }

  void change_something() {
    const auto slot = static_cast<uint32_t>(random_.next_below(kSlots));
    if (!objects_.live(slot)) {
      objects_.add(slot, random_rule(), random_owner());
      if (random_.next_below(20) != 0) objects_.set_place(slot, random_place());
      return;
    }
    switch (random_.next_below(12)) {
      case 0:
        objects_.remove(slot);
        mirror_.erase(slot);
        break;
      case 1:
        objects_.set_rule(slot, random_rule());
        break;
      case 2:
        objects_.set_owner(slot, random_owner());
        break;
      case 3: {
        const auto parent = static_cast<uint32_t>(random_.next_below(kSlots));
        if (objects_.live(parent)) objects_.attach(slot, parent);
        break;
      }
      case 4:
        objects_.detach(slot);
        break;
      case 5:
        objects_.set_place(slot, random_place());
        break;
      default:
        Place place = objects_.place(slot);
        place.x += random_.next_unit() * 8 - 4;
        if (objects_.placed(slot)) objects_.set_place(slot, place);
    }
  }

  // Written from the description of the rules, not from InterestObjects::judge().
  bool may_see(uint32_t slot, bool* by_distance, uint32_t* root) const {
    *by_distance = false;
    bool owned = false;
    uint32_t at = slot;
    for (;; at = objects_.parent(at)) {
      const InterestRule& rule = objects_.rule(at);
      owned = owned || objects_.owner(at) == viewer_.peer;
      const bool foreign = rule.relevance == Relevance::kOwner;
      const bool other_team = rule.teams != 0 && (rule.teams & viewer_.teams) == 0;
      if (!owned && (foreign || other_team)) return false;
      if (objects_.parent(at) == InterestObjects::kNone) break;
    }
    *root = at;
    if (owned) return true;
    const InterestRule& rule = objects_.rule(at);
    if (rule.room != viewer_.room && rule.room != kRoomAll) return false;
    *by_distance =
        rule.relevance == Relevance::kDistance && objects_.placed(at) && objects_.index() != nullptr;
    return true;
  }

  void check(base::Tick tick) {
    ASSERT_EQ(interest_.set(0).size(), mirror_.size());
    const double slack = 2 * objects_.slack() + 0.01;
    for (uint32_t slot = 0; slot < kSlots; ++slot) {
      const bool is_in = interest_.set(0).contains(slot);
      ASSERT_EQ(is_in, mirror_.contains(slot));
      bool by_distance = false;
      uint32_t root = slot;
      if (!objects_.live(slot) || !may_see(slot, &by_distance, &root)) {
        ASSERT_FALSE(is_in) << "a hidden object is in the set: " << slot << " at tick " << tick;
        continue;
      }
      if (!by_distance) {
        ASSERT_TRUE(is_in) << slot << " at tick " << tick;
      } else if (root != slot) {
        ASSERT_EQ(is_in, interest_.set(0).contains(root)) << slot << " without its root at tick " << tick;
      } else {
        const double distance = std::sqrt(distance_squared(objects_.place(slot), viewer_.place));
        if (distance < config_.set.enter_radius - slack) {
          ASSERT_TRUE(is_in) << slot << " at tick " << tick;
        }
        const bool stays = is_in && tick < entered_[slot] + config_.set.stay_ticks;
        if (distance > config_.set.leave_radius + slack && !stays) {
          ASSERT_FALSE(is_in) << slot << " at tick " << tick;
        }
      }
    }
  }

  Interest::Config config_;
  Interest interest_;
  InterestObjects& objects_;
  Viewer viewer_;
  base::Random random_;
  std::set<uint32_t> mirror_;
  std::array<base::Tick, kSlots> entered_{};
};

TEST_P(InterestSetTest, HoldsWhatTheRulesSayUnderRandomChanges) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    Crowd crowd(GetParam(), seed);
    for (base::Tick tick = 1; tick <= 500; ++tick) {
      crowd.step(tick);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Indexes, InterestSetTest, testing::Values(InterestKind::kGrid, InterestKind::kTree),
                         [](const auto& one) {
                           return std::string(one.param == InterestKind::kGrid ? "grid" : "tree");
                         });

TEST(InterestObjects, WithoutAnIndexTheWholeRoomSees) {
  Interest interest(config_of(InterestKind::kNone));
  interest.add_client(0);
  Viewer viewer;
  viewer.peer = kPeer;
  InterestRule other_room;
  other_room.room = 1;
  interest.objects().add(1, {}, 0);
  interest.objects().set_place(1, {1e6, 0, 0});
  interest.objects().add(2, other_room, 0);
  const InterestSet::Changes changes = interest.evaluate(0, viewer, 1, nullptr);
  EXPECT_EQ(Slots(changes.entered.begin(), changes.entered.end()), (Slots{1}));
}

TEST(InterestObjects, APlaceThatIsNotANumberChangesNothing) {
  InterestObjects objects(config_of(InterestKind::kGrid).objects, nullptr);
  objects.add(1, {}, 0);
  EXPECT_FALSE(objects.set_place(1, {NAN, 0, 0}));
  EXPECT_FALSE(objects.placed(1));
  EXPECT_TRUE(objects.set_place(1, {5, 0, 0}));
  EXPECT_FALSE(objects.set_place(1, {0, NAN, 0}));
  EXPECT_EQ(objects.place(1), (Place{5, 0, 0}));
  EXPECT_TRUE(objects.set_place(1, {INFINITY, 0, 0}));
  EXPECT_EQ(objects.place(1).x, objects.limits().reach());
  EXPECT_EQ(objects.limits().stats().refused, 2u);
  EXPECT_EQ(objects.limits().stats().clamped, 1u);
}

TEST(SlotLists, KeepTheirKeysApart) {
  SlotLists lists;
  for (uint32_t slot = 0; slot < 30; ++slot) lists.add(slot % 3, slot);
  for (uint32_t slot = 0; slot < 30; slot += 2) lists.remove(slot);
  lists.remove(0);
  std::set<uint32_t> of_one;
  for (uint32_t slot = lists.first(1); slot != SlotLists::kNone; slot = lists.next(slot)) of_one.insert(slot);
  EXPECT_EQ(of_one, (std::set<uint32_t>{1, 7, 13, 19, 25}));
  EXPECT_EQ(lists.first(99), SlotLists::kNone);
}

}  // namespace
}  // namespace lattice::replication
