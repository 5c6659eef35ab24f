// Endpoints from the first datagram to the last: connecting, refusals, keepalive, timeout, disconnect.
#include <gtest/gtest.h>

#include "endpoint_rig.h"

namespace lattice::reliability {
namespace {

using connection::DisconnectReason;
using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::RigOptions;

RigOptions with_delay(double one_way_ms, uint64_t step_ns = 1 * kMs) {
  RigOptions options;
  options.path.delay_ms = one_way_ms;
  options.step_ns = step_ns;
  return options;
}

TEST(EndpointLifecycle, ConnectTakesTwoRoundTrips) {
  EndpointRig rig(with_delay(50));
  ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
  EXPECT_EQ(rig.client().endpoint->state(rig.client().connection), connection::State::kConnecting);
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return !rig.client().handler.connected.empty(); }));
  // 200 ms on the wire; every step of the pump may add one millisecond.
  EXPECT_LE(rig.now_ns, 210 * kMs);
  EXPECT_GE(rig.now_ns, 200 * kMs);
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return !rig.server.handler.connected.empty(); }));
  EXPECT_LE(rig.now_ns, 265 * kMs);
  const ConnectedInfo& mine = rig.client().handler.infos[0];
  const ConnectedInfo& theirs = rig.server.handler.infos[0];
  EXPECT_EQ(mine.peer_id, theirs.peer_id);
  EXPECT_FALSE(mine.is_incoming);
  EXPECT_TRUE(theirs.is_incoming);
  EXPECT_EQ(theirs.address, rig.client().address);
  EXPECT_EQ(mine.tick_rate_hz, 60);
  EXPECT_EQ(rig.server.handler.user_data, rig.user);
  EXPECT_EQ(rig.client().handler.user_data, rig.user);
  EXPECT_GE(mine.rtt_ns, 100 * kMs);
  EXPECT_LE(mine.rtt_ns, 103 * kMs);
  EXPECT_GE(theirs.rtt_ns, 100 * kMs);
  EXPECT_LE(theirs.rtt_ns, 103 * kMs);
}

// S-21: the network doubles message 4, or the server repeats it.
TEST(EndpointLifecycle, ARepeatedMessageFourAtAConnectedClientIsDropped) {
  EndpointRig rig;
  struct Seen {
    base::PathId server;
    test::Bytes accepted;
  } seen{rig.server.address, {}};
  rig.network.set_tap(
      [](void* context, socket::TappedDatagram& datagram) {
        Seen& s = *static_cast<Seen*>(context);
        constexpr size_t kMessage = wire::kMinHeaderBytes;
        const bool is_four = datagram.from == s.server && datagram.size > kMessage && datagram.data[4] == 0 &&
                             datagram.data[kMessage] == 3;
        if (is_four) s.accepted.assign(datagram.data, datagram.data + datagram.size);
        return socket::TapVerdict::kPass;
      },
      &seen);
  ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return !rig.client().handler.connected.empty(); }));
  rig.run(100 * kMs);
  ASSERT_EQ(seen.accepted.size(), 84u);
  const auto dropped = [&] {
    return rig.client().endpoint->stats().refusals.get(reliability::Refusal::kNotReady);
  };
  const uint64_t before = dropped();
  for (int i = 0; i < 3; ++i) {
    rig.network.inject(rig.server.address, rig.client().address, seen.accepted, rig.now_ns);
  }
  rig.run(100 * kMs);
  EXPECT_EQ(dropped(), before + 3);
  EXPECT_EQ(rig.client().handler.connected.size(), 1u);
  EXPECT_TRUE(rig.client().handler.ended.empty());
  EXPECT_TRUE(rig.server.handler.ended.empty());
}

TEST(EndpointLifecycle, ZeroRoundTripAndTimeZero) {
  RigOptions options;
  options.step_ns = kMs;
  EndpointRig rig(std::move(options));
  ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
  rig.pump(rig.client());  // now_ns is 0 here
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return !rig.server.handler.connected.empty(); }));
  rig.server.connection = rig.server.handler.connected[0];
  rig.run(3 * kSecond);
  EXPECT_LE(rig.client_stats().srtt_ns, 3 * kMs);
  EXPECT_EQ(rig.client_stats().rto_ns, 50 * kMs);
  EXPECT_TRUE(rig.client().handler.ended.empty());
}

