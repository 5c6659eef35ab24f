#include "base/counters.h"

#include <gtest/gtest.h>

namespace lattice::base {
namespace {

TEST(Counters, CountByReason) {
  enum class Reason : uint8_t { kLate, kForged };
  Counters<Reason, 2> counters;
  counters.add(Reason::kLate);
  counters.add(Reason::kForged, 3);
  EXPECT_EQ(counters.get(Reason::kLate), 1u);
  EXPECT_EQ(counters.get(Reason::kForged), 3u);
  EXPECT_EQ(counters.total(), 4u);
  counters.clear();
  EXPECT_EQ(counters.total(), 0u);
}

}  // namespace
}  // namespace lattice::base
