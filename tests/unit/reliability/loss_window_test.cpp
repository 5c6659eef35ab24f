// Loss over the last second, in eighths.
#include "reliability/congestion/loss_window.h"

#include <gtest/gtest.h>

#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;

TEST(LossWindow, CountsTheLastSecondOnly) {
  LossWindow window;
  window.add(100 * kMs, 10, 2, 0);
  window.add(600 * kMs, 20, 1, 0);
  EXPECT_EQ(window.last_second(900 * kMs).packets, 33u);
  EXPECT_EQ(window.last_second(900 * kMs).lost, 3u);
  // The slot of the first ends at 125 ms, and a second later it is out.
  EXPECT_EQ(window.last_second(1124 * kMs).lost, 1u);
  EXPECT_EQ(window.last_second(1125 * kMs).packets, 21u);
  EXPECT_EQ(window.last_second(5000 * kMs).packets, 0u);
}

TEST(LossWindow, SlotsAreReused) {
  LossWindow window;
  window.add(0, 5, 5, 0);
  window.add(1000 * kMs, 1, 0, 0);  // The same slot, a second on.
  EXPECT_EQ(window.last_second(1000 * kMs).packets, 1u);
  EXPECT_EQ(window.last_second(1000 * kMs).lost, 0u);
}

TEST(LossWindow, SpuriousLossesAreTakenBackAndNeverMore) {
  LossWindow window;
  window.add(0, 30, 10, 0);
  window.add(200 * kMs, 5, 0, 4);
  EXPECT_EQ(window.last_second(300 * kMs).lost, 6u);
  EXPECT_EQ(window.last_second(300 * kMs).packets, 45u);
  // The losses are a second old, their correction is not.
  EXPECT_EQ(window.last_second(1010 * kMs).lost, 0u);
}

}  // namespace
}  // namespace lattice::reliability
