#include "world/waiting_receipts.h"

#include <gtest/gtest.h>

#include <utility>

namespace lattice::world {
namespace {

using Verdicts = std::vector<std::pair<uint32_t, bool>>;

Verdicts take(WaitingReceipts& receipts, uint32_t client) {
  Verdicts taken;
  receipts.take(client, [&taken](uint32_t receipt, bool acked) { taken.emplace_back(receipt, acked); });
  return taken;
}

TEST(WaitingReceipts, EachClientGetsItsOwnInOrderOnce) {
  WaitingReceipts receipts(3);
  EXPECT_EQ(take(receipts, 0), Verdicts{});
  for (uint32_t i = 1; i <= 4; ++i) {
    receipts.add(0, i, i % 2 == 0);
    receipts.add(2, 100 + i, true);
  }
  EXPECT_EQ(take(receipts, 0), (Verdicts{{1, false}, {2, true}, {3, false}, {4, true}}));
  EXPECT_EQ(take(receipts, 0), Verdicts{});
  receipts.add(1, 7, true);  // in the place of one that was taken
  EXPECT_EQ(take(receipts, 1), (Verdicts{{7, true}}));
  EXPECT_EQ(take(receipts, 2), (Verdicts{{101, true}, {102, true}, {103, true}, {104, true}}));
}

TEST(WaitingReceipts, WhatAVisitAddsStays) {
  WaitingReceipts receipts(1);
  receipts.add(0, 1, true);
  receipts.add(0, 2, true);
  Verdicts taken;
  receipts.take(0, [&](uint32_t receipt, bool acked) {
    taken.emplace_back(receipt, acked);
    receipts.add(0, receipt + 10, false);
  });
  EXPECT_EQ(taken, (Verdicts{{1, true}, {2, true}}));
  EXPECT_EQ(take(receipts, 0), (Verdicts{{11, false}, {12, false}}));
}

}  // namespace
}  // namespace lattice::world
