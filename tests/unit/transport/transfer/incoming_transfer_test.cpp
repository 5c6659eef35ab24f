// What is new, what was here, and what no sender sends.
#include "transport/transfer/incoming_transfer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>
#include <vector>

namespace lattice::transfer {
namespace {

using Judgement = IncomingTransfer::Judgement;
constexpr uint16_t kBlock = 256;
const std::vector<uint8_t> kBytes(2 * kBlock, 0xAB);

wire::TransferBlock block(uint32_t index, size_t bytes) {
  return {1, index, std::span(kBytes).first(bytes)};
}

TEST(IncomingTransfer, JudgesIndexLengthAndRepetition) {
  IncomingTransfer transfer({1, kBlock, 2 * kBlock + 5, {}});
  transfer.accept();
  EXPECT_EQ(transfer.judge(block(0, kBlock)), Judgement::kNew);
  EXPECT_EQ(transfer.judge(block(0, kBlock - 1)), Judgement::kBadLength);
  EXPECT_EQ(transfer.judge(block(0, kBlock + 1)), Judgement::kBadLength);
  EXPECT_EQ(transfer.judge(block(2, 5)), Judgement::kNew);
  EXPECT_EQ(transfer.judge(block(2, kBlock)), Judgement::kBadLength);
  EXPECT_EQ(transfer.judge(block(3, kBlock)), Judgement::kBadIndex);
  EXPECT_EQ(transfer.judge(block(UINT32_MAX, kBlock)), Judgement::kBadIndex);
  transfer.on_stored(block(2, 5));
  EXPECT_EQ(transfer.judge(block(2, 5)), Judgement::kDuplicate);
  EXPECT_EQ(transfer.received_bytes(), 5u);
}

TEST(IncomingTransfer, CompleteWithEveryBlockInAnyOrder) {
  EXPECT_TRUE(rc::check("any order, any repetition", [] {
    const uint64_t size = *rc::gen::inRange<uint64_t>(1, 200 * kBlock);
    IncomingTransfer transfer({1, kBlock, size, {}});
    transfer.accept();
    std::vector<uint32_t> order(wire::block_count(size, kBlock));
    std::iota(order.begin(), order.end(), 0u);
    const auto seed = *rc::gen::arbitrary<uint32_t>();
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[(seed * i) % i]);
    for (const uint32_t index : order) {
      RC_ASSERT(!transfer.complete());
      const auto bytes = static_cast<size_t>(std::min<uint64_t>(kBlock, size - transfer.offset(index)));
      RC_ASSERT(transfer.judge(block(index, bytes)) == Judgement::kNew);
      transfer.on_stored(block(index, bytes));
      RC_ASSERT(transfer.judge(block(index, bytes)) == Judgement::kDuplicate);
    }
    RC_ASSERT(transfer.complete());
  }));
}

}  // namespace
}  // namespace lattice::transfer
