#include "world/predictor.h"

#include "unit/world/parts_rig.h"

namespace lattice::world::test {
namespace {

struct PredictorTest : ::testing::Test, PartsRig {
  /// The lamp of this side, predicted from the state of `first` on; two ticks ran since.
  PredictorTest() {
    slot = spawn(3);
    EXPECT_TRUE(predictor.set_predicted(slot, true));
    first = authority.tick - 1;
    tick(first + 1);
    tick(first + 2);
    take_events();
  }
  uint32_t slot = 0;
  Tick first = 0;
};

TEST_F(PredictorTest, steps_from_the_state_that_came) {
  EXPECT_EQ(local(slot), 5);
  EXPECT_FALSE(predictor.set_predicted(slot, true)) << "it was predicted already";
  EXPECT_NE(predictor.predicted(slot, first + 2), nullptr);
  EXPECT_EQ(predictor.predicted(slot, first + 3), nullptr);
}

TEST_F(PredictorTest, corrects_what_was_wrong_and_runs_the_ticks_since_again) {
  set_remote(slot, 9);
  ASSERT_EQ(receive(), first + 1);
  predictor.reconcile(first + 2);
  EXPECT_EQ(local(slot), 10);
  EXPECT_EQ(ran_again, (std::vector<Tick>{first + 2}));
  EXPECT_EQ(take_events(), (Events{"state 3 to 9", "corrected 5 to 10"}));
  EXPECT_EQ(predictor.stats().rollbacks, 1u);
}

TEST_F(PredictorTest, runs_nothing_again_when_it_was_right) {
  set_remote(slot, 4);  // as the first tick here made it
  ASSERT_EQ(receive(), first + 1);
  predictor.reconcile(first + 2);
  EXPECT_TRUE(ran_again.empty());
  EXPECT_EQ(predictor.stats().compared, 1u);
}

// D-40: it stood still there and moved here.
TEST_F(PredictorTest, silence_says_nothing_unless_a_part_confirms_what_is_owned) {
  receive(false);
  predictor.reconcile(first + 2);
  EXPECT_EQ(predictor.stats().compared, 0u);
  receive(true);
  predictor.reconcile(first + 2);
  EXPECT_EQ(local(slot), 3);
  EXPECT_EQ(predictor.stats().rollbacks, 1u);
}

TEST_F(PredictorTest, gives_the_host_structures_back) {
  EXPECT_TRUE(predictor.set_predicted(slot, false));
  EXPECT_EQ(local(slot), 3) << "the newest state that came";
  set_remote(slot, 8);
  receive();
  EXPECT_EQ(local(slot), 8);
}

TEST_F(PredictorTest, after_a_jump_of_the_clock_nothing_is_recorded) {
  predictor.forget_ticks();
  EXPECT_EQ(predictor.predicted(slot, first + 2), nullptr);
  EXPECT_TRUE(predictor.predicts(slot));
}

}  // namespace
}  // namespace lattice::world::test
