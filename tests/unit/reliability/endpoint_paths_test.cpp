// The path under a connection: a client whose NAT gives it another port or address, attackers who race it,
// and datagrams that grow until the path has enough (L-04, L-06).
#include <gtest/gtest.h>

#include <deque>

#include "raw_client.h"
#include "reliability/path/mtu_search.h"
#include "reliability/recovery/rtt_estimator.h"
#include "transport/wire/keepalive_body.h"

namespace lattice::reliability {
namespace {

using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::number_body;

constexpr uint64_t kOneWayNs = 40 * kMs;
const base::PathId kAttacker = base::ipv4_path(203, 0, 113, 9, 999);

test::RigOptions options_with_delay() {
  return test::delayed(kOneWayNs);
}

// Bytes from and to an address, as the network sees them; and copies of what the client sends.
struct Watch {
  static socket::TapVerdict see(void* context, socket::TappedDatagram& datagram) {
    auto& self = *static_cast<Watch*>(context);
    if (datagram.to == self.watched) {
      self.bytes_to += datagram.size;
      ++self.packets_to;
    }
    if (self.copy_from_client && datagram.from == self.client) {
      self.copies.emplace_back(datagram.data, datagram.data + datagram.size);
    }
    self.largest = std::max(self.largest, datagram.size);
    return self.drop_to_watched && datagram.to == self.watched ? socket::TapVerdict::kDrop
                                                               : socket::TapVerdict::kPass;
  }
  base::PathId watched;
  base::PathId client;
  bool copy_from_client = false;
  bool drop_to_watched = false;
  std::deque<Bytes> copies;
  uint64_t bytes_to = 0;
  uint64_t packets_to = 0;
  uint32_t largest = 0;
};

/// The client says something every 20 ms, the server likewise.
void talk(EndpointRig& rig, uint64_t for_ns) {
  const uint64_t end_ns = rig.now_ns + for_ns;
  for (uint64_t i = 0; rig.now_ns < end_ns; ++i) {
    rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(i));
    rig.server.endpoint->send(rig.server.connection, Channel::kReliableOrdered, {}, number_body(i));
    rig.run(20 * kMs);
  }
}

/// Rebinds the client and measures how long the server goes on sending to where it was.
uint64_t recovery_ns(EndpointRig& rig, const base::PathId& to) {
  EXPECT_TRUE(rig.network.rebind(rig.client().address, to));
  rig.client().address = to;
  const uint64_t began_ns = rig.now_ns;
  const uint32_t moves = rig.server_stats().path_moves;
  const uint64_t heard = rig.client_stats().traffic.packets_received;
  EXPECT_TRUE(rig.run_until(5 * kSecond, [&] {
    rig.client().endpoint->send(rig.client().connection, Channel::kUnreliable, {}, number_body(0));
    return rig.server_stats().path_moves == moves + 1;
  }));
  EXPECT_GT(rig.client_stats().traffic.packets_received, heard) << "the challenge";
  return rig.now_ns - began_ns;
}

TEST(EndpointPaths, AnotherPortRecoversWithinARoundTripAndAPacket) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  talk(rig, kSecond);
  // There, challenge, answer: a round trip after the first packet arrived, and each side's step.
  const uint64_t took_ns = recovery_ns(rig, base::ipv4_path(192, 0, 2, 1, 51234));
  EXPECT_LE(took_ns, 3 * kOneWayNs + 4 * rig.options.step_ns);
  talk(rig, kSecond);
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_EQ(rig.server_stats().path_moves, 1u);
  EXPECT_EQ(rig.server_stats().path_trials, 1u);
  rig.run(kSecond);
  EXPECT_EQ(rig.client_stats().reliable_messages_queued, 0u);
  EXPECT_EQ(rig.server_stats().reliable_messages_queued, 0u);
  EXPECT_EQ(rig.client().handler.received.size(), 100u);
}

TEST(EndpointPaths, AnotherAddressAndFamilyAndBackAgain) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  const base::PathId first = rig.client().address;
  talk(rig, 2 * kSecond);
  EXPECT_EQ(rig.server_stats().datagram_bytes, 1472u);
  recovery_ns(rig, base::ipv4_path(198, 18, 0, 7, 40000));
  talk(rig, 2 * kSecond);
  recovery_ns(rig, first);
  talk(rig, 2 * kSecond);
  EXPECT_EQ(rig.server_stats().path_moves, 2u);
  EXPECT_EQ(rig.server_stats().datagram_bytes, 1472u) << "searched again on the new path";
  EXPECT_TRUE(rig.server.handler.ended.empty());
}

