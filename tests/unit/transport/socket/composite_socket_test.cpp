#include "transport/socket/composite_socket.h"

#include <gtest/gtest.h>

#include "transport/socket/loopback_socket.h"
#include "unit/transport/socket/datagram_buffers.h"

namespace lattice::socket {
namespace {

base::PathId opaque(uint8_t route, uint16_t number) {
  return {route, base::PathForm::kOpaque, number, {}};
}

const base::PathId kServer = base::ipv4_path(10, 0, 0, 1, 1);
const base::PathId kClient = base::ipv4_path(10, 0, 0, 2, 2);

/// A hub for UDP and one for route 2. There is no route 1.
class CompositeSocketTest : public testing::Test {
 protected:
  CompositeSocketTest() {
    CompositeSocket::Routes routes;
    routes[0] = udp_hub_.attach(kServer);
    routes[2] = other_hub_.attach(opaque(2, 1));
    socket_ = std::make_unique<CompositeSocket>(std::move(routes));
    on_udp_ = udp_hub_.attach(kClient);
    on_other_ = other_hub_.attach(opaque(2, 9));
  }
  LoopbackHub udp_hub_, other_hub_;
  std::unique_ptr<CompositeSocket> socket_;
  std::unique_ptr<DatagramSocket> on_udp_, on_other_;
};

TEST_F(CompositeSocketTest, AnAnswerLeavesWhereTheQuestionCameIn) {
  send_text(*on_udp_, kServer, "udp", 0);
  send_text(*on_other_, opaque(2, 1), "other", 0);
  for (const Received& each : receive_all(*socket_, 0)) {
    EXPECT_EQ(each.peer.route, each.text == "udp" ? 0 : 2);
    EXPECT_TRUE(send_text(*socket_, each.peer, each.text, 0));
  }
  EXPECT_EQ(receive_all(*on_udp_, 0), (std::vector<Received>{{kServer, "udp"}}));
  EXPECT_EQ(receive_all(*on_other_, 0), (std::vector<Received>{{opaque(2, 1), "other"}}));
}

TEST_F(CompositeSocketTest, ABatchOfManyRoutesKeepsItsOrderOnEach) {
  std::vector<std::string> texts = {"a", "b", "c", "d", "e"};
  std::vector<Datagram> out;
  for (size_t i = 0; i < texts.size(); ++i) {
    out.push_back({i % 2 == 0 ? kClient : opaque(2, 9), 1, reinterpret_cast<uint8_t*>(texts[i].data())});
  }
  EXPECT_EQ(socket_->send(out, 0), 5u);
  EXPECT_EQ(receive_all(*on_udp_, 0),
            (std::vector<Received>{{kServer, "a"}, {kServer, "c"}, {kServer, "e"}}));
  EXPECT_EQ(receive_all(*on_other_, 0), (std::vector<Received>{{opaque(2, 1), "b"}, {opaque(2, 1), "d"}}));
  EXPECT_EQ(socket_->stats().datagrams_sent, 5u);
}

TEST_F(CompositeSocketTest, PathsOfNoRouteAreRefused) {
  for (const uint8_t route : {uint8_t{1}, uint8_t{3}, uint8_t{255}}) {
    EXPECT_FALSE(send_text(*socket_, opaque(route, 9), "x", 0));
    EXPECT_EQ(socket_->largest_datagram(opaque(route, 9)), 0u);
    EXPECT_EQ(socket_->rate_subject(opaque(route, 9)), std::nullopt);
    EXPECT_FALSE(socket_->favours_equal_lengths(opaque(route, 9)));
  }
  EXPECT_EQ(socket_->stats().send_refused, 3u);
  EXPECT_EQ(socket_->largest_datagram(opaque(0, 9)), 0u) << "UDP has no opaque paths";
  EXPECT_EQ(socket_->largest_datagram(kClient), 1472u);
  EXPECT_EQ(socket_->largest_datagram(opaque(2, 9)), 1472u);
}

TEST_F(CompositeSocketTest, AFloodOnOneRouteLeavesTheOthersTheirShare) {
  DatagramBuffers buffers(64);
  for (int i = 0; i < 1000; ++i) send_text(*on_other_, opaque(2, 1), "flood", 0);
  for (int i = 0; i < 100; ++i) send_text(*on_udp_, kServer, "udp", 0);
  size_t of_udp = 0;
  for (int call = 0; call < 4; ++call) {
    const size_t count = socket_->receive(buffers.views, 0).count;
    EXPECT_EQ(count, 64u);
    for (const Datagram& each : std::span(buffers.views).first(count)) of_udp += each.peer.route == 0 ? 1 : 0;
  }
  EXPECT_EQ(of_udp, 100u);
}

TEST_F(CompositeSocketTest, AnIdleRouteLeavesItsRoomToTheOthers) {
  DatagramBuffers buffers(64);
  for (int i = 0; i < 64; ++i) send_text(*on_other_, opaque(2, 1), "x", 0);
  EXPECT_EQ(socket_->receive(buffers.views, 0).count, 64u);
  EXPECT_EQ(socket_->receive(buffers.views, 0).count, 0u);
}

/// Has `left` datagrams, all of which it refuses.
class RefusingSocket final : public DatagramSocket {
 public:
  explicit RefusingSocket(size_t left) : left_(left) {}
  Reading receive(std::span<Datagram> out, uint64_t) override {
    const size_t refused = std::min(out.size(), left_);
    left_ -= refused;
    return {0, refused, left_ != 0};
  }
  size_t send(std::span<const Datagram>, uint64_t) override { return 0; }
  base::PathId local_path() const override { return opaque(1, 1); }
  const SocketStats& stats() const override { return stats_; }

