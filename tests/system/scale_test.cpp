// Traps that need a look inside: ten thousand connections on one socket, what an idle one costs in memory,
// and a gap under ten thousand small messages. Endpoints over the simulated network, in virtual time.
#include <gtest/gtest.h>

#include <cstdio>

#include "allocation_counter.h"
#include "fragment/fragmenting_endpoint.h"
#include "unit/reliability/endpoint_rig.h"

namespace lattice::test::scale_test {
namespace {

using fragment::FragmentingEndpoint;

/// Counts, and keeps nothing but handles.
class Counter final : public reliability::EndpointHandler {
 public:
  connection::Admission on_admission(const connection::AdmissionRequest&) override {
    connection::Admission out;
    out.peer_id = ++next_peer_id;
    return out;
  }
  void on_connected(ConnectionHandle connection, const reliability::ConnectedInfo&) override {
    const PauseCounting pause;
    connected.push_back(connection);
  }
  void on_disconnected(ConnectionHandle, connection::DisconnectReason, uint64_t, std::string_view) override {
    ++ended;
  }
  reliability::Verdict on_message(ConnectionHandle, Channel, MessageFlags, std::span<const uint8_t>,
                                  uint64_t) override {
    ++messages;
    return reliability::Verdict::kAccept;
  }
  void on_receipt(ConnectionHandle, uint32_t, bool) override {}

  uint64_t next_peer_id = 1, messages = 0, ended = 0;
  std::vector<ConnectionHandle> connected;
};

/// One server, and clients that share sockets: each endpoint holds many connections to it.
class Crowd {
 public:
  Crowd(uint32_t endpoints, uint32_t per_endpoint)
      : network({.seed = 1, .queue_datagrams = 32768}), connections_(endpoints * per_endpoint) {
    crypto::nonce_ledger_clear();
    issuer_ = crypto::SigningKeyPair::generate(entropy_);
    server_socket_ = network.attach(kServer);
    reliability::EndpointConfig config;
    config.accepts_connections = true;
    config.max_connections = connections_;
    config.max_claims = 2 * connections_;
    config.identity = crypto::KeyPair::generate(entropy_);
    config.issuers = {issuer_.public_key()};
    config.max_half_open = config.max_half_open_per_prefix = connections_;
    config.requests_per_s = config.responses_per_s = config.verified_per_s = 1'000'000;
    config.hashed_per_s = 1'000'000;
    config.timers.timeout_ns = kTimeoutNs;
    server_key_ = config.identity.public_key();
    server_handler.connected.reserve(connections_);
    const int64_t before = live_bytes();
    server =
        FragmentingEndpoint::create(std::move(config), *server_socket_, server_handler, entropy_, nullptr);
    server_bytes = created_bytes = live_bytes() - before;
    for (uint32_t i = 0; i < endpoints; ++i) {
      sockets_.push_back(network.attach(base::ipv4_path(192, 0, 2, 1, static_cast<uint16_t>(1000 + i))));
      handlers.push_back(std::make_unique<Counter>());
      reliability::EndpointConfig client;
      client.max_connections = per_endpoint;
      client.timers.timeout_ns = kTimeoutNs;
      clients.push_back(
          FragmentingEndpoint::create(std::move(client), *sockets_[i], *handlers[i], entropy_, nullptr));
    }
  }

  /// All connections, one at a time on each endpoint; false when one does not come about.
  bool connect_all() {
    while (server_handler.connected.size() < connections_) {
      const size_t before = server_handler.connected.size();
      for (const auto& client : clients) {
        const crypto::KeyPair key = crypto::KeyPair::generate(entropy_);
        wire::TokenFields fields;
        entropy_.fill(fields.token_id);
        fields.issued_s = kStartUnixS;
        fields.expires_s = kStartUnixS + 600;
        fields.aud = server_key_;
        fields.cnf = key.public_key();
        Bytes token(wire::kMaxTokenBytes);
        token.resize(crypto::sign_token(fields, issuer_, token));
        ConnectionHandle handle;
        if (client->connect(kServer, token, key, &handle) != reliability::ConnectResult::kOk) return false;
      }
      for (int i = 0; i < 10 && server_handler.connected.size() < before + clients.size(); ++i) step(kMs);
      if (server_handler.connected.size() < before + clients.size()) return false;
    }
    return true;
  }