TEST(EndpointLifecycle, QuietConnectionSendsAtMostTwoDatagramsPerSecond) {
  for (const double one_way_ms : {0.0, 20.0, 150.0}) {
    EndpointRig rig(with_delay(one_way_ms, 4 * kMs));
    ASSERT_TRUE(rig.connect_all());
    rig.run(3 * kSecond);
    const uint64_t before = rig.client_stats().traffic.packets_sent + rig.server_stats().traffic.packets_sent;
    rig.run(60 * kSecond);
    const uint64_t sent =
        rig.client_stats().traffic.packets_sent + rig.server_stats().traffic.packets_sent - before;
    // Both directions together: 2/s, and the answering side's own probe every ten seconds.
    EXPECT_LE(sent, 60u * 2 + 12) << one_way_ms;
    EXPECT_GE(sent, 60u) << one_way_ms;
    EXPECT_GT(rig.client_stats().rtt_samples, 40u);
    EXPECT_GT(rig.server_stats().rtt_samples, 3u);
    EXPECT_TRUE(rig.client().handler.ended.empty());
  }
}

TEST(EndpointLifecycle, KilledServerIsATimeout) {
  EndpointRig rig(with_delay(10));
  ASSERT_TRUE(rig.connect_all());
  const uint64_t killed_at_ns = rig.now_ns;
  rig.server.endpoint.reset();
  ASSERT_TRUE(rig.run_until(20 * kSecond, [&] { return !rig.client().handler.ended.empty(); }));
  EXPECT_EQ(rig.client().handler.ended[0].reason, DisconnectReason::kTimeout);
  EXPECT_NEAR(static_cast<double>(rig.now_ns - killed_at_ns), 10e9, 0.1e9);
  EXPECT_EQ(rig.client().endpoint->connection_count(), 0u);
  EXPECT_EQ(rig.client().endpoint->stats(rig.client().connection), nullptr);
}

TEST(EndpointLifecycle, AServerThatIsGoneAndSaidToBeIsNamed) {
  EndpointRig rig(with_delay(10));
  ASSERT_TRUE(rig.connect_all());
  rig.network.report_unreachable(rig.client().address, rig.server.address);  // While it still talks: forged.
  rig.run(11 * kSecond);
  ASSERT_TRUE(rig.client().handler.ended.empty());
  rig.server.endpoint.reset();
  rig.run(kSecond);
  rig.network.report_unreachable(rig.client().address, rig.server.address);
  ASSERT_TRUE(rig.run_until(20 * kSecond, [&] { return !rig.client().handler.ended.empty(); }));
  EXPECT_EQ(rig.client().handler.ended[0].reason, DisconnectReason::kTimeout);
  EXPECT_EQ(rig.client().handler.ended[0].text, "nobody listens at the server's address any more");
}

TEST(EndpointLifecycle, AReportThatNobodyListensEndsNoAttempt) {
  EndpointRig rig(with_delay(10));
  ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
  for (int i = 0; i < 7; ++i) {  // The server is not there yet, or somebody forges the reports.
    rig.now_ns += kSecond;
    rig.network.report_unreachable(rig.client().address, rig.server.address);
    rig.pump(rig.client());
  }
  EXPECT_TRUE(rig.client().handler.ended.empty());
  EXPECT_TRUE(rig.run_until(2 * kSecond, [&] { return !rig.client().handler.connected.empty(); }));
}

TEST(EndpointLifecycle, AReportThatNobodyListensIsNamedAtTheEnd) {
  EndpointRig rig(with_delay(10));
  rig.server.endpoint.reset();
  ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
  rig.run(5 * kSecond);
  // About somebody else: not about this attempt.
  rig.network.report_unreachable(rig.client().address, base::ipv4_path(198, 51, 100, 8, 27015));
  rig.run(2 * kSecond);
  rig.network.report_unreachable(rig.client().address, rig.server.address);
  rig.run(2 * kSecond);
  EXPECT_TRUE(rig.client().handler.ended.empty()) << "the whole budget is spent";
  ASSERT_TRUE(rig.run_until(5 * kSecond, [&] { return !rig.client().handler.ended.empty(); }));
  EXPECT_EQ(rig.client().handler.ended[0].reason, DisconnectReason::kUnreachable);
}

