// After warm-up neither half of the pump allocates, nor does anything a stranger sends: the global allocation
// functions of this test program count.
#include <gtest/gtest.h>

#include <array>

#include "allocation_counter.h"
#include "base/random.h"
#include "endpoint_rig.h"

namespace lattice::reliability {
namespace {

using test::kMs;

// Every third second or so.
constexpr connection::RotationConfig kOftenRotated = {.period_ns = 2000 * kMs, .min_interval_ns = 1000 * kMs};

// Hears everything, keeps nothing.
class SilentHandler final : public EndpointHandler {
 public:
  connection::Admission on_admission(const connection::AdmissionRequest&) override {
    connection::Admission out;
    out.peer_id = ++peers;
    return out;
  }
  void on_connected(ConnectionHandle connection, const ConnectedInfo&) override {
    if (connected < handles.size()) handles[connected] = connection;
    ++connected;
  }
  void on_disconnected(ConnectionHandle, connection::DisconnectReason, uint64_t, std::string_view) override {}
  Verdict on_message(ConnectionHandle, Channel, MessageFlags, std::span<const uint8_t>, uint64_t) override {
    ++messages;
    return Verdict::kAccept;
  }
  void on_receipt(ConnectionHandle, uint32_t, bool) override { ++receipts; }

  std::array<ConnectionHandle, 8> handles{};
  size_t connected = 0;
  uint64_t peers = 0, messages = 0, receipts = 0;
};

TEST(EndpointSteadyState, NeitherReceiveNorSendAllocates) {
  crypto::nonce_ledger_clear();
  constexpr size_t kClients = 4;
  test::CountingEntropy entropy(7);
  socket::SimulatedNetwork network({.seed = 3});
  socket::Impairment path;
  path.delay_ms = 40;
  path.jitter_ms = 15;
  path.jitter_reorders = true;
  path.loss = 0.1;
  network.set_default(path);
  const crypto::SigningKeyPair issuer = crypto::SigningKeyPair::generate(entropy);
  const base::PathId server_address = base::ipv4_path(198, 51, 100, 7, 27015);
  SilentHandler server_handler;
  const auto server_socket = network.attach(server_address);
  EndpointConfig config;
  config.accepts_connections = true;
  config.max_connections = kClients;
  config.identity = crypto::KeyPair::generate(entropy);
  config.issuers = {issuer.public_key()};
  config.rotation = kOftenRotated;
  const crypto::PublicKey server_key = config.identity.public_key();
  const auto server = Endpoint::create(std::move(config), *server_socket, server_handler, entropy, nullptr);
  std::array<SilentHandler, kClients> handlers;
  std::array<ConnectionHandle, kClients> connections;
  std::vector<std::unique_ptr<socket::DatagramSocket>> sockets;
  std::vector<std::unique_ptr<Endpoint>> clients;
  for (uint16_t i = 0; i < kClients; ++i) {
    sockets.push_back(network.attach(base::ipv4_path(192, 0, 2, 1, static_cast<uint16_t>(40000 + i))));
    EndpointConfig client_config;
    client_config.rotation = kOftenRotated;
    clients.push_back(Endpoint::create(std::move(client_config), *sockets[i], handlers[i], entropy, nullptr));
    const crypto::KeyPair key = crypto::KeyPair::generate(entropy);
    wire::TokenFields fields;
    entropy.fill(fields.token_id);
    fields.issued_s = test::kStartUnixS;
    fields.expires_s = test::kStartUnixS + 600;
    fields.aud = server_key;
    fields.cnf = key.public_key();
    test::Bytes token(wire::kMaxTokenBytes);
    token.resize(crypto::sign_token(fields, issuer, token));
    ASSERT_EQ(clients[i]->connect(server_address, token, key, &connections[i]), ConnectResult::kOk);
  }
  const std::array<uint8_t, 1100> body{};
  uint64_t allocated = 0;
  for (int step = 0; step < 6000; ++step) {
    const uint64_t now_ns = static_cast<uint64_t>(step) * 10 * kMs;
    const uint64_t before = test::allocation_count();
    server->receive(now_ns, test::kStartUnixS);
    for (size_t i = 0; i < kClients && i < server_handler.connected; ++i) {
      const ConnectionHandle to = server_handler.handles[i];
      server->send(to, Channel::kUnreliableSequenced, test::kSnapshot, body, static_cast<uint32_t>(step + 1));
      if (step % 3 == 0) server->send(to, Channel::kReliableOrdered, {}, std::span(body).first(40), 1);
    }
    server->update_and_send(now_ns, test::kStartUnixS);
    for (size_t i = 0; i < kClients; ++i) {
      clients[i]->receive(now_ns, test::kStartUnixS);
      clients[i]->send(connections[i], Channel::kUnreliableSequenced, test::kSnapshot,
                       std::span(body).first(60));
      if (step % 5 == 0)
        clients[i]->send(connections[i], Channel::kReliableUnordered, {}, std::span(body).first(20));
      clients[i]->update_and_send(now_ns, test::kStartUnixS);
    }
    if (step >= 1000) allocated += test::allocation_count() - before;
  }
  EXPECT_EQ(server_handler.connected, kClients);
  EXPECT_GT(server_handler.messages, 10'000u);
  EXPECT_GT(server_handler.receipts, 10'000u);
  EXPECT_GT(clients[0]->stats(connections[0])->key_epoch, 10u);
  EXPECT_EQ(allocated, 0u);
}

/// Delivers one datagram again and again, each time from another address; counts what is sent.
class FloodSocket final : public socket::DatagramSocket {
 public:
  FloodSocket(test::Bytes bytes, uint64_t how_often)
      : bytes_(std::move(bytes)), left_(how_often), random_(9) {}

  socket::Reading receive(std::span<socket::Datagram> out, uint64_t) override {
    size_t filled = 0;
    for (; filled < out.size() && left_ != 0; ++filled, --left_) {
      const uint64_t r = random_.next_u64();
      out[filled].peer = base::ipv4_path(static_cast<uint8_t>(r), static_cast<uint8_t>(r >> 8),
                                         static_cast<uint8_t>(r >> 16), static_cast<uint8_t>(r >> 24),
                                         static_cast<uint16_t>(1 + (r >> 32) % 65535));
      out[filled].size = static_cast<uint32_t>(bytes_.size());
      std::copy(bytes_.begin(), bytes_.end(), out[filled].data);
    }
    stats_.datagrams_received += filled;
    stats_.bytes_received += filled * bytes_.size();
    return {filled, 0, left_ != 0};
  }
  size_t send(std::span<const socket::Datagram> datagrams, uint64_t) override {
    stats_.datagrams_sent += datagrams.size();
    for (const socket::Datagram& each : datagrams) stats_.bytes_sent += each.size;
    return datagrams.size();
  }
  base::PathId local_path() const override { return base::ipv4_path(198, 51, 100, 7, 27015); }
  const socket::SocketStats& stats() const override { return stats_; }
  bool done() const { return left_ == 0; }

 private:
  test::Bytes bytes_;
  uint64_t left_;
  base::Random random_;
  socket::SocketStats stats_;
};

TEST(EndpointSteadyState, AMillionSpoofedRequestsLeaveNothing) {
  // The costliest request there is: a genuine token of the attacker's own account, so that every check before
  // the signature passes and a cookie is made (H5, H6).
#if defined(LATTICE_VALIDATION)
  constexpr uint64_t kRequests = 100'000;  // The sanitized builds are ten times slower.
#else
  constexpr uint64_t kRequests = 1'000'000;
#endif
  crypto::nonce_ledger_clear();
  test::CountingEntropy entropy(7);
  const crypto::SigningKeyPair issuer = crypto::SigningKeyPair::generate(entropy);
  const crypto::KeyPair mallory = crypto::KeyPair::generate(entropy);
  EndpointConfig config;
  config.accepts_connections = true;
  config.max_connections = 64;
  config.hashed_per_s = 1'000'000;
  config.identity = crypto::KeyPair::generate(entropy);
  config.issuers = {issuer.public_key()};
  wire::TokenFields fields;
  entropy.fill(fields.token_id);
  fields.issued_s = test::kStartUnixS;
  fields.expires_s = test::kStartUnixS + 600;
  fields.aud = config.identity.public_key();
  fields.cnf = mallory.public_key();
  test::Bytes token(wire::kMaxTokenBytes);
  token.resize(crypto::sign_token(fields, issuer, token));
  test::Bytes request(1200);
  const size_t header_bytes = wire::encode_packet_header({}, request);
  wire::encode_connection_request({mallory.public_key(), token}, std::span(request).subspan(header_bytes));

  FloodSocket socket(std::move(request), kRequests);
  SilentHandler handler;
  const auto server = Endpoint::create(std::move(config), socket, handler, entropy, nullptr);
  uint64_t now_ns = test::kSecond;
  server->receive(now_ns, test::kStartUnixS);  // Makes the first bucket.
  const uint64_t before = test::allocation_count();
  while (!socket.done()) {
    now_ns += 10 * kMs;
    server->receive(now_ns, test::kStartUnixS);
    server->update_and_send(now_ns, test::kStartUnixS);
  }
  EXPECT_EQ(test::allocation_count(), before);
  EXPECT_EQ(socket.stats().datagrams_received, kRequests);
  EXPECT_GT(socket.stats().datagrams_sent, kRequests / 2) << "they were challenged, not just dropped";
  EXPECT_LT(socket.stats().bytes_sent * 10, socket.stats().bytes_received);
  EXPECT_EQ(server->connection_count(), 0u);
  EXPECT_EQ(server->server_handshake()->claim_count(), 0u);
  EXPECT_EQ(server->server_handshake()->accepted_count(), 0u);
  EXPECT_EQ(handler.connected, 0u);
}

}  // namespace
}  // namespace lattice::reliability
