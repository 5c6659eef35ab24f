// Two connections without an endpoint: each has the context that an endpoint would give it, and the test
// carries their datagrams.
#include "reliability/endpoint/connection.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "unit/reliability/endpoint_rig.h"

namespace lattice::test {
namespace {

using connection::DisconnectReason;
using connection::State;
using reliability::Connection;
using reliability::ConnectionContext;
using reliability::Refusal;
using reliability::ServiceSchedule;

constexpr auto kReliable = static_cast<uint8_t>(Channel::kReliableOrdered);
constexpr uint32_t kSlot = 3;

/// Keeps what is sent until the test takes it.
class KeepingSocket final : public socket::DatagramSocket {
 public:
  explicit KeepingSocket(const base::PathId& path) : path_(path) {}
  socket::Reading receive(std::span<socket::Datagram>, uint64_t) override { return {}; }
  size_t send(std::span<const socket::Datagram> datagrams, uint64_t) override {
    for (const socket::Datagram& each : datagrams) sent.emplace_back(each.data, each.data + each.size);
    return datagrams.size();
  }
  base::PathId local_path() const override { return path_; }
  const socket::SocketStats& stats() const override { return stats_; }

  std::vector<Bytes> sent;

 private:
  base::PathId path_;
  socket::SocketStats stats_;
};

/// What surrounds one connection.
struct Side {
  Side(const base::PathId& path, uint64_t seed)
      : socket(path),
        entropy(seed),
        context{.socket = socket,
                .handler = handler,
                .entropy = entropy,
                .pool = pool,
                .receive_memory = receive_memory,
                .items = items,
                .batch = batch,
                .schedule = schedule,
                .totals = totals,
                .framed_messages = framed_messages},
        connection(context, {kSlot, 1}) {}

  /// The datagrams of one service, at `now_ns`.
  std::vector<Bytes> service(uint64_t now_ns) {
    context.clock.enter(now_ns, kStartUnixS);
    if (!connection.is_listed()) {
      connection.service();
      schedule.set(kSlot, connection.next_service_ns());
    }
    return flushed();
  }
  std::vector<Bytes> flushed() {
    batch.flush();
    return std::exchange(socket.sent, {});
  }
  /// True: the connection queued an ack that should leave at once.
  bool receive(const base::PathId& from, Bytes datagram, uint64_t now_ns) {
    context.clock.enter(now_ns, kStartUnixS);
    wire::PacketHeader header;
    size_t header_bytes = 0;
    EXPECT_EQ(wire::parse_packet_header(datagram, context.config.protocol_id, &header, &header_bytes),
              wire::HeaderStatus::kOk);
    return connection.on_datagram(from, datagram, header, header_bytes, connection::OpenedAhead::kNotTried);
  }
  uint64_t refused(Refusal refusal) { return connection.stats().refusals.get(refusal); }

  KeepingSocket socket;
  RecordingHandler handler;
  CountingEntropy entropy;
  base::BufferPool pool{64u << 20};
  reliability::ReceiveMemory receive_memory{64, 64, 16, base::PageSize::kSmall};
  reliability::CarriedItems items{64, 4096};
  reliability::Capture capture;
  reliability::DatagramBatch batch{socket, capture, {}};
  reliability::EndpointStats totals;
  ServiceSchedule schedule{8};
  std::array<wire::Message, 32> framed_messages;
  ConnectionContext context;
  Connection connection;
};

/// A client and a server that have done the handshake.
class ConnectionPair : public testing::Test, public connection::AdmissionPolicy {
 protected:
  ConnectionPair() {
    crypto::nonce_ledger_clear();
    server.context.server = &handshake;
    server.context.resets = &resets;
    connect();
  }

  connection::Admission admit(const connection::AdmissionRequest&) override {
    return {DisconnectReason::kNone, {}, 42};
  }
  bool has_place() const override { return true; }
  void make_place() override {}
  connection::ServerMoment moment() const { return {now_ns, kStartUnixS, 0}; }

  void connect() {
    wire::TokenFields fields;
    fields.issued_s = kStartUnixS;
    fields.expires_s = kStartUnixS + 600;
    fields.aud = handshake.identity();
    fields.cnf = client_key.public_key();
    Bytes token(wire::kMaxTokenBytes);
    token.resize(crypto::sign_token(fields, issuer, token));
    client.context.clock.enter(now_ns, kStartUnixS);
    server.context.clock.enter(now_ns, kStartUnixS);
    client.connection.begin_connecting(kServer, fields, token, client_key);
    for (const Bytes& request : client.service(now_ns)) {
      handshake.on_datagram(kClient, request, moment(), server.batch);
    }
    for (const Bytes& challenge : server.flushed()) {
      EXPECT_FALSE(client.connection.on_handshake_datagram(kServer, challenge));
    }
    for (const Bytes& response : client.flushed()) {
      handshake.on_datagram(kClient, response, moment(), server.batch);
    }
    const auto waited = handshake.take_waiting(now_ns);
    ASSERT_TRUE(waited);
    connection::ServerResult result = handshake.verify(*waited, moment(), server.batch);
    ASSERT_TRUE(result.accepted);
    server.connection.begin_accepted(*result.accepted);
    EXPECT_EQ(server.connection.state(), State::kHandshake);
    for (const Bytes& answer : server.flushed()) {
      std::optional<connection::ClientAccepted> accepted =
          client.connection.on_handshake_datagram(kServer, answer);
      ASSERT_TRUE(accepted);
      client.connection.on_accepted_by_server(*accepted, true);
    }
    carry(client, kClient, server);  // The first packet confirms.
  }

