// A server and clients on a simulated network in virtual time, each with a handler that records its
// callbacks.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/byte_order.h"
#include "reliability/endpoint/endpoint.h"
#include "support/durations.h"
#include "transport/crypto/hash.h"
#include "transport/crypto/nonce_ledger.h"
#include "transport/crypto/token_signature.h"
#include "transport/socket/simulated_network.h"

namespace lattice::test {

using reliability::Channel;
using reliability::ConnectionHandle;
using reliability::Endpoint;
using reliability::MessageFlags;
using reliability::SendResult;
using Bytes = std::vector<uint8_t>;

inline constexpr uint64_t kStartUnixS = 1'800'000'000;
inline constexpr MessageFlags kSnapshot{.is_fragment = false, .is_rpc = false, .is_snapshot = true};

/// Deterministic key material for tests: SHA-256 of a counter.
class CountingEntropy final : public crypto::EntropySource {
 public:
  explicit CountingEntropy(uint64_t seed) : seed_(seed) {}
  void fill(std::span<uint8_t> out) override {
    for (size_t i = 0; i < out.size(); i += 32) {
      uint8_t block[16];
      platform::store_u64_le(block, seed_);
      platform::store_u64_le(block + 8, ++counter_);
      const crypto::Digest digest = crypto::sha256({block});
      std::copy_n(digest.begin(), std::min<size_t>(32, out.size() - i),
                  out.begin() + static_cast<ptrdiff_t>(i));
    }
    if (observer_ != nullptr) observer_(context_, out);
  }

  /// Called with all bytes drawn from now on.
  using Observer = void (*)(void* context, std::span<const uint8_t> drawn);
  void observe(Observer observer, void* context) {
    observer_ = observer;
    context_ = context;
  }

 private:
  uint64_t seed_;
  uint64_t counter_ = 0;
  Observer observer_ = nullptr;
  void* context_ = nullptr;
};

struct Received {
  ConnectionHandle connection;
  Channel channel;
  MessageFlags flags;
  Bytes body;
};

struct Ended {
  ConnectionHandle connection;
  connection::DisconnectReason reason;
  uint64_t remote_schema = 0;
  std::string text;
};

class RecordingHandler final : public reliability::EndpointHandler {
 public:
  connection::Admission on_admission(const connection::AdmissionRequest&) override {
    connection::Admission out = admission;
    out.peer_id = ++next_peer_id;
    return out;
  }
  void on_connected(ConnectionHandle connection, const reliability::ConnectedInfo& info) override {
    connected.push_back(connection);
    infos.push_back(info);
    user_data.assign(info.user_data.begin(), info.user_data.end());
  }
  void on_disconnected(ConnectionHandle connection, connection::DisconnectReason reason,
                       uint64_t remote_schema, std::string_view text) override {
    ended.push_back({connection, reason, remote_schema, std::string(text)});
  }
  reliability::Verdict on_message(ConnectionHandle connection, Channel channel, MessageFlags flags,
                                  std::span<const uint8_t> body, uint64_t) override {
    ++message_count;
    if (record) received.push_back({connection, channel, flags, Bytes(body.begin(), body.end())});
    if (on_body) return on_body(context, connection, channel, body);
    return verdict;
  }
  void on_receipt(ConnectionHandle, uint32_t receipt, bool acked) override {
    receipts[receipt].push_back(acked);
  }

  connection::Admission admission;
  uint64_t next_peer_id = 1;
  reliability::Verdict verdict = reliability::Verdict::kAccept;
  bool record = true;
  reliability::Verdict (*on_body)(void*, ConnectionHandle, Channel, std::span<const uint8_t>) = nullptr;
  void* context = nullptr;