TEST(EndpointPaths, AQuietClientIsFoundByItsNextKeepalive) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  rig.run(3 * kSecond);
  const base::PathId moved = base::ipv4_path(192, 0, 2, 1, 51234);
  ASSERT_TRUE(rig.network.rebind(rig.client().address, moved));
  rig.run(1500 * kMs);
  EXPECT_EQ(rig.server_stats().path_moves, 1u);
  rig.run(20 * kSecond);
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_TRUE(rig.client().handler.ended.empty());
}

TEST(EndpointPaths, AMoveStartsTheMeasurementsOver) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  talk(rig, 2 * kSecond);
  const uint64_t before_ns = rig.server_stats().srtt_ns;
  EXPECT_GE(before_ns, 2 * kOneWayNs);
  EXPECT_EQ(rig.server_stats().datagram_bytes, 1472u);
  socket::Impairment slow;
  slow.delay_ms = 200;
  rig.network.set_default(slow);
  uint32_t at_the_move = 0;
  ASSERT_TRUE(rig.network.rebind(rig.client().address, base::ipv4_path(192, 0, 2, 1, 51234)));
  ASSERT_TRUE(rig.run_until(3 * kSecond, [&] {
    at_the_move = rig.server_stats().datagram_bytes;
    return rig.server_stats().path_moves == 1;
  }));
  EXPECT_EQ(at_the_move, 1200u);
  EXPECT_EQ(rig.server_stats().srtt_ns, 0u);
  EXPECT_EQ(rig.server_stats().rto_ns, kInitialRtoNs);
  rig.run(kSecond);
  EXPECT_GE(rig.server_stats().srtt_ns, 400 * kMs) << "no sample of the old path is mixed in";
}

TEST(EndpointPaths, AnAttackerWhoRacesEveryPacketMovesNothing) {
  // Each packet of the client is copied and delivered first from the attacker's address.
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  talk(rig, kSecond);
  Watch watch;
  watch.watched = kAttacker;
  watch.client = rig.client().address;
  watch.copy_from_client = true;
  rig.network.set_tap(&Watch::see, &watch);
  const auto attacker_socket = rig.network.attach(kAttacker);
  uint64_t injected_bytes = 0;
  for (int i = 0; i < 500; ++i) {
    rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(0));
    rig.server.endpoint->send(rig.server.connection, Channel::kUnreliable, {}, number_body(0, 900));
    rig.run(20 * kMs);
    while (!watch.copies.empty()) {
      const Bytes& copy = watch.copies.front();
      ASSERT_TRUE(rig.network.inject(kAttacker, rig.server.address, copy, rig.now_ns));
      injected_bytes += copy.size();
      watch.copies.pop_front();
    }
    ASSERT_LE(watch.bytes_to, 3 * injected_bytes);
  }
  EXPECT_GE(rig.server_stats().path_trials, 5u) << "the races were won";
  EXPECT_LE(rig.server_stats().path_trials, 12u) << "one trial a second";
  EXPECT_EQ(rig.server_stats().path_moves, 0u);
  EXPECT_GT(watch.packets_to, 0u);
  EXPECT_LE(watch.packets_to, 12u * 21) << "one at the beginning of a trial, then one each RTO";
  EXPECT_LE(watch.bytes_to, watch.packets_to * 62) << "challenges, and nothing else";
  EXPECT_TRUE(rig.server.handler.ended.empty());
  rig.run(kSecond);
  EXPECT_EQ(rig.client_stats().reliable_messages_queued, 0u) << "the client's own path went on working";
}