TEST(EndpointLifecycle, KilledClientsGiveTheirSlotsBack) {
  RigOptions options = with_delay(10, 5 * kMs);
  options.client_count = 8;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  EXPECT_EQ(rig.server.endpoint->connection_count(), 8u);
  for (const auto& client : rig.clients) client->endpoint.reset();
  rig.run(11 * kSecond);
  EXPECT_EQ(rig.server.handler.ended.size(), 8u);
  for (const auto& end : rig.server.handler.ended) EXPECT_EQ(end.reason, DisconnectReason::kTimeout);
  EXPECT_EQ(rig.server.endpoint->connection_count(), 0u);
  EXPECT_EQ(rig.server.endpoint->pool_stats().buffers_live, 0u);
  rig.add_client({});
  ASSERT_EQ(rig.connect(*rig.clients.back()), ConnectResult::kOk);
  EXPECT_TRUE(rig.run_until(kSecond, [&] { return rig.server.handler.connected.size() == 9; }));
}

TEST(EndpointLifecycle, DisconnectReachesThePeerOnceThroughLoss) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RigOptions options = with_delay(20, 5 * kMs);
    options.seed = seed;
    EndpointRig rig(std::move(options));
    ASSERT_TRUE(rig.connect_all());
    socket::Impairment lossy;
    lossy.delay_ms = 20;
    lossy.loss = 0.3;
    rig.network.set_default(lossy);
    rig.server.endpoint->disconnect(rig.server.connection, static_cast<DisconnectReason>(300), "round over");
    rig.run(1100 * kMs);
    ASSERT_EQ(rig.server.handler.ended.size(), 1u) << seed;
    EXPECT_EQ(rig.server.handler.ended[0].reason, static_cast<DisconnectReason>(300));
    EXPECT_EQ(rig.server.endpoint->connection_count(), 0u) << seed;
    ASSERT_EQ(rig.client().handler.ended.size(), 1u) << seed;
    const test::Ended& end = rig.client().handler.ended[0];
    EXPECT_EQ(end.reason, static_cast<DisconnectReason>(300)) << seed;
    EXPECT_EQ(end.text, "round over");
  }
}

// A phone in a tunnel: nothing arrives for most of a second, and the end is known nevertheless.
TEST(EndpointLifecycle, AGoodbyeOutlivesABurstOfLoss) {
  EndpointRig rig(with_delay(20));
  ASSERT_TRUE(rig.connect_all());
  socket::Impairment gone;
  gone.loss = 1.0;
  rig.network.set_default(gone);
  rig.client().endpoint->disconnect(rig.client().connection, DisconnectReason::kRequested);
  rig.run(900 * kMs);
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_EQ(rig.client().handler.ended.size(), 1u) << "this side has ended at once";
  EXPECT_EQ(rig.client().endpoint->stats().connections_leaving, 1u);
  socket::Impairment back;
  back.delay_ms = 20;
  rig.network.set_default(back);
  EXPECT_TRUE(rig.run_until(95 * kMs, [&] { return rig.client().endpoint->connection_count() == 0; }));
  EXPECT_EQ(rig.client().endpoint->stats().connections_leaving, 0u);
  ASSERT_EQ(rig.server.handler.ended.size(), 1u);
  EXPECT_EQ(rig.server.handler.ended[0].reason, DisconnectReason::kRequested);
}

// A peer that answers costs one packet; one that is gone twenty, and its place for a second.
TEST(EndpointLifecycle, WhoeverIsGoneIsToldForASecond) {
  EndpointRig rig(with_delay(1));
  ASSERT_TRUE(rig.connect_all());
  const auto sent = [&] { return rig.client().endpoint->stats().traffic.packets_sent; };
  rig.server.endpoint.reset();
  const uint64_t before = sent();
  rig.client().endpoint->disconnect(rig.client().connection, DisconnectReason::kRequested);
  rig.run(999 * kMs);
  EXPECT_EQ(sent() - before, 20u);
  EXPECT_EQ(rig.client().endpoint->stats().connections_leaving, 1u);
  rig.run(2 * kMs);
  EXPECT_EQ(rig.client().endpoint->connection_count(), 0u);
  EXPECT_EQ(rig.client().endpoint->stats().connections_leaving, 0u);
}