  void step(uint64_t ns) {
    now_ns += ns;
    const int64_t before = live_bytes();
    server->receive(now_ns, kStartUnixS);
    server->update_and_send(now_ns, kStartUnixS);
    server_bytes += live_bytes() - before;
    for (const auto& client : clients) {
      client->receive(now_ns, kStartUnixS);
      client->update_and_send(now_ns, kStartUnixS);
    }
  }
  void run(uint64_t for_ns, uint64_t step_ns) {
    for (const uint64_t end_ns = now_ns + for_ns; now_ns < end_ns;) step(step_ns);
  }

  static constexpr uint64_t kTimeoutNs = 3 * kSecond;
  const base::PathId kServer = base::ipv4_path(198, 51, 100, 7, 27015);
  socket::SimulatedNetwork network;
  uint64_t now_ns = 0;
  Counter server_handler;
  std::vector<std::unique_ptr<Counter>> handlers;
  int64_t created_bytes = 0;  ///< Of those, at its creation.
  int64_t server_bytes = 0;   ///< Allocated by the server and not given back, its creation included.

 private:
  uint32_t connections_;
  CountingEntropy entropy_{7};
  crypto::SigningKeyPair issuer_;
  crypto::PublicKey server_key_{};
  std::unique_ptr<socket::DatagramSocket> server_socket_;
  std::vector<std::unique_ptr<socket::DatagramSocket>> sockets_;

