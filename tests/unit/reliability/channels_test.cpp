// A sending and a receiving channel joined by a lossy, reordering, duplicating path: exactly once, in order,
// bounded.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>
#include <map>
#include <optional>
#include <set>

#include "base/random.h"
#include "platform/byte_order.h"
#include "reliability/channel/receive_channel.h"
#include "reliability/channel/send_channel.h"
#include "reliability/channel/unreliable_queue.h"
#include "support/durations.h"

namespace lattice::reliability {
namespace {

using test::kMs;
using Outcome = ReceiveChannel::Outcome;

std::vector<uint8_t> body_of(uint32_t n) {
  std::vector<uint8_t> out(4);
  platform::store_u32_le(out.data(), n);
  return out;
}

struct Sent {
  uint32_t index = 0;
  OutgoingMessage message;
};

std::optional<Sent> sent_of(const SendChannel::Run& run, const OutgoingMessage& message) {
  return run.count == 0 ? std::nullopt : std::optional<Sent>({run.first, message});
}
// The oldest new or lost message leaves in packet `seq`.
std::optional<Sent> send_one(SendChannel& channel, uint64_t seq, uint64_t now,
                             uint64_t resend_after_ns = 100 * kMs) {
  OutgoingMessage offered;
  const auto take = [&](const OutgoingMessage& message) { return offered = message, true; };
  return sent_of(channel.send_new(1, {seq, now, resend_after_ns}, take), offered);
}
std::optional<Sent> resend_one(SendChannel& channel, uint64_t seq, uint64_t now) {
  OutgoingMessage offered;
  const auto take = [&](const OutgoingMessage& message) { return offered = message, true; };
  return sent_of(channel.resend_one({seq, now, 0}, take), offered);
}
std::optional<base::Sequence16> next_lost_id(SendChannel& channel) {
  std::optional<base::Sequence16> id;
  channel.resend_one({}, [&id](const OutgoingMessage& message) { return id = message.id, false; });
  return id;
}

// Runs `total` messages through both channels, one message per packet.
struct Wire {
  explicit Wire(bool ordered_mode, uint64_t seed)
      : ordered(ordered_mode), receiver(pool, memory, ordered), random(seed) {}

  struct InFlight {
    uint64_t packet_seq;
    uint32_t index;
    base::Sequence16 id;
    std::vector<uint8_t> body;
    uint64_t arrives_ns;
  };

  void deliver(std::span<const uint8_t> body) { delivered.push_back(platform::load_u32_le(body.data())); }

  void accept(const InFlight& packet) {
    const Outcome outcome = receiver.offer(packet.id, 0, packet.body);
    ASSERT_NE(outcome, Outcome::kBeyondWindow);
    ASSERT_NE(outcome, Outcome::kNoMemory);
    if (outcome != Outcome::kDeliver) return;
    deliver(packet.body);
    ReceiveChannel::Ready ready;
    while (receiver.pop_ready(&ready)) {
      deliver(ready.body());
      receiver.release(ready);
    }
  }

  void transmit(uint32_t index, const OutgoingMessage& message) {
    const uint64_t seq = ++packet_seq;
    if (random.chance(loss)) {
      fates.push_back({seq, index, false});
      return;
    }
    const int copies = random.chance(duplicate) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      flying.push_back({seq,
                        index,
                        message.id,
                        {message.body.begin(), message.body.end()},
                        now + random.next_below(max_delay_ns + 1)});
    }
  }