// The place of who was sent away and does not answer is free at once, not after the grace.
TEST(EndpointLifecycle, ANewcomerGetsThePlaceOfWhoLeaves) {
  RigOptions options = with_delay(5);
  options.client_count = 3;
  options.server.max_connections = 2;
  EndpointRig rig(std::move(options));
  for (size_t i = 0; i < 2; ++i) ASSERT_EQ(rig.connect(*rig.clients[i]), ConnectResult::kOk);
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return rig.server.handler.connected.size() == 2; }));
  rig.clients[0]->endpoint.reset();
  rig.server.endpoint->disconnect(rig.server.handler.connected[0], DisconnectReason::kKicked);
  rig.server.endpoint->disconnect(rig.server.handler.connected[1], DisconnectReason::kKicked);
  rig.clients[1]->endpoint.reset();
  ASSERT_EQ(rig.connect(*rig.clients[2]), ConnectResult::kOk);
  EXPECT_TRUE(rig.run_until(100 * kMs, [&] { return rig.server.handler.connected.size() == 3; }));
  EXPECT_EQ(rig.server.handler.ended.size(), 2u);
  rig.run(kSecond);
  EXPECT_EQ(rig.server.endpoint->connection_count(), 1u);
  EXPECT_EQ(rig.server.endpoint->stats().connections_leaving, 0u);
  EXPECT_EQ(rig.server.handler.ended.size(), 2u) << "each end is told once";
}

// Only who comes in takes a place: the goodbye to who was sent away goes on.
TEST(EndpointLifecycle, ANewcomerThatIsRefusedTakesNoPlace) {
  RigOptions options = with_delay(5);
  options.client_count = 2;
  options.server.max_connections = 1;
  EndpointRig rig(std::move(options));
  ASSERT_EQ(rig.connect(*rig.clients[0]), ConnectResult::kOk);
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return rig.server.handler.connected.size() == 1; }));
  rig.clients[0]->endpoint.reset();
  rig.server.endpoint->disconnect(rig.server.handler.connected[0], DisconnectReason::kKicked);
  rig.server.handler.admission.refusal = static_cast<DisconnectReason>(300);
  ASSERT_EQ(rig.connect(*rig.clients[1]), ConnectResult::kOk);
  rig.run(100 * kMs);
  ASSERT_EQ(rig.clients[1]->handler.ended.size(), 1u);
  EXPECT_EQ(rig.clients[1]->handler.ended[0].reason, static_cast<DisconnectReason>(300));
  EXPECT_EQ(rig.server.endpoint->stats().connections_leaving, 1u);
}

// A server closes while one client has been admitted and has not confirmed, and another asks.
TEST(EndpointLifecycle, WhoComesWhileAServerClosesIsToldSo) {
  RigOptions options = with_delay(20);
  options.client_count = 2;
  EndpointRig rig(std::move(options));
  ASSERT_EQ(rig.connect(*rig.clients[0]), ConnectResult::kOk);
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return rig.server.endpoint->connection_count() == 1; }));
  ASSERT_TRUE(rig.server.handler.connected.empty());
  rig.server.endpoint->set_closing(true);
  ASSERT_EQ(rig.connect(*rig.clients[1]), ConnectResult::kOk);
  for (int i = 0; i < 100; ++i) {
    rig.server.endpoint->disconnect_all(DisconnectReason::kHostLeft, "closing");
    rig.run(5 * kMs);
  }
  EXPECT_EQ(rig.server.endpoint->connection_count(), 0u);
  ASSERT_EQ(rig.clients[0]->handler.ended.size(), 1u);
  EXPECT_EQ(rig.clients[0]->handler.ended[0].reason, DisconnectReason::kHostLeft);
  ASSERT_EQ(rig.clients[1]->handler.ended.size(), 1u);
  EXPECT_EQ(rig.clients[1]->handler.ended[0].reason, DisconnectReason::kServerFull);
}

