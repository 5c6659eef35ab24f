// R-02's expansion, losses, receipts exactly once, and the bounds of the record ring.
#include "reliability/recovery/sent_packet_history.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "reliability/limits.h"
#include "reliability/recovery/ack_tracker.h"
#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;
using test::kSecond;

struct Fate final : AckNotifier {
  void notify_messages(uint8_t, uint32_t first, uint32_t count, uint64_t, bool acked) override {
    for (uint32_t i = 0; i < count; ++i) ++(acked ? acked_messages : lost_messages)[first + i];
  }
  void notify_receipt(uint32_t receipt, bool acked) override {
    ++told[receipt];
    if (acked) ++acked_receipts;
  }
  void notify_chunk(uint32_t chunk, bool acked) override { chunks[chunk].push_back(acked); }
  std::map<uint32_t, int> told;
  std::map<uint32_t, std::vector<bool>> chunks;
  std::map<uint32_t, int> acked_messages, lost_messages;
  uint64_t acked_receipts = 0;
};

class SentPacketHistoryTest : public testing::Test {
 protected:
  void send(uint64_t now_ns, uint32_t receipt = 0, bool eliciting = true) {
    uint32_t chain = CarriedItems::kNone;
    if (receipt != 0) items.add(&chain, CarriedKind::kReceipt, 0, receipt);
    history.on_sent({history.last_sent() + 1, now_ns, eliciting, false, chain}, fate);
    sent_ns = now_ns;
    ASSERT_TRUE(history.validate());
  }
  base::BufferPool pool{16u << 20};
  CarriedItems items{16, 1u << 20};
  SentPacketHistory history{pool, items};
  Fate fate;
  RttEstimator rtt;
  uint64_t sent_ns = 0;  ///< When the last packet left.
};

TEST_F(SentPacketHistoryTest, KnowsTheBytesInFlightAndThoseAnAckTook) {
  const auto send_bytes = [&](uint16_t bytes, bool eliciting) {
    history.on_sent({history.last_sent() + 1, 0, eliciting, false, CarriedItems::kNone, bytes}, fate);
    ASSERT_TRUE(history.validate());
  };
  send_bytes(1000, true);
  send_bytes(60, false);  // Asks for no ack: not in flight.
  for (uint16_t i = 0; i < 4; ++i) send_bytes(100, true);
  EXPECT_EQ(history.bytes_in_flight(), 1400u);
  // Numbers 3 to 6 arrived; 1 is overtaken by more than three.
  AckResult result = history.on_ack({6, 0b111}, sent_ns, rtt, fate);
  EXPECT_EQ(result.newly_acked, 4u);
  EXPECT_EQ(result.newly_acked_bytes, 400u);
  EXPECT_EQ(result.spurious, 0u);
  EXPECT_EQ(history.largest_acked(), 6u);
  EXPECT_EQ(history.detect_losses(kMs, rtt, fate), 1u);
  EXPECT_EQ(history.bytes_in_flight(), 0u);
  ASSERT_TRUE(history.validate());
  result = history.on_ack({6, 0b11111}, sent_ns, rtt, fate);  // Number 1 came after all.
  EXPECT_EQ(result.newly_acked, 0u);
  EXPECT_EQ(result.newly_acked_bytes, 0u);
  EXPECT_EQ(result.spurious, 1u);
}

// Not of a packet that is missing, nor of one that earlier blocks should have named.
TEST_F(SentPacketHistoryTest, TellsWhenTheFirstOfTheNewlyAckedPacketsLeft) {
  for (uint64_t i = 1; i <= 10; ++i) send(i * kMs);
  EXPECT_EQ(history.on_ack({2, 0}, sent_ns, rtt, fate).first_sent_ns, 2 * kMs);
  EXPECT_EQ(history.on_ack({5, 0b111}, sent_ns, rtt, fate).first_sent_ns, 3 * kMs);    // 3 and 4 as well
  EXPECT_EQ(history.on_ack({8, 0b1101}, sent_ns, rtt, fate).first_sent_ns, 7 * kMs);   // without 6
  EXPECT_EQ(history.on_ack({9, 0b11111}, sent_ns, rtt, fate).first_sent_ns, 9 * kMs);  // and 6, late
}

