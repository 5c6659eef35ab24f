// Stateless resets between whole endpoints: who is told that its server forgot it, and who cannot be made to
// believe it.
#include <gtest/gtest.h>

#include "endpoint_rig.h"
#include "traffic_record.h"

namespace lattice::reliability {
namespace {

using connection::DisconnectReason;
using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::Node;
using test::number_body;
using test::RecordedDatagram;
using test::RigOptions;
using test::TrafficRecord;

constexpr size_t kResetBytes = wire::kMinHeaderBytes + wire::kResetBodyBytes;

RigOptions with_clients(size_t count) {
  RigOptions options;
  options.path.delay_ms = 10;
  options.client_count = count;
  return options;
}

/// Connected, and the clients have their tokens.
void begin(EndpointRig& rig) {
  ASSERT_TRUE(rig.connect_all());
  rig.run(200 * kMs);
}

void talk(EndpointRig& rig, Node& client) {
  client.endpoint->send(client.connection, Channel::kUnreliable, {}, number_body(1));
  rig.step();
}

bool ended(EndpointRig& rig, uint64_t within_ns) {
  return rig.run_until(within_ns, [&] { return !rig.client().handler.ended.empty(); });
}

/// A packet from the server to the client in slot 0 that has the shape of a reset and ends with `token`.
Bytes reset_shaped(uint64_t connection_id, uint64_t packet_seq, const wire::ResetToken& token) {
  wire::PacketHeader header;
  header.connection_id = connection_id;
  header.packet_seq = packet_seq;
  const std::array<uint8_t, wire::kResetRandomBytes> random{};
  Bytes out(wire::kMaxResetBytes);
  out.resize(wire::encode_reset(header, random, token, out));
  return out;
}

uint64_t connection_id_of(const RecordedDatagram& datagram) {
  return platform::load_u64_le(datagram.bytes.data() + 5);
}

TEST(EndpointReset, AServerThatKeptItsIdentitySaysSoAtOnce) {
  EndpointRig rig(with_clients(3));
  begin(rig);
  rig.restart_server(true);
  ASSERT_TRUE(ended(rig, 1500 * kMs)) << "the next Keepalive is answered";
  rig.run(1500 * kMs);
  for (const auto& client : rig.clients) {
    ASSERT_EQ(client->handler.ended.size(), 1u);
    EXPECT_EQ(client->handler.ended[0].reason, DisconnectReason::kServerRestarted);
    EXPECT_EQ(client->handler.ended[0].text, "the server no longer knows this connection");
    EXPECT_EQ(client->endpoint->connection_count(), 0u);
  }
  EXPECT_GE(rig.server.endpoint->stats().resets_sent, 3u);
  EXPECT_EQ(rig.server.endpoint->connection_count(), 0u);
  // And with a new token everybody comes back.
  for (const auto& client : rig.clients) client->handler.connected.clear();
  EXPECT_TRUE(rig.connect_all());
}

TEST(EndpointReset, ANewIdentityCannotMakeTheOldTokens) {
  EndpointRig rig(with_clients(1));
  begin(rig);
  rig.restart_server(false);
  ASSERT_FALSE(ended(rig, 9 * kSecond));
  EXPECT_GT(rig.server.endpoint->stats().resets_sent, 3u);
  ASSERT_TRUE(ended(rig, 2 * kSecond));
  EXPECT_EQ(rig.client().handler.ended[0].reason, DisconnectReason::kTimeout);
  EXPECT_EQ(rig.client().handler.ended[0].text, "silence: server gone or restarted, or the network is down");
}

TEST(EndpointReset, AConnectionThatTheServerEndedUnheardIsEndedToo) {
  EndpointRig rig(with_clients(1));
  begin(rig);
  rig.network.set_direction(rig.server.address, rig.client().address, {.blackout = true});
  rig.server.endpoint->disconnect(rig.server.connection, DisconnectReason::kKicked);
  rig.run(1500 * kMs);
  ASSERT_TRUE(rig.client().handler.ended.empty());
  rig.network.set_direction(rig.server.address, rig.client().address, {});
  ASSERT_TRUE(ended(rig, 2 * kSecond));
  EXPECT_EQ(rig.client().handler.ended[0].reason, DisconnectReason::kServerRestarted);
}

TEST(EndpointReset, AClientThatWasNotToldItsTokenFindsOutBySilence) {
  EndpointRig rig(with_clients(1));
  ASSERT_EQ(rig.connect(rig.client()), ConnectResult::kOk);
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return !rig.client().handler.connected.empty(); }));
  rig.restart_server(true);  // With a half-open entry, whose client has message 4 and nothing else.
  ASSERT_FALSE(ended(rig, 9 * kSecond));
  ASSERT_TRUE(ended(rig, 2 * kSecond));
  EXPECT_EQ(rig.client().handler.ended[0].reason, DisconnectReason::kTimeout);
}

TEST(EndpointReset, WhileTheServerKnowsTheConnectionNothingMakesItSendOne) {
  EndpointRig rig(with_clients(1));
  TrafficRecord record(rig.network);
  begin(rig);
  const std::vector<RecordedDatagram> packets = record.session_packets(rig.client().address);
  const auto elsewhere = base::ipv4_path(203, 0, 113, 9, 9);
  for (const RecordedDatagram& each : packets) {
    for (size_t byte = 13; byte < each.bytes.size(); ++byte) {  // Behind the connection_id.
      Bytes spoilt = each.bytes;
      spoilt[byte] ^= 0x55;
      ASSERT_TRUE(rig.network.inject(byte % 2 == 0 ? elsewhere : each.from, each.to, spoilt, rig.now_ns));
    }
    rig.step();
  }
  EXPECT_EQ(rig.server.endpoint->stats().resets_sent, 0u);
  EXPECT_TRUE(rig.server.handler.ended.empty());
}

