// What is new, what was here, and what no sender sends.
#include "transfer/incoming_transfer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "base/random.h"
#include "transfer/transfer_limits.h"

namespace lattice::transfer {
namespace {

using Judgement = IncomingTransfer::Judgement;
const std::vector<uint8_t> kBytes(2000, 0xAB);

wire::TransferChunk chunk(uint64_t offset, size_t bytes) {
  return {1, offset, std::span(kBytes).first(bytes)};
}

IncomingTransfer accepted(uint64_t size_bytes) {
  IncomingTransfer transfer({1, size_bytes, {}});
  transfer.accept();
  return transfer;
}

TEST(IncomingTransfer, JudgesPlaceLengthAndRepetition) {
  IncomingTransfer transfer = accepted(1000);
  EXPECT_EQ(transfer.judge(chunk(0, 256)), Judgement::kNew);
  EXPECT_EQ(transfer.judge(chunk(0, 255)), Judgement::kTooShort);
  EXPECT_EQ(transfer.judge(chunk(0, 1000)), Judgement::kNew);
  EXPECT_EQ(transfer.judge(chunk(0, 1001)), Judgement::kPastEnd);
  EXPECT_EQ(transfer.judge(chunk(999, 1)), Judgement::kNew) << "the end may be as short as it is";
  EXPECT_EQ(transfer.judge(chunk(998, 1)), Judgement::kTooShort);
  EXPECT_EQ(transfer.judge(chunk(999, 2)), Judgement::kPastEnd);
  EXPECT_EQ(transfer.judge(chunk(1000, 1)), Judgement::kPastEnd);
  EXPECT_EQ(transfer.judge(chunk(UINT64_MAX, 256)), Judgement::kPastEnd);
  transfer.on_stored(chunk(300, 400));
  EXPECT_EQ(transfer.judge(chunk(300, 400)), Judgement::kDuplicate);
  EXPECT_EQ(transfer.judge(chunk(400, 256)), Judgement::kDuplicate);
  EXPECT_EQ(transfer.judge(chunk(200, 400)), Judgement::kNew) << "a part of it is";
  EXPECT_EQ(transfer.first_missing({200, 600}), (ByteRange{200, 300}));
  EXPECT_EQ(transfer.received_bytes(), 400u);
  transfer.on_stored(chunk(200, 800));
  EXPECT_EQ(transfer.received_bytes(), 800u);
}

TEST(IncomingTransfer, ChunksThatLeaveTooManyGapsAreTooScattered) {
  IncomingTransfer transfer = accepted(1u << 20);
  uint64_t at = 1;
  for (size_t gaps = 1; gaps < kMaxMissingRanges; ++gaps, at += 257) {
    ASSERT_EQ(transfer.judge(chunk(at, 256)), Judgement::kNew) << gaps;
    transfer.on_stored(chunk(at, 256));
  }
  EXPECT_EQ(transfer.judge(chunk(at, 256)), Judgement::kTooScattered);
  EXPECT_EQ(transfer.judge(chunk(at - 1, 256)), Judgement::kNew);
}

TEST(IncomingTransfer, CompleteWithEveryByteInAnyOrder) {
  EXPECT_TRUE(rc::check("any chunks a sender may cut, in any order, any repetition", [] {
    const uint64_t size = *rc::gen::inRange<uint64_t>(1, 50'000);
    IncomingTransfer transfer = accepted(size);
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    uint64_t received = 0;
    for (int i = 0; i < 20'000 && !transfer.complete(); ++i) {
      const uint64_t place = random.next_below(size + 500);  // often the very beginning
      const uint64_t offset = place - std::min<uint64_t>(place, 500);
      const uint64_t bytes = std::min(size - offset, 256 + random.next_below(1200));
      const wire::TransferChunk next = chunk(offset, bytes);
      uint64_t missing = 0;
      for (ByteRange rest = range_of(next); !rest.empty();) {
        const ByteRange part = transfer.first_missing(rest);
        missing += part.bytes();
        rest.begin = part.end;
      }
      const Judgement judged = transfer.judge(next);
      RC_ASSERT(judged == (missing == 0 ? Judgement::kDuplicate : Judgement::kNew));
      if (judged == Judgement::kNew) transfer.on_stored(next);
      received += missing;
      RC_ASSERT(transfer.received_bytes() == received);
      RC_ASSERT(transfer.judge(next) == Judgement::kDuplicate);
    }
    RC_ASSERT(transfer.complete() && received == size);
  }));
}

}  // namespace
}  // namespace lattice::transfer
