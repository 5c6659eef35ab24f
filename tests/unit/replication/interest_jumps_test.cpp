// Objects that came not long ago stay in a client's set: how many at most, in which order they leave, and
// what that costs, counted.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "replication/interest/interest.h"

namespace lattice::replication {
namespace {

class InterestArrivals : public testing::Test {
 protected:
  explicit InterestArrivals(base::Tick follow_ticks = 0)
      : interest_(config(follow_ticks)), objects_(interest_.objects()) {
    interest_.add_client(0);
    viewer_.peer = 7;
    viewer_.placed = true;
  }
  static Interest::Config config(base::Tick follow_ticks) {
    Interest::Config config;
    config.objects.cell = 10;
    config.set.enter_radius = 40;
    config.set.leave_radius = 50;
    config.set.stay_ticks = 60;
    config.set.follow_ticks = follow_ticks;
    return config;
  }
  void evaluate(base::Tick ticks) {
    tick_ += ticks;
    const InterestSet::Changes changes = interest_.evaluate(0, viewer_, tick_, nullptr);
    entered_.assign(changes.entered.begin(), changes.entered.end());
    left_.assign(changes.left.begin(), changes.left.end());
  }
  const InterestSet& set() const { return interest_.set(0); }
  uint64_t considered() const { return interest_.work().considered; }
  void add_at(uint32_t slot, double x) {
    objects_.add(slot, {}, 0);
    objects_.set_place(slot, {x, 0, 0});
  }