  uint64_t message_count = 0;
  std::vector<ConnectionHandle> connected;
  std::vector<reliability::ConnectedInfo> infos;
  Bytes user_data;
  std::vector<Ended> ended;
  std::vector<Received> received;
  std::map<uint32_t, std::vector<bool>> receipts;
};

/// One process: socket, handler, endpoint. `AnyEndpoint` is Endpoint or something with its interface.
template <class AnyEndpoint>
struct NodeOf {
  base::PathId address;
  std::unique_ptr<socket::DatagramSocket> socket;
  RecordingHandler handler;
  CountingEntropy entropy{0};
  std::unique_ptr<AnyEndpoint> endpoint;
  ConnectionHandle connection;  ///< Of a client: its connection. Of the server: set by connect_all().
};
using Node = NodeOf<Endpoint>;

/// A socket that says that datagrams of one length are cheap, and otherwise is the one within.
class EqualLengthsSocket final : public socket::DatagramSocket {
 public:
  explicit EqualLengthsSocket(std::unique_ptr<socket::DatagramSocket> inner) : inner_(std::move(inner)) {}
  socket::Reading receive(std::span<socket::Datagram> out, uint64_t now_ns) override {
    return inner_->receive(out, now_ns);
  }
  size_t send(std::span<const socket::Datagram> datagrams, uint64_t now_ns) override {
    for (const socket::Datagram& each : datagrams) lengths.push_back(each.size);
    return inner_->send(datagrams, now_ns);
  }
  base::PathId local_path() const override { return inner_->local_path(); }
  const socket::SocketStats& stats() const override { return inner_->stats(); }
  bool favours_equal_lengths(const base::PathId&) const override { return true; }

  std::vector<uint32_t> lengths;  ///< Of what was sent.

 private:
  std::unique_ptr<socket::DatagramSocket> inner_;
};

struct RigOptions {
  uint64_t seed = 1;
  size_t client_count = 1;
  socket::Impairment path;  ///< Each direction.
  uint64_t start_ns = 0;
  uint64_t step_ns = 5 * kMs;
  bool equal_lengths = false;  ///< The server has an EqualLengthsSocket.
  reliability::EndpointConfig server;
  reliability::EndpointConfig client;
};

/// `one_way_ns` in each direction.
inline RigOptions delayed(uint64_t one_way_ns, size_t client_count = 1) {
  RigOptions options;
  options.client_count = client_count;
  options.path.delay_ms = static_cast<double>(one_way_ns) / kMs;
  return options;
}

template <class AnyEndpoint>
class RigOf {
 public:
  using Node = NodeOf<AnyEndpoint>;

  explicit RigOf(RigOptions o = {})
      : options(std::move(o)), network({.seed = options.seed}), now_ns(options.start_ns) {
    crypto::nonce_ledger_clear();  // Every rig makes the same keys.
    network.set_default(options.path);
    issuer = crypto::SigningKeyPair::generate(entropy);
    server.address = base::ipv4_path(198, 51, 100, 7, 27015);
    server.entropy = CountingEntropy(100);
    reliability::EndpointConfig& config = options.server;
    config.accepts_connections = true;
    if (config.max_connections == 1) config.max_connections = 8;
    identity = crypto::KeyPair::generate(entropy);
    CountingEntropy(300).fill(reset_key.mutable_bytes());
    start_server(std::move(config));
    for (size_t i = 0; i < options.client_count; ++i) add_client(options.client);
  }

  /// How often the server refused something for this reason.
  uint64_t refused(reliability::Refusal refusal) const {
    return server.endpoint->stats().refusals.get(refusal);
  }

  /// The server process ends without a Disconnect, and a new process takes its address, with the same
  /// identity or a new one.
  void restart_server(bool keeps_identity) {
    server.endpoint.reset();
    server.socket.reset();
    server.handler = {};
    if (!keeps_identity) {
      identity = crypto::KeyPair::generate(entropy);
      entropy.fill(reset_key.mutable_bytes());
    }
    reliability::EndpointConfig config = copy_config(options.server);
    config.accepts_connections = true;
    start_server(std::move(config));
  }

  void start_server(reliability::EndpointConfig config) {
    config.identity = identity.clone();
    config.reset_key = reset_key.clone();
    config.issuers = {issuer.public_key()};
    config.max_half_open_per_prefix = 128;  // all clients are of one player, who has half
    server_key = identity.public_key();
    start(server, std::move(config));
  }

  Node& add_client(const reliability::EndpointConfig& base) {
    auto node = std::make_unique<Node>();
    const auto index = static_cast<uint16_t>(clients.size());
    node->address = base::ipv4_path(192, 0, 2, 1, static_cast<uint16_t>(40000 + index));
    node->entropy = CountingEntropy(200u + index);
    start(*node, copy_config(base));
    clients.push_back(std::move(node));
    return *clients.back();
  }

