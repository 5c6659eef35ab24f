// One answer for a message in many fragments.
#include "fragment/fragment_receipts.h"

#include <gtest/gtest.h>

namespace lattice::fragment {
namespace {

TEST(FragmentReceipts, AckedWithTheLastFragment) {
  FragmentReceipts receipts;
  const uint32_t number = receipts.open(77, 3);
  EXPECT_TRUE(FragmentReceipts::is_group(number));
  EXPECT_FALSE(receipts.on_receipt(number, true));
  EXPECT_FALSE(receipts.on_receipt(number, true));
  const auto told = receipts.on_receipt(number, true);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->receipt, 77u);
  EXPECT_TRUE(told->acked);
  EXPECT_EQ(receipts.open_count(), 0u);
}

TEST(FragmentReceipts, LostWithTheFirstLostOne) {
  FragmentReceipts receipts;
  const uint32_t number = receipts.open(5, 4);
  EXPECT_FALSE(receipts.on_receipt(number, true));
  const auto told = receipts.on_receipt(number, false);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->receipt, 5u);
  EXPECT_FALSE(told->acked);
  EXPECT_FALSE(receipts.on_receipt(number, false));  // Told once.
  EXPECT_EQ(receipts.open_count(), 1u);              // Its number is not free before all are told.
  EXPECT_FALSE(receipts.on_receipt(number, true));
  EXPECT_EQ(receipts.open_count(), 0u);
}

TEST(FragmentReceipts, NumbersAreUsedAgain) {
  FragmentReceipts receipts;
  const uint32_t a = receipts.open(1, 2);
  const uint32_t b = receipts.open(2, 2);
  EXPECT_NE(a, b);
  receipts.cancel(a);
  EXPECT_EQ(receipts.open(3, 1), a);
  const auto told = receipts.on_receipt(a, true);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->receipt, 3u);
  EXPECT_EQ(receipts.open_count(), 1u);
}

}  // namespace
}  // namespace lattice::fragment