  Interest interest_;
  InterestObjects& objects_;
  Viewer viewer_;
  base::Tick tick_ = 100;
  std::vector<uint32_t> entered_, left_;
};

// The viewer is somewhere else in each evaluation.
TEST_F(InterestArrivals, AViewerThatJumpsCostsWhatIsAroundIt) {
  constexpr uint32_t kPlaces = 40, kAround = 100, kJumps = 200;
  for (uint32_t slot = 0; slot < kPlaces * kAround; ++slot) add_at(slot, slot / kAround * 1000.0);
  uint64_t before = 0;
  for (uint32_t jump = 0; jump < 2 * kJumps; ++jump) {
    if (jump == kJumps) before = considered();
    viewer_.place.x = jump % kPlaces * 1000.0;
    evaluate(2);
    ASSERT_EQ(entered_.size(), kAround);
    ASSERT_LE(set().size(), kMaxArrivals + 2 * kAround);
  }
  // Those that came, those that are too far away now, and those that need not stay any longer.
  EXPECT_LE(considered() - before, uint64_t{kJumps} * 3 * kAround);
  EXPECT_LE(set().heap_bytes(), 24 * 1024u);
}

TEST_F(InterestArrivals, OnlyThoseWhoseStayEndsAreLookedAt) {
  constexpr uint32_t kRounds = 30, kEach = 10;
  for (uint32_t slot = 0; slot < kRounds * kEach; ++slot) add_at(slot, 1000);
  evaluate(1);
  for (uint32_t slot = 0; slot < kRounds * kEach; ++slot) {
    objects_.set_place(slot, {5, 0, 0});
    if (slot % kEach == kEach - 1) evaluate(1);
  }
  for (uint32_t slot = 0; slot < kRounds * kEach; ++slot) objects_.set_place(slot, {1000, 0, 0});
  evaluate(60 - kRounds);
  const uint64_t before = considered();
  for (uint32_t round = 0; round < kRounds; ++round) {
    evaluate(1);
    ASSERT_EQ(left_.size(), kEach);
    EXPECT_EQ(left_.front(), round * kEach);
  }
  EXPECT_EQ(considered() - before, kRounds * kEach);
}

TEST_F(InterestArrivals, OfManyTheOldestLeaveFirst) {
  const auto count = static_cast<uint32_t>(kMaxArrivals) / 2;
  for (uint32_t slot = 0; slot < 3 * count; ++slot) add_at(slot, slot / count * 1000.0);
  viewer_.place.x = -1000;
  evaluate(1);
  for (const double x : {0.0, 1000.0, 2000.0}) {
    viewer_.place.x = x;
    evaluate(1);
    EXPECT_TRUE(left_.empty());
    EXPECT_EQ(entered_.size(), count);
  }
  EXPECT_EQ(set().size(), 3 * count);
  evaluate(1);
  EXPECT_EQ(left_.size(), count);
  EXPECT_EQ(left_.back(), count - 1);
  evaluate(57);
  EXPECT_TRUE(left_.empty());
  evaluate(1);
  EXPECT_EQ(left_.size(), count) << "a second after they came";
  EXPECT_EQ(left_.front(), count);
}

// Whether it came with the first evaluation or later.
TEST_F(InterestArrivals, WhatTheGameRefusesDoesNotStay) {
  struct Says : InterestFilter {
    bool relevant(const Viewer&, uint32_t) override { return answer; }
    bool answer = true;
  } says;
  for (const uint32_t slot : {0u, 1u}) {
    objects_.add(slot, {.filtered = true}, 0);
    objects_.set_place(slot, {slot == 0 ? 5.0 : 1000.0, 0, 0});
  }
  const auto evaluate_filtered = [&] { interest_.evaluate(0, viewer_, ++tick_, &says); };
  evaluate_filtered();
  objects_.set_place(1, {5, 0, 0});
  evaluate_filtered();
  for (const uint32_t slot : {0u, 1u}) objects_.set_place(slot, {1000, 0, 0});
  evaluate_filtered();
  EXPECT_EQ(set().size(), 2u);
  says.answer = false;
  evaluate_filtered();
  EXPECT_EQ(set().size(), 0u);
}

// Who is hidden leaves at once, and a return counts anew, also where the stay of the first one would end.
TEST_F(InterestArrivals, AReturnDoesNotEndWithTheFirstStay) {
  for (uint32_t slot = 0; slot < 20; ++slot) add_at(slot, 1000);
  evaluate(1);
  for (uint32_t slot = 0; slot < 20; ++slot) objects_.set_place(slot, {5, 0, 0});
  evaluate(1);
  for (uint32_t slot = 0; slot < 20; slot += 2) objects_.set_rule(slot, {.room = 7});
  evaluate(10);
  EXPECT_EQ(left_.size(), 10u);
  for (uint32_t slot = 0; slot < 20; slot += 2) objects_.set_rule(slot, {});
  evaluate(10);
  EXPECT_EQ(entered_.size(), 10u);
  for (uint32_t slot = 0; slot < 20; ++slot) objects_.set_place(slot, {1000, 0, 0});
  evaluate(40);
  ASSERT_EQ(left_.size(), 10u);
  for (const uint32_t slot : left_) EXPECT_EQ(slot % 2, 1u);
  evaluate(19);
  EXPECT_TRUE(left_.empty());
  evaluate(1);
  EXPECT_EQ(left_.size(), 10u);
  EXPECT_EQ(set().size(), 0u);
}

// Borders that follow by a radius in ten ticks.
class InterestFollows : public InterestArrivals {
 protected:
  static constexpr base::Tick kTicks = 10;
  static constexpr uint32_t kPlaces = 40, kAround = 100;
  InterestFollows() : InterestArrivals(kTicks) {}
  void add_places() {
    for (uint32_t slot = 0; slot < kPlaces * kAround; ++slot) add_at(slot, slot / kAround * 1000.0);
  }
  bool has_news() const { return interest_.has_news(0, viewer_, tick_, false); }
};

TEST_F(InterestFollows, AViewerThatJumpsAllTheTimeIsFollowedNowAndThen) {
  add_places();
  evaluate(1);
  uint32_t followed = 0, at_once = 0;
  uint64_t before = 0;
  constexpr uint32_t kJumps = 600, kRefill = 2 * kTicks;
  for (uint32_t jump = 1; jump <= kJumps; ++jump) {
    viewer_.place.x = jump % kPlaces * 1000.0;
    evaluate(1);
    followed += set().viewer().place == viewer_.place ? 1u : 0u;
    if (jump == 4) at_once = followed;
    if (jump == 60) before = considered();
  }
  EXPECT_EQ(at_once, 4u) << "a jump is seldom alone";
  EXPECT_NEAR(followed, 4 + kJumps / kRefill, 1);
  EXPECT_LE(considered() - before, uint64_t{kJumps} / kRefill * 3 * kAround);
}

TEST_F(InterestFollows, WhoJumpsSeldomIsFollowedAtOnce) {
  add_places();
  evaluate(1);
  for (uint32_t jump = 1; jump <= 100; ++jump) {
    viewer_.place.x = jump % kPlaces * 1000.0;
    evaluate(2 * kTicks);
    ASSERT_EQ(entered_.size(), kAround) << jump;
  }
}

TEST_F(InterestFollows, TheLastPlaceIsReached) {
  add_places();
  evaluate(1);
  for (uint32_t jump = 1; jump <= 30; ++jump) {
    viewer_.place.x = jump * 1000.0;
    evaluate(1);
  }
  EXPECT_NE(set().viewer().place, viewer_.place);
  EXPECT_FALSE(has_news()) << "not yet";
  for (base::Tick waited = 0; set().viewer().place != viewer_.place; ++waited) {
    ASSERT_LE(waited, 2 * kTicks);
    evaluate(1);
  }
  evaluate(60);
  EXPECT_EQ(set().size(), kAround);
  EXPECT_TRUE(set().contains(30 * kAround));
}

TEST_F(InterestFollows, RulesHideAndShowAtOnceMeanwhile) {
  add_places();
  evaluate(1);
  for (uint32_t jump = 1; jump <= 30; ++jump) {
    viewer_.place.x = jump % kPlaces * 1000.0;
    evaluate(1);
  }
  ASSERT_FALSE(has_news());
  const auto near = static_cast<uint32_t>(set().viewer().place.x / 1000) * kAround;
  ASSERT_TRUE(set().contains(near));
  objects_.set_rule(near, {.teams = 1});
  evaluate(1);
  EXPECT_EQ(left_, std::vector<uint32_t>{near});
  viewer_.teams = 1;
  evaluate(1);
  EXPECT_TRUE(set().contains(30 * kAround)) << "who changes sides is where it is";
  viewer_.place.x = 0;
  evaluate(1);
  EXPECT_FALSE(set().viewer().place == viewer_.place) << "which counts as any jump";
}

TEST_F(InterestFollows, AFastViewerIsFollowedSmoothly) {
  add_places();
  evaluate(1);
  for (uint32_t step = 0; step < 1000; ++step) {
    viewer_.place.x += 3.9;  // a little less than a radius in ten ticks
    evaluate(1);
    ASSERT_LE(std::abs(set().viewer().place.x - viewer_.place.x), objects_.slack());
  }
}

TEST_F(InterestFollows, TicksWrap) {
  add_places();
  tick_ = UINT32_MAX - 10;
  evaluate(1);
  for (uint32_t jump = 1; jump <= 30; ++jump) {
    viewer_.place.x = jump % kPlaces * 1000.0;
    evaluate(1);
  }
  EXPECT_FALSE(has_news());
  tick_ += 1u << 31;
  EXPECT_TRUE(has_news());
}

}  // namespace
}  // namespace lattice::replication