  static reliability::EndpointConfig copy_config(const reliability::EndpointConfig& from) {
    reliability::EndpointConfig out;
    out.protocol_id = from.protocol_id;
    out.schema_id = from.schema_id;
    out.offer_aes256gcm = from.offer_aes256gcm;
    out.channels = from.channels;
    out.bulk = from.bulk;
    out.max_connections = from.max_connections;
    out.timers = from.timers;
    out.rotation = from.rotation;
    out.rto = from.rto;
    out.link_limits = from.link_limits;
    out.max_datagram_bytes = from.max_datagram_bytes;
    out.connect_budget_ns = from.connect_budget_ns;
    out.congestion = from.congestion;
    out.tasks = from.tasks;
    out.service_all = from.service_all;
    out.send_growth_bytes = from.send_growth_bytes;
    out.receive_growth_bytes = from.receive_growth_bytes;
    out.pool_reserve_bytes_per_connection = from.pool_reserve_bytes_per_connection;
    return out;
  }

  void start(Node& node, reliability::EndpointConfig config) {
    node.socket = network.attach(node.address);
    if (options.equal_lengths && &node == &server) {
      node.socket = std::make_unique<EqualLengthsSocket>(std::move(node.socket));
    }
    const char* error = nullptr;
    node.endpoint = AnyEndpoint::create(std::move(config), *node.socket, node.handler, node.entropy, &error);
    if (!node.endpoint) throw std::logic_error(error);
  }

  wire::TokenFields token_fields(const crypto::PublicKey& client_key) {
    wire::TokenFields fields;
    entropy.fill(fields.token_id);
    fields.issued_s = kStartUnixS;
    fields.expires_s = kStartUnixS + 600;
    fields.aud = server_key;
    fields.cnf = client_key;
    fields.player.fill(0x11);
    fields.session.fill(0x22);
    fields.user_data = user;
    return fields;
  }
  Bytes sign(const wire::TokenFields& fields, const crypto::SigningKeyPair& by) {
    Bytes token(wire::kMaxTokenBytes);
    token.resize(crypto::sign_token(fields, by, token));
    return token;
  }

  reliability::ConnectResult connect(Node& client) {
    const crypto::KeyPair key = crypto::KeyPair::generate(entropy);
    return client.endpoint->connect(server.address, sign(token_fields(key.public_key()), issuer), key,
                                    &client.connection);
  }

  /// One step of virtual time for everybody; endpoints that were reset are skipped.
  void step() {
    now_ns += options.step_ns;
    pump(server);
    for (const auto& client : clients) pump(*client);
  }
  void pump(Node& node) {
    if (!node.endpoint) return;
    node.endpoint->receive(now_ns, unix_s());
    node.endpoint->update_and_send(now_ns, unix_s());
  }
  void run(uint64_t for_ns) {
    const uint64_t end_ns = now_ns + for_ns;
    while (now_ns < end_ns) step();
  }
  template <class Condition>
  bool run_until(uint64_t at_most_ns, Condition condition) {
    const uint64_t end_ns = now_ns + at_most_ns;
    while (now_ns < end_ns) {
      if (condition()) return true;
      step();
    }
    return condition();
  }

  /// Connects every client; false when that takes longer than `at_most_ns`.
  bool connect_all(uint64_t at_most_ns = 10 * kSecond) {
    for (const auto& client : clients) {
      if (connect(*client) != reliability::ConnectResult::kOk) return false;
    }
    const bool done = run_until(at_most_ns, [this] {
      for (const auto& client : clients) {
        if (client->handler.connected.empty()) return false;
      }
      return server.handler.connected.size() >= clients.size();
    });
    if (done) server.connection = server.handler.connected[0];
    return done;
  }

  uint64_t unix_s() const { return kStartUnixS + now_ns / kSecond; }
  Node& client() { return *clients[0]; }
  const reliability::ConnectionStats& client_stats() {
    return *client().endpoint->stats(client().connection);
  }
  const reliability::ConnectionStats& server_stats() { return *server.endpoint->stats(server.connection); }

  RigOptions options;
  socket::SimulatedNetwork network;
  uint64_t now_ns;
  CountingEntropy entropy{7};
  crypto::SigningKeyPair issuer;
  crypto::KeyPair identity;
  crypto::Key reset_key;
  crypto::PublicKey server_key{};
  Bytes user = {1, 2, 3};
  Node server;
  std::vector<std::unique_ptr<Node>> clients;
};
using EndpointRig = RigOf<Endpoint>;

inline Bytes number_body(uint64_t n, size_t extra = 0) {
  Bytes out(8 + extra, 0xAB);
  platform::store_u64_le(out.data(), n);
  return out;
}
inline uint64_t number_of(std::span<const uint8_t> body) {
  return platform::load_u64_le(body.data());
}

}  // namespace lattice::test
