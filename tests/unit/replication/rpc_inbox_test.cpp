#include "replication/rpc_inbox.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/durations.h"

namespace lattice::replication {
namespace {

using lattice::test::kMs;
constexpr uint64_t kSender = 7;
constexpr uint64_t kOther = 3;

class Sink : public RpcSink {
 public:
  Readiness readiness(const RpcHeader& header) override {
    if (gone.count(header.network_id) != 0) return Readiness::kGone;
    const auto it = applied.find(header.network_id);
    if (it == applied.end()) return Readiness::kNoObject;
    return base::tick_after(header.tick, it->second) ? Readiness::kTooEarly : Readiness::kReady;
  }
  void deliver(uint64_t sender, const RpcHeader& header, std::span<const uint8_t> body) override {
    ASSERT_EQ(body.size(), 3u);
    EXPECT_EQ(body[0], static_cast<uint8_t>(header.rpc_id));
    EXPECT_EQ(body[1], static_cast<uint8_t>(sender));
    delivered += std::to_string(header.rpc_id) + " ";
    if (on_delivered) on_delivered();
  }
  void dropped(RpcRefusal reason) override {
    EXPECT_EQ(reason, RpcRefusal::kUnknownObject);
    ++lost;
  }
  std::function<void()> on_delivered;
  std::map<uint64_t, Tick> applied;
  std::set<uint64_t> gone;
  std::string delivered;
  int lost = 0;
};

struct RpcInboxTest : testing::Test {
  RpcRefusal hold(uint64_t now_ms, uint64_t object, uint16_t rpc, Tick tick = 0, uint64_t sender = kSender) {
    const std::array<uint8_t, 3> body = {static_cast<uint8_t>(rpc), static_cast<uint8_t>(sender), 2};
    return inbox.hold(now_ms * kMs, sender, RpcHeader{object, rpc, tick, LATTICE_RPC_TO_ALL, 0}, body,
                      sink.applied.count(object) != 0);
  }
  RpcInbox inbox;
  Sink sink;
};

TEST_F(RpcInboxTest, waits_for_the_object_and_keeps_order) {
  hold(0, 5, 1), hold(1, 5, 2), hold(2, 6, 3);
  inbox.poll(10 * kMs, sink);
  EXPECT_EQ(sink.delivered, "");
  EXPECT_TRUE(inbox.holds(5, kSender));
  sink.applied[5] = 100;
  inbox.poll(20 * kMs, sink);
  EXPECT_EQ(sink.delivered, "1 2 ");
  EXPECT_FALSE(inbox.holds(5, kSender));
  EXPECT_TRUE(inbox.holds(6, kSender));
}

TEST_F(RpcInboxTest, releases_all_of_one_object_whatever_it_waits_for) {
  hold(0, 5, 1, 200), hold(0, 6, 2), hold(0, 5, 3, 100);
  sink.applied[5] = 50;
  inbox.release(5, sink);
  EXPECT_EQ(sink.delivered, "1 3 ");
  inbox.release(5, sink);
  EXPECT_EQ(sink.delivered, "1 3 ");
  EXPECT_TRUE(inbox.holds(6, kSender));
  EXPECT_FALSE(inbox.holds(6, kOther));
  EXPECT_FALSE(inbox.holds(5, kSender));
}

TEST_F(RpcInboxTest, drops_at_once_what_waits_for_an_object_that_is_gone) {
  hold(0, 5, 1), hold(0, 6, 2);
  sink.gone.insert(5);
  inbox.poll(1 * kMs, sink);
  EXPECT_EQ(sink.lost, 1);
  EXPECT_EQ(inbox.size(), 1u);
}

TEST_F(RpcInboxTest, drops_what_waited_two_seconds_for_an_object) {
  hold(0, 5, 1), hold(1000, 5, 2);
  inbox.poll(1999 * kMs, sink);
  EXPECT_EQ(sink.lost, 0);
  inbox.poll(2000 * kMs, sink);
  EXPECT_EQ(sink.lost, 1);
  inbox.poll(3000 * kMs, sink);
  EXPECT_EQ(sink.lost, 2);
  EXPECT_EQ(inbox.size(), 0u);
}

TEST_F(RpcInboxTest, holds_tick_aligned_ones_back_at_most_500_ms) {
  sink.applied[5] = 100;
  hold(0, 5, 1, 103), hold(0, 5, 2, 90);
  inbox.poll(0, sink);
  EXPECT_EQ(sink.delivered, "");  // the second waits behind the first
  sink.applied[5] = 103;
  inbox.poll(100 * kMs, sink);
  EXPECT_EQ(sink.delivered, "1 2 ");
  hold(100, 5, 3, 1000);
  inbox.poll(100 * kMs, sink);
  inbox.poll(599 * kMs, sink);
  EXPECT_EQ(sink.delivered, "1 2 ");
  inbox.poll(600 * kMs, sink);
  EXPECT_EQ(sink.delivered, "1 2 3 ");
}

TEST_F(RpcInboxTest, counts_the_wait_for_a_tick_from_arrival) {
  sink.applied[5] = 100;
  for (uint16_t i = 0; i < 10; ++i) hold(0, 5, i, 1000);
  inbox.poll(499 * kMs, sink);
  EXPECT_EQ(sink.delivered, "");
  inbox.poll(500 * kMs, sink);
  EXPECT_EQ(inbox.size(), 0u);
}

TEST_F(RpcInboxTest, counts_it_from_the_object_when_that_came_later) {
  hold(0, 5, 1, 1000), hold(900, 5, 2, 1000);
  sink.applied[5] = 100;
  inbox.poll(1000 * kMs, sink);
  inbox.poll(1499 * kMs, sink);
  EXPECT_EQ(sink.delivered, "");
  inbox.poll(1500 * kMs, sink);
  EXPECT_EQ(sink.delivered, "1 2 ");
}

TEST_F(RpcInboxTest, senders_do_not_wait_for_each_other) {
  sink.applied[5] = 100;
  for (uint16_t i = 0; i < RpcInbox::kMaxHeldPerObject; ++i) hold(0, 5, i, 1000, kOther);
  EXPECT_FALSE(inbox.holds(5, kSender));
  EXPECT_EQ(hold(0, 5, 70, 101), RpcRefusal::kNone);
  sink.applied[5] = 101;
  inbox.poll(17 * kMs, sink);
  EXPECT_EQ(sink.delivered, "70 ");
}

TEST_F(RpcInboxTest, holds_what_is_made_while_it_delivers) {
  sink.applied[5] = 100;
  hold(0, 5, 1, 100), hold(0, 5, 2, 105);
  sink.on_delivered = [&] {
    sink.on_delivered = nullptr;
    EXPECT_TRUE(inbox.holds(5, kSender));
    hold(0, 5, 3, 100), hold(0, 5, 4, 100, kOther);
    EXPECT_TRUE(inbox.holds(5, kOther));
  };
  inbox.poll(0, sink);
  EXPECT_EQ(sink.delivered, "1 ");
  EXPECT_EQ(inbox.size(), 3u);
  inbox.poll(1 * kMs, sink);
  EXPECT_EQ(sink.delivered, "1 4 ");
  sink.applied[5] = 105;
  inbox.poll(2 * kMs, sink);
  EXPECT_EQ(sink.delivered, "1 4 2 3 ");
}

TEST_F(RpcInboxTest, hastens_the_object_on_which_most_waits_for_its_tick) {
  sink.applied[1] = sink.applied[2] = 5;
  EXPECT_FALSE(inbox.hasten(kSender, 1));
  hold(0, 1, 1, 9), hold(0, 2, 2, 9), hold(0, 2, 3, 9), hold(0, 9, 4, 9);  // 9 is not here
  EXPECT_FALSE(inbox.hasten(kOther, 1));
  EXPECT_TRUE(inbox.hasten(kSender, 1));
  inbox.poll(1 * kMs, sink);
  EXPECT_EQ(sink.delivered, "2 3 ");
  EXPECT_TRUE(inbox.hasten(kSender, 9));
  inbox.poll(1 * kMs, sink);
  EXPECT_EQ(sink.delivered, "2 3 1 ");
  EXPECT_FALSE(inbox.hasten(kSender, 9));
  EXPECT_EQ(inbox.size(), 1u);
}

TEST_F(RpcInboxTest, hastens_the_object_that_has_its_full_number) {
  sink.applied[1] = sink.applied[2] = 5;
  for (uint16_t i = 0; i < RpcInbox::kMaxHeldPerObject; ++i) hold(0, 1, 1, 9), hold(0, 2, 2, 9);
  EXPECT_TRUE(inbox.hasten(kSender, 2));
  inbox.poll(1 * kMs, sink);
  EXPECT_EQ(sink.delivered.substr(0, 4), "2 2 ");
  EXPECT_EQ(inbox.size(), RpcInbox::kMaxHeldPerObject);
}

TEST_F(RpcInboxTest, bounds) {
  for (uint16_t i = 0; i < RpcInbox::kMaxHeldPerObject; ++i) EXPECT_EQ(hold(0, 1, i), RpcRefusal::kNone);
  EXPECT_EQ(hold(0, 1, 99), RpcRefusal::kQueueFull);
  for (uint64_t object = 2; object <= 4; ++object) {
    for (uint16_t i = 0; i < RpcInbox::kMaxHeldPerObject; ++i)
      EXPECT_EQ(hold(0, object, i), RpcRefusal::kNone);
  }
  EXPECT_EQ(inbox.size(), RpcInbox::kMaxHeld);
  EXPECT_EQ(hold(0, 9, 1), RpcRefusal::kQueueFull);
  EXPECT_EQ(hold(0, 9, 1, 0, kOther), RpcRefusal::kNone);
  EXPECT_EQ(inbox.forget(kOther), 1u);
  EXPECT_EQ(inbox.size(), RpcInbox::kMaxHeld);
  EXPECT_EQ(inbox.forget(kSender), RpcInbox::kMaxHeld);
  EXPECT_EQ(inbox.size(), 0u);
  const std::vector<uint8_t> huge(RpcInbox::kMaxBytes + 1);
  EXPECT_EQ(inbox.hold(0, kSender, RpcHeader{1, 1, 1, LATTICE_RPC_TO_ALL, 0}, huge, false),
            RpcRefusal::kQueueFull);
  EXPECT_EQ(inbox.size(), 0u);
}

}  // namespace
}  // namespace lattice::replication