// "The last message with a receipt, and the end when it comes" loses nothing.
TEST(EndpointLifecycle, AGoodbyeAfterTheReceiptOfTheLastMessageLosesNothing) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    RigOptions options = with_delay(20, 4 * kMs);
    options.seed = seed;
    EndpointRig rig(std::move(options));
    ASSERT_TRUE(rig.connect_all());
    socket::Impairment lossy;
    lossy.delay_ms = 20;
    lossy.loss = 0.2;
    rig.network.set_default(lossy);
    for (uint8_t i = 1; i <= 20; ++i) {
      ASSERT_EQ(rig.server.endpoint->send(rig.server.connection, Channel::kReliableOrdered, {},
                                          test::Bytes(700, i), i == 20 ? 1 : 0),
                SendResult::kOk);
    }
    ASSERT_TRUE(rig.run_until(30 * kSecond, [&] { return rig.server.handler.receipts.contains(1); }));
    rig.server.endpoint->disconnect(rig.server.connection, DisconnectReason::kRequested);
    rig.run(kSecond);
    EXPECT_EQ(rig.client().handler.received.size(), 20u) << seed;
  }
}

TEST(EndpointLifecycle, LongReasonTextIsCutAtACharacter) {
  EndpointRig rig(with_delay(1));
  ASSERT_TRUE(rig.connect_all());
  std::string text(63, 'a');
  text += "\xC3\xA9";  // é would end at byte 65
  rig.client().endpoint->disconnect(rig.client().connection, DisconnectReason::kRequested, text);
  rig.run(300 * kMs);
  ASSERT_EQ(rig.server.handler.ended.size(), 1u);
  EXPECT_EQ(rig.server.handler.ended[0].text, std::string(63, 'a'));
  EXPECT_EQ(rig.server.handler.ended[0].reason, DisconnectReason::kRequested);
}

TEST(EndpointLifecycle, DisconnectWhileConnecting) {
  EndpointRig rig(with_delay(50));
  ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
  rig.run(20 * kMs);
  rig.client().endpoint->disconnect(rig.client().connection, DisconnectReason::kRequested);
  rig.step();
  ASSERT_EQ(rig.client().handler.ended.size(), 1u);
  EXPECT_EQ(rig.client().endpoint->connection_count(), 0u);
  rig.run(8 * kSecond);
  EXPECT_TRUE(rig.server.handler.connected.empty());
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_EQ(rig.server.endpoint->connection_count(), 0u);
}

TEST(EndpointLifecycle, HalfOpenServerIsSilentAndExpires) {
  EndpointRig rig(with_delay(10));
  ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
  // The client dies between its response and its first packet.
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return rig.server.endpoint->connection_count() == 1; }));
  rig.client().endpoint.reset();
  const uint64_t sent = rig.server.socket->stats().datagrams_sent;
  rig.run(9 * kSecond);
  EXPECT_EQ(rig.server.socket->stats().datagrams_sent, sent);
  EXPECT_EQ(rig.server.endpoint->connection_count(), 1u);
  rig.run(2 * kSecond);
  EXPECT_EQ(rig.server.endpoint->connection_count(), 0u);
  EXPECT_TRUE(rig.server.handler.connected.empty());
  EXPECT_TRUE(rig.server.handler.ended.empty());
}

/// How many of 400 clients join where 40 % of all datagrams are lost, each way.
size_t joined_through_loss(const connection::TimerConfig& server) {
  size_t joined = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    RigOptions options = with_delay(50, 10 * kMs);
    options.seed = seed;
    options.path.loss = 0.4;
    options.server.timers = server;
    EndpointRig rig(std::move(options));
    if (rig.connect_all(11 * kSecond)) ++joined;
  }
  return joined;
}

// A token is used from message 4 on. So the server keeps the place as long as a client asks, 10 s; with 5 s,
// twice as many lose their token. A server that gives silent players less time gives newcomers no less.
TEST(EndpointLifecycle, JoinsThroughHeavyLoss) {
  const size_t joined = joined_through_loss({});
  EXPECT_GE(joined, 382u);
  EXPECT_LT(joined_through_loss({.half_open_ns = 5 * kSecond}), 374u);
  EXPECT_EQ(joined_through_loss({.timeout_ns = 3 * kSecond}), joined);
}