TEST_F(SentPacketHistoryTest, APacketThatAsksForNoAckWaitsForNone) {
  send(1 * kMs);
  EXPECT_EQ(history.on_ack({1, 0}, 50 * kMs, rtt, fate).first_sent_ns, 1 * kMs);
  send(60 * kMs, 0, false);  // an acknowledgement alone
  send(70 * kMs);
  send(80 * kMs, 0, false);
  send(3000 * kMs);
  EXPECT_EQ(history.on_ack({5, 0b1101}, 3050 * kMs, rtt, fate).first_sent_ns, 3000 * kMs) << "3 is missing";
  send(4000 * kMs, 0, false);
  send(4001 * kMs);
  send(4002 * kMs);
  EXPECT_EQ(history.on_ack({8, 0b11}, 4050 * kMs, rtt, fate).first_sent_ns, 4001 * kMs);
}

TEST(AckExpansion, LargestNumberNotAboveTheLastSent) {
  EXPECT_EQ(SentPacketHistory::expand(0, 0), 0u);
  EXPECT_EQ(SentPacketHistory::expand(0, 1), 0u);  // "Nothing received" at the start.
  EXPECT_EQ(SentPacketHistory::expand(0, 65535), 0u);
  EXPECT_EQ(SentPacketHistory::expand(0, 65536), 65536u);
  EXPECT_EQ(SentPacketHistory::expand(0, 65537), 65536u);
  EXPECT_EQ(SentPacketHistory::expand(1, 1), 1u);
  EXPECT_EQ(SentPacketHistory::expand(2, 1), 0u);
  EXPECT_EQ(SentPacketHistory::expand(65535, 65536), 65535u);
  EXPECT_EQ(SentPacketHistory::expand(5, 65536 + 4), 5u);
  EXPECT_EQ(SentPacketHistory::expand(1042, 1042), 1042u);
  EXPECT_EQ(SentPacketHistory::expand(1042, 3 * 65536 + 1042), 3u * 65536 + 1042);
  EXPECT_TRUE(rc::check("expansion is the definition", [] {
    const uint64_t last = *rc::gen::arbitrary<uint64_t>() >> 8;
    const uint16_t low = *rc::gen::arbitrary<uint16_t>();
    const uint64_t s = SentPacketHistory::expand(low, last);
    if (s == 0) {
      RC_ASSERT(low == 0 || low > last);
    } else {
      RC_ASSERT(s <= last && last - s < 65536 && (s & 0xFFFF) == low);
    }
  }));
}

TEST_F(SentPacketHistoryTest, ABlackHoleIsFourLargeLossesAroundASmallArrival) {
  const auto send_sized = [this](bool large) {
    history.on_sent({history.last_sent() + 1, 0, true, large, CarriedItems::kNone}, fate);
  };
  rtt.add_sample(50 * kMs, 0);
  for (int i = 0; i < 8; ++i) send_sized(i % 2 == 0);  // 1, 3, 5, 7 are large.
  EXPECT_EQ(history.on_ack({8, 0}, sent_ns, rtt, fate).newly_acked, 1u);
  EXPECT_EQ(history.detect_losses(kMs * 100, rtt, fate), 7u);
  EXPECT_FALSE(history.black_hole()) << "in between nothing arrived: that was an outage";
  history.on_ack({8, 1u << 3}, sent_ns, rtt, fate);  // 4, late.
  EXPECT_EQ(history.counters().lost_spurious, 1u);
  EXPECT_TRUE(history.black_hole());
  history.reset_black_hole();
  EXPECT_FALSE(history.black_hole());
}

TEST_F(SentPacketHistoryTest, ALargeArrivalEndsTheRow) {
  rtt.add_sample(50 * kMs, 0);
  uint64_t now_ns = 0;
  for (int i = 0; i < 12; ++i) {
    history.on_sent({history.last_sent() + 1, now_ns, true, i % 2 == 0, CarriedItems::kNone}, fate);
    if (i % 2 == 1) history.on_ack({static_cast<uint16_t>(i + 1), 0}, sent_ns, rtt, fate);
    if (i == 6) history.on_ack({7, 0}, sent_ns, rtt, fate);
    now_ns += 100 * kMs;
    history.detect_losses(now_ns, rtt, fate);
    ASSERT_FALSE(history.black_hole()) << "three, one arrived, two";
  }
}

