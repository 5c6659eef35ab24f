// Which block is next: fresh ones in order, lost ones first, none while held; and the bound of what is in
// flight.
#include "transport/transfer/outgoing_transfer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "base/random.h"

namespace lattice::transfer {
namespace {

constexpr uint16_t kBlock = 256;

TEST(OutgoingTransfer, NothingBeforeItIsAccepted) {
  OutgoingTransfer transfer(1, 1000, kBlock);
  EXPECT_FALSE(transfer.next());
  EXPECT_TRUE(transfer.accept());
  EXPECT_FALSE(transfer.accept());
  EXPECT_EQ(transfer.next(), 0u);
}

TEST(OutgoingTransfer, LastBlockIsShorter) {
  OutgoingTransfer transfer(1, 3 * kBlock + 1, kBlock);
  EXPECT_EQ(transfer.bytes(2), kBlock);
  EXPECT_EQ(transfer.bytes(3), 1u);
  EXPECT_EQ(transfer.offset(3), 3u * kBlock);
  OutgoingTransfer even(1, 2 * kBlock, kBlock);
  EXPECT_EQ(even.bytes(1), kBlock);
}

TEST(OutgoingTransfer, HeldByEitherSide) {
  OutgoingTransfer transfer(1, 1000, kBlock);
  transfer.accept();
  transfer.hold_here(true);
  transfer.hold_by_peer(true);
  EXPECT_FALSE(transfer.next());
  transfer.hold_here(false);
  EXPECT_FALSE(transfer.next());
  transfer.hold_by_peer(false);
  EXPECT_TRUE(transfer.next());
}

TEST(OutgoingTransfer, LostBlocksGoFirstAndInOrderOfLoss) {
  OutgoingTransfer transfer(1, 100 * kBlock, kBlock);
  transfer.accept();
  for (int i = 0; i < 5; ++i) transfer.on_sent();
  transfer.on_fate(3, false);
  transfer.on_fate(1, false);
  transfer.on_fate(0, true);
  EXPECT_EQ(transfer.next(), 3u);
  transfer.on_sent();
  EXPECT_EQ(transfer.next(), 1u);
  transfer.on_sent();
  EXPECT_EQ(transfer.next(), 5u);
  EXPECT_EQ(transfer.acked_bytes(), kBlock);
}

TEST(OutgoingTransfer, EndedOneDrains) {
  OutgoingTransfer transfer(1, 100 * kBlock, kBlock);
  transfer.accept();
  transfer.on_sent();
  transfer.on_sent();
  transfer.end();
  EXPECT_FALSE(transfer.next());
  EXPECT_FALSE(transfer.drained());
  transfer.on_fate(0, true);
  transfer.on_fate(1, false);
  EXPECT_TRUE(transfer.drained());
  EXPECT_FALSE(transfer.accept());
}

TEST(OutgoingTransfer, AsMuchInFlightAsAllowed) {
  OutgoingTransfer transfer(1, uint64_t{2} * kMaxBlocksInFlight * kBlock, kBlock);
  transfer.accept();
  for (uint32_t i = 0; i < kMaxBlocksInFlight; ++i) {
    ASSERT_EQ(transfer.next(), i);
    transfer.on_sent();
  }
  EXPECT_FALSE(transfer.next());
  // All of them lost is the most the ring has to hold.
  for (uint32_t i = 0; i < kMaxBlocksInFlight; ++i) transfer.on_fate(i, false);
  for (uint32_t i = 0; i < kMaxBlocksInFlight; ++i) {
    ASSERT_EQ(transfer.next(), i);
    transfer.on_sent();
  }
  EXPECT_FALSE(transfer.next());
}

TEST(OutgoingTransfer, EveryBlockIsAckedOnceWhateverIsLost) {
  EXPECT_TRUE(rc::check("a random walk of sends and fates ends with every byte acknowledged", [] {
    const uint64_t size = *rc::gen::inRange<uint64_t>(1, 40 * kBlock);
    OutgoingTransfer transfer(7, size, kBlock);
    transfer.accept();
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    std::vector<uint32_t> flying;
    std::set<uint32_t> acked;
    for (int step = 0; step < 100'000 && transfer.acked_bytes() != size; ++step) {
      const bool send = transfer.next().has_value() && (flying.empty() || random.next_below(2) == 0);
      if (send) {
        const uint32_t index = *transfer.next();
        RC_ASSERT(acked.count(index) == 0);
        flying.push_back(index);
        transfer.on_sent();
      } else {
        const size_t at = random.next_below(flying.size());
        const bool arrives = random.next_below(3) != 0;
        if (arrives) acked.insert(flying[at]);
        transfer.on_fate(flying[at], arrives);
        flying.erase(flying.begin() + static_cast<ptrdiff_t>(at));
      }
      RC_ASSERT(transfer.in_flight() == flying.size());
    }
    RC_ASSERT(transfer.acked_bytes() == size);
    RC_ASSERT(acked.size() == wire::block_count(size, kBlock));
    RC_ASSERT(transfer.all_sent() && !transfer.next());
  }));
}

}  // namespace
}  // namespace lattice::transfer
