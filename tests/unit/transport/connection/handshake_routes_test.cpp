// Handshakes on several routes: the cookie covers the route, and what strangers cost on one route is not
// taken from another.
#include <gtest/gtest.h>

#include "unit/transport/connection/handshake_rig.h"
#include "unit/transport/connection/routed_socket.h"

namespace lattice::connection {
namespace {

using test::Bytes;
using test::kMs;
using test::kSecond;
using test::opaque_path;
using test::Rig;

const test::RoutedSocket kTwoRoutes(2);
const test::RoutedSocket kStating(2, 1);

TEST(HandshakeRoutes, AClientOfAnotherRouteIsLetIn) {
  Rig rig({}, &kTwoRoutes);
  rig.client_address = opaque_path(1, 7);
  rig.server_address = opaque_path(1, 1);
  ClientHandshake client = rig.new_client();
  const Bytes answer = rig.ask(rig.response_of(client));
  ASSERT_TRUE(rig.last.accepted);
  EXPECT_EQ(rig.last.accepted->address, rig.client_address);
  EXPECT_EQ(rig.tell(client, answer).outcome, ClientOutcome::kAccepted);
}

TEST(HandshakeRoutes, ACookieIsOfNoUseOnAnotherRoute) {
  Rig rig({}, &kTwoRoutes);
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  base::PathId elsewhere = rig.client_address;
  elsewhere.route = 1;
  rig.ask_from(elsewhere, response);
  EXPECT_EQ(rig.refusal(), ServerRefusal::kCookie);
  rig.ask(response);
  EXPECT_TRUE(rig.last.accepted);
}

TEST(HandshakeRoutes, RequestsOfOneRouteLeaveTheOtherItsBudget) {
  Rig rig({.hashed_per_s = 100, .hashed_burst = 20}, &kTwoRoutes);
  ClientHandshake client = rig.new_client();
  const Bytes request = rig.request_of(client);
  uint32_t answered = 0;
  for (uint16_t i = 0; i < 100; ++i) answered += rig.ask_from(opaque_path(1, i), request).empty() ? 0u : 1u;
  EXPECT_EQ(answered, 10u) << "half of the burst";
  EXPECT_EQ(rig.refusal(), ServerRefusal::kRequestBudget);
  EXPECT_FALSE(rig.ask(request).empty());
}

TEST(HandshakeRoutes, CookiesOfOneRouteLeaveTheOtherItsBudget) {
  Rig rig({.hashed_per_s = 100, .hashed_burst = 20}, &kTwoRoutes);
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  for (uint16_t i = 0; i < 100; ++i) rig.ask_from(opaque_path(1, i), response);
  EXPECT_EQ(rig.refusal(), ServerRefusal::kCookieBudget);
  rig.ask(response);
  EXPECT_TRUE(rig.last.accepted);
}

TEST(HandshakeRoutes, VerificationsOfOneRouteLeaveTheOtherItsTurn) {
  Rig rig({.verified_per_s = 2, .verified_burst = 4}, &kTwoRoutes);
  std::vector<std::pair<base::PathId, Bytes>> responses;
  for (uint8_t i = 0; i < 21; ++i) {
    rig.client_address = i < 20 ? opaque_path(1, i) : base::ipv4_path(203, 0, 113, 1, 1);
    ClientHandshake client = rig.client_as(i);
    responses.emplace_back(rig.client_address, rig.response_of(client));
  }
  for (const auto& [from, response] : responses) {
    rig.server.handshake.on_datagram(from, response, test::moment_at(rig.now_ns), rig.server.sink);
  }
  size_t of_flood = 0, of_udp = 0;
  while (const auto waited = rig.server.handshake.take_waiting(rig.now_ns)) {
    ++(waited->from.route == 1 ? of_flood : of_udp);
  }
  EXPECT_EQ(of_flood, 2u) << "half of the burst";
  EXPECT_EQ(of_udp, 1u);
  EXPECT_TRUE(rig.server.handshake.has_waiting());
  rig.now_ns += kSecond;
  EXPECT_TRUE(rig.server.handshake.take_waiting(rig.now_ns)) << "half of the rate";
  EXPECT_FALSE(rig.server.handshake.take_waiting(rig.now_ns));
}

TEST(HandshakeRoutes, HalfOpenPlacesOfOneRouteAreItsOwn) {
  Rig rig({.max_half_open = 4, .max_half_open_per_prefix = 4}, &kTwoRoutes);
  const auto joins = [&rig](const base::PathId& from, uint8_t player) {
    rig.client_address = from;
    ClientHandshake client = rig.client_as(player);
    rig.ask(rig.response_of(client));
    return rig.last.accepted.has_value();
  };
  for (uint8_t i = 0; i < 4; ++i) EXPECT_EQ(joins(opaque_path(1, i), i), i < 2);
  EXPECT_EQ(rig.refusal(), ServerRefusal::kHalfOpenLimit);
  EXPECT_TRUE(joins(base::ipv4_path(203, 0, 113, 1, 1), 50));
  EXPECT_TRUE(joins(base::ipv4_path(203, 0, 114, 1, 1), 51));
}

TEST(HandshakeRoutes, ABackEndSaysWhoCountsAsOne) {
  Rig rig({.responses_per_s = 1, .response_burst = 1}, &kStating);
  const auto response_from = [&rig](uint16_t number, uint8_t player) {
    rig.client_address = opaque_path(1, number);
    ClientHandshake client = rig.client_as(player);
    rig.ask(rig.response_of(client));
    return rig.refusal();
  };
  EXPECT_EQ(response_from(10, 1), ServerRefusal::kNone);
  EXPECT_EQ(response_from(19, 2), ServerRefusal::kResponseRate) << "the same ten";
  EXPECT_EQ(response_from(20, 3), ServerRefusal::kNone) << "another";
}

}  // namespace
}  // namespace lattice::connection