TEST(EndpointPaths, AnAttackerWhoAnswersWithoutTheKeysProvesNothing) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  talk(rig, kSecond);
  Watch watch;
  watch.client = rig.client().address;
  watch.copy_from_client = true;
  rig.network.set_tap(&Watch::see, &watch);
  const auto attacker_socket = rig.network.attach(kAttacker);
  int reflected = 0;
  for (int i = 0; i < 250; ++i) {
    rig.client().endpoint->send(rig.client().connection, Channel::kUnreliable, {}, number_body(0));
    rig.run(20 * kMs);
    while (!watch.copies.empty()) {
      rig.network.inject(kAttacker, rig.server.address, watch.copies.front(), rig.now_ns);
      watch.copies.pop_front();
    }
    // Whatever the server says is sent back at once, as it is and with its direction unknown.
    Bytes buffer(socket::kMaxDatagramBytes);
    socket::Datagram in{{}, 0, buffer.data()};
    while (attacker_socket->receive({&in, 1}, rig.now_ns).count == 1) {
      rig.network.inject(kAttacker, rig.server.address, {in.data, in.size}, rig.now_ns);
      ++reflected;
    }
  }
  EXPECT_GE(reflected, 5);
  EXPECT_GT(rig.server_stats().path_trials, 0u);
  EXPECT_EQ(rig.server_stats().path_moves, 0u);
  EXPECT_EQ(rig.server_stats().refusals.get(Refusal::kPathResponseStray), 0u) << "nothing of it opened";
}

TEST(EndpointPaths, TheClientMovesWhileAnAttackerHoldsTheTrial) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  talk(rig, kSecond);
  // The attacker is first with the last packet from the old port, and then the port changes.
  Watch watch;
  watch.client = rig.client().address;
  watch.copy_from_client = true;
  watch.watched = kAttacker;
  rig.network.set_tap(&Watch::see, &watch);
  rig.client().endpoint->send(rig.client().connection, Channel::kUnreliable, {}, number_body(0));
  rig.step();
  ASSERT_FALSE(watch.copies.empty());
  ASSERT_TRUE(rig.network.inject(kAttacker, rig.server.address, watch.copies.back(), rig.now_ns));
  rig.step();
  EXPECT_EQ(rig.server_stats().path_trials, 1u);
  const uint64_t took_ns = recovery_ns(rig, base::ipv4_path(192, 0, 2, 1, 51234));
  EXPECT_LE(took_ns, kSecond + 4 * kOneWayNs + 4 * rig.options.step_ns);
  EXPECT_EQ(rig.server_stats().path_trials, 2u);
}

TEST(EndpointPaths, AtMostThreeTimesTheBytesToAnAddressThatNeverAnswers) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  talk(rig, kSecond);
  Watch watch;
  watch.watched = base::ipv4_path(192, 0, 2, 99, 51234);
  watch.drop_to_watched = true;
  rig.network.set_tap(&Watch::see, &watch);
  ASSERT_TRUE(rig.network.rebind(rig.client().address, watch.watched));
  const uint64_t sent_before = rig.client_stats().traffic.bytes_sent;
  for (int i = 0; i < 200; ++i) {
    rig.server.endpoint->send(rig.server.connection, Channel::kUnreliable, {}, number_body(0, 1000));
    if (i % 10 == 0) {
      rig.client().endpoint->send(rig.client().connection, Channel::kUnreliable, {}, number_body(0));
    }
    rig.run(20 * kMs);
    ASSERT_LE(watch.bytes_to, 3 * (rig.client_stats().traffic.bytes_sent - sent_before));
  }
  EXPECT_GT(watch.packets_to, 2u);
  EXPECT_EQ(rig.server_stats().path_moves, 0u);
}

TEST(EndpointPaths, AFloodFromElsewhereIsOpenedAHundredTimesASecond) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  talk(rig, kSecond);
  Watch watch;
  watch.client = rig.client().address;
  watch.copy_from_client = true;
  rig.network.set_tap(&Watch::see, &watch);
  talk(rig, 200 * kMs);
  Bytes forged = watch.copies.back();
  forged.back() ^= 1;
  platform::store_u16_le(forged.data() + 14, 0x7f7f);
  rig.now_ns = (rig.now_ns / kSecond + 1) * kSecond;  // All within one second.
  for (int i = 0; i < 1000; ++i)
    ASSERT_TRUE(rig.network.inject(kAttacker, rig.server.address, forged, rig.now_ns));
  const uint64_t failed = rig.server_stats().refusals.get(Refusal::kNotAuthentic) +
                          rig.server_stats().refusals.get(Refusal::kDuplicate);
  rig.pump(rig.server);
  EXPECT_EQ(rig.server_stats().refusals.get(Refusal::kForeignAddressRate), 900u);
  EXPECT_LE(rig.server_stats().refusals.get(Refusal::kNotAuthentic) +
                rig.server_stats().refusals.get(Refusal::kDuplicate) - failed,
            100u);
}

