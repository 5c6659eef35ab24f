// The documented formula, at its corners.
#include "reliability/recovery/connection_quality.h"

#include <gtest/gtest.h>

namespace lattice::reliability {
namespace {

TEST(ConnectionQuality, TheExamplesOfTheFormula) {
  EXPECT_EQ(connection_quality({0, 0, 0}), 100u);
  EXPECT_EQ(connection_quality({50, 0, 0}), 100u);
  EXPECT_EQ(connection_quality({100, 0, 0}), 90u);
  EXPECT_EQ(connection_quality({300, 0, 0}), 50u);
  EXPECT_EQ(connection_quality({5000, 0, 0}), 10u);
  EXPECT_EQ(connection_quality({0, 20, 0}), 80u);
  EXPECT_EQ(connection_quality({0, 500, 0}), 10u);
  EXPECT_EQ(connection_quality({0, 0, 0.05}), 75u);
  EXPECT_EQ(connection_quality({0, 0, 0.2}), 0u);
  EXPECT_EQ(connection_quality({0, 0, 1}), 0u);
  EXPECT_EQ(connection_quality({100, 20, 0.05}), 54u);  // They multiply.
}

}  // namespace
}  // namespace lattice::reliability