  void step() {
    now += 10 * kMs;
    sender.expire(now);
    while (const auto sent = resend_one(sender, packet_seq + 1, now)) transmit(sent->index, sent->message);
    while (const auto sent = send_one(sender, packet_seq + 1, now)) transmit(sent->index, sent->message);
    for (size_t i = 0; i < flying.size();) {
      if (flying[i].arrives_ns > now) {
        ++i;
        continue;
      }
      accept(flying[i]);
      if (!random.chance(loss))
        fates.push_back({flying[i].packet_seq, flying[i].index, true});  // The ack may be lost.
      flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (const auto& fate : fates) {
      if (fate.acked) {
        sender.on_acked(fate.index, 1, [this](uint32_t receipt) { ++receipts[receipt]; });
      } else {
        sender.on_lost(fate.index, 1, fate.packet_seq);
      }
    }
    fates.clear();
    ASSERT_TRUE(sender.validate());
  }

  struct FateOf {
    uint64_t packet_seq;
    uint32_t index;
    bool acked;
  };

  bool ordered;
  base::BufferPool pool{64u << 20};
  ReceiveMemory memory{1, 0, 0, base::PageSize::kSmall};
  SendChannel sender{pool};
  ReceiveChannel receiver;
  base::Random random;
  double loss = 0;
  double duplicate = 0;
  uint64_t max_delay_ns = 0;
  uint64_t now = 0;
  uint64_t packet_seq = 0;
  std::vector<InFlight> flying;
  std::vector<FateOf> fates;
  std::vector<uint32_t> delivered;
  std::map<uint32_t, int> receipts;
};

void exactly_once(bool ordered, uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << (ordered ? " ordered" : " unordered"));
  Wire path(ordered, seed);
  path.loss = static_cast<double>(seed % 5) * 0.1;
  path.duplicate = 0.2;
  path.max_delay_ns = (seed % 3) * 100 * kMs;
  constexpr uint32_t kTotal = 2000;
  uint32_t queued = 0;
  for (int i = 0; i < 20'000 && path.delivered.size() < kTotal; ++i) {
    while (queued < kTotal && path.sender.queue(0, body_of(queued), queued + 1)) ++queued;
    path.step();
  }
  ASSERT_EQ(path.delivered.size(), kTotal);
  for (int i = 0; i < 5000 && !path.sender.idle(); ++i) path.step();
  EXPECT_TRUE(path.sender.idle());
  if (!ordered) std::sort(path.delivered.begin(), path.delivered.end());
  for (uint32_t i = 0; i < kTotal; ++i) ASSERT_EQ(path.delivered[i], i);
  ASSERT_EQ(path.receipts.size(), kTotal);
  for (const auto& [receipt, times] : path.receipts) ASSERT_EQ(times, 1) << receipt;
  EXPECT_EQ(path.pool.stats().buffers_live, 0u);
}

TEST(Channels, ExactlyOnceUnderLossReorderAndDuplication) {
  for (uint64_t seed = 0; seed < 15; ++seed) {
    exactly_once(true, seed);
    exactly_once(false, seed);
  }
}

TEST(Channels, IdsWrap) {
  Wire path(true, 1);
  uint32_t queued = 0;
  for (int i = 0; i < 2000 && path.delivered.size() < 140'000; ++i) {
    while (queued < 140'000 && path.sender.queue(0, body_of(queued), 0)) ++queued;
    path.step();
  }
  ASSERT_EQ(path.delivered.size(), 140'000u);
  for (uint32_t i = 0; i < 140'000; ++i) ASSERT_EQ(path.delivered[i], i);
}

TEST(Channels, TenThousandMessagesBehindAGapStayLinear) {
  // The first message never gets through for a long time: everything behind it waits in bounded places, and
  // each step costs no more than the window.
  Wire path(true, 1);
  ASSERT_TRUE(path.sender.queue(0, body_of(0), 0));
  ASSERT_TRUE(send_one(path.sender, ++path.packet_seq, 0));  // lost
  uint32_t queued = 1;
  while (queued < 10'000 && path.sender.queue(0, body_of(queued), 0)) ++queued;
  EXPECT_EQ(queued, 256u + 1024);
  path.loss = 0;
  for (int i = 0; i < 9; ++i) path.step();  // Before the first message's interval is over.
  EXPECT_TRUE(path.delivered.empty());
  EXPECT_EQ(path.receiver.stored_messages(), 255u);
  for (int i = 0; i < 400 && path.delivered.size() < 10'000; ++i) {
    while (queued < 10'000 && path.sender.queue(0, body_of(queued), 0)) ++queued;
    path.step();
  }
  ASSERT_EQ(path.delivered.size(), 10'000u);
  EXPECT_LT(path.packet_seq, 10'100u);  // Nearly nothing was sent twice.
}

TEST(SendChannel, BackPressureByCountAndByBytes) {
  base::BufferPool pool(64u << 20);
  SendChannel small(pool);
  size_t count = 0;
  while (small.queue(0, body_of(1), 0)) ++count;
  EXPECT_EQ(count, 1280u);
  EXPECT_TRUE(small.validate());
  SendChannel large(pool);
  const std::vector<uint8_t> body(kMaxReliableBody, 1);
  count = 0;
  while (large.queue(0, body, 0)) ++count;
  EXPECT_EQ(count, kMaxQueuedBytes / kMaxReliableBody);
}

TEST(SendChannel, PoolLimitIsBackPressure) {
  base::BufferPool pool(128u << 10);
  SendChannel channel(pool);
  const std::vector<uint8_t> body(1000, 1);
  size_t count = 0;
  while (channel.queue(0, body, 0)) ++count;
  EXPECT_GT(count, 2u);
  EXPECT_LT(count, 200u);
  EXPECT_TRUE(channel.validate());
}

TEST(SendChannel, IntervalDoublesToOneSecond) {
  base::BufferPool pool(1u << 20);
  SendChannel channel(pool);
  ASSERT_TRUE(channel.queue(0, body_of(1), 0));
  uint64_t now = 0;
  ASSERT_TRUE(send_one(channel, 1, now));
  uint64_t seq = 1;
  for (const uint64_t interval_ms : {100u, 200u, 400u, 800u, 1000u, 1000u}) {
    channel.expire(now + interval_ms * kMs - 1);
    EXPECT_FALSE(channel.has_lost()) << interval_ms;
    channel.expire(now += interval_ms * kMs);
    ASSERT_TRUE(resend_one(channel, ++seq, now)) << interval_ms;
    EXPECT_FALSE(channel.has_lost());
  }
}

TEST(SendChannel, IntervalDoublesToItsBound) {
  for (const uint64_t bound_ms : {50u, 700u, 5000u}) {
    base::BufferPool pool(1u << 20);
    SendChannel channel(pool, bound_ms * kMs);
    ASSERT_TRUE(channel.queue(0, body_of(1), 0));
    uint64_t now = 0;
    ASSERT_TRUE(send_one(channel, 1, now));
    for (uint64_t seq = 2, interval_ms = 100; seq < 12; ++seq, interval_ms *= 2) {
      const uint64_t waits_ms = std::min<uint64_t>(interval_ms, bound_ms);
      channel.expire(now + waits_ms * kMs - 1);
      EXPECT_FALSE(channel.has_lost()) << bound_ms << " " << interval_ms;
      channel.expire(now += waits_ms * kMs);
      ASSERT_TRUE(resend_one(channel, seq, now)) << bound_ms << " " << interval_ms;
    }
  }
}

TEST(SendChannel, OnlyTheNewestCarrierLosesAMessage) {
  base::BufferPool pool(1u << 20);
  SendChannel channel(pool);
  ASSERT_TRUE(channel.queue(0, body_of(1), 77));
  ASSERT_TRUE(send_one(channel, 1, 0, 50 * kMs));
  channel.expire(60 * kMs);
  ASSERT_TRUE(resend_one(channel, 2, 60 * kMs));
  channel.on_lost(0, 1, 1);
  EXPECT_FALSE(channel.has_lost());
  channel.on_lost(0, 1, 2);
  EXPECT_TRUE(channel.has_lost());
  std::vector<uint32_t> told;
  channel.on_acked(0, 1, [&](uint32_t receipt) { told.push_back(receipt); });  // The first copy had arrived.
  EXPECT_EQ(told, std::vector<uint32_t>{77});
  EXPECT_FALSE(channel.has_lost());
  EXPECT_TRUE(channel.idle());
  channel.on_acked(0, 1, [&](uint32_t receipt) { told.push_back(receipt); });
  EXPECT_EQ(told.size(), 1u);
}

TEST(SendChannel, ALateAckIsNotForTheMessageThatHasTheIdNow) {
  base::BufferPool pool(4u << 20);
  SendChannel channel(pool);
  const auto none = [](uint32_t) {};
  for (uint32_t index = 0; index < 0x10000; ++index) {
    ASSERT_TRUE(channel.queue(0, body_of(index), 0));
    const auto sent = send_one(channel, index, 0);
    ASSERT_TRUE(sent && sent->index == index);
    channel.on_acked(index, 1, none);
  }
  ASSERT_TRUE(channel.queue(0, body_of(0x10000), 0));
  const auto sent = send_one(channel, 0x10000, 0);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->message.id, base::Sequence16{0});
  channel.on_acked(0, 1, none);  // The packet with the first message of that id, once more.
  EXPECT_FALSE(channel.idle());
  channel.on_acked(0x10000, 1, none);
  EXPECT_TRUE(channel.idle());
}

TEST(SendChannel, ARangeIsAckedAtOnceWhatIsHereOfIt) {
  base::BufferPool pool(4u << 20);
  SendChannel channel(pool);
  for (uint32_t index = 0; index < 8; ++index) {
    ASSERT_TRUE(channel.queue(0, body_of(index), index + 1));
    ASSERT_TRUE(send_one(channel, 1, 0));
  }
  std::vector<uint32_t> told;
  const auto tell = [&](uint32_t receipt) { told.push_back(receipt); };
  channel.on_acked(2, 2, tell);
  channel.on_lost(0, 4, 1);  // Two of them only.
  ASSERT_TRUE(channel.validate());
  EXPECT_EQ(next_lost_id(channel), base::Sequence16{0});
  channel.on_acked(0, 6, tell);
  ASSERT_TRUE(channel.validate());
  EXPECT_FALSE(channel.has_lost());
  EXPECT_EQ(channel.queued_messages(), 2u);
  EXPECT_EQ(told, (std::vector<uint32_t>{3, 4, 1, 2, 5, 6}));
  channel.on_acked(0, 6, tell);  // Gone.
  EXPECT_EQ(told.size(), 6u);
  // Who is told may queue more.
  channel.on_acked(6, 20, [&](uint32_t receipt) { EXPECT_TRUE(channel.queue(0, body_of(receipt), 0)); });
  ASSERT_TRUE(channel.validate());
  EXPECT_EQ(channel.queued_messages(), 2u);
  const auto sent = send_one(channel, 2, 0);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->message.id, base::Sequence16{8});
}

TEST(SendChannel, NewMessagesLeaveInOnePassWhileTheyAreTaken) {
  base::BufferPool pool(4u << 20);
  SendChannel channel(pool);
  for (uint32_t index = 0; index < 300; ++index) ASSERT_TRUE(channel.queue(0, body_of(index), 0));
  std::vector<uint16_t> offered;
  const auto take = [&offered](size_t taken) {
    return [&offered, taken](const OutgoingMessage& message) {
      offered.push_back(message.id.value);
      return offered.size() <= taken;
    };
  };
  const SendChannel::Run first = channel.send_new(10, {1, 0, 100 * kMs}, take(3));
  EXPECT_EQ(first.first, 0u);
  EXPECT_EQ(first.count, 3u);
  EXPECT_EQ(offered, (std::vector<uint16_t>{0, 1, 2, 3}));  // The last was refused.
  ASSERT_TRUE(channel.validate());
  offered.clear();
  EXPECT_EQ(channel.send_new(4, {2, 0, 100 * kMs}, take(9)).count, 4u);  // At most 4 are offered.
  EXPECT_EQ(offered, (std::vector<uint16_t>{3, 4, 5, 6}));
  const SendChannel::Run rest = channel.send_new(400, {3, 0, 100 * kMs}, take(400));
  EXPECT_EQ(rest.first, 7u);
  EXPECT_EQ(rest.count, 249u);  // To the end of the window.
  EXPECT_EQ(channel.send_new(400, {4, 0, 100 * kMs}, take(400)).count, 0u);
  ASSERT_TRUE(channel.validate());
  EXPECT_EQ(channel.next_expiry_ns(), 100 * kMs);
}

TEST(ReceiveChannel, WindowEdges) {
  base::BufferPool pool(4u << 20);
  ReceiveMemory memory(1, 0, 0, base::PageSize::kSmall);
  for (const bool ordered : {true, false}) {
    ReceiveChannel channel(pool, memory, ordered);
    const auto body = body_of(0);
    EXPECT_EQ(channel.offer({256}, 0, body), Outcome::kBeyondWindow);
    EXPECT_EQ(channel.offer({255}, 0, body), ordered ? Outcome::kStored : Outcome::kDeliver);
    EXPECT_EQ(channel.offer({255}, 0, body), Outcome::kDuplicate);
    EXPECT_EQ(channel.offer({65535}, 0, body), Outcome::kDuplicate);  // One behind.
    EXPECT_EQ(channel.offer({32768}, 0, body), Outcome::kDuplicate);  // Distance −32768.
    EXPECT_EQ(channel.offer({32767}, 0, body), Outcome::kBeyondWindow);
    EXPECT_EQ(channel.offer({0}, 0, body), Outcome::kDeliver);
    EXPECT_EQ(channel.offer({0}, 0, body), Outcome::kDuplicate);
    EXPECT_EQ(channel.offer({256}, 0, body), ordered ? Outcome::kStored : Outcome::kDeliver);
    EXPECT_EQ(channel.offer({257}, 0, body), Outcome::kBeyondWindow);
  }
  EXPECT_EQ(pool.stats().buffers_live, 0u);
}

TEST(ReceiveChannel, AShortGapTakesLittle) {
  base::BufferPool pool(1u << 20);
  ReceiveMemory memory(1, 0, 0, base::PageSize::kSmall);
  ReceiveChannel channel(pool, memory, true);
  const std::vector<uint8_t> body = body_of(1);
  const auto store = [&](uint16_t id) {
    EXPECT_EQ(channel.offer(base::Sequence16{id}, 0, body), Outcome::kStored) << id;
  };
  store(20);
  const uint64_t little = pool.stats().capacity_live;
  EXPECT_LE(little, 1024u);
  store(1), store(31);
  EXPECT_EQ(pool.stats().capacity_live, little);
  store(32), store(255);
  EXPECT_GT(pool.stats().capacity_live, little);
  for (uint16_t id = 2; id < 255; ++id) {
    if (id != 20 && id != 31 && id != 32) store(id);
  }
  EXPECT_EQ(channel.offer(base::Sequence16{0}, 0, body), Outcome::kDeliver);
  ReceiveChannel::Ready ready;
  for (uint16_t id = 1; channel.pop_ready(&ready); ++id) {
    EXPECT_EQ(ready.id.value, id);
    channel.release(ready);
  }
  EXPECT_EQ(channel.next_expected().value, 256);
  EXPECT_EQ(pool.stats().capacity_live, 0u);
}

TEST(ReceiveChannel, NoMemoryIsNotAccepted) {
  base::BufferPool none(0);  // No room for the array.
  ReceiveMemory memory(1, 0, 0, base::PageSize::kSmall);
  ReceiveChannel channel(none, memory, true);
  EXPECT_EQ(channel.offer({1}, 0, body_of(1)), Outcome::kNoMemory);
  EXPECT_EQ(channel.offer({0}, 0, body_of(0)), Outcome::kDeliver);
  EXPECT_EQ(channel.offer({1}, 0, body_of(1)), Outcome::kDeliver);  // It came again, in order now.
}

TEST(ReceiveChannel, TheShareBeginsAtTheOldestIncompleteMessage) {
  base::BufferPool pool(4u << 20);
  for (const bool ordered : {true, false}) {
    ReceiveMemory memory(1, 0, 0, base::PageSize::kSmall);
    ReceiveChannel channel(pool, memory, ordered);
    const auto kept = ordered ? Outcome::kStored : Outcome::kDeliver;
    for (uint16_t id = 0; id < 10; ++id) {
      ASSERT_EQ(channel.offer({id}, wire::kFlagFragment, body_of(id)), Outcome::kDeliver);
    }
    channel.set_incomplete(base::Sequence16{4}, false);  // Of 0 to 9, 4 to 9 are held.
    EXPECT_EQ(channel.offer({4 + 256}, wire::kFlagFragment, body_of(1)), Outcome::kNoMemory);
    EXPECT_EQ(channel.offer({4 + 255}, wire::kFlagFragment, body_of(1)), kept);
    EXPECT_EQ(channel.offer({4 + 257}, 0, body_of(1)), ordered ? Outcome::kNoMemory : Outcome::kDeliver);
    channel.set_incomplete(std::nullopt, false);
    EXPECT_EQ(channel.offer({4 + 256}, wire::kFlagFragment, body_of(1)), kept);
    ReceiveMemory roomy(1, 1, 0, base::PageSize::kSmall);
    ReceiveChannel lucky(pool, roomy, ordered);
    lucky.set_incomplete(base::Sequence16{65535}, false);
    EXPECT_EQ(lucky.offer({255}, wire::kFlagFragment, body_of(1)), kept) << "growth";
  }
  EXPECT_EQ(pool.stats().buffers_live, 0u);
}

TEST(ReceiveChannel, InACrowdOnlyFragmentsOfTheShareAreTaken) {
  base::BufferPool pool(4u << 20);
  ReceiveMemory roomy(1, 1024, 0, base::PageSize::kSmall);
  ReceiveChannel channel(pool, roomy, false);
  for (int i = 0; i < 256; ++i) channel.credit().on_message(0, 0, 4096);
  ASSERT_EQ(channel.credit().accepted(), 512);
  channel.set_incomplete(std::nullopt, true);
  EXPECT_EQ(channel.offer({256}, wire::kFlagFragment, body_of(1)), Outcome::kNoMemory);
  EXPECT_EQ(channel.offer({255}, wire::kFlagFragment, body_of(1)), Outcome::kDeliver);
  EXPECT_EQ(channel.offer({257}, 0, body_of(1)), Outcome::kDeliver) << "a whole message takes no memory";
  channel.set_incomplete(std::nullopt, false);
  EXPECT_EQ(channel.offer({256}, wire::kFlagFragment, body_of(1)), Outcome::kDeliver);
}

TEST(ReceiveChannel, WhatACreditAllowedIsNeverBeyondTheWindow) {
  for (const bool ordered : {true, false}) {
    base::BufferPool pool(4u << 20);
    ReceiveMemory roomy(1, 4096, 0, base::PageSize::kSmall);
    ReceiveChannel channel(pool, roomy, ordered);
    EXPECT_EQ(channel.offer({256}, 0, body_of(1)), Outcome::kBeyondWindow);
    for (int i = 0; i < 256 + 512; ++i) channel.credit().on_message(0, 0, 4096);
    EXPECT_EQ(channel.credit().on_refused(0), std::optional<uint16_t>(256));
    // The window wraps round the numbers and the memory for what came early.
    uint16_t next = 0;
    std::vector<uint32_t> delivered;
    for (int round = 0; round < 70; ++round) {
      const auto kept = ordered ? Outcome::kStored : Outcome::kDeliver;
      for (const int ahead : {1023, 1, 512, 31, 256}) {
        const auto id = static_cast<uint16_t>(next + ahead);
        ASSERT_EQ(channel.offer({id}, 0, body_of(id)), kept);
      }
      ASSERT_EQ(channel.offer({static_cast<uint16_t>(next + 1024)}, 0, body_of(1)), Outcome::kBeyondWindow);
      for (uint16_t ahead = 0; ahead < 1024; ++ahead) {
        const auto id = static_cast<uint16_t>(next + ahead);
        const Outcome outcome = channel.offer({id}, 0, body_of(id));
        const bool came = ahead == 1023 || ahead == 1 || ahead == 512 || ahead == 31 || ahead == 256;
        ASSERT_EQ(outcome, came ? Outcome::kDuplicate : Outcome::kDeliver);
        if (outcome == Outcome::kDeliver) delivered.push_back(id);
        ReceiveChannel::Ready ready;
        while (channel.pop_ready(&ready)) {
          ASSERT_EQ(platform::load_u32_le(ready.body().data()), ready.id.value);
          delivered.push_back(ready.id.value);
          channel.release(ready);
        }
      }
      next = static_cast<uint16_t>(next + 1024);
      ASSERT_EQ(channel.next_expected().value, next);
    }
    if (ordered) {
      ASSERT_EQ(delivered.size(), 70u * 1024u);
      for (size_t i = 0; i < delivered.size(); ++i) ASSERT_EQ(delivered[i], i % 65536);
    }
    EXPECT_EQ(roomy.blocks_live(), 0u);
  }
}

// The peer delivers nothing of an ordered channel before what is missing in front of it.
TEST(SendChannel, ReceiptsOfAnOrderedChannelComeInOrder) {
  for (const bool is_ordered : {false, true}) {
    base::BufferPool pool(16u << 20);
    SendChannel channel(pool, kMaxResendIntervalNs, is_ordered);
    for (uint32_t receipt : {1u, 0u, 3u, 4u}) ASSERT_TRUE(channel.queue(0, body_of(1), receipt));
    for (uint64_t seq = 0; seq < 4; ++seq) ASSERT_TRUE(send_one(channel, seq, 0));
    std::vector<uint32_t> told;
    const auto note = [&told](uint32_t receipt) { told.push_back(receipt); };
    channel.on_acked(3, 1, note);
    channel.on_acked(1, 1, note);
    EXPECT_EQ(told, is_ordered ? std::vector<uint32_t>() : std::vector<uint32_t>{4});
    channel.on_acked(0, 1, note);
    EXPECT_EQ(told, is_ordered ? std::vector<uint32_t>{1} : (std::vector<uint32_t>{4, 1}));
    channel.on_acked(2, 1, [&](uint32_t receipt) {
      note(receipt);
      EXPECT_TRUE(channel.queue(0, body_of(1), 0)) << "told() may queue more";
    });
    EXPECT_EQ(told, is_ordered ? (std::vector<uint32_t>{1, 3, 4}) : (std::vector<uint32_t>{4, 1, 3}));
    EXPECT_TRUE(channel.validate());
    channel.lose_everything([](uint32_t receipt) { ADD_FAILURE() << receipt << " was told already"; });
  }
  base::BufferPool pool(16u << 20);
  SendChannel channel(pool, kMaxResendIntervalNs, true);
  for (uint32_t receipt : {1u, 2u}) ASSERT_TRUE(channel.queue(0, body_of(1), receipt));
  for (uint64_t seq = 0; seq < 2; ++seq) ASSERT_TRUE(send_one(channel, seq, 0));
  channel.on_acked(1, 1, [](uint32_t) { ADD_FAILURE(); });
  std::vector<uint32_t> lost;
  channel.lose_everything([&lost](uint32_t receipt) { lost.push_back(receipt); });
  EXPECT_EQ(lost, (std::vector<uint32_t>{1, 2})) << "the peer never delivers the second";
}

// Half of a message is of no use to anybody.
TEST(UnreliableQueue, AMessageIsGivenUpWholeOrFinished) {
  base::BufferPool pool(16u << 20);
  UnreliableQueue queue(pool);
  const auto body = body_of(1);
  const auto add = [&](uint32_t receipt, uint16_t fragments, uint32_t now_ms) {
    OutgoingMessage message;
    message.body = body;
    message.receipt = receipt;
    if (fragments != 0) message.flags = wire::kFlagFragment;
    message.fragment.count = fragments;
    for (uint16_t i = 0; i < std::max<uint16_t>(fragments, 1); ++i) {
      message.fragment.index = static_cast<uint8_t>(i);
      ASSERT_TRUE(queue.queue(message, now_ms));
    }
  };
  std::vector<uint32_t> lost;
  const auto note = [&lost](uint32_t receipt) { lost.push_back(receipt); };
  add(1, 3, 0);
  add(2, 0, 0);
  add(3, 256, 0);
  add(4, 0, 60);
  EXPECT_EQ(queue.give_up(59, 60, note), 0u);
  EXPECT_EQ(queue.give_up(60, 60, note), 3u) << "messages, not fragments";
  EXPECT_EQ(lost.size(), 3u + 1 + 256);
  EXPECT_EQ(queue.front().receipt, 4u);
  lost.clear();
  queue.pop_front();
  add(5, 3, 100);
  add(6, 0, 100);
  queue.pop_front();  // the first fragment leaves
  EXPECT_EQ(queue.give_up(1'159, 60, note), 0u) << "the rest follows, and what waits behind it waits";
  EXPECT_EQ(queue.give_up(1'160, 60, note), 2u) << "unless the link stands still";
  EXPECT_EQ(lost, (std::vector<uint32_t>{5, 5, 6}));
  EXPECT_EQ(pool.stats().buffers_live, 0u);
}

TEST(UnreliableQueue, BoundsAndReceipts) {
  base::BufferPool pool(16u << 20);
  UnreliableQueue queue(pool);
  const auto body = body_of(1);
  OutgoingMessage message;
  message.body = body;
  size_t count = 0;
  do {
    message.receipt = static_cast<uint32_t>(count + 1);
  } while (queue.queue(message, 0) && ++count < 5000);
  EXPECT_EQ(count, kMaxQueuedMessages);
  EXPECT_EQ(queue.front().receipt, 1u);
  queue.pop_front();
  EXPECT_TRUE(queue.queue(message, 0));
  std::set<uint32_t> lost;
  queue.lose_everything([&](uint32_t receipt) { EXPECT_TRUE(lost.insert(receipt).second); });
  EXPECT_EQ(lost.size(), kMaxQueuedMessages);
  EXPECT_EQ(pool.stats().buffers_live, 0u);
}

}  // namespace
}  // namespace lattice::reliability
