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
    const size_t count = socket_->receive(buffers.views, 0);
    EXPECT_EQ(count, 64u);
    for (const Datagram& each : std::span(buffers.views).first(count)) of_udp += each.peer.route == 0 ? 1 : 0;
  }
  EXPECT_EQ(of_udp, 100u);
}

TEST_F(CompositeSocketTest, AnIdleRouteLeavesItsRoomToTheOthers) {
  DatagramBuffers buffers(64);
  for (int i = 0; i < 64; ++i) send_text(*on_other_, opaque(2, 1), "x", 0);
  EXPECT_EQ(socket_->receive(buffers.views, 0), 64u);
  EXPECT_EQ(socket_->receive(buffers.views, 0), 0u);
}

TEST_F(CompositeSocketTest, ASmallBufferIsSharedByTurns) {
  DatagramBuffers buffers(1);
  for (int i = 0; i < 10; ++i) send_text(*on_other_, opaque(2, 1), "x", 0);
  send_text(*on_udp_, kServer, "udp", 0);
  bool is_udp = false;
  for (int call = 0; call < 3; ++call) {
    ASSERT_EQ(socket_->receive(buffers.views, 0), 1u);
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
