// What is drawn of one object: between its states, and eased where render time had overtaken them.
#include "world/presentation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/prediction/test_layouts.h"

namespace lattice::world {
namespace {

using prediction::test::Pawn;
using replication::ReceivedStates;

constexpr uint64_t kSecondNs = 1'000'000'000;

class PresentationTest : public ::testing::Test {
 protected:
  PresentationTest() { states.reset(static_cast<uint32_t>(layout.word_count())); }
  void receive(base::Tick tick, float x) {
    const auto words = prediction::test::words_of(layout, prediction::test::pawn_at(x));
    std::copy(words.begin(), words.end(), states.insert(tick, false, 2));
  }
  float shown_x(simulation::TickTime time, uint64_t now_ns) {
    EXPECT_TRUE(presentation.show_interpolated(states, time, true, now_ns));
    return static_cast<const Pawn*>(presentation.shown(0))->position.x;
  }

  serialization::Layout layout = prediction::test::pawn_layout();
  PoseScratch scratch{layout};
  ReceivedStates states;
  Presentation presentation{layout, scratch, PresentationConfig{}};
};

TEST_F(PresentationTest, ShowsNothingBeforeTheFirstState) {
  EXPECT_FALSE(presentation.show_interpolated(states, {10, 0.0}, true, 0));
  EXPECT_EQ(presentation.poses(), 0u);
}

TEST_F(PresentationTest, EasesTheStepToAStateThatCameTooLate) {
  receive(10, 0.0f);
  receive(12, 2.0f);
  EXPECT_NEAR(shown_x({20, 0.0}, kSecondNs), 2.0f, 0.02f);
  EXPECT_EQ(presentation.underrun_poses(), 1u);
  receive(22, 4.0f);  // render time is at 20: four fifths of the way
  presentation.received(states, false, {20, 0.0}, kSecondNs);
  EXPECT_NEAR(shown_x({20, 0.0}, kSecondNs), 2.0f, 0.02f) << "no jump";
  EXPECT_NEAR(shown_x({20, 0.0}, 3 * kSecondNs), 3.6f, 0.02f) << "eased away";
}

TEST_F(PresentationTest, AStateInTimeIsNotEased) {
  receive(10, 0.0f);
  receive(12, 2.0f);
  receive(22, 4.0f);
  presentation.received(states, false, {11, 0.0}, kSecondNs);
  EXPECT_NEAR(shown_x({20, 0.0}, kSecondNs), 3.6f, 0.02f);
}

TEST_F(PresentationTest, ATeleportIsNotEased) {
  receive(10, 0.0f);
  receive(12, 2.0f);
  receive(22, 4.0f);
  presentation.received(states, true, {20, 0.0}, kSecondNs);
  EXPECT_NEAR(shown_x({20, 0.0}, kSecondNs), 3.6f, 0.02f);
}

TEST_F(PresentationTest, TheNextObjectCountsItsOwnPoses) {
  receive(10, 0.0f);
  receive(12, 2.0f);
  shown_x({20, 0.0}, kSecondNs);
  EXPECT_EQ(presentation.poses(), 1u);
  EXPECT_EQ(presentation.underrun_poses(), 1u);
  presentation.reset();
  EXPECT_EQ(presentation.poses(), 0u);
  EXPECT_EQ(presentation.underrun_poses(), 0u);
}

}  // namespace
}  // namespace lattice::world
