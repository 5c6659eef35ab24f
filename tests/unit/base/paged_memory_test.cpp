#include "base/paged_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "platform/process_memory.h"

namespace lattice::base {
namespace {

bool is_aligned(const uint8_t* memory, size_t bytes) {
  return reinterpret_cast<uintptr_t>(memory) % bytes == 0;
}

TEST(PagedMemory, IsAlignedAndAllOfItCanBeWritten) {
  for (const size_t bytes : {size_t{1}, size_t{4096}, size_t{3} << 20}) {
    for (const PageSize pages : {PageSize::kSmall, PageSize::kLarge}) {
      const PagedMemory memory(bytes, pages);
      ASSERT_NE(memory.data(), nullptr);
      EXPECT_TRUE(is_aligned(memory.data(), pages == PageSize::kLarge ? platform::kLargePageBytes : 64));
      std::memset(memory.data(), 0x5A, bytes);
      EXPECT_EQ(memory.data()[bytes - 1], 0x5A);
    }
  }
}

TEST(PagedMemory, WhatIsNeverTouchedIsNotResident) {
  constexpr size_t kBytes = size_t{256} << 20;
  const uint64_t before = platform::rss_bytes();
  const PagedMemory memory(kBytes, PageSize::kLarge);
  memory.data()[kBytes / 2] = 1;
  const uint64_t after = platform::rss_bytes();
  EXPECT_LT(after - std::min(before, after), kBytes / 8);
}

}  // namespace
}  // namespace lattice::base
