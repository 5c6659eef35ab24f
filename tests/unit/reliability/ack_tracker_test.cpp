// What goes into an ack block, compared with a set of received numbers, and when one is due.
#include "reliability/recovery/ack_tracker.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "reliability/limits.h"
#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;
using test::kSecond;

TEST(AckTracker, NothingReceived) {
  AckTracker acks;
  EXPECT_EQ(acks.block(), wire::AckBlock{});
  EXPECT_FALSE(acks.ack_pending());
  EXPECT_EQ(acks.delay_ns(123), 0u);
}

TEST(AckTracker, ExampleOfTheSpecification) {
  // §3.4: 1042 highest, bits 1011: 1041, 1040, 1038 received, 1039 missing.
  AckTracker acks;
  for (const uint64_t seq : {1038u, 1040u, 1041u, 1042u}) acks.on_packet(seq, true, 0);
  EXPECT_EQ(acks.block(), (wire::AckBlock{1042, 0xB}));
}

TEST(AckTracker, MatchesASetOfNumbers) {
  EXPECT_TRUE(rc::check("bit n is number highest - (n + 1)", [] {
    AckTracker acks;
    std::set<uint64_t> seen;
    uint64_t base = *rc::gen::element<uint64_t>(1, 65500, 1u << 20);
    const auto count = *rc::gen::inRange(1, 200);
    for (int i = 0; i < count; ++i) {
      base += static_cast<uint64_t>(*rc::gen::inRange(0, 3));
      const auto back = static_cast<uint64_t>(*rc::gen::inRange(0, 50));
      const uint64_t seq = base > back ? base - back : 1;
      acks.on_packet(seq, false, 0);
      seen.insert(seq);
    }
    const uint64_t highest = *seen.rbegin();
    RC_ASSERT(acks.highest() == highest);
    RC_ASSERT(acks.block().ack_seq == static_cast<uint16_t>(highest));
    for (uint64_t n = 0; n < 32; ++n) {
      const bool bit = (acks.block().ack_bitfield >> n & 1) != 0;
      RC_ASSERT(bit == (highest > n + 1 && seen.count(highest - n - 1) != 0));
    }
  }));
}

TEST(AckTracker, SaysFromWhenOnAnUpdateMustSendIt) {
  constexpr uint64_t kInterval = 16 * kMs;
  AckTracker acks;
  EXPECT_EQ(acks.due_at_ns(kInterval), AckTracker::kNever);
  acks.on_packet(1, true, 100 * kMs);
  const uint64_t due_ns = acks.due_at_ns(kInterval);
  EXPECT_EQ(due_ns, 100 * kMs + kMaxAckDelayNs - kInterval);
  EXPECT_FALSE(acks.ack_due(due_ns - 1, kInterval));
  EXPECT_TRUE(acks.ack_due(due_ns, kInterval));
  acks.on_packet(3, true, 101 * kMs);
  EXPECT_EQ(acks.due_at_ns(kInterval), 0u) << "out of turn";
  acks.on_block_sent(0, 0);
  EXPECT_EQ(acks.due_at_ns(kInterval), AckTracker::kNever);
}

// Where every packet comes out of turn.
TEST(AckTracker, PausesAfterABlock) {
  AckTracker acks;
  acks.on_packet(1, true, 100 * kMs);
  acks.on_block_sent(110 * kMs, 25 * kMs);
  acks.on_packet(3, true, 112 * kMs, 5 * kMs);
  EXPECT_EQ(acks.due_at_ns(0), 135 * kMs) << "of the gap, and of the 5 ms";
  EXPECT_FALSE(acks.ack_due(134 * kMs, 16 * kMs));
  EXPECT_TRUE(acks.ack_due(135 * kMs, 0));
  for (uint64_t seq = 4; seq <= 2 + kAckEveryPackets; ++seq) acks.on_packet(seq, true, 113 * kMs);
  EXPECT_EQ(acks.due_at_ns(0), 0u) << "many packets do not wait";
  EXPECT_TRUE(acks.ack_due(113 * kMs, 0));
}

// A peer that sends much may not make a side with a small rate send nothing but acks.
TEST(AckTracker, AcksOfManyPacketsHaveARate) {
  AckTracker acks;
  uint64_t seq = 0, sent = 0;
  constexpr uint64_t kCost = 25 * kMs;
  for (uint64_t now_ns = kSecond; now_ns < 11 * kSecond; now_ns += kMs) {
    for (int i = 0; i < 10; ++i) acks.on_packet(++seq, true, now_ns);
    if (!acks.ack_due(now_ns, 0)) continue;
    EXPECT_LE(acks.due_at_ns(0), now_ns);
    acks.on_block_sent(now_ns, kCost);
    acks.on_separate_ack(now_ns, kCost, true);
    ++sent;
  }
  EXPECT_LE(sent, 10 * kSecond / kCost + AckTracker::kAckBurstNs / kCost + 1);
  EXPECT_GE(sent, 10 * kSecond / kCost);
}