TEST(EndpointReset, GuessesAreForgedPacketsAndNoMore) {
  EndpointRig rig(with_clients(1));
  TrafficRecord record(rig.network);
  begin(rig);
  const uint64_t id = connection_id_of(record.session_packets(rig.server.address).front());
  const RefusalCounters before = rig.client_stats().refusals;
  wire::ResetToken guess{};
  constexpr uint64_t kGuesses = 5000;
  for (uint64_t i = 0; i < kGuesses; ++i) {
    platform::store_u64_le(guess.data(), i * 0x9E3779B97F4A7C15u);
    ASSERT_TRUE(rig.network.inject(rig.server.address, rig.client().address,
                                   reset_shaped(id, 10'000 + i, guess), rig.now_ns));
    if (i % 100 == 99) rig.step();
  }
  EXPECT_EQ(rig.client_stats().refusals.get(Refusal::kNotAuthentic) - before.get(Refusal::kNotAuthentic),
            kGuesses);
  EXPECT_TRUE(rig.client().handler.ended.empty());
  talk(rig, rig.client());
  EXPECT_TRUE(rig.run_until(kSecond, [&] { return rig.server.handler.message_count != 0; }));
}

TEST(EndpointReset, TheResetOfAnotherConnectionOrFromElsewhereIsIgnored) {
  EndpointRig rig(with_clients(2));
  TrafficRecord record(rig.network);
  begin(rig);
  const Node& second = *rig.clients[1];
  const uint64_t second_id = connection_id_of(record.session_packets(second.address).front());
  rig.restart_server(true);
  rig.network.set_direction(rig.server.address, second.address, {.blackout = true});
  ASSERT_TRUE(ended(rig, 2 * kSecond));
  std::vector<RecordedDatagram> resets = record.session_packets(rig.server.address);
  std::erase_if(resets, [&](const RecordedDatagram& each) {
    return each.to != rig.client().address || each.bytes.size() != kResetBytes;
  });
  ASSERT_FALSE(resets.empty());
  Bytes stolen = resets.back().bytes;
  platform::store_u64_le(stolen.data() + 5, second_id);
  ASSERT_TRUE(rig.network.inject(rig.server.address, second.address, stolen, rig.now_ns));
  // The second's own, from another address than the server's.
  const crypto::HmacKey key(rig.reset_key.bytes());
  const Bytes own = reset_shaped(second_id, 500, connection::make_reset_token(key, second_id));
  ASSERT_TRUE(rig.network.inject(base::ipv4_path(203, 0, 113, 9, 9), second.address, own, rig.now_ns));
  rig.run(100 * kMs);
  EXPECT_TRUE(second.handler.ended.empty());
  // From the server's address it is the real thing.
  ASSERT_TRUE(rig.network.inject(rig.server.address, second.address, own, rig.now_ns));
  rig.run(20 * kMs);
  ASSERT_EQ(second.handler.ended.size(), 1u);
  EXPECT_EQ(second.handler.ended[0].reason, DisconnectReason::kServerRestarted);
}

TEST(EndpointReset, ClientsSendNone) {
  EndpointRig rig(with_clients(1));
  begin(rig);
  const uint64_t sent = rig.client().socket->stats().datagrams_sent;
  Bytes unknown = reset_shaped(0x123456789, 1, {});
  unknown.resize(1200);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(rig.network.inject(rig.server.address, rig.client().address, unknown, rig.now_ns));
  }
  rig.now_ns += kMs;
  rig.pump(rig.client());
  EXPECT_EQ(rig.client().endpoint->stats().resets_sent, 0u);
  EXPECT_LE(rig.client().socket->stats().datagrams_sent, sent + 1);
}

TEST(EndpointReset, TwoServersDoNotKeepEachOtherBusy) {
  EndpointRig one(with_clients(0));
  Node other;
  other.address = base::ipv4_path(198, 51, 100, 8, 27015);
  other.entropy = test::CountingEntropy(900);
  EndpointConfig config;
  config.accepts_connections = true;
  config.identity = crypto::KeyPair::generate(one.entropy);
  config.issuers = {one.issuer.public_key()};
  one.start(other, std::move(config));
  Bytes unknown = reset_shaped(0x123456789, 1, {});
  unknown.resize(1200);
  ASSERT_TRUE(one.network.inject(other.address, one.server.address, unknown, one.now_ns));
  for (int i = 0; i < 100; ++i) {
    one.step();
    one.pump(other);
  }
  EXPECT_EQ(one.server.endpoint->stats().resets_sent, 1u);
  EXPECT_EQ(other.endpoint->stats().resets_sent, 0u);
  EXPECT_EQ(other.endpoint->stats().refusals.get(Refusal::kUnknownConnection), 1u);
}

TEST(EndpointReset, AFloodOfUnknownPacketsIsAnsweredWithinTheLimits) {
  EndpointRig rig(with_clients(0));
  Bytes unknown = reset_shaped(0x123456789, 1, {});
  unknown.resize(200);
  const auto from = base::ipv4_path(203, 0, 113, 9, 9);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(rig.network.inject(from, rig.server.address, unknown, rig.now_ns));
  }
  rig.pump(rig.server);
  const EndpointStats& stats = rig.server.endpoint->stats();
  EXPECT_EQ(stats.resets_sent, 200u);
  EXPECT_EQ(stats.refusals.get(Refusal::kResetRate), 800u);
  EXPECT_EQ(stats.refusals.get(Refusal::kUnknownConnection), 200u);
}

}  // namespace
}  // namespace lattice::reliability
