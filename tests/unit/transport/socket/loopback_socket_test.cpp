#include "transport/socket/loopback_socket.h"

#include <gtest/gtest.h>

#include "unit/transport/socket/datagram_buffers.h"

namespace lattice::socket {
namespace {

TEST(LoopbackSocket, CarriesInOrderBothWays) {
  LoopbackHub hub;
  const auto a = hub.attach(kA);
  const auto b = hub.attach(kB);
  EXPECT_EQ(a->local_path(), kA);
  EXPECT_TRUE(send_text(*a, kB, "one", 0));
  EXPECT_TRUE(send_text(*a, kB, "", 0));
  EXPECT_TRUE(send_text(*b, kA, "three", 0));
  EXPECT_EQ(receive_all(*b, 0), (std::vector<Received>{{kA, "one"}, {kA, ""}}));
  EXPECT_EQ(receive_all(*a, 0), (std::vector<Received>{{kB, "three"}}));
  EXPECT_EQ(a->stats().datagrams_sent, 2u);
  EXPECT_EQ(a->stats().bytes_sent, 3u);
  EXPECT_EQ(b->stats().datagrams_received, 2u);
}

TEST(LoopbackSocket, AddressesAreUniqueAndFreedByTheSocket) {
  LoopbackHub hub;
  auto a = hub.attach(kA);
  EXPECT_EQ(hub.attach(kA), nullptr);
  EXPECT_EQ(hub.attach(base::PathId{}), nullptr);
  a.reset();
  EXPECT_NE(hub.attach(kA), nullptr);
}

TEST(LoopbackSocket, RefusesUnknownDestinationsAndOversize) {
  LoopbackHub hub;
  const auto a = hub.attach(kA);
  EXPECT_FALSE(send_text(*a, kB, "nobody", 0));
  EXPECT_EQ(a->stats().send_refused, 1u);
  const auto b = hub.attach(kB);
  EXPECT_FALSE(send_text(*a, kB, std::string(kMaxDatagramBytes + 1, 'x'), 0));
  EXPECT_EQ(a->stats().send_oversize, 1u);
  EXPECT_TRUE(send_text(*a, kB, std::string(kMaxDatagramBytes, 'x'), 0));
}

TEST(LoopbackSocket, FullQueueDropsAtTheReceiver) {
  LoopbackHub hub(2);
  const auto a = hub.attach(kA);
  const auto b = hub.attach(kB);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(send_text(*a, kB, std::to_string(i), 0));
  EXPECT_EQ(b->stats().receive_overflow, 3u);
  EXPECT_EQ(receive_all(*b, 0), (std::vector<Received>{{kA, "0"}, {kA, "1"}}));
}

}  // namespace
}  // namespace lattice::socket
