#include "base/sequence.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace lattice::base {
namespace {

TEST(Sequence, DistanceWraps) {
  EXPECT_EQ(Sequence16{1}.distance_from(Sequence16{0xFFFF}), 2);
  EXPECT_EQ(Sequence16{0xFFFF}.distance_from(Sequence16{1}), -2);
  EXPECT_EQ(Sequence16{0xFFFF}.next(), Sequence16{0});
  EXPECT_EQ(Sequence16{3}.plus(-5), Sequence16{0xFFFE});
  EXPECT_EQ(Sequence16{0x8000}.distance_from(Sequence16{0}), -32768);
}

TEST(Sequence, GreaterIsTheSignOfTheDistance) {
  EXPECT_TRUE(rc::check("newer by 1..32767", [](uint16_t base) {
    const auto ahead = *rc::gen::inRange<int32_t>(1, 32768);
    const Sequence16 a{base};
    const Sequence16 b = a.plus(ahead);
    RC_ASSERT(sequence_greater(b, a));
    RC_ASSERT(!sequence_greater(a, b));
    RC_ASSERT(b.distance_from(a) == ahead);
  }));
}

TEST(Sequence, OppositeNumbersPreferTheLargerValue) {
  EXPECT_TRUE(sequence_greater(Sequence16{0x8001}, Sequence16{1}));
  EXPECT_FALSE(sequence_greater(Sequence16{1}, Sequence16{0x8001}));
  EXPECT_FALSE(sequence_greater(Sequence16{5}, Sequence16{5}));
}

TEST(Tick, DistanceWraps) {
  EXPECT_EQ(tick_distance(2, 0xFFFFFFFFu), 3);
  EXPECT_TRUE(tick_after(2, 0xFFFFFFFFu));
  EXPECT_FALSE(tick_after(7, 7));
}

}  // namespace
}  // namespace lattice::base
