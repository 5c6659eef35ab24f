#include "platform/byte_order.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

namespace lattice::platform {
namespace {

TEST(ByteOrder, StoresLowByteFirst) {
  std::array<uint8_t, 8> bytes{};
  store_u64_le(bytes.data(), 0x0102030405060708u);
  EXPECT_EQ(bytes, (std::array<uint8_t, 8>{8, 7, 6, 5, 4, 3, 2, 1}));
  store_u32_le(bytes.data(), 0x01020304u);
  EXPECT_EQ(bytes, (std::array<uint8_t, 8>{4, 3, 2, 1, 4, 3, 2, 1}));
  store_u16_le(bytes.data(), 0x0102u);
  EXPECT_EQ(bytes, (std::array<uint8_t, 8>{2, 1, 2, 1, 4, 3, 2, 1}));
}

TEST(ByteOrder, LoadUndoesStore) {
  EXPECT_TRUE(rc::check("load(store(v)) == v", [](uint64_t v) {
    std::array<uint8_t, 8> bytes{};
    store_u64_le(bytes.data(), v);
    RC_ASSERT(load_u64_le(bytes.data()) == v);
    store_u32_le(bytes.data(), static_cast<uint32_t>(v));
    RC_ASSERT(load_u32_le(bytes.data()) == static_cast<uint32_t>(v));
    store_u16_le(bytes.data(), static_cast<uint16_t>(v));
    RC_ASSERT(load_u16_le(bytes.data()) == static_cast<uint16_t>(v));
  }));
}

}  // namespace
}  // namespace lattice::platform
