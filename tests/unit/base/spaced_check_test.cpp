#include "base/spaced_check.h"

#include <gtest/gtest.h>

namespace lattice::base {
namespace {

TEST(SpacedCheck, few_items_are_looked_at_with_each_change) {
  SpacedCheck check;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(check.is_due(128));
}

TEST(SpacedCheck, a_look_at_many_waits_for_as_many_changes_as_pay_for_it) {
  SpacedCheck check;
  int looks = 0;
  for (int i = 0; i < 1000; ++i) looks += check.is_due(1280) ? 1 : 0;
  EXPECT_EQ(looks, 100);
}

}  // namespace
}  // namespace lattice::base