TEST(AckTracker, WithoutACeilingNoPacketIsLeftOut) {
  AckTracker acks;
  uint64_t acked = 0;
  for (uint64_t seq = 1; seq <= 10'000; ++seq) {
    acks.on_packet(seq, true, kSecond);
    if (!acks.ack_overdue(kSecond)) continue;
    EXPECT_LE(seq - acked, 33u) << "one block";
    acked = seq;
    acks.on_block_sent(kSecond, 0);
    acks.on_separate_ack(kSecond, 25 * kMs, false);
  }
  EXPECT_GT(acked, 9'967u);
}

TEST(AckTracker, TheAgeOfABlockIncludesTheTimeBeforeAReading) {
  AckTracker acks;
  EXPECT_EQ(acks.delay_bound_ns(50 * kMs), 0u);
  acks.on_packet(1, true, 50 * kMs, 25 * kMs, 5 * kMs);
  EXPECT_EQ(acks.delay_ns(52 * kMs), 2 * kMs) << "a short time is not worth two bytes";
  EXPECT_EQ(acks.delay_bound_ns(52 * kMs), 7 * kMs);
  acks.on_packet(2, true, 250 * kMs, 25 * kMs, 200 * kMs);
  EXPECT_EQ(acks.delay_ns(252 * kMs), 202 * kMs);
  EXPECT_EQ(acks.delay_bound_ns(252 * kMs), 202 * kMs);
}

TEST(AckTracker, AcksOfABurstLeaveAtOnce) {
  AckTracker acks;
  int sent = 0;
  for (uint64_t seq = 1; seq <= 100 * kAckEveryPackets; ++seq) {
    acks.on_packet(seq, true, kSecond);
    if (!acks.ack_overdue(kSecond)) continue;
    acks.on_block_sent(kSecond, 0);
    acks.on_separate_ack(kSecond, 2 * kMs, true);
    ++sent;
  }
  EXPECT_EQ(sent, 100) << "a quarter of a second is there at once";
}

TEST(AckTracker, LargeWindowsHaveHalfTheAcks) {
  AckTracker acks;
  acks.set_every(kAckEveryPacketsOfMany);
  uint64_t seq = 0;
  const auto acks_of = [&](uint64_t packets) {
    uint64_t sent = 0;
    for (const uint64_t end = seq + packets; seq != end;) {
      acks.on_packet(++seq, true, kSecond);
      EXPECT_EQ(acks.due_at_ns(0) <= kSecond, acks.ack_overdue(kSecond));
      if (!acks.ack_overdue(kSecond)) continue;
      acks.on_block_sent(kSecond, 0);
      ++sent;
    }
    return sent;
  };
  acks_of(AckTracker::kInOrderPackets);
  EXPECT_EQ(acks_of(100 * kAckEveryPacketsOfMany), 100u);
  acks.on_packet(seq - 20, true, kSecond);
  acks.on_block_sent(kSecond, 0);
  EXPECT_EQ(acks_of(100 * kAckEveryPackets), 100u) << "packets overtake each other";
  acks_of(AckTracker::kInOrderPackets);
  acks.on_block_sent(kSecond, 0);
  EXPECT_EQ(acks_of(100 * kAckEveryPacketsOfMany), 100u);
}

TEST(AckTracker, JumpsOfTheWholeWindow) {
  for (const uint64_t jump : {31u, 32u, 33u, 34u, 1000u}) {
    AckTracker acks;
    acks.on_packet(5, true, 0);
    acks.on_packet(5 + jump, true, 0);
    EXPECT_EQ(acks.block().ack_bitfield, jump <= 32 ? uint32_t{1} << (jump - 1) : 0u) << jump;
  }
}

TEST(AckTracker, AReliableMessageWaitsLess) {
  EXPECT_EQ(reliable_ack_delay_ns(0), 5 * kMs);
  EXPECT_EQ(reliable_ack_delay_ns(80 * kMs), 10 * kMs);
  EXPECT_EQ(reliable_ack_delay_ns(1000 * kMs), kMaxAckDelayNs);
  AckTracker acks;
  acks.on_packet(1, true, 10 * kMs);
  acks.on_packet(2, true, 12 * kMs, 5 * kMs);
  acks.on_packet(3, true, 13 * kMs);  // Does not postpone it again.
  EXPECT_FALSE(acks.ack_due(16 * kMs, 0));
  EXPECT_TRUE(acks.ack_due(17 * kMs, 0));
  acks.on_block_sent(0, 0);
  acks.on_packet(4, true, 20 * kMs);
  EXPECT_FALSE(acks.ack_due(44 * kMs, 0));
  EXPECT_TRUE(acks.ack_due(45 * kMs, 0));
}

TEST(AckTracker, DueAfterSixteenPacketsOr25Milliseconds) {
  AckTracker acks;
  acks.on_packet(1, false, 0);
  EXPECT_FALSE(acks.ack_pending());  // Keepalives and acks alone never ask for an ack.
  acks.on_packet(2, true, 10 * kMs);
  EXPECT_TRUE(acks.ack_pending());
  EXPECT_FALSE(acks.ack_due(34 * kMs, 0));
  EXPECT_TRUE(acks.ack_due(35 * kMs, 0));
  EXPECT_TRUE(acks.ack_due(20 * kMs, 16 * kMs));  // The next chance would come too late.
  for (uint64_t seq = 3; seq < 2 + kAckEveryPackets; ++seq) {
    EXPECT_FALSE(acks.ack_overdue(10 * kMs));
    acks.on_packet(seq, true, 10 * kMs);
  }
  EXPECT_TRUE(acks.ack_overdue(10 * kMs));
  EXPECT_TRUE(acks.ack_due(10 * kMs, 0));
  acks.on_block_sent(0, 0);
  EXPECT_FALSE(acks.ack_pending());
  EXPECT_EQ(acks.delay_ns(15 * kMs), 5 * kMs);
}

}  // namespace
}  // namespace lattice::reliability
