// After warm-up neither half of the pump allocates: the global allocation functions of this test program
// count.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>

#include "endpoint_rig.h"

namespace {

uint64_t g_allocations = 0;

void* counted(size_t bytes) {
  ++g_allocations;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

void* counted_aligned(size_t bytes, std::align_val_t alignment) {
  ++g_allocations;
  const auto align = static_cast<size_t>(alignment);
  void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

// Visible, because a sanitizer's runtime library refers to these too.
#pragma GCC visibility push(default)
void* operator new(size_t bytes) {
  return counted(bytes);
}
void* operator new[](size_t bytes) {
  return counted(bytes);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  return counted_aligned(bytes, alignment);
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return counted_aligned(bytes, alignment);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
#pragma GCC visibility pop

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
  const platform::Address server_address = platform::make_ipv4(198, 51, 100, 7, 27015);
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
    sockets.push_back(network.attach(platform::make_ipv4(192, 0, 2, 1, static_cast<uint16_t>(40000 + i))));
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
    const uint64_t before = g_allocations;
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
    if (step >= 1000) allocated += g_allocations - before;
  }
  EXPECT_EQ(server_handler.connected, kClients);
  EXPECT_GT(server_handler.messages, 10'000u);
  EXPECT_GT(server_handler.receipts, 10'000u);
  EXPECT_GT(clients[0]->stats(connections[0])->key_epoch, 10u);
  EXPECT_EQ(allocated, 0u);
}

}  // namespace
}  // namespace lattice::reliability
