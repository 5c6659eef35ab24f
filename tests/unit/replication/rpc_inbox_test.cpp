#include "replication/rpc_inbox.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace lattice::replication {
namespace {

constexpr uint64_t kMs = 1'000'000;

class Sink : public RpcSink {
 public:
  Readiness readiness(const RpcHeader& header) override {
    if (gone.count(header.network_id) != 0) return Readiness::kGone;
    const auto it = applied.find(header.network_id);
    if (it == applied.end()) return Readiness::kNoObject;
    return base::tick_after(header.tick, it->second) ? Readiness::kTooEarly : Readiness::kReady;
  }
  void deliver(uint64_t context, const RpcHeader& header, std::span<const uint8_t> body) override {
    EXPECT_EQ(context, 7u);
    ASSERT_EQ(body.size(), 3u);
    EXPECT_EQ(body[0], static_cast<uint8_t>(header.rpc_id));
    delivered += std::to_string(header.rpc_id) + " ";
  }
  void dropped(uint64_t, const RpcHeader& header, RpcRefusal reason) override {
    EXPECT_EQ(reason, RpcRefusal::kUnknownObject);
    lost += std::to_string(header.rpc_id) + " ";
  }
  std::map<uint64_t, Tick> applied;
  std::set<uint64_t> gone;
  std::string delivered, lost;
};

struct RpcInboxTest : testing::Test {
  RpcRefusal hold(uint64_t now_ms, uint64_t object, uint16_t rpc, Tick tick = 0) {
    const std::array<uint8_t, 3> body = {static_cast<uint8_t>(rpc), 1, 2};
    return inbox.hold(now_ms * kMs, RpcHeader{object, rpc, tick, LATTICE_RPC_TO_ALL, 0}, body, 7);
  }
  RpcInbox inbox;
  Sink sink;
};

TEST_F(RpcInboxTest, waits_for_the_object_and_keeps_order) {
  hold(0, 5, 1), hold(1, 5, 2), hold(2, 6, 3);
  inbox.poll(10 * kMs, sink);
  EXPECT_EQ(sink.delivered, "");
  EXPECT_TRUE(inbox.holds(5));
  sink.applied[5] = 100;
  inbox.poll(20 * kMs, sink);
  EXPECT_EQ(sink.delivered, "1 2 ");
  EXPECT_FALSE(inbox.holds(5));
  EXPECT_TRUE(inbox.holds(6));
}

TEST_F(RpcInboxTest, releases_all_of_one_object_whatever_it_waits_for) {
  hold(0, 5, 1, 200), hold(0, 6, 2), hold(0, 5, 3, 100);
  sink.applied[5] = 50;
  inbox.release(5, sink);
  EXPECT_EQ(sink.delivered, "1 3 ");
  inbox.release(5, sink);
  EXPECT_EQ(sink.delivered, "1 3 ");
  EXPECT_TRUE(inbox.holds(6, 7));
  EXPECT_FALSE(inbox.holds(6, 8));
  EXPECT_FALSE(inbox.holds(5, 7));
}

TEST_F(RpcInboxTest, drops_at_once_what_waits_for_an_object_that_is_gone) {
  hold(0, 5, 1), hold(0, 6, 2);
  sink.gone.insert(5);
  inbox.poll(1 * kMs, sink);
  EXPECT_EQ(sink.lost, "1 ");
  EXPECT_EQ(inbox.size(), 1u);
}

TEST_F(RpcInboxTest, drops_what_waited_two_seconds_for_an_object) {
  hold(0, 5, 1), hold(1000, 5, 2);
  inbox.poll(1999 * kMs, sink);
  EXPECT_EQ(sink.lost, "");
  inbox.poll(2000 * kMs, sink);
  EXPECT_EQ(sink.lost, "1 ");
  inbox.poll(3000 * kMs, sink);
  EXPECT_EQ(sink.lost, "1 2 ");
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

TEST_F(RpcInboxTest, bounds) {
  for (uint16_t i = 0; i < RpcInbox::kMaxHeldPerObject; ++i) EXPECT_EQ(hold(0, 1, i), RpcRefusal::kNone);
  EXPECT_EQ(hold(0, 1, 99), RpcRefusal::kQueueFull);
  for (uint64_t object = 2; object <= 4; ++object) {
    for (uint16_t i = 0; i < RpcInbox::kMaxHeldPerObject; ++i)
      EXPECT_EQ(hold(0, object, i), RpcRefusal::kNone);
  }
  EXPECT_EQ(inbox.size(), RpcInbox::kMaxHeld);
  EXPECT_EQ(hold(0, 9, 1), RpcRefusal::kQueueFull);
  inbox.forget(8);
  EXPECT_EQ(inbox.size(), RpcInbox::kMaxHeld);
  inbox.forget(7);
  EXPECT_EQ(inbox.size(), 0u);
  const std::vector<uint8_t> huge(RpcInbox::kMaxBytes + 1);
  EXPECT_EQ(inbox.hold(0, RpcHeader{1, 1, 1, LATTICE_RPC_TO_ALL, 0}, huge, 7), RpcRefusal::kQueueFull);
}

}  // namespace
}  // namespace lattice::replication
