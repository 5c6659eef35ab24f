// Ranges that are missing, against a bit per byte.
#include "transfer/missing_ranges.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "transfer/transfer_limits.h"

namespace lattice::transfer {
namespace {

TEST(MissingRanges, FillsTheMiddleTheEdgesAndWhatIsBetween) {
  MissingRanges missing(1000);
  EXPECT_EQ(missing.first_within({0, 1000}), (ByteRange{0, 1000}));
  EXPECT_EQ(missing.fill({400, 600}), 200u);
  EXPECT_EQ(missing.count(), 2u);
  EXPECT_EQ(missing.first_within({300, 700}), (ByteRange{300, 400}));
  EXPECT_EQ(missing.first_within({400, 700}), (ByteRange{600, 700}));
  EXPECT_TRUE(missing.first_within({400, 600}).empty());
  EXPECT_EQ(missing.fill({0, 100}), 100u);
  EXPECT_EQ(missing.fill({900, 1000}), 100u);
  EXPECT_EQ(missing.fill({300, 700}), 200u) << "only what was missing counts";
  EXPECT_EQ(missing.fill({300, 700}), 0u);
  EXPECT_EQ(missing.count(), 2u);
  EXPECT_EQ(missing.fill({0, 1000}), 400u);
  EXPECT_TRUE(missing.empty());
}

TEST(MissingRanges, AgreesWithABitPerByte) {
  EXPECT_TRUE(rc::check("any ranges in any order", [] {
    const auto size = *rc::gen::inRange<size_t>(1, 400);
    MissingRanges missing(size);
    std::vector<bool> here(size, false);
    for (int i = 0; i < 60; ++i) {
      const auto begin = *rc::gen::inRange<size_t>(0, size);
      const auto end = *rc::gen::inRange<size_t>(begin + 1, size + 1);
      const auto from = here.begin() + static_cast<ptrdiff_t>(begin);
      const auto to = here.begin() + static_cast<ptrdiff_t>(end);
      const auto first = std::find(from, to, false);
      const auto behind = std::find(first, to, true);
      const ByteRange found = missing.first_within({begin, end});
      RC_ASSERT(found.empty() == (first == to));
      if (first != to) {
        RC_ASSERT(found.begin == static_cast<uint64_t>(first - here.begin()));
        RC_ASSERT(found.end == static_cast<uint64_t>(behind - here.begin()));
      }
      const auto count = static_cast<uint64_t>(std::count(from, to, false));
      std::fill(from, to, true);
      RC_ASSERT(missing.fill({begin, end}) == count);
      size_t ranges = 0;
      for (size_t at = 0; at < size; ++at) {
        if (!here[at] && (at == 0 || here[at - 1])) ++ranges;
      }
      RC_ASSERT(missing.count() == ranges);
    }
  }));
}

TEST(MissingRanges, RefusesWhatWouldScatterItBeyondTheBound) {
  constexpr uint64_t kStep = 1000;
  MissingRanges missing(kStep * 2 * kMaxMissingRanges);
  uint64_t at = kStep;
  for (size_t count = 1; count < kMaxMissingRanges; ++count, at += kStep) {
    ASSERT_TRUE(missing.can_fill({at, at + kStep / 2}));
    missing.fill({at, at + kStep / 2});
  }
  ASSERT_EQ(missing.count(), kMaxMissingRanges);
  EXPECT_FALSE(missing.can_fill({at, at + 1}));
  // What opens no new one may go on: the edge of a range, all of one, and what is there.
  EXPECT_TRUE(missing.can_fill({0, 1}));
  EXPECT_TRUE(missing.can_fill({0, kStep}));
  EXPECT_TRUE(missing.can_fill({kStep, kStep + 1}));
  EXPECT_TRUE(missing.can_fill({1, 3 * kStep}));
  EXPECT_EQ(missing.fill({0, kStep}), kStep);
  EXPECT_TRUE(missing.can_fill({at, at + 1}));
}

}  // namespace
}  // namespace lattice::transfer