TEST(EndpointPaths, ServersDoNotMove) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  talk(rig, 500 * kMs);
  ASSERT_TRUE(rig.network.rebind(rig.server.address, base::ipv4_path(198, 51, 100, 7, 1)));
  rig.server.endpoint->send(rig.server.connection, Channel::kUnreliable, {}, number_body(0));
  rig.run(11 * kSecond);
  EXPECT_GT(rig.client().endpoint->stats().refusals.get(Refusal::kForeignAddress), 0u);
  ASSERT_EQ(rig.client().handler.ended.size(), 1u);
  EXPECT_EQ(rig.client().handler.ended[0].reason, connection::DisconnectReason::kTimeout);
}

TEST(EndpointPaths, AnAnswerToNoChallengeIsCounted) {
  test::RigOptions options;
  options.client_count = 0;
  EndpointRig rig(std::move(options));
  test::RawClient peer(rig);
  ASSERT_TRUE(peer.connect());
  wire::KeepaliveBody body;
  body.flags = wire::kKeepalivePathResponse | wire::kKeepalivePathChallenge;
  body.challenge = {1, 2, 3, 4, 5, 6, 7, 8};
  Bytes plaintext(wire::kMaxKeepaliveBodyBytes);
  plaintext.resize(wire::encode_keepalive(body, plaintext));
  peer.send(wire::PacketType::kKeepalive, plaintext);
  rig.run(20 * kMs);
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_EQ(rig.server.endpoint->stats().refusals.get(Refusal::kPathResponseStray), 1u);
  // The challenge beside it is answered at the next chance.
  bool answered = false;
  for (const Bytes& keepalive : peer.receive(wire::PacketType::kKeepalive)) {
    wire::KeepaliveBody answer;
    ASSERT_TRUE(wire::parse_keepalive(keepalive, &answer));
    answered =
        answered || ((answer.flags & wire::kKeepalivePathResponse) && answer.response == body.challenge);
  }
  EXPECT_TRUE(answered);
}

TEST(EndpointPaths, EachDirectionFindsWhatItsPathCarries) {
  for (const uint32_t up_bytes : {1200u, 1300u, 1400u, 1472u}) {
    EndpointRig rig(options_with_delay());
    socket::Impairment up = rig.options.path, down = rig.options.path;
    up.mtu_bytes = up_bytes;
    down.mtu_bytes = 1455;
    ASSERT_TRUE(rig.network.set_path(rig.client().address, rig.server.address, up, down));
    ASSERT_TRUE(rig.connect_all());
    talk(rig, 5 * kSecond);
    const uint32_t found = up_bytes == 1300 ? 1280 : up_bytes;
    EXPECT_EQ(rig.client_stats().datagram_bytes, found);
    EXPECT_EQ(rig.server_stats().datagram_bytes, 1452u);
    // Probes that were lost are nobody's loss.
    EXPECT_EQ(rig.client_stats().packets_lost, 0u);
    EXPECT_EQ(rig.server_stats().packets_lost, 0u);
    EXPECT_EQ(rig.client_stats().mtu_black_holes, 0u);
  }
}

TEST(EndpointPaths, AQueueThatHoldsProbesUpDoesNotEndTheSearch) {
  // From the first sample on everything takes two seconds there and back: three probes are given up long
  // before one is acknowledged.
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  socket::Impairment slow = rig.options.path;
  slow.delay_ms = 1000;
  ASSERT_TRUE(rig.network.set_path(rig.client().address, rig.server.address, slow, slow));
  rig.run(1800 * kMs);
  EXPECT_EQ(rig.server_stats().mtu_probes_sent, MtuSearch::kLossesPerSize);
  EXPECT_EQ(rig.server_stats().datagram_bytes, 1200u);
  rig.run(60 * kSecond);
  EXPECT_EQ(rig.client_stats().datagram_bytes, 1472u);
  EXPECT_EQ(rig.server_stats().datagram_bytes, 1472u);
}

