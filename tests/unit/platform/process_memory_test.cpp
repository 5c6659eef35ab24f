#include "platform/process_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

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

TEST(ProcessMemory, SaysWhetherMoreCanBeHad) {
  constexpr size_t kBytes = 4u << 20;
  EXPECT_TRUE(has_memory(kBytes));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit none = before;
  none.rlim_cur = 1u << 20;  // less than the process has already
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  const bool has = has_memory(kBytes);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_FALSE(has);
}

}  // namespace
}  // namespace lattice::platform
