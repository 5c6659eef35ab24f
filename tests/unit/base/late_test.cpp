#include "base/late.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace lattice::base {
namespace {

TEST(Late, IsThereFromEmplaceToResetAndIsDestroyedOnce) {
  const auto alive = std::make_shared<int>(1);
  Late<std::shared_ptr<int>> late;
  EXPECT_FALSE(late);
  late.emplace(alive);
  ASSERT_TRUE(late);
  EXPECT_EQ(**late, 1);
  EXPECT_EQ(alive.use_count(), 2);
  late.reset();
  EXPECT_FALSE(late);
  EXPECT_EQ(alive.use_count(), 1);
  late.reset();
  {
    Late<std::shared_ptr<int>> other;
    other.emplace(alive);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(LateDeathTest, ASecondValueIsAMistake) {
  Late<int> late;
  late.emplace(1);
  EXPECT_DEATH(late.emplace(2), "");
}

TEST(Late, TheFlagStandsInFront) {
  struct Large {
    std::array<char, 4096> bytes;
  };
  const Late<Large> late;
  EXPECT_LT(reinterpret_cast<const char*>(&*late) - reinterpret_cast<const char*>(&late), 64);
  static_assert(sizeof(late) < sizeof(Large) + 64);
}

}  // namespace
}  // namespace lattice::base
