// Any datagram that can reach a client during its handshake. The first byte chooses: a raw datagram, a
// type-0x00 body, damage to a real message 4, the plaintext of message 4 or 6 sealed by a server that holds
// the right keys, or damage to the answer to a message 7.
#include <algorithm>
#include <cstdlib>

#include "unit/transport/connection/handshake_rig.h"

namespace {

using namespace lattice;
using connection::ClientOutcome;
using test::Bytes;

void require(bool condition) {
  if (!condition) std::abort();
}

/// Message 4 or 6 around any plaintext, under the real k4.
Bytes answer_with(const Bytes& response, const crypto::KeyPair& identity, const crypto::KeyPair& bucket,
                  wire::HandshakeMessage message, uint64_t connection_id,
                  std::span<const uint8_t> plaintext) {
  wire::ChallengeResponseClear clear;
  require(wire::parse_challenge_response_clear(std::span(response).subspan(wire::kMinHeaderBytes), &clear));
  crypto::Key es, ee;
  require(crypto::x25519(identity.secret(), clear.client_pub, &es));
  require(crypto::x25519(bucket.secret(), clear.client_pub, &ee));
  const crypto::Digest th1 = crypto::transcript_request(wire::kProtocolId, identity.public_key(),
                                                        crypto::sha256({clear.token}), clear.client_pub);
  const crypto::Digest th2 =
      crypto::transcript_challenge(th1, bucket.public_key(), clear.challenge_nonce, clear.key_index);
  const crypto::Key prk = crypto::handshake_secret(th2, es, ee);
  wire::AnswerClear answer;
  answer.message = message;
  const crypto::Key k4 =
      crypto::server_handshake_key(prk, crypto::transcript_response(th2, clear.sealed), answer.accept_random);
  Bytes out(wire::kMinHeaderBytes + wire::kAnswerClearBytes);
  wire::PacketHeader header;
  header.connection_id = connection_id;
  const size_t header_bytes = wire::encode_packet_header(header, out);
  wire::encode_answer_clear(answer, std::span(out).subspan(header_bytes));
  const size_t front_bytes = out.size();
  out.insert(out.end(), plaintext.begin(), plaintext.end());
  out.resize(out.size() + crypto::kTagBytes);
  crypto::seal_in_place(k4, crypto::Nonce{}, std::span(out).first(front_bytes),
                        std::span(out).subspan(front_bytes));
  return out;
}

/// A client that tells its server what differs, and then gets `damage` to the answer.
void tell_difference(std::span<const uint8_t> damage) {
  test::Rig rig({.schema_id = 1, .schema_text = "page"});
  connection::ClientHandshakeConfig config;
  config.schema_lines = [](uint64_t, std::string_view) { return std::string("A.b\tbool\n"); };
  connection::ClientHandshake client = rig.new_client(config);
  const Bytes response = rig.response_of(client);
  const Bytes refusal = rig.ask(response);
  require(rig.tell(client, refusal).outcome == ClientOutcome::kPending);
  const Bytes honest = rig.ask(rig.client_sink.take_one());
  require(!honest.empty() && rig.tell(client, refusal).outcome == ClientOutcome::kPending);
  Bytes damaged = honest;
  for (size_t i = 0; i + 1 < damage.size(); i += 2) damaged[damage[i] % damaged.size()] ^= damage[i + 1];
  require((rig.tell(client, damaged).outcome == ClientOutcome::kRefused) == (damaged == honest));
  require(rig.client_sink.take().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 2000) return 0;
  const std::span<const uint8_t> rest(data + 1, size - 1);
  if (data[0] == 0xD7) {
    tell_difference(rest);
    return 0;
  }
  test::Rig rig({.max_claims = 4});
  const crypto::KeyPair key = rig.new_key(), identity = rig.new_key(), bucket = rig.new_key();
  if (data[0] >= 3) {
    wire::TokenFields token = rig.token_fields(key.public_key());
    token.aud = identity.public_key();
    const Bytes signed_token = rig.sign(token);
    connection::ClientHandshake client = rig.client_with(signed_token, key);
    rig.request_of(client);
    Bytes challenge(wire::kMinHeaderBytes + wire::kChallengeBodyBytes);
    wire::Challenge made;
    made.token_echo = test::echo_of(signed_token);
    made.bucket_pub = bucket.public_key();
    const size_t header_bytes = wire::encode_packet_header({}, challenge);
    wire::encode_challenge(made, std::span(challenge).subspan(header_bytes));
    rig.tell(client, challenge);
    const bool is_accept = data[0] == 3;
    // A connection id the plaintext may repeat: its first eight bytes.
    const uint64_t id = is_accept && rest.size() >= 8 ? platform::load_u64_le(rest.data()) : 0;
    const Bytes answer = answer_with(
        rig.client_sink.take_one(), identity, bucket,
        is_accept ? wire::HandshakeMessage::kConnectionAccepted : wire::HandshakeMessage::kConnectionRefused,
        id, rest);
    const connection::ClientResult result = rig.tell(client, answer);
    require(result.outcome != ClientOutcome::kGaveUp);
    if (result.accepted) require(is_accept && result.accepted->connection_id == id && id != 0);
    require(result.text.view().size() <= wire::kMaxReasonTextBytes);
    return 0;
  }
  const Bytes token = rig.sign(rig.token_fields(key.public_key()));
  connection::ClientHandshake client = rig.client_with(token, key);
  Bytes datagram(rest.begin(), rest.end());
  if (data[0] == 1) {
    datagram.assign(wire::kMinHeaderBytes, 0);
    wire::encode_packet_header({}, datagram);
    datagram.insert(datagram.end(), rest.begin(), rest.end());
    if (!rest.empty() && rest[0] == static_cast<uint8_t>(wire::HandshakeMessage::kChallenge)) {
      const wire::TokenEcho echo = test::echo_of(token);  // the rest of a forged one is any bytes
      datagram.insert(datagram.begin() + wire::kMinHeaderBytes + 1, echo.begin(), echo.end());
    }
  }
  const Bytes request = rig.request_of(client);
  if (data[0] < 2) {
    require(rig.tell(client, datagram).outcome == ClientOutcome::kPending);
    rig.tell(client, rig.ask(request));
    require(rig.tell(client, datagram).outcome == ClientOutcome::kPending);
    return 0;
  }
  rig.tell(client, rig.ask(request));
  for (const test::Sent& sent : rig.client_sink.take()) {
    const Bytes honest = rig.ask(sent.bytes);
    Bytes damaged = honest;
    for (size_t i = 0; i + 1 < rest.size(); i += 2) damaged[rest[i] % damaged.size()] ^= rest[i + 1];
    require((rig.tell(client, damaged).outcome == ClientOutcome::kAccepted) == (damaged == honest));
  }
  return 0;
}
