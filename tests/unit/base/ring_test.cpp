#include "base/ring.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <memory>

namespace lattice::base {
namespace {

TEST(Ring, FullRefusesAndKeepsWhatItHas) {
  Ring<int, 4> ring;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.push_back(i));
  EXPECT_TRUE(ring.full());
  EXPECT_FALSE(ring.push_back(99));
  EXPECT_EQ(ring.front(), 0);
  EXPECT_EQ(ring.back(), 3);
}

TEST(Ring, CapacityRoundsUpToAPowerOfTwo) {
  EXPECT_EQ(Ring<int>(0).capacity(), 1u);
  EXPECT_EQ(Ring<int>(5).capacity(), 8u);
  EXPECT_EQ(Ring<int>(8).capacity(), 8u);
}

TEST(Ring, OverwritingDropsTheOldest) {
  Ring<int> ring(4);
  for (int i = 0; i < 10; ++i) ring.push_back_overwriting(i);
  ASSERT_EQ(ring.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(ring[i], static_cast<int>(6 + i));
}

TEST(Ring, HoldsMoveOnlyElements) {
  Ring<std::unique_ptr<int>> ring(2);
  EXPECT_TRUE(ring.push_back(std::make_unique<int>(7)));
  EXPECT_EQ(*ring.pop_front(), 7);
  EXPECT_TRUE(ring.empty());
}

/// Applies random operations to a ring and to a std::deque and compares after each.
template <class R>
void compare_with_deque(R& ring, const std::vector<uint8_t>& operations) {
  std::deque<int> model;
  int next = 0;
  for (const uint8_t operation : operations) {
    switch (operation % 6) {
      case 0:
      case 1: {
        const bool room = model.size() < ring.capacity();
        RC_ASSERT(ring.push_back(next) == room);
        if (room) model.push_back(next);
        break;
      }
      case 2:
        ring.push_back_overwriting(next);
        if (model.size() == ring.capacity()) model.pop_front();
        model.push_back(next);
        break;
      case 3:
        if (model.empty()) break;
        RC_ASSERT(ring.pop_front() == model.front());
        model.pop_front();
        break;
      case 4:
        if (model.empty()) break;
        RC_ASSERT(ring.pop_back() == model.back());
        model.pop_back();
        break;
      default: {
        const size_t count = model.size() / 2;
        ring.drop_front(count);
        model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(count));
        break;
      }
    }
    ++next;
    RC_ASSERT(ring.size() == model.size());
    RC_ASSERT(ring.empty() == model.empty());
    for (size_t i = 0; i < model.size(); ++i) RC_ASSERT(ring[i] == model[i]);
  }
}

TEST(Ring, BehavesLikeABoundedDeque) {
  EXPECT_TRUE(rc::check("run-time capacity", [](const std::vector<uint8_t>& operations) {
    Ring<int> ring(*rc::gen::inRange<size_t>(1, 20));
    compare_with_deque(ring, operations);
  }));
  EXPECT_TRUE(rc::check("inline storage", [](const std::vector<uint8_t>& operations) {
    Ring<int, 8> ring;
    compare_with_deque(ring, operations);
  }));
}

}  // namespace
}  // namespace lattice::base