 private:
  size_t left_;
  SocketStats stats_;
};

TEST(CompositeSocketOfRefusals, CountAsReadAndEndNothing) {
  LoopbackHub hub;
  CompositeSocket::Routes routes;
  routes[0] = hub.attach(kServer);
  routes[1] = std::make_unique<RefusingSocket>(1000);
  CompositeSocket socket(std::move(routes));
  const std::unique_ptr<DatagramSocket> client = hub.attach(kClient);
  for (int i = 0; i < 100; ++i) send_text(*client, kServer, "udp", 0);
  DatagramBuffers buffers(64);
  size_t count = 0, refused = 0, calls = 0;
  for (bool has_more = true; has_more; ++calls) {
    const Reading reading = socket.receive(buffers.views, 0);
    EXPECT_LE(reading.count + reading.refused, 64u);
    count += reading.count, refused += reading.refused;
    has_more = reading.may_have_more;
    EXPECT_GE(count, std::min<size_t>(100, 32 * (calls + 1))) << "its share of each call";
  }
  EXPECT_EQ(count, 100u);
  EXPECT_EQ(refused, 1000u);
  EXPECT_LE(calls, 18u);
}

TEST_F(CompositeSocketTest, ASmallBufferIsSharedByTurns) {
  DatagramBuffers buffers(1);
  for (int i = 0; i < 10; ++i) send_text(*on_other_, opaque(2, 1), "x", 0);
  send_text(*on_udp_, kServer, "udp", 0);
  bool is_udp = false;
  for (int call = 0; call < 3; ++call) {
    ASSERT_EQ(socket_->receive(buffers.views, 0).count, 1u);
    is_udp = is_udp || buffers.views[0].peer.route == 0;
  }
  EXPECT_TRUE(is_udp);
}

TEST_F(CompositeSocketTest, WithoutADescriptorItLooksAgainSoon) {
  EXPECT_EQ(socket_->local_path(), kServer);
  EXPECT_EQ(socket_->descriptor(), -1);
  EXPECT_EQ(socket_->route_count(), 3u);
  EXPECT_TRUE(socket_->wait_readable(UINT64_MAX / 2)) << "and does not block";
}

}  // namespace
}  // namespace lattice::socket