  /// Carries what `from` has sent to `to`.
  static void carry(const std::vector<Bytes>& datagrams, const base::PathId& path, Side& to,
                    uint64_t now_ns) {
    for (const Bytes& each : datagrams) to.receive(path, each, now_ns);
  }
  void carry(Side& from, const base::PathId& path, Side& to) { carry(from.flushed(), path, to, now_ns); }

  /// One millisecond passes, and each side does what is due.
  void step() {
    now_ns += kMs;
    const std::vector<Bytes> out = client.service(now_ns);
    const std::vector<Bytes> back = server.service(now_ns);
    carry(out, kClient, server, now_ns);
    carry(back, kServer, client, now_ns);
    carry(client, kClient, server);  // Acks that left at once.
    carry(server, kServer, client);
  }
  void run(uint64_t for_ns) {
    for (const uint64_t end_ns = now_ns + for_ns; now_ns < end_ns;) step();
  }

  const base::PathId kClient = base::ipv4_path(192, 0, 2, 1, 40000);
  const base::PathId kServer = base::ipv4_path(198, 51, 100, 7, 27015);
  uint64_t now_ns = kSecond;
  CountingEntropy entropy{7};
  crypto::SigningKeyPair issuer = crypto::SigningKeyPair::generate(entropy);
  crypto::KeyPair client_key = crypto::KeyPair::generate(entropy);
  const std::array<crypto::PublicKey, 1> issuers{issuer.public_key()};
  connection::ServerHandshake handshake{{}, crypto::KeyPair::generate(entropy), issuers, entropy, *this};
  connection::StatelessResets resets{crypto::Key{}, {}, entropy};
  Side client{kClient, 200};
  Side server{kServer, 100};
};

TEST_F(ConnectionPair, BothSidesAreConnectedAndAnnounceIt) {
  EXPECT_TRUE(client.connection.connected());
  EXPECT_TRUE(server.connection.connected());
  EXPECT_FALSE(client.connection.is_incoming());
  EXPECT_TRUE(server.connection.is_incoming());
  EXPECT_EQ(client.connection.connection_id(), server.connection.connection_id());
  ASSERT_EQ(client.handler.infos.size(), 1u);
  ASSERT_EQ(server.handler.infos.size(), 1u);
  EXPECT_EQ(client.handler.infos[0].peer_id, 42u);
  EXPECT_EQ(server.handler.infos[0].peer_id, 42u);
}

TEST_F(ConnectionPair, AMessageIsQueuedSentDeliveredAndAcked) {
  run(50 * kMs);
  const uint64_t sent_before = client.connection.packets_sent();
  EXPECT_EQ(client.connection.send(kReliable, {}, number_body(5), 9), SendResult::kOk);
  EXPECT_EQ(client.schedule.at(kSlot), 0u) << "the next update services it";
  EXPECT_EQ(client.connection.packets_sent(), sent_before) << "nothing leaves before the update";
  EXPECT_EQ(client.connection.stats().reliable_messages_queued, 1u);
  step();
  EXPECT_EQ(client.connection.packets_sent(), sent_before + 1);
  ASSERT_EQ(server.handler.received.size(), 1u);
  EXPECT_EQ(number_of(server.handler.received[0].body), 5u);
  EXPECT_TRUE(client.handler.receipts.empty());
  run(30 * kMs);
  EXPECT_EQ(client.handler.receipts[9], std::vector<bool>{true});
  EXPECT_EQ(client.connection.stats().bytes_in_flight, 0u);
  EXPECT_EQ(client.connection.stats().reliable_messages_queued, 0u);
}

TEST_F(ConnectionPair, AQuietConnectionAsksForNoServiceBeforeItsDeadline) {
  run(200 * kMs);
  const uint64_t next_ns = client.connection.next_service_ns();
  EXPECT_GT(next_ns, now_ns);
  EXPECT_LT(next_ns, ServiceSchedule::kNever);
  EXPECT_TRUE(client.service(next_ns - 1).empty());
  EXPECT_FALSE(client.service(next_ns).empty());
}

TEST_F(ConnectionPair, ALostPacketIsSentAgainWhenTheConnectionSaysSo) {
  run(50 * kMs);
  client.connection.send(kReliable, {}, number_body(5), 0);
  now_ns += kMs;
  EXPECT_EQ(client.service(now_ns).size(), 1u);  // It gets lost.
  for (int services = 0; server.handler.received.empty() && services < 10; ++services) {
    const uint64_t next_ns = client.schedule.at(kSlot);
    ASSERT_GT(next_ns, now_ns);
    now_ns = next_ns;
    carry(client.service(now_ns), kClient, server, now_ns);
  }
  ASSERT_EQ(server.handler.received.size(), 1u);
  EXPECT_EQ(client.connection.stats().traffic.messages_resent, 1u);
}

TEST_F(ConnectionPair, ADatagramThatDoesNotOpenOnlyCounts) {
  run(50 * kMs);
  client.connection.send(kReliable, {}, number_body(5), 0);
  now_ns += kMs;
  const std::vector<Bytes> sent = client.service(now_ns);
  ASSERT_EQ(sent.size(), 1u);
  Bytes damaged = sent[0];
  damaged.back() ^= 1;
  const uint64_t received_before = server.connection.stats().traffic.packets_received;
  server.receive(kClient, damaged, now_ns);
  EXPECT_EQ(server.refused(Refusal::kNotAuthentic), 1u);
  EXPECT_EQ(server.totals.refusals.get(Refusal::kNotAuthentic), 1u);
  EXPECT_EQ(server.connection.stats().traffic.packets_received, received_before);
  server.receive(kClient, sent[0], now_ns);
  EXPECT_EQ(server.handler.received.size(), 1u) << "the packet itself is still good";
}

TEST_F(ConnectionPair, AServerDoesNotMove) {
  run(50 * kMs);
  server.connection.send(kReliable, {}, number_body(5), 0);
  now_ns += kMs;
  const std::vector<Bytes> sent = server.service(now_ns);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(client.connection.link_for(kClient), nullptr);
  client.receive(kClient, sent[0], now_ns);
  EXPECT_EQ(client.refused(Refusal::kForeignAddress), 1u);
  EXPECT_TRUE(client.handler.received.empty());
}

TEST_F(ConnectionPair, AnEndIsListedAndReportedOnce) {
  run(50 * kMs);
  client.connection.send(kReliable, {}, number_body(5), 9);
  client.connection.disconnect(DisconnectReason::kRequested, "bye");
  client.connection.disconnect(DisconnectReason::kKicked, "again");
  std::vector<uint32_t> listed;
  client.schedule.finish_ending([&](uint32_t slot) { listed.push_back(slot); });
  EXPECT_EQ(listed, std::vector<uint32_t>{kSlot});
  EXPECT_TRUE(client.connection.take_end());
  EXPECT_FALSE(client.connection.take_end());
  EXPECT_EQ(client.handler.receipts[9], std::vector<bool>{false});
  client.connection.report_end();
  ASSERT_EQ(client.handler.ended.size(), 1u);
  EXPECT_EQ(client.handler.ended[0].reason, DisconnectReason::kRequested);
  EXPECT_EQ(client.handler.ended[0].text, "bye");
  EXPECT_FALSE(client.connection.leave_list()) << "its Disconnect has yet to leave";
  EXPECT_FALSE(client.connection.is_listed());

  now_ns += kMs;
  carry(client.service(now_ns), kClient, server, now_ns);
  EXPECT_TRUE(server.connection.is_listed());
  EXPECT_TRUE(server.connection.stats().ended_by_peer);
  EXPECT_TRUE(server.connection.take_end());
  EXPECT_TRUE(server.connection.leave_list()) << "it is over";
}

TEST_F(ConnectionPair, AConnectionThatBothSidesEndIsListedOnce) {
  run(50 * kMs);
  server.connection.disconnect(DisconnectReason::kRequested, {});
  server.schedule.finish_ending([&](uint32_t) { server.connection.leave_list(); });
  client.connection.disconnect(DisconnectReason::kRequested, {});
  now_ns += kMs;
  carry(server.service(now_ns), kServer, client, now_ns);
  EXPECT_EQ(client.connection.state(), State::kDisconnected);
  uint32_t listed = 0;
  client.schedule.finish_ending([&](uint32_t) { ++listed; });
  EXPECT_EQ(listed, 1u);
}

TEST_F(ConnectionPair, SilenceEndsTheConnectionUnlessTimeoutsArePaused) {
  run(50 * kMs);
  const uint64_t timeout_ns = client.context.config.timers.timeout_ns;
  client.context.is_timeout_paused = true;
  now_ns += 2 * timeout_ns;
  client.service(now_ns);
  EXPECT_TRUE(client.connection.connected());
  client.context.is_timeout_paused = false;
  client.connection.restart_silence(now_ns);
  client.service(now_ns + timeout_ns - kMs);
  EXPECT_TRUE(client.connection.connected());
  client.service(now_ns + timeout_ns);
  EXPECT_EQ(client.connection.state(), State::kTimeout);
  EXPECT_TRUE(client.connection.take_end());
  client.connection.report_end();
  EXPECT_EQ(client.handler.ended.at(0).reason, DisconnectReason::kTimeout);
}

}  // namespace
}  // namespace lattice::test
