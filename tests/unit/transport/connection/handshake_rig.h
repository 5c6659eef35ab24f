// A server, its issuer and any number of clients, joined by plain vectors of datagrams: the test is the
// network, and the attacker on it.
#pragma once

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "platform/byte_order.h"
#include "support/durations.h"
#include "transport/connection/client_handshake.h"
#include "transport/connection/secure_link.h"
#include "transport/connection/server_handshake.h"
#include "transport/crypto/hash.h"
#include "transport/crypto/nonce_ledger.h"
#include "transport/crypto/token_signature.h"

namespace lattice::test {

/// Where the body of a datagram begins, at the least.
inline constexpr size_t kBody = wire::kMinHeaderBytes;

using Bytes = std::vector<uint8_t>;

/// Scripted byte strings first (each fill must ask for exactly the size of one), then a deterministic stream.
class ScriptedEntropy final : public crypto::EntropySource {
 public:
  explicit ScriptedEntropy(uint64_t seed) : seed_(seed) {}
  void push(std::span<const uint8_t> block) { script_.emplace_back(block.begin(), block.end()); }
  void fill(std::span<uint8_t> out) override {
    if (!script_.empty()) {
      if (script_.front().size() != out.size()) std::abort();
      std::copy(script_.front().begin(), script_.front().end(), out.begin());
      script_.pop_front();
      return;
    }
    for (size_t i = 0; i < out.size(); i += 32) {
      uint8_t block[16];
      platform::store_u64_le(block, seed_);
      platform::store_u64_le(block + 8, ++counter_);
      const crypto::Digest digest = crypto::sha256({block});
      std::copy_n(digest.begin(), std::min<size_t>(32, out.size() - i),
                  out.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  bool script_done() const { return script_.empty(); }

 private:
  uint64_t seed_;
  uint64_t counter_ = 0;
  std::deque<Bytes> script_;
};

struct Sent {
  base::PathId to;
  Bytes bytes;
};

class RecordingSink final : public connection::DatagramSink {
 public:
  void emit(const base::PathId& to, std::span<const uint8_t> datagram) override {
    sent.push_back({to, Bytes(datagram.begin(), datagram.end())});
  }
  std::vector<Sent> take() { return std::exchange(sent, {}); }
  Bytes take_one() {
    if (sent.size() != 1) throw std::logic_error("expected one datagram, got " + std::to_string(sent.size()));
    return std::move(take()[0].bytes);
  }
  std::vector<Sent> sent;
};

class ScriptedPolicy final : public connection::AdmissionPolicy {
 public:
  connection::Admission admit(const connection::AdmissionRequest& request) override {
    ++call_count;
    last_player = request.token.player;
    last_has_place = request.has_place;
    connection::Admission out = next;
    if (out.peer_id == 0) out.peer_id = call_count;
    return out;
  }
  bool has_place() const override { return !full; }
  void make_place() override { ++place_count; }
  bool full = false;
  bool last_has_place = false;
  connection::Admission next;
  uint64_t call_count = 0;
  uint64_t place_count = 0;  ///< Calls of make_place().
  wire::Id16 last_player{};
};

/// What a Challenge for this token begins with.
inline wire::TokenEcho echo_of(std::span<const uint8_t> token) {
  return wire::token_echo(crypto::sha256({token}));
}

/// One server process.
struct ServerProcess {
  ServerProcess(uint64_t seed, const crypto::PublicKey& issuer, connection::ServerHandshakeConfig config = {},
                const socket::DatagramSocket* socket = nullptr)
      : entropy(seed),
        handshake(config, crypto::KeyPair::generate(entropy), {&issuer, 1}, entropy, policy, socket) {}

  ScriptedEntropy entropy;
  ScriptedPolicy policy;
  RecordingSink sink;
  connection::ServerHandshake handshake;
};

/// Delivers a datagram and, when it is a message 3 that now waits, has it verified.
inline connection::ServerResult deliver(connection::ServerHandshake& server, const base::PathId& from,
                                        std::span<const uint8_t> datagram,
                                        const connection::ServerMoment& moment,
                                        connection::DatagramSink& sink) {
  connection::ServerResult result;
  result.refusal = server.on_datagram(from, datagram, moment, sink).refusal;
  if (const auto waited = server.take_waiting(moment.now_ns)) return server.verify(*waited, moment, sink);
  return result;
}

inline constexpr uint64_t kStartUnixS = 1'800'000'000;

/// The moment `now_ns` nanoseconds into a test.
inline connection::ServerMoment moment_at(uint64_t now_ns) {
  return {now_ns, kStartUnixS + now_ns / kSecond, static_cast<uint32_t>(1000 + now_ns / (16 * kMs))};
}

struct Rig {
  explicit Rig(connection::ServerHandshakeConfig config = {}, const socket::DatagramSocket* socket = nullptr)
      : entropy(7),
        issuer(crypto::SigningKeyPair::generate(entropy)),
        server(8, issuer.public_key(), config, socket) {
    crypto::nonce_ledger_clear();
  }

  /// The fields of a good token of `client` for `server`; tests spoil them before sign().
  wire::TokenFields token_fields(const crypto::PublicKey& client) {
    wire::TokenFields fields;
    entropy.fill(fields.token_id);
    fields.issued_s = kStartUnixS;
    fields.expires_s = kStartUnixS + 300;
    fields.aud = server.handshake.identity();
    fields.cnf = client;
    fields.player.fill(0x11);
    fields.session.fill(0x22);
    return fields;
  }
  Bytes sign(const wire::TokenFields& fields) { return sign(fields, issuer); }
  static Bytes sign(const wire::TokenFields& fields, const crypto::SigningKeyPair& by) {
    Bytes token(wire::kMaxTokenBytes);
    token.resize(crypto::sign_token(fields, by, token));
    return token;
  }
  crypto::KeyPair new_key() { return crypto::KeyPair::generate(entropy); }

  connection::ClientHandshake client_with(const Bytes& token, const crypto::KeyPair& key,
                                          connection::ClientHandshakeConfig config = {}) {
    return connection::ClientHandshake(config, server_address, token, key.clone());
  }
  /// A fresh key with a good token.
  connection::ClientHandshake new_client(connection::ClientHandshakeConfig config = {}) {
    const crypto::KeyPair key = new_key();
    return client_with(sign(token_fields(key.public_key())), key, config);
  }

  /// The same, of another player.
  connection::ClientHandshake client_as(uint8_t player) {
    const crypto::KeyPair key = new_key();
    wire::TokenFields fields = token_fields(key.public_key());
    fields.player.fill(player);
    return client_with(sign(fields), key);
  }

  /// Delivers to the server and returns what it answered.
  Bytes ask(const Bytes& datagram) { return ask_from(client_address, datagram); }
  Bytes ask_from(const base::PathId& from, const Bytes& datagram) {
    last = deliver(server.handshake, from, datagram, moment_at(now_ns), server.sink);
    const std::vector<Sent> sent = server.sink.take();
    if (sent.size() > 1) throw std::logic_error("more than one answer");
    if (sent.empty()) return {};
    if (sent[0].to != from) throw std::logic_error("answer to someone else");
    if (sent[0].bytes.size() > datagram.size()) throw std::logic_error("answer larger than the question");
    return sent[0].bytes;
  }
  connection::ClientResult tell(connection::ClientHandshake& client, const Bytes& datagram) {
    return client.on_datagram(server_address, datagram, now_ns, client_sink);
  }
  Bytes request_of(connection::ClientHandshake& client) {
    if (client.start(now_ns, client_sink) != connection::DisconnectReason::kNone) {
      throw std::logic_error("start refused");
    }
    return client_sink.take_one();
  }
  /// Message 3 of a client that has not started: runs messages 1 and 2.
  Bytes response_of(connection::ClientHandshake& client) {
    tell(client, ask(request_of(client)));
    return client_sink.take_one();
  }
  connection::ServerRefusal refusal() const { return last.refusal; }

  ScriptedEntropy entropy;
  crypto::SigningKeyPair issuer;
  ServerProcess server;
  RecordingSink client_sink;
  base::PathId server_address = base::ipv4_path(198, 51, 100, 7, 27015);
  base::PathId client_address = base::ipv4_path(192, 0, 2, 1, 40000);
  uint64_t now_ns = 75 * kSecond;
  connection::ServerResult last;
};

}  // namespace lattice::test