TEST_F(SentPacketHistoryTest, ABlockThatNamesANumberLeftOutActsOnNothing) {
  for (int i = 0; i < 10; ++i) send(0, 100u + static_cast<uint32_t>(i));
  history.on_skipped(11, fate);
  send(0, 111);
  for (const wire::AckBlock lie : {wire::AckBlock{11, 0xFFFFFFFF}, wire::AckBlock{12, 1}}) {
    const AckResult result = history.on_ack(lie, sent_ns, rtt, fate);
    EXPECT_TRUE(result.names_skipped);
    EXPECT_FALSE(result.valid);
  }
  EXPECT_TRUE(fate.told.empty());
  EXPECT_EQ(history.on_ack({12, 0xFFFFFFFE}, sent_ns, rtt, fate).newly_acked, 11u);
  EXPECT_EQ(fate.acked_receipts, 11u);
  EXPECT_EQ(history.in_flight(), 0u);
  EXPECT_EQ(history.counters().lost, 0u);
  EXPECT_EQ(history.last_sent(), 12u);
}

TEST_F(SentPacketHistoryTest, NumbersLeftOutNeitherCountAsLaterNorAsLost) {
  send(0);
  for (uint64_t seq = 2; seq < 6; ++seq) history.on_skipped(seq, fate);
  send(0);
  rtt.add_sample(50 * kMs, 0);
  EXPECT_EQ(history.on_ack({6, 0}, sent_ns, rtt, fate).newly_acked, 1u);
  EXPECT_EQ(history.detect_losses(10 * kMs, rtt, fate), 0u) << "one later packet was acknowledged, not five";
  EXPECT_EQ(history.on_ack({6, 1u << 4}, sent_ns, rtt, fate).newly_acked, 1u);
  EXPECT_EQ(history.in_flight(), 0u);
}

TEST_F(SentPacketHistoryTest, AcksNamesAndSample) {
  for (uint64_t i = 1; i <= 5; ++i) send(i * kMs, static_cast<uint32_t>(i));
  AckResult result = history.on_ack({4, 0b101}, sent_ns, rtt, fate);  // 4, 3, 1
  EXPECT_TRUE(result.valid);
  EXPECT_EQ(result.newly_acked, 3u);
  EXPECT_TRUE(result.has_sample);
  EXPECT_EQ(result.sample_sent_ns, 4 * kMs);
  EXPECT_EQ(fate.acked_receipts, 3u);
  result = history.on_ack({4, 0b111}, sent_ns, rtt, fate);  // again, and 2
  EXPECT_EQ(result.newly_acked, 1u);
  EXPECT_FALSE(result.has_sample);  // Not newly acked.
  for (const auto& [receipt, times] : fate.told) EXPECT_EQ(times, 1) << receipt;
  EXPECT_EQ(history.in_flight(), 1u);
}

TEST_F(SentPacketHistoryTest, NoSampleFromUnaskedAcks) {
  send(1, 0, false);
  EXPECT_FALSE(history.on_ack({1, 0}, sent_ns, rtt, fate).has_sample);
}

TEST_F(SentPacketHistoryTest, NumbersNeverSentAreRefused) {
  EXPECT_TRUE(history.on_ack({0, 0}, sent_ns, rtt, fate).valid);
  EXPECT_FALSE(history.on_ack({1, 0}, sent_ns, rtt, fate).valid);
  send(0, 1);
  EXPECT_TRUE(history.on_ack({0, 0}, sent_ns, rtt, fate).valid);
  EXPECT_FALSE(history.on_ack({2, ~0u}, sent_ns, rtt, fate).valid);
  EXPECT_FALSE(history.on_ack({0, 1}, sent_ns, rtt, fate).valid);
  EXPECT_TRUE(fate.told.empty());
  // Bits for numbers below 1 are ignored.
  EXPECT_EQ(history.on_ack({1, ~0u}, sent_ns, rtt, fate).newly_acked, 1u);
}

