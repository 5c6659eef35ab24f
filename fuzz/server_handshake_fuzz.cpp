// Any datagram that a client can send to a server. The first byte chooses the form of the rest: a raw
// datagram, the body of message 1, damage to a real message 3, damage to the plaintext sealed in it, a
// token that the issuer signed, or the plaintext of a message 7.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "unit/transport/connection/handshake_rig.h"

namespace {

using namespace lattice;
using test::Bytes;

void require(bool condition) {
  if (!condition) std::abort();
}

void deliver(test::Rig& rig, const Bytes& datagram) {
  rig.ask(datagram);  // Throws when an answer is larger than the datagram or goes to another address.
  if (rig.last.accepted) {
    require(rig.refusal() == connection::ServerRefusal::kNone);
    require(rig.last.accepted->connection_id != 0);
  }
}

Bytes with_header(wire::PacketType type, std::span<const uint8_t> body) {
  Bytes out(wire::kMinHeaderBytes);
  wire::PacketHeader header;
  header.type = type;
  wire::encode_packet_header(header, out);
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

/// Message 3 whose plaintext differs from the honest one by `damage`, sealed by the client's real keys.
Bytes response_with(const Bytes& honest, std::span<const uint8_t> damage, const crypto::KeyPair& client,
                    const crypto::PublicKey& server, const crypto::PublicKey& bucket) {
  wire::ChallengeResponseClear clear;
  wire::TokenFields token;
  require(wire::parse_challenge_response_clear(std::span(honest).subspan(wire::kMinHeaderBytes), &clear));
  require(wire::parse_token(clear.token, &token) == wire::TokenStatus::kOk);
  wire::ChallengeResponseSealed fields;
  fields.challenge_nonce = clear.challenge_nonce;
  fields.token_id = token.token_id;
  fields.max_datagram = wire::kFloorDatagramBytes;
  fields.tick_rate = connection::ServerHandshakeConfig{}.tick_rate_hz;
  std::array<uint8_t, wire::kChallengeResponseSealedBytes> plaintext;
  wire::encode_challenge_response_sealed(fields, plaintext);
  for (size_t i = 0; i < std::min(damage.size(), plaintext.size()); ++i) plaintext[i] ^= damage[i];

  crypto::Key es, ee;
  require(crypto::x25519(client.secret(), server, &es) && crypto::x25519(client.secret(), bucket, &ee));
  const crypto::Digest th1 =
      crypto::transcript_request(wire::kProtocolId, server, crypto::sha256({clear.token}), clear.client_pub);
  const crypto::Digest th2 =
      crypto::transcript_challenge(th1, bucket, clear.challenge_nonce, clear.key_index);
  Bytes out = honest;
  const size_t front_bytes = wire::kMinHeaderBytes + clear.clear_bytes;
  const std::span<uint8_t> sealed = std::span(out).subspan(front_bytes);
  std::copy(plaintext.begin(), plaintext.end(), sealed.begin());
  crypto::nonce_ledger_clear();  // A second plaintext under k3, on purpose.
  crypto::seal_in_place(crypto::client_handshake_key(crypto::handshake_secret(th2, es, ee)), crypto::Nonce{},
                        std::span(out).first(front_bytes), sealed);
  return out;
}

/// Message 7 with any plaintext, sealed by the client's real keys.
Bytes difference_with(const Bytes& honest, std::span<const uint8_t> plaintext, const crypto::KeyPair& client,
                      const crypto::PublicKey& server, const crypto::PublicKey& bucket) {
  wire::SchemaDifferenceClear clear;
  require(wire::parse_challenge_response_clear(std::span(honest).subspan(wire::kMinHeaderBytes),
                                               &clear.response));
  crypto::Key es, ee;
  require(crypto::x25519(client.secret(), server, &es) && crypto::x25519(client.secret(), bucket, &ee));
  const crypto::Digest th1 = crypto::transcript_request(
      wire::kProtocolId, server, crypto::sha256({clear.response.token}), clear.response.client_pub);
  const crypto::Digest th2 =
      crypto::transcript_challenge(th1, bucket, clear.response.challenge_nonce, clear.response.key_index);
  const crypto::Key prk = crypto::handshake_secret(th2, es, ee);
  clear.salt = crypto::schema_difference_salt(prk, plaintext);
  Bytes out(wire::kFloorDatagramBytes);
  size_t front_bytes = wire::encode_packet_header({}, out);
  front_bytes += wire::encode_schema_difference_clear(clear, std::span(out).subspan(front_bytes));
  out.resize(front_bytes);
  out.insert(out.end(), plaintext.begin(), plaintext.end());
  out.resize(out.size() + crypto::kTagBytes);
  crypto::seal_in_place(crypto::schema_difference_key(prk, clear.salt), crypto::Nonce{},
                        std::span(out).first(front_bytes), std::span(out).subspan(front_bytes));
  return out;
}

/// Is refused with its lines, or met with silence.
void tell_difference(test::Rig& rig, const Bytes& told, std::span<const uint8_t> plaintext) {
  const Bytes answer = rig.ask(told);
  require(!rig.last.accepted && answer.empty() == rig.last.schema_lines.empty());
  if (answer.empty()) return;
  require(rig.refusal() == connection::ServerRefusal::kSchemaMismatch);
  require(std::ranges::equal(rig.last.schema_lines, plaintext.subspan(8),
                             [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; }));
  for (const char c : rig.last.schema_lines) require((c >= ' ' && c <= '~') || c == '\t' || c == '\n');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 2000) return 0;
  const std::span<const uint8_t> rest(data + 1, size - 1);
  test::Rig rig({.max_claims = 4});
  const crypto::KeyPair key = rig.new_key();
  if (data[0] == 0) {
    deliver(rig, Bytes(rest.begin(), rest.end()));
    require(!rig.last.accepted);
    return 0;
  }
  if (data[0] == 1) {
    deliver(rig, with_header(wire::PacketType::kHandshake, rest));
    deliver(rig, with_header(wire::PacketType::kChallengeResponse, rest));
    require(!rig.last.accepted);
    return 0;
  }
  if (data[0] ==
      4) {  // Layout as given, then signed; the server's own key and the client's where they belong.
    Bytes token(rest.begin(), rest.end());
    wire::TokenFields fields;
    if (wire::parse_token(token, &fields) != wire::TokenStatus::kOk) return 0;
    fields.aud = rig.server.handshake.identity();
    fields.cnf = key.public_key();
    token = rig.sign(fields);
    if (token.empty()) return 0;
    connection::ClientHandshake client = rig.client_with(token, key, {.protocol_id = fields.protocol_id});
    if (client.start(rig.now_ns, rig.client_sink) != connection::DisconnectReason::kNone) return 0;
    rig.tell(client, rig.ask(rig.client_sink.take_one()));
    for (const test::Sent& sent : rig.client_sink.take()) deliver(rig, sent.bytes);
    return 0;
  }
  connection::ClientHandshake client = rig.client_with(rig.sign(rig.token_fields(key.public_key())), key);
  const Bytes challenge = rig.ask(rig.request_of(client));
  rig.tell(client, challenge);
  Bytes response = rig.client_sink.take_one();
  if (data[0] == 2) {  // Pairs of (position u16, xor u8).
    const Bytes honest = response;
    for (size_t i = 0; i + 2 < rest.size(); i += 3) {
      const size_t position = static_cast<size_t>(rest[i]) + static_cast<size_t>(rest[i + 1]) * 256;
      response[position % response.size()] ^= rest[i + 2];
    }
    deliver(rig, response);
    require(rig.last.accepted.has_value() == (response == honest));
    return 0;
  }
  wire::Challenge parsed;
  require(wire::parse_challenge(std::span(challenge).subspan(wire::kMinHeaderBytes), &parsed));
  if (data[0] == 5) {
    const Bytes told =
        difference_with(response, rest, key, rig.server.handshake.identity(), parsed.bucket_pub);
    tell_difference(rig, told, rest);
    return 0;
  }
  deliver(rig, response_with(response, rest, key, rig.server.handshake.identity(), parsed.bucket_pub));
  return 0;
}
