#include "prediction/prediction_history.h"

#include <gtest/gtest.h>

namespace lattice::prediction {
namespace {

TEST(PredictionHistory, AnswersOnlyForTicksWrittenInTheWindow) {
  PredictionHistory history(3);
  EXPECT_EQ(history.find(0), nullptr);
  EXPECT_EQ(history.find(64), nullptr);
  for (Tick tick = 1; tick <= 200; ++tick) {
    if (tick % 5 == 0) continue;
    for (size_t i = 0; i < 3; ++i) history.write(tick)[i] = tick * 10u + i;
  }
  for (Tick tick = 1; tick <= 300; ++tick) {
    const uint64_t* words = history.find(tick);
    const bool held = tick > 200 - kPredictionWindowTicks && tick <= 200 && tick % 5 != 0;
    // A tick that was skipped leaves its slot to the one 64 before it.
    const bool left = tick <= 200 - kPredictionWindowTicks && tick + kPredictionWindowTicks <= 200 &&
                      (tick + kPredictionWindowTicks) % 5 == 0 && tick % 5 != 0 &&
                      tick + 2 * kPredictionWindowTicks > 200;
    ASSERT_EQ(words != nullptr, held || left) << tick;
    if (words != nullptr) {
      EXPECT_EQ(words[2], tick * 10u + 2);
    }
  }
  history.clear();
  EXPECT_EQ(history.find(200), nullptr);
}

}  // namespace
}  // namespace lattice::prediction