TEST(EndpointLifecycle, RefusalsAreNamedOnBothSides) {
  {
    RigOptions options = with_delay(10);
    options.server.schema_id = 0xAAAA;
    options.client.schema_id = 0xBBBB;
    EndpointRig rig(std::move(options));
    ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
    rig.run(2 * kSecond);
    ASSERT_EQ(rig.client().handler.ended.size(), 1u);
    EXPECT_EQ(rig.client().handler.ended[0].reason, DisconnectReason::kSchemaMismatch);
    EXPECT_EQ(rig.client().handler.ended[0].remote_schema, 0xAAAAu);
    EXPECT_GT(rig.server.endpoint->stats().refusals.get(Refusal::kHandshakeRefused), 0u);
    EXPECT_GT(
        rig.server.endpoint->server_handshake()->refusal_count(connection::ServerRefusal::kSchemaMismatch),
        0u);
  }
  {
    RigOptions options = with_delay(10);
    options.client.protocol_id = 0x0200544C;
    EndpointRig rig(std::move(options));
    const crypto::KeyPair key = crypto::KeyPair::generate(rig.entropy);
    wire::TokenFields fields = rig.token_fields(key.public_key());
    fields.protocol_id = 0x0200544C;
    ASSERT_EQ(rig.client().endpoint->connect(rig.server.address, rig.sign(fields, rig.issuer), key,
                                             &rig.client().connection),
              ConnectResult::kOk);
    rig.run(12 * kSecond);
    ASSERT_EQ(rig.client().handler.ended.size(), 1u);
    EXPECT_EQ(rig.client().handler.ended[0].reason, DisconnectReason::kVersionMismatch);
    EXPECT_GT(rig.server.endpoint->stats().refusals.get(Refusal::kHeaderWrongVersion), 0u);
  }
  {
    EndpointRig rig(with_delay(10));
    rig.server.handler.admission.refusal = DisconnectReason::kKicked;
    rig.server.handler.admission.text = "banned";
    ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
    rig.run(2 * kSecond);
    ASSERT_EQ(rig.client().handler.ended.size(), 1u);
    EXPECT_EQ(rig.client().handler.ended[0].reason, DisconnectReason::kKicked);
    EXPECT_EQ(rig.client().handler.ended[0].text, "banned");
  }
  {
    RigOptions options = with_delay(10);
    options.client_count = 3;
    options.server.max_connections = 2;
    EndpointRig rig(std::move(options));
    for (const auto& client : rig.clients) ASSERT_EQ(rig.connect(*client), ConnectResult::kOk);
    rig.run(2 * kSecond);
    EXPECT_EQ(rig.server.handler.connected.size(), 2u);
    size_t full = 0;
    for (const auto& client : rig.clients) {
      for (const auto& end : client->handler.ended) full += end.reason == DisconnectReason::kServerFull;
    }
    EXPECT_EQ(full, 1u);
  }
}

TEST(EndpointLifecycle, WrongTokens) {
  const auto attempt = [](auto spoil, bool other_issuer) {
    EndpointRig rig(with_delay(10, 5 * kMs));
    const crypto::KeyPair key = crypto::KeyPair::generate(rig.entropy);
    const crypto::SigningKeyPair other = crypto::SigningKeyPair::generate(rig.entropy);
    wire::TokenFields fields = rig.token_fields(key.public_key());
    spoil(fields);
    ASSERT_EQ(rig.client().endpoint->connect(rig.server.address,
                                             rig.sign(fields, other_issuer ? other : rig.issuer), key,
                                             &rig.client().connection),
              ConnectResult::kOk);
    rig.run(12 * kSecond);
    ASSERT_EQ(rig.client().handler.ended.size(), 1u);
    EXPECT_NE(rig.client().handler.ended[0].reason, DisconnectReason::kNone);
    EXPECT_TRUE(rig.server.handler.connected.empty());
    EXPECT_EQ(rig.server.endpoint->connection_count(), 0u);
    EXPECT_GT(rig.server.endpoint->stats().refusals.get(Refusal::kHandshakeRefused), 0u);
  };
  attempt([](wire::TokenFields& f) { f.aud.fill(9); }, false);
  attempt([](wire::TokenFields& f) { f.issued_s -= 4000, f.expires_s = f.issued_s + 100; }, false);
  attempt([](wire::TokenFields&) {}, true);
}

