#include "platform/entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace lattice::platform {
namespace {

TEST(Entropy, FillsTheWholeBufferAndNothingElse) {
  std::vector<uint8_t> buffer(100'002, 0);
  fill_entropy(buffer.data() + 1, buffer.size() - 2);
  EXPECT_EQ(buffer.front(), 0);
  EXPECT_EQ(buffer.back(), 0);
  // A run of 32 zero bytes in random data has a chance of 2^-256 per position.
  size_t run = 0;
  size_t longest = 0;
  for (size_t i = 1; i + 1 < buffer.size(); ++i) {
    run = buffer[i] == 0 ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  EXPECT_LT(longest, 32u);
}

TEST(Entropy, TwoFillsDiffer) {
  std::array<uint8_t, 32> a{};
  std::array<uint8_t, 32> b{};
  fill_entropy(a.data(), a.size());
  fill_entropy(b.data(), b.size());
  EXPECT_NE(a, b);
  fill_entropy(nullptr, 0);
}

}  // namespace
}  // namespace lattice::platform
