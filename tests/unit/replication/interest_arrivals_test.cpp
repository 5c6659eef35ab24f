// Objects that came not long ago stay in a client's set: how many at most, in which order they leave, and
// what that costs, counted.
#include <gtest/gtest.h>

#include <vector>

#include "replication/interest/interest.h"

namespace lattice::replication {
namespace {

class InterestArrivals : public testing::Test {
 protected:
  InterestArrivals() : interest_(config()), objects_(interest_.objects()) {
    interest_.add_client(0);
    viewer_.peer = 7;
    viewer_.placed = true;
  }
  static Interest::Config config() {
    Interest::Config config;
    config.objects.cell = 10;
    config.set.enter_radius = 40;
    config.set.leave_radius = 50;
    config.set.stay_ticks = 60;
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

}  // namespace
}  // namespace lattice::replication