TEST(EndpointLifecycle, ConnectMisuse) {
  EndpointRig rig(with_delay(10));
  const crypto::KeyPair key = crypto::KeyPair::generate(rig.entropy);
  const crypto::KeyPair other = crypto::KeyPair::generate(rig.entropy);
  const test::Bytes token = rig.sign(rig.token_fields(key.public_key()), rig.issuer);
  test::ConnectionHandle handle;
  Endpoint& endpoint = *rig.client().endpoint;
  EXPECT_EQ(endpoint.connect({}, token, key, &handle), ConnectResult::kBadAddress);
  EXPECT_EQ(endpoint.connect(rig.server.address, token, other, &handle), ConnectResult::kBadToken);
  EXPECT_EQ(endpoint.connect(rig.server.address, std::span(token).first(100), key, &handle),
            ConnectResult::kBadToken);
  EXPECT_EQ(endpoint.connect(rig.server.address, token, key, &handle), ConnectResult::kOk);
  EXPECT_EQ(endpoint.connect(rig.server.address, token, key, &handle), ConnectResult::kFull);
  const uint8_t body[1] = {0};
  EXPECT_EQ(endpoint.send(handle, Channel::kUnreliable, {}, body), SendResult::kNotConnected);
  EXPECT_EQ(endpoint.send({}, Channel::kUnreliable, {}, body), SendResult::kNotConnected);
}

TEST(EndpointLifecycle, ConfigurationErrorsNameTheField) {
  EndpointRig rig;
  const auto error_of = [&](auto spoil) {
    EndpointConfig config;
    spoil(config);
    const char* error = nullptr;
    EXPECT_EQ(
        Endpoint::create(std::move(config), *rig.server.socket, rig.server.handler, rig.entropy, &error),
        nullptr);
    return std::string(error == nullptr ? "" : error);
  };
  const auto expect_named = [&](const char* field, auto spoil) {
    EXPECT_EQ(error_of(spoil).rfind(field, 0), 0u) << field << ": " << error_of(spoil);
  };
  expect_named("max_datagram_bytes", [](EndpointConfig& c) { c.max_datagram_bytes = 1199; });
  expect_named("max_datagram_bytes", [](EndpointConfig& c) { c.max_datagram_bytes = 1473; });
  expect_named("rotation", [](EndpointConfig& c) { c.rotation.packets = 0; });
  expect_named("rotation.min_overlap_ns", [](EndpointConfig& c) { c.rotation.max_overlap_ns = 1; });
  expect_named("tasks.worker_count", [](EndpointConfig& c) { c.tasks.worker_count = 0; });
  expect_named("tasks.enqueue", [](EndpointConfig& c) { c.tasks.worker_count = 2; });
  expect_named("congestion.good_bad", [](EndpointConfig& c) { c.congestion.good_bad.bad_rate_hz = 0; });
  expect_named("congestion.good_bad.max_good_ns",
               [](EndpointConfig& c) { c.congestion.good_bad.max_good_ns = 0; });
  const auto serving = [&](auto spoil) {
    return [&rig, spoil](EndpointConfig& c) {
      c.accepts_connections = true;
      c.issuers = {rig.issuer.public_key()};
      c.identity = crypto::KeyPair::generate(rig.entropy);
      spoil(c);
    };
  };
  expect_named("identity", serving([](EndpointConfig& c) { c.identity = {}; }));
  expect_named("requests_per_s", serving([](EndpointConfig& c) { c.verified_per_s = 0; }));
  EXPECT_NE(error_of([](EndpointConfig& c) { c.max_connections = 0; }).find("max_connections"),
            std::string::npos);
  EXPECT_NE(error_of([](EndpointConfig& c) { c.accepts_connections = true; }).find("issuers"),
            std::string::npos);
  EXPECT_NE(error_of([](EndpointConfig& c) { c.timers.timeout_ns = 5; }).find("timeout"), std::string::npos);
}

}  // namespace
}  // namespace lattice::reliability