TEST(EndpointPaths, AProbeThatIsLostTakesNoAcknowledgementAlong) {
  // Quiet sides probe in step: each one's acknowledgement would ride in a probe of its own that cannot
  // arrive.
  for (uint64_t delay_ms = 0; delay_ms < 20; ++delay_ms) {
    test::RigOptions options;
    options.path.delay_ms = static_cast<double>(delay_ms);
    options.path.mtu_bytes = 1372;
    EndpointRig rig(std::move(options));
    ASSERT_TRUE(rig.connect_all());
    rig.run(5 * kSecond);
    EXPECT_EQ(rig.client_stats().datagram_bytes, 1350u) << delay_ms;
    EXPECT_EQ(rig.server_stats().datagram_bytes, 1350u) << delay_ms;
  }
}

TEST(EndpointPaths, SmallMessagesSharePacketsUpToThePathsSize) {
  for (const uint32_t limit : {1200u, 1472u}) {
    test::RigOptions options = options_with_delay();
    options.client.max_datagram_bytes = limit;  // The smaller of both sides' holds.
    EndpointRig rig(std::move(options));
    ASSERT_TRUE(rig.connect_all());
    rig.run(3 * kSecond);
    EXPECT_EQ(rig.server_stats().datagram_bytes, limit);
    EXPECT_EQ(rig.client_stats().datagram_bytes, limit);
    Watch watch;
    rig.network.set_tap(&Watch::see, &watch);
    for (uint64_t i = 0; i < 200; ++i) {
      rig.server.endpoint->send(rig.server.connection, Channel::kReliableUnordered, {}, number_body(i, 90));
    }
    rig.run(kSecond);
    EXPECT_LE(watch.largest, limit);
    EXPECT_GT(watch.largest, limit - 110);
    EXPECT_EQ(rig.client().handler.received.size(), 200u);
  }
}

TEST(EndpointPaths, ABlackHoleOfLargePacketsIsNoticedAndNothingIsLost) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  talk(rig, 3 * kSecond);
  rig.run(200 * kMs);
  ASSERT_EQ(rig.server_stats().datagram_bytes, 1472u);
  socket::Impairment down = rig.options.path;
  down.mtu_bytes = 1300;
  ASSERT_TRUE(rig.network.set_direction(rig.server.address, rig.client().address, down));
  rig.client().handler.received.clear();
  constexpr uint64_t kMessages = 2000;
  uint64_t queued = 0;
  const auto pump_messages = [&] {
    while (queued < kMessages && rig.server.endpoint->send(rig.server.connection, Channel::kReliableOrdered,
                                                           {}, number_body(queued, 90)) == SendResult::kOk) {
      ++queued;
    }
    return rig.client().handler.received.size() == kMessages;
  };
  ASSERT_TRUE(rig.run_until(30 * kSecond, pump_messages));
  for (uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_EQ(test::number_of(rig.client().handler.received[i].body), i);
  }
  EXPECT_EQ(rig.server_stats().datagram_bytes, 1200u);
  EXPECT_EQ(rig.server_stats().mtu_black_holes, 1u);
  EXPECT_EQ(rig.client_stats().datagram_bytes, 1472u) << "the other direction is as good as ever";
}

TEST(EndpointPaths, ASideMayBeginWithWhatItKnowsThePathCarries) {
  test::RigOptions options = options_with_delay();
  options.server.initial_datagram_bytes = 1472;
  options.client.max_datagram_bytes = 1400;  // The smaller of both sides' holds.
  EndpointRig rig(std::move(options));
  Watch watch;
  rig.network.set_tap(&Watch::see, &watch);
  ASSERT_TRUE(rig.connect_all());
  EXPECT_EQ(rig.server_stats().datagram_bytes, 1400u);
  EXPECT_LT(rig.client_stats().datagram_bytes, 1400u) << "the other side measures";
  rig.run(3 * kSecond);
  EXPECT_EQ(rig.client_stats().datagram_bytes, 1400u);
  EXPECT_EQ(rig.server_stats().mtu_probes_sent, 0u);
  EXPECT_EQ(watch.largest, 1400u);
}

