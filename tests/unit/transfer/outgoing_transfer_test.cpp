// Which bytes are next: fresh ones in order and as many as fit, lost chunks first and cut when they do not
// fit everywhere, none while held; and the bounds of what is in flight and what is open.
#include "transfer/outgoing_transfer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "base/random.h"

namespace lattice::transfer {
namespace {

constexpr size_t kFloor = OutgoingTransfer::kMinRoomBytes;
constexpr OutgoingTransfer::Room kSmall{kFloor, kFloor};
constexpr OutgoingTransfer::Room kLarge{reliability::kMaxBulkBody, kFloor};
/// Of the first chunk in such rooms: id u16 and an offset of one byte.
constexpr uint64_t kFirstSmall = kFloor - 3;
constexpr uint64_t kFirstLarge = reliability::kMaxBulkBody - 3;

OutgoingTransfer accepted_offer(uint64_t size_bytes) {
  OutgoingTransfer transfer(1, size_bytes);
  EXPECT_TRUE(transfer.accept());
  return transfer;
}

TEST(OutgoingTransfer, NothingBeforeItIsAccepted) {
  OutgoingTransfer transfer(1, 1000);
  EXPECT_FALSE(transfer.has_next());
  EXPECT_TRUE(transfer.accept());
  EXPECT_FALSE(transfer.accept());
  EXPECT_TRUE(transfer.has_next());
  EXPECT_EQ(transfer.next(kSmall), (ByteRange{0, 1000}));
}

TEST(OutgoingTransfer, FreshChunksFillWhatTheDatagramHolds) {
  OutgoingTransfer transfer = accepted_offer(kFirstLarge + kFirstSmall);
  EXPECT_EQ(transfer.next(kSmall), (ByteRange{0, kFirstSmall}));
  EXPECT_EQ(transfer.next(kLarge), (ByteRange{0, kFirstLarge}));
  transfer.on_sent(transfer.next(kLarge));
  EXPECT_FALSE(transfer.all_sent());
  // The offset takes a byte more now, and the rest does not fit the small room any more.
  EXPECT_EQ(transfer.next(kSmall), (ByteRange{kFirstLarge, kFirstLarge + kFirstSmall - 1}));
  EXPECT_EQ(transfer.next(kLarge), (ByteRange{kFirstLarge, kFirstLarge + kFirstSmall}));
  transfer.on_sent(transfer.next(kLarge));
  EXPECT_TRUE(transfer.all_sent());
  EXPECT_FALSE(transfer.has_next());
}

TEST(OutgoingTransfer, HeldByEitherSide) {
  OutgoingTransfer transfer = accepted_offer(1000);
  transfer.hold_here(true);
  transfer.hold_by_peer(true);
  EXPECT_FALSE(transfer.has_next());
  transfer.hold_here(false);
  EXPECT_FALSE(transfer.has_next());
  transfer.hold_by_peer(false);
  EXPECT_TRUE(transfer.has_next());
}

TEST(OutgoingTransfer, LostChunksGoFirstAndInOrderOfLoss) {
  OutgoingTransfer transfer = accepted_offer(100'000);
  std::vector<ByteRange> sent;
  std::vector<uint32_t> names;
  for (int i = 0; i < 5; ++i) {
    sent.push_back(transfer.next(kSmall));
    names.push_back(transfer.on_sent(sent.back()));
  }
  transfer.on_receipt(names[3], false);
  transfer.on_receipt(names[1], false);
  transfer.on_receipt(names[0], true);
  EXPECT_EQ(transfer.next(kLarge), sent[3]) << "as it was, whatever there is room for";
  transfer.on_sent(transfer.next(kLarge));
  EXPECT_EQ(transfer.next(kSmall), sent[1]);
  transfer.on_sent(transfer.next(kSmall));
  EXPECT_EQ(transfer.next(kSmall).begin, sent[4].end);
  EXPECT_EQ(transfer.acked_bytes(), sent[0].bytes());
}

TEST(OutgoingTransfer, ALostChunkThatDoesNotFitEverywhereIsCutOnce) {
  OutgoingTransfer transfer = accepted_offer(100'000);
  const ByteRange whole = transfer.next(kLarge);
  transfer.on_receipt(transfer.on_sent(whole), false);
  const ByteRange first = transfer.next(kLarge);
  EXPECT_EQ(first, (ByteRange{0, (whole.bytes() + 1) / 2}));
  const uint32_t first_name = transfer.on_sent(first);
  const ByteRange second = transfer.next(kLarge);
  EXPECT_EQ(second, (ByteRange{first.end, whole.end}));
  transfer.on_receipt(transfer.on_sent(second), false);
  transfer.on_receipt(first_name, false);
  EXPECT_EQ(transfer.next(kSmall), second);
  transfer.on_sent(second);
  EXPECT_EQ(transfer.next(kSmall), first);
}

TEST(OutgoingTransfer, EndedOneDrains) {
  OutgoingTransfer transfer = accepted_offer(100'000);
  const uint32_t first = transfer.on_sent(transfer.next(kSmall));
  const uint32_t second = transfer.on_sent(transfer.next(kSmall));
  transfer.end();
  EXPECT_FALSE(transfer.has_next());
  EXPECT_FALSE(transfer.drained());
  transfer.on_receipt(first, true);
  transfer.on_receipt(second, false);
  EXPECT_TRUE(transfer.drained());
  EXPECT_FALSE(transfer.accept());
}

TEST(OutgoingTransfer, AsMuchInFlightAndOpenAsAllowed) {
  OutgoingTransfer transfer = accepted_offer(10'000'000);
  std::vector<uint32_t> flying;
  const auto fill = [&] {
    while (transfer.has_next()) flying.push_back(transfer.on_sent(transfer.next(kLarge)));
    EXPECT_EQ(flying.size(), kMaxChunksInFlight);
  };
  fill();
  // The most that can be open: all are lost and cut, and the halves in flight are lost again.
  for (int round = 0; round < 4; ++round) {
    for (const uint32_t name : flying) transfer.on_receipt(name, false);
    flying.clear();
    fill();
    EXPECT_FALSE(transfer.all_sent());
  }
  // Nothing fresh while anything is lost: when it goes on, all before has arrived or is on its way.
  while (!transfer.has_next() || transfer.next(kLarge).bytes() <= kFloor) {
    if (transfer.has_next()) {
      flying.push_back(transfer.on_sent(transfer.next(kLarge)));
    } else {
      transfer.on_receipt(flying.back(), true);
      flying.pop_back();
    }
  }
  const uint64_t fresh_from = transfer.next(kLarge).begin;
  while (!flying.empty()) {
    transfer.on_receipt(flying.back(), true);
    flying.pop_back();
  }
  EXPECT_EQ(transfer.acked_bytes(), fresh_from);
}

TEST(OutgoingTransfer, EveryByteIsAckedOnceWhateverIsLostAndWhateverFits) {
  EXPECT_TRUE(rc::check("a random walk of sends and fates ends with every byte acknowledged", [] {
    const uint64_t size = *rc::gen::inRange<uint64_t>(1, 60'000);
    OutgoingTransfer transfer(7, size);
    transfer.accept();
    base::Random random(*rc::gen::arbitrary<uint64_t>());
    std::map<uint32_t, ByteRange> flying;
    std::vector<bool> acked(size, false);
    for (int step = 0; step < 100'000 && transfer.acked_bytes() != size; ++step) {
      if (transfer.has_next() && (flying.empty() || random.next_below(2) == 0)) {
        const OutgoingTransfer::Room room{kFloor + random.next_below(reliability::kMaxBulkBody - kFloor + 1),
                                          kFloor};
        const ByteRange chunk = transfer.next(room);
        RC_ASSERT(chunk.bytes() + wire::transfer_chunk_header_bytes(chunk.begin) <= room.fresh_bytes);
        RC_ASSERT(chunk.bytes() >= wire::kMinChunkBytes || chunk.end == size);
        RC_ASSERT(flying.emplace(transfer.on_sent(chunk), chunk).second);
      } else {
        const auto at = std::next(flying.begin(), static_cast<ptrdiff_t>(random.next_below(flying.size())));
        const bool arrives = random.next_below(3) != 0;
        for (uint64_t i = at->second.begin; arrives && i < at->second.end; ++i) {
          RC_ASSERT(!acked[i]);
          acked[i] = true;
        }
        transfer.on_receipt(at->first, arrives);
        flying.erase(at);
      }
      RC_ASSERT(transfer.in_flight() == flying.size());
    }
    RC_ASSERT(transfer.acked_bytes() == size);
    RC_ASSERT(transfer.all_sent() && !transfer.has_next());
  }));
}

}  // namespace
}  // namespace lattice::transfer