 public:
  // Last: they end before what they use.
  std::unique_ptr<FragmentingEndpoint> server;
  std::vector<std::unique_ptr<FragmentingEndpoint>> clients;
};

TEST(Scale, TenThousandConnectionsOnOneSocket) {
  constexpr uint32_t kEndpoints = 100;
  constexpr uint32_t kEach = 100;
  constexpr uint64_t kConnections = uint64_t{kEndpoints} * kEach;
  Crowd crowd(kEndpoints, kEach);
  ASSERT_TRUE(crowd.connect_all());
  // Idle for longer than the timeout: keepalives keep every one alive.
  crowd.run(4 * kSecond, 100 * kMs);
  EXPECT_EQ(crowd.server_handler.ended, 0u);
  ASSERT_EQ(crowd.server->endpoint().connection_count(), kConnections);
  const double each = static_cast<double>(crowd.server_bytes) / static_cast<double>(kConnections);
  std::printf("memory per idle connection, %llu connections: %.1f KiB\n",
              static_cast<unsigned long long>(kConnections), each / 1024);
  EXPECT_LE(each, 32.0 * 1024);
  // Every one of them carries a message each way.
  const Bytes body(64, 1);
  for (const ConnectionHandle connection : crowd.server_handler.connected) {
    ASSERT_EQ(crowd.server->send(connection, Channel::kReliableOrdered, {}, body), SendResult::kOk);
  }
  for (size_t i = 0; i < crowd.clients.size(); ++i) {
    for (const ConnectionHandle connection : crowd.handlers[i]->connected) {
      ASSERT_EQ(crowd.clients[i]->send(connection, Channel::kReliableUnordered, {}, body), SendResult::kOk);
    }
  }
  crowd.run(2 * kSecond, 20 * kMs);
  EXPECT_EQ(crowd.server_handler.messages, kConnections);
  for (const auto& handler : crowd.handlers) EXPECT_EQ(handler->messages, kEach);
}

TEST(Scale, MemoryOfAnIdleConnectionAtTheDefaults) {
  // 64 connections, the default of a world; what the endpoint itself takes is shared out among them.
  Crowd crowd(16, 4);
  ASSERT_TRUE(crowd.connect_all());
  crowd.run(4 * kSecond, 100 * kMs);
  ASSERT_EQ(crowd.server->endpoint().connection_count(), 64u);
  const int64_t before = crowd.server_bytes;
  crowd.run(4 * kSecond, 100 * kMs);
  EXPECT_EQ(crowd.server_bytes, before) << "idling takes memory";
  const auto share_kib = [](int64_t bytes) { return static_cast<double>(bytes) / 64 / 1024; };
  std::printf("memory per idle connection, 64 connections: %.1f KiB, %.1f of it taken when it connects\n",
              share_kib(crowd.server_bytes), share_kib(crowd.server_bytes - crowd.created_bytes));
  EXPECT_LE(share_kib(crowd.server_bytes), 32.0);
}

TEST(Scale, AGapUnderTenThousandSmallReliableMessages) {
  // The first message is lost again and again for three seconds while 10,000 others want to follow. What is
  // counted is everything the receiver does per message: packets opened, messages offered, acks sent.
  for (const Channel channel : {Channel::kReliableOrdered, Channel::kReliableUnordered}) {
    SCOPED_TRACE(static_cast<int>(channel));
    RigOptions options;
    options.path.delay_ms = 10;
    EndpointRig rig(std::move(options));
    ASSERT_TRUE(rig.connect_all());
    rig.server.handler.record = false;
    // With the window full behind the gap only the lost message is sent: a datagram of this size.
    struct Gap {
      bool open = true;
      uint64_t lost = 0;
      base::PathId from;
      static socket::TapVerdict tap(void* context, socket::TappedDatagram& datagram) {
        auto& gap = *static_cast<Gap*>(context);
        const bool first = datagram.from == gap.from && datagram.size > 46 && datagram.size < 60;
        if (!gap.open || !first) return socket::TapVerdict::kPass;
        ++gap.lost;
        return socket::TapVerdict::kDrop;
      }
    } gap;
    gap.from = rig.client().address;
    rig.network.set_tap(&Gap::tap, &gap);
    constexpr uint64_t kMessages = 10'000;
    uint64_t sent = 0;
    const auto offer = [&] {
      while (sent < kMessages && rig.client().endpoint->send(rig.client().connection, channel, {},
                                                             number_body(sent)) == SendResult::kOk) {
        ++sent;
      }
    };
    ASSERT_EQ(rig.client().endpoint->send(rig.client().connection, channel, {}, number_body(sent++)),
              SendResult::kOk);
    rig.step();
    ASSERT_EQ(gap.lost, 1u);
    const uint64_t end_ns = rig.now_ns + 3 * kSecond;
    while (rig.now_ns < end_ns) {
      offer();
      rig.step();
    }
    EXPECT_GT(gap.lost, 3u);
    EXPECT_LT(gap.lost, 40u);  // Its interval doubles: a gap is not a storm.
    const uint64_t during = rig.server.handler.message_count;
    EXPECT_EQ(during, channel == Channel::kReliableOrdered ? 0u : 255u);
    EXPECT_LT(rig.server_stats().traffic.packets_received, 60u);
    gap.open = false;
    ASSERT_TRUE(rig.run_until(60 * kSecond, [&] {
      offer();
      return rig.server.handler.message_count == kMessages;
    }));
    const reliability::ConnectionStats& server = rig.server_stats();
    const uint64_t offered =
        server.traffic.messages_received + server.refusals.get(reliability::Refusal::kMessageDuplicate);
    std::printf("gap: %llu packets, %llu messages offered, %llu packets sent back\n",
                static_cast<unsigned long long>(server.traffic.packets_received),
                static_cast<unsigned long long>(offered),
                static_cast<unsigned long long>(server.traffic.packets_sent));
    EXPECT_LE(offered, kMessages + 100);
    EXPECT_LE(server.traffic.packets_received, kMessages / 10);
    EXPECT_LE(server.traffic.packets_sent, kMessages / 10);
  }
}

}  // namespace
}  // namespace lattice::test::scale_test
