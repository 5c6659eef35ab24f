// Keepalive, Disconnect, control, transfer and handshake bodies: a body that parses is written back
// unchanged.
#include <cstdlib>
#include <cstring>

#include "transport/wire/control_body.h"
#include "transport/wire/disconnect_body.h"
#include "transport/wire/handshake_bodies.h"
#include "transport/wire/keepalive_body.h"
#include "transport/wire/stateless_reset.h"
#include "transport/wire/transfer_bodies.h"

namespace {

using namespace lattice::wire;

void require(bool condition) {
  if (!condition) std::abort();
}

void keepalive(std::span<const uint8_t> input) {
  KeepaliveBody body;
  if (!parse_keepalive(input, &body)) return;
  uint8_t out[kMaxKeepaliveBodyBytes];
  const size_t n = encode_keepalive(body, out);
  require(n != 0 && n <= input.size() && std::memcmp(out, input.data(), n) == 0);
  for (const uint8_t padding : input.subspan(n)) require(padding == 0);
}

void disconnect(std::span<const uint8_t> input) {
  DisconnectBody body;
  if (!parse_disconnect(input, &body)) return;
  uint8_t out[kMaxDisconnectBodyBytes];
  const size_t n = encode_disconnect(body, out);
  require(n == input.size() && std::memcmp(out, input.data(), n) == 0);
}

void rekey(std::span<const uint8_t> input) {
  RekeyBody body;
  if (!parse_rekey(input, &body)) return;
  uint8_t out[kRekeyBodyBytes];
  require(encode_rekey(body, out) == input.size() && std::memcmp(out, input.data(), input.size()) == 0);
}

void same(std::span<const uint8_t> input, std::span<const uint8_t> out, size_t bytes) {
  require(bytes == input.size() && std::memcmp(out.data(), input.data(), bytes) == 0);
}

void transfers(std::span<const uint8_t> input) {
  uint8_t out[kMaxTransferControlBytes];
  TransferOffer offer;
  if (parse_transfer_offer(input, &offer)) {
    require(offer.size_bytes >= 1 && offer.size_bytes <= kMaxTransferBytes);
    same(input, out, encode_transfer_offer(offer, out));
  }
  uint16_t id = 0;
  if (parse_transfer_accept(input, &id)) same(input, out, encode_transfer_accept(id, out));
  TransferHold hold;
  if (parse_transfer_hold(input, &hold)) same(input, out, encode_transfer_hold(hold, out));
  TransferEnd end;
  if (parse_transfer_end(input, &end)) same(input, out, encode_transfer_end(end, out));
  TransferChunk chunk;
  if (parse_transfer_chunk(input, &chunk)) {
    const size_t header_bytes = transfer_chunk_header_bytes(chunk.offset);
    require(!chunk.bytes.empty() && chunk.bytes.size() + header_bytes == input.size());
    same(input.first(header_bytes), out, encode_transfer_chunk_header(chunk.id, chunk.offset, out));
  }
}

void handshake(std::span<const uint8_t> input) {
  ConnectionRequest request;
  parse_connection_request(input, &request);
  Challenge challenge;
  uint8_t out[kConnectionRequestBodyBytes];
  if (parse_challenge(input, &challenge)) {
    require(encode_challenge(challenge, out) == input.size() &&
            std::memcmp(out, input.data(), input.size()) == 0);
  }
  ChallengeResponseClear response;
  if (parse_challenge_response_clear(input, &response)) {
    require(response.clear_bytes + response.sealed.size() == input.size());
    require(encode_challenge_response_clear(response, out) == response.clear_bytes &&
            std::memcmp(out, input.data(), response.clear_bytes) == 0);
  }
  AnswerClear answer;
  if (parse_answer_clear(input, &answer)) require(answer.sealed.size() + kAnswerClearBytes == input.size());
  ConnectionRefusedSealed refused;
  if (parse_connection_refused_sealed(input, &refused)) {
    require(encode_connection_refused_sealed(refused, out) == input.size() &&
            std::memcmp(out, input.data(), input.size()) == 0);
  }
  ChallengeResponseSealed proof;
  if (parse_challenge_response_sealed(input, &proof)) {
    same(input, out, encode_challenge_response_sealed(proof, out));
  }
  SchemaDifferenceClear told;
  if (parse_schema_difference_clear(input, &told)) {
    require(told.response.clear_bytes + told.response.sealed.size() == input.size());
    require(encode_schema_difference_clear(told, out) == told.response.clear_bytes &&
            std::memcmp(out, input.data(), told.response.clear_bytes) == 0);
  }
  SchemaDifferenceSealed lines;
  if (parse_schema_difference_sealed(input, &lines)) {
    same(input, out, encode_schema_difference_sealed(lines, out));
  }
  ResetToken reset_token;
  if (parse_reset_token(input, &reset_token)) {
    const auto again = encode_reset_token(reset_token);
    require(again.size() == input.size() && std::memcmp(again.data(), input.data(), again.size()) == 0);
  }
  ConnectionAcceptedSealed accepted;
  if (parse_connection_accepted_sealed(input, &accepted)) {
    same(input, out, encode_connection_accepted_sealed(accepted, out));
  }
  ConnectionDenied denied;
  parse_connection_denied(input, &denied);
  TokenFields token;
  if (parse_token(input, &token) == TokenStatus::kOk) {
    require(encode_token_fields(token, out) == input.size() - kTokenSignatureBytes &&
            std::memcmp(out, input.data(), input.size() - kTokenSignatureBytes) == 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> input(data, size);
  keepalive(input);
  disconnect(input);
  rekey(input);
  transfers(input);
  handshake(input);
  return 0;
}