TEST_F(SentPacketHistoryTest, MoreThanHalfTheRangeAgoIsRefused) {
  for (int i = 0; i < 40'000; ++i) send(0);
  EXPECT_FALSE(history.on_ack({100, 0}, sent_ns, rtt, fate).valid);
  EXPECT_TRUE(history.on_ack({static_cast<uint16_t>(40'000 - 0x8000), 0}, sent_ns, rtt, fate).valid);
}

TEST_F(SentPacketHistoryTest, ThreeLaterAcksAreALoss) {
  for (uint32_t i = 1; i <= 5; ++i) send(0, i);
  history.on_ack({3, 0b1}, sent_ns, rtt, fate);  // 3 and 2: two later than 1
  EXPECT_EQ(history.detect_losses(0, rtt, fate), 0u);
  history.on_ack({4, 0b11}, sent_ns, rtt, fate);
  EXPECT_EQ(history.detect_losses(0, rtt, fate), 1u);
  EXPECT_EQ(fate.told[1], 1);
  EXPECT_EQ(history.counters().lost, 1u);
  // A late ack is counted, and not told again.
  history.on_ack({4, 0b111}, sent_ns, rtt, fate);
  EXPECT_EQ(history.counters().lost_spurious, 1u);
  EXPECT_EQ(fate.told[1], 1);
  EXPECT_EQ(history.in_flight(), 1u);
}

TEST_F(SentPacketHistoryTest, WherePacketsOvertakeEachOtherOnlyTimeIsALoss) {
  rtt.add_sample(80 * kMs, 0);
  for (uint32_t i = 1; i <= 5; ++i) send(0, i);
  history.on_ack({5, 0b111}, 80 * kMs, rtt, fate);
  EXPECT_EQ(history.detect_losses(80 * kMs, rtt, fate), 1u) << "nothing is known yet";
  history.on_ack({5, 0b1111}, 104 * kMs, rtt, fate);  // 1 came 24 ms behind 2.
  EXPECT_EQ(history.counters().lost_spurious, 1u);

  for (uint32_t i = 6; i <= 10; ++i) send(kSecond, i);
  history.on_ack({10, 0b111}, kSecond + 80 * kMs, rtt, fate);
  EXPECT_EQ(history.detect_losses(kSecond + 80 * kMs, rtt, fate), 0u);
  EXPECT_EQ(history.next_loss_ns(rtt), kSecond + 108 * kMs + 1) << "80 ms, 9/8 of 24, and a millisecond";
  EXPECT_EQ(history.detect_losses(kSecond + 108 * kMs, rtt, fate), 0u);
  EXPECT_EQ(history.detect_losses(kSecond + 108 * kMs + 1, rtt, fate), 1u);

  // A packet that came late without being lost shows that the patience is still needed.
  for (uint32_t i = 11; i <= 15; ++i) send(7 * kSecond, i);
  history.on_ack({15, 0b111}, 7 * kSecond + 80 * kMs, rtt, fate);
  history.on_ack({15, 0b1111}, 7 * kSecond + 90 * kMs, rtt, fate);
  for (uint32_t i = 16; i <= 20; ++i) send(20 * kSecond, i);
  history.on_ack({20, 0b111}, 20 * kSecond + 80 * kMs, rtt, fate);
  EXPECT_EQ(history.detect_losses(20 * kSecond + 80 * kMs, rtt, fate), 1u) << "forgotten";
  EXPECT_EQ(history.counters().lost_spurious, 1u);
}

TEST_F(SentPacketHistoryTest, ALatenessBeyondRtoIsNotWaitedFor) {
  rtt.add_sample(80 * kMs, 0);  // rto 240 ms
  for (uint32_t i = 1; i <= 5; ++i) send(0, i);
  history.on_ack({5, 0b111}, 80 * kMs, rtt, fate);
  history.on_ack({5, 0b1111}, 5 * kSecond, rtt, fate);
  for (uint32_t i = 6; i <= 10; ++i) send(5 * kSecond, i);
  history.on_ack({10, 0b111}, 5 * kSecond + 80 * kMs, rtt, fate);
  EXPECT_EQ(history.next_loss_ns(rtt), 5 * kSecond + (80 + 240 + 30 + 1) * kMs + 1);
}

TEST_F(SentPacketHistoryTest, AgeIsALossOnlyOnceSomethingLaterIsAcked) {
  rtt.add_sample(80 * kMs, 0);
  send(0, 1);
  send(1 * kMs, 2);
  EXPECT_EQ(history.detect_losses(100 * kMs, rtt, fate), 0u);
  history.on_ack({2, 0}, sent_ns, rtt, fate);
  EXPECT_EQ(history.detect_losses(91 * kMs, rtt, fate), 0u);
  EXPECT_EQ(history.detect_losses(92 * kMs, rtt, fate), 1u);  // 9/8 · 80 ms, and a millisecond of grain
}

TEST_F(SentPacketHistoryTest, SilenceSettlesEverything) {
  rtt.add_sample(80 * kMs, 0);
  send(0, 1);
  EXPECT_EQ(history.detect_losses(400 * kMs, rtt, fate), 0u);
  EXPECT_EQ(history.detect_losses(600 * kMs, rtt, fate), 1u);
  EXPECT_EQ(history.in_flight(), 0u);
}

TEST_F(SentPacketHistoryTest, SaysWhenTimeAloneLosesSomething) {
  EXPECT_EQ(history.next_loss_ns(rtt), SentPacketHistory::kNever);
  rtt.add_sample(40 * kMs, 0);
  const auto expect_loss_exactly_then = [&](uint32_t count) {
    const uint64_t when_ns = history.next_loss_ns(rtt);
    ASSERT_NE(when_ns, SentPacketHistory::kNever);
    EXPECT_EQ(history.detect_losses(when_ns - 1, rtt, fate), 0u);
    EXPECT_EQ(history.detect_losses(when_ns, rtt, fate), count);
  };
  for (uint64_t i = 0; i < 3; ++i) send(100 * kMs + i * kMs);
  expect_loss_exactly_then(1);  // Silence: the oldest, the others a little later.
  const uint64_t silence_ns = history.next_loss_ns(rtt);
  history.on_ack({3, 0}, sent_ns, rtt, fate);
  EXPECT_LT(history.next_loss_ns(rtt), silence_ns) << "overtaken";
  expect_loss_exactly_then(1);
  EXPECT_EQ(history.next_loss_ns(rtt), SentPacketHistory::kNever);
}

TEST_F(SentPacketHistoryTest, RingGrowsToItsBoundAndThenLoses) {
  send(0, 1);
  EXPECT_EQ(history.capacity(), kMinSentPackets);
  for (uint32_t i = 2; i <= kMaxSentPackets; ++i) send(0, i);
  EXPECT_EQ(history.capacity(), kMaxSentPackets);
  EXPECT_TRUE(fate.told.empty());
  send(0, 5000);
  EXPECT_EQ(fate.told[1], 1);  // Displaced: lost.
  EXPECT_EQ(history.in_flight(), kMaxSentPackets);
  history.lose_everything(fate);
  EXPECT_EQ(fate.told.size(), kMaxSentPackets + 1);
  for (const auto& [receipt, times] : fate.told) EXPECT_EQ(times, 1) << receipt;
  EXPECT_EQ(items.live(), 0u);
}

TEST(SentPacketHistory, WithoutMemoryAPacketIsLostTheMomentItLeaves) {
  base::BufferPool pool{1u << 20};
  std::vector<base::Buffer> taken;
  for (base::Buffer buffer = pool.allocate(4096); buffer; buffer = pool.allocate(4096))
    taken.push_back(buffer);
  CarriedItems items{16, 1u << 20};
  SentPacketHistory history{pool, items};
  Fate fate;
  uint32_t chain = CarriedItems::kNone;
  items.add(&chain, CarriedKind::kReceipt, 0, 7);
  history.on_sent({1, 0, true, false, chain}, fate);
  EXPECT_EQ(history.last_sent(), 1u);
  EXPECT_EQ(history.in_flight(), 0u);
  EXPECT_EQ(fate.told, (std::map<uint32_t, int>{{7, 1}}));
  EXPECT_EQ(fate.acked_receipts, 0u);
  // An acknowledgement of it is fine, and of no use.
  EXPECT_TRUE(history.on_ack({1, 0}, 0, RttEstimator{}, fate).valid);
  EXPECT_EQ(fate.told.size(), 1u);
  for (base::Buffer& buffer : taken) pool.release(buffer);
}

TEST_F(SentPacketHistoryTest, AckedTrafficNeedsOnlyTheSmallRing) {
  for (uint32_t i = 1; i <= 100'000; ++i) {
    send(i, i);
    history.on_ack({static_cast<uint16_t>(i), ~0u}, sent_ns, rtt, fate);
    ASSERT_EQ(fate.acked_receipts, i);
  }
  EXPECT_EQ(history.capacity(), kMinSentPackets);
  EXPECT_EQ(items.live(), 0u);
}

TEST(SentPacketHistoryProperty, ReceiptsAreToldOnceUnderAnyAcks) {
  EXPECT_TRUE(rc::check("random losses, reordered acks", [] {
    base::BufferPool pool(16u << 20);
    CarriedItems items(16, 1u << 20);
    SentPacketHistory history(pool, items);
    Fate fate;
    RttEstimator rtt;
    AckTracker receiver;
    std::vector<wire::AckBlock> in_flight_acks;
    uint64_t now = 0;
    uint32_t receipt = 0;
    const auto steps = *rc::gen::inRange(1, 400);
    for (int i = 0; i < steps; ++i) {
      now += kMs * static_cast<uint64_t>(*rc::gen::inRange(0, 20));
      uint32_t chain = CarriedItems::kNone;
      items.add(&chain, CarriedKind::kReceipt, 0, ++receipt);
      items.add_messages(&chain, 2, receipt, 1);
      history.on_sent({history.last_sent() + 1, now, true, false, chain}, fate);
      if (*rc::gen::inRange(0, 3) != 0) receiver.on_packet(history.last_sent(), true, now);
      in_flight_acks.push_back(receiver.block());
      if (*rc::gen::inRange(0, 2) == 0) {
        const auto pick =
            static_cast<size_t>(*rc::gen::inRange<int>(0, static_cast<int>(in_flight_acks.size())));
        RC_ASSERT(history.on_ack(in_flight_acks[pick], now, rtt, fate).valid);
      }
      history.detect_losses(now, rtt, fate);
      RC_ASSERT(history.validate());
    }
    history.lose_everything(fate);
    RC_ASSERT(fate.told.size() == receipt);
    for (const auto& [number, times] : fate.told) RC_ASSERT(times == 1);
    for (const auto& [id, times] : fate.acked_messages) RC_ASSERT(times == 1);
    RC_ASSERT(items.live() == 0u);
  }));
}

// Farther, a block's 16 bits could mean two of them.
TEST_F(SentPacketHistoryTest, FullAtHalfOfTheNumbersWithoutAnAck) {
  while (history.last_sent() + 2 < kMaxUnacked) {
    ASSERT_FALSE(history.is_full());
    send(0, 0, false);
  }
  EXPECT_TRUE(history.is_full());
  EXPECT_EQ(history.in_flight(), 0u);
  history.on_ack({1000, 0}, sent_ns, rtt, fate);
  EXPECT_FALSE(history.is_full());
}

TEST_F(SentPacketHistoryTest, ChunkIsToldOnceAndNotAgainByALateAck) {
  for (uint32_t chunk = 1; chunk <= 5; ++chunk) {
    uint32_t chain = CarriedItems::kNone;
    items.add(&chain, CarriedKind::kChunk, 13, chunk);
    history.on_sent({history.last_sent() + 1, 0, true, false, chain}, fate);
  }
  history.on_ack({5, 0b111}, sent_ns, rtt, fate);  // 5, 4, 3, 2
  history.detect_losses(kMs, rtt, fate);
  ASSERT_EQ(fate.chunks.size(), 5u);
  EXPECT_EQ(fate.chunks[1], std::vector<bool>{false});
  for (uint32_t chunk = 2; chunk <= 5; ++chunk) EXPECT_EQ(fate.chunks[chunk], std::vector<bool>{true});
  history.on_ack({5, 0b1111}, sent_ns, rtt, fate);  // late
  EXPECT_EQ(fate.chunks[1].size(), 1u);
  EXPECT_EQ(items.live(), 0u);
  EXPECT_TRUE(fate.told.empty());
}

}  // namespace
}  // namespace lattice::reliability
