// Loss of whole seconds, in each direction.
#include "reliability/recovery/loss_meter.h"

#include <gtest/gtest.h>

namespace lattice::reliability {
namespace {

HistoryCounters sent(uint64_t tracked, uint64_t lost, uint64_t spurious = 0) {
  HistoryCounters out;
  out.tracked = tracked;
  out.lost = lost;
  out.lost_spurious = spurious;
  return out;
}

TEST(LossMeter, ASecondIsOverWhenALaterOneHasBegun) {
  LossMeter meter;
  meter.begin(7);
  EXPECT_FALSE(meter.is_over(6));
  EXPECT_FALSE(meter.is_over(7));
  EXPECT_TRUE(meter.is_over(8));
  meter.close(9, sent(0, 0), 0, 0);
  EXPECT_FALSE(meter.is_over(9));
}

TEST(LossMeter, EachSecondCountsOnlyItsOwnPackets) {
  LossMeter meter;
  meter.close(1, sent(100, 10), 0, 0);
  EXPECT_DOUBLE_EQ(meter.out(), 0.1);
  meter.close(2, sent(150, 11), 0, 0);
  EXPECT_DOUBLE_EQ(meter.out(), 0.02);
}

TEST(LossMeter, WhatWasAckedAfterAllIsNotLost) {
  LossMeter meter;
  meter.close(1, sent(100, 10, 4), 0, 0);
  EXPECT_DOUBLE_EQ(meter.out(), 0.06);
  meter.close(2, sent(200, 10, 9), 0, 0);  // Spurious losses of the second before.
  EXPECT_DOUBLE_EQ(meter.out(), 0.0);
}

TEST(LossMeter, ASilentSecondKeepsTheRatios) {
  LossMeter meter;
  meter.close(1, sent(100, 10), 1000, 500);
  const double in = meter.in();
  EXPECT_GT(in, 0.4);
  meter.close(2, sent(100, 10), 1000, 500);
  EXPECT_DOUBLE_EQ(meter.out(), 0.1);
  EXPECT_DOUBLE_EQ(meter.in(), in);
}

TEST(LossMeter, NumbersThatASenderLeavesOutAreNotLoss) {
  LossMeter meter;
  meter.close(1, sent(0, 0), 1000, 998);
  EXPECT_DOUBLE_EQ(meter.in(), 0.0);
}

}  // namespace
}  // namespace lattice::reliability
