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
    const serialization::Word* words = history.find(tick);
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

TEST(PredictionHistory, HoldsItsWindowAlsoWhereTicksWrap) {
  for (const size_t window : {8u, 9u, 64u, 100u, 256u}) {
    PredictionHistory history(1, window);
    Tick tick = UINT32_MAX - 300;
    for (int i = 0; i < 600; ++i) {
      if (++tick == 0) ++tick;  // 0 is no tick
      *history.write(tick) = tick;
      if (i < static_cast<int>(window)) continue;
      for (Tick back = 0; back < window; ++back) {
        if (tick - back == 0) continue;
        const serialization::Word* words = history.find(tick - back);
        ASSERT_NE(words, nullptr) << window << " at " << tick << " - " << back;
        ASSERT_EQ(*words, tick - back);
      }
    }
  }
}

}  // namespace
}  // namespace lattice::prediction
