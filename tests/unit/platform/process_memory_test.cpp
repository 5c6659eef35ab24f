#include "platform/process_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace lattice::platform {
namespace {

TEST(ProcessMemory, ResidentSizeFollowsTouchedMemory) {
  constexpr size_t kBytes = 64u << 20;
  const uint64_t before = rss_bytes();
  ASSERT_GT(before, 0u);
  const std::unique_ptr<uint8_t[]> memory(new uint8_t[kBytes]);
  std::memset(memory.get(), 1, kBytes);
  EXPECT_GT(rss_bytes(), before + kBytes / 2);
  EXPECT_GE(peak_rss_bytes(), before);
}

}  // namespace
}  // namespace lattice::platform