TEST(EndpointPaths, AWrongBeginningFallsBackAndNothingIsLost) {
  test::RigOptions options = options_with_delay();
  options.server.initial_datagram_bytes = 1472;
  options.path.mtu_bytes = 1300;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  ASSERT_EQ(rig.server_stats().datagram_bytes, 1472u);
  constexpr uint64_t kMessages = 2000;
  uint64_t queued = 0;
  const auto pump_messages = [&] {
    while (queued < kMessages && rig.server.endpoint->send(rig.server.connection, Channel::kReliableOrdered,
                                                           {}, number_body(queued, 90)) == SendResult::kOk) {
      ++queued;
    }
    return rig.client().handler.received.size() == kMessages;
  };
  ASSERT_TRUE(rig.run_until(30 * kSecond, pump_messages));
  for (uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_EQ(test::number_of(rig.client().handler.received[i].body), i);
  }
  EXPECT_EQ(rig.server_stats().datagram_bytes, 1200u);
  EXPECT_EQ(rig.server_stats().mtu_black_holes, 1u);
}

TEST(EndpointPaths, AOneWayBlackoutEndsBothSidesByName) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  talk(rig, kSecond);
  socket::Impairment dark = rig.options.path;
  dark.blackout = true;
  ASSERT_TRUE(rig.network.set_direction(rig.server.address, rig.client().address, dark));
  const uint64_t began_ns = rig.now_ns;
  ASSERT_TRUE(rig.run_until(15 * kSecond, [&] { return !rig.client().handler.ended.empty(); }));
  EXPECT_NEAR(static_cast<double>(rig.now_ns - began_ns) / kSecond, 10.0, 0.5);
  EXPECT_TRUE(rig.server.handler.ended.empty()) << "it has heard the client all the time";
  ASSERT_TRUE(rig.run_until(15 * kSecond, [&] { return !rig.server.handler.ended.empty(); }));
  EXPECT_EQ(rig.client().handler.ended[0].reason, connection::DisconnectReason::kTimeout);
  EXPECT_EQ(rig.server.handler.ended[0].reason, connection::DisconnectReason::kTimeout);
}

TEST(EndpointPaths, ABlackoutShorterThanTheTimeoutIsSurvivedWhole) {
  EndpointRig rig(options_with_delay());
  ASSERT_TRUE(rig.connect_all());
  talk(rig, kSecond);
  rig.run(200 * kMs);
  const size_t before = rig.client().handler.received.size();
  socket::Impairment dark = rig.options.path;
  dark.blackout = true;
  ASSERT_TRUE(rig.network.set_direction(rig.server.address, rig.client().address, dark));
  talk(rig, 8 * kSecond);
  ASSERT_TRUE(rig.network.set_direction(rig.server.address, rig.client().address, rig.options.path));
  talk(rig, 3 * kSecond);
  rig.run(2 * kSecond);
  EXPECT_TRUE(rig.client().handler.ended.empty());
  EXPECT_EQ(rig.client().handler.received.size() - before, 550u);
}

TEST(EndpointPaths, RebindingEverySecondWhileKeysRotateAndPacketsAreLost) {
  test::RigOptions options = options_with_delay();
  options.path.loss = 0.05;
  options.path.jitter_ms = 20;
  options.path.jitter_reorders = true;
  for (EndpointConfig* config : {&options.server, &options.client}) {
    config->rotation = {.packets = 100, .min_interval_ns = 0, .min_overlap_ns = 0};
  }
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  for (uint16_t i = 0; i < 20; ++i) {
    const base::PathId moved = base::ipv4_path(192, 0, 2, 1, static_cast<uint16_t>(50000 + i));
    ASSERT_TRUE(rig.network.rebind(rig.client().address, moved));
    rig.client().address = moved;
    talk(rig, 1500 * kMs);
  }
  rig.run(3 * kSecond);
  EXPECT_GE(rig.server_stats().path_moves, 19u);
  EXPECT_GE(rig.server_stats().key_epoch, 5u);
  EXPECT_EQ(rig.server.handler.received.size(), 1500u);
  EXPECT_EQ(rig.client().handler.received.size(), 1500u);
  EXPECT_TRUE(rig.server.handler.ended.empty());
}

}  // namespace
}  // namespace lattice::reliability
