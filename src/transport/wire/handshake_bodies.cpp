#include "transport/wire/handshake_bodies.h"

#include <algorithm>
#include <cstring>

#include "base/byte_cursor.h"
#include "transport/wire/utf8.h"

namespace lattice::wire {
namespace {

bool read_token(base::ByteReader& reader, std::span<const uint8_t>* token) {
  const size_t token_bytes = reader.u16();
  if (token_bytes < kMinTokenBytes || token_bytes > kMaxTokenBytes) return false;
  *token = reader.bytes(token_bytes);
  return reader.ok();
}

bool is_token_length(std::span<const uint8_t> token) {
  return token.size() >= kMinTokenBytes && token.size() <= kMaxTokenBytes;
}

size_t written_or_zero(const base::ByteWriter& writer) {
  return writer.ok() ? writer.size() : 0;
}

// All bytes are zero if the first is zero and each equals the next. memcmp compares many bytes at a time, and
// the padding of a request has nine hundred.
bool is_zero(std::span<const uint8_t> bytes) {
  return bytes.empty() ||
         (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

uint8_t code(HandshakeMessage message) {
  return static_cast<uint8_t>(message);
}

bool has_valid_page(const ConnectionRefusedSealed& message) {
  constexpr uint16_t kSchemaMismatch = 7;
  if (message.reason != kSchemaMismatch || message.pages > kMaxSchemaPages || message.page >= message.pages) {
    return false;
  }
  const size_t bytes = message.schema_page.size();
  return message.page + 1u == message.pages ? bytes != 0 && bytes <= kSchemaPageBytes
                                            : bytes == kSchemaPageBytes;
}

/// The clear part that messages 3 and 7 share.
void read_response(base::ByteReader& reader, ChallengeResponseClear* out, bool* has_token) {
  reader.copy(out->client_pub.data(), out->client_pub.size());
  reader.copy(out->challenge_nonce.data(), out->challenge_nonce.size());
  out->key_index = reader.u8();
  *has_token = read_token(reader, &out->token);
}

void write_response(base::ByteWriter& writer, const ChallengeResponseClear& message) {
  writer.bytes(message.client_pub);
  writer.bytes(message.challenge_nonce);
  writer.u8(message.key_index);
  writer.u16(static_cast<uint16_t>(message.token.size()));
  writer.bytes(message.token);
}

bool are_schema_lines(std::span<const uint8_t> lines) {
  if (lines.empty() || lines.size() > kMaxSchemaLinesBytes || lines.back() != '\n') return false;
  return std::ranges::all_of(lines,
                             [](uint8_t c) { return (c >= ' ' && c <= '~') || c == '\t' || c == '\n'; });
}

}  // namespace

std::optional<HandshakeMessage> peek_handshake_message(std::span<const uint8_t> body) {
  if (body.empty() || body[0] < 1 || body[0] > code(HandshakeMessage::kSchemaDifference)) {
    return std::nullopt;
  }
  return static_cast<HandshakeMessage>(body[0]);
}

bool parse_connection_request(std::span<const uint8_t> body, ConnectionRequest* out) {
  if (body.size() != kConnectionRequestBodyBytes) return false;
  base::ByteReader reader(body);
  ConnectionRequest message;
  if (reader.u8() != code(HandshakeMessage::kConnectionRequest)) return false;
  reader.copy(message.client_pub.data(), message.client_pub.size());
  if (!read_token(reader, &message.token)) return false;
  if (!is_zero(reader.bytes(reader.remaining()))) return false;
  *out = message;
  return true;
}

size_t encode_connection_request(const ConnectionRequest& message, std::span<uint8_t> out) {
  if (!is_token_length(message.token)) return 0;
  base::ByteWriter writer(out);
  writer.u8(code(HandshakeMessage::kConnectionRequest));
  writer.bytes(message.client_pub);
  writer.u16(static_cast<uint16_t>(message.token.size()));
  writer.bytes(message.token);
  writer.zeros(kConnectionRequestBodyBytes - writer.size());
  return written_or_zero(writer);
}

bool parse_challenge(std::span<const uint8_t> body, Challenge* out) {
  if (body.size() != kChallengeBodyBytes) return false;
  base::ByteReader reader(body);
  if (reader.u8() != code(HandshakeMessage::kChallenge)) return false;
  reader.copy(out->token_echo.data(), out->token_echo.size());
  reader.copy(out->bucket_pub.data(), out->bucket_pub.size());
  reader.copy(out->challenge_nonce.data(), out->challenge_nonce.size());
  out->key_index = reader.u8();
  return reader.ok();
}

size_t encode_challenge(const Challenge& message, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u8(code(HandshakeMessage::kChallenge));
  writer.bytes(message.token_echo);
  writer.bytes(message.bucket_pub);
  writer.bytes(message.challenge_nonce);
  writer.u8(message.key_index);
  return written_or_zero(writer);
}

bool parse_challenge_response_clear(std::span<const uint8_t> body, ChallengeResponseClear* out) {
  base::ByteReader reader(body);
  ChallengeResponseClear message;
  bool has_token = false;
  read_response(reader, &message, &has_token);
  if (!has_token) return false;
  message.clear_bytes = reader.position();
  if (reader.remaining() != kChallengeResponseSealedBytes + kTagBytes) return false;
  message.sealed = reader.bytes(reader.remaining());
  *out = message;
  return true;
}

size_t encode_challenge_response_clear(const ChallengeResponseClear& message, std::span<uint8_t> out) {
  if (!is_token_length(message.token)) return 0;
  base::ByteWriter writer(out);
  write_response(writer, message);
  return written_or_zero(writer);
}

bool parse_challenge_response_sealed(std::span<const uint8_t> plaintext, ChallengeResponseSealed* out) {
  if (plaintext.size() != kChallengeResponseSealedBytes) return false;
  base::ByteReader reader(plaintext);
  reader.copy(out->challenge_nonce.data(), out->challenge_nonce.size());
  reader.copy(out->token_id.data(), out->token_id.size());
  out->schema_id = reader.u64();
  out->features = reader.u32();
  out->max_datagram = reader.u16();
  out->tick_rate = reader.u16();
  out->max_objects = reader.u32();
  out->placed.count = reader.u32();
  out->placed.key_sum = reader.u64();
  out->placed.key_squares = reader.u64();
  out->placed.digest = reader.u64();
  return reader.ok();
}

size_t encode_challenge_response_sealed(const ChallengeResponseSealed& message, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.bytes(message.challenge_nonce);
  writer.bytes(message.token_id);
  writer.u64(message.schema_id);
  writer.u32(message.features);
  writer.u16(message.max_datagram);
  writer.u16(message.tick_rate);
  writer.u32(message.max_objects);
  writer.u32(message.placed.count);
  writer.u64(message.placed.key_sum);
  writer.u64(message.placed.key_squares);
  writer.u64(message.placed.digest);
  return written_or_zero(writer);
}

bool parse_answer_clear(std::span<const uint8_t> body, AnswerClear* out) {
  base::ByteReader reader(body);
  AnswerClear message;
  const uint8_t type = reader.u8();
  reader.copy(message.accept_random.data(), message.accept_random.size());
  if (!reader.ok()) return false;
  const size_t sealed_bytes = reader.remaining();
  if (type == code(HandshakeMessage::kConnectionAccepted)) {
    if (sealed_bytes != kConnectionAcceptedSealedBytes + kTagBytes) return false;
  } else if (type == code(HandshakeMessage::kConnectionRefused)) {
    if (sealed_bytes < kConnectionRefusedMinSealedBytes + kTagBytes ||
        sealed_bytes > kConnectionRefusedMaxSealedBytes + kTagBytes) {
      return false;
    }
  } else {
    return false;
  }
  message.message = static_cast<HandshakeMessage>(type);
  message.sealed = reader.bytes(sealed_bytes);
  *out = message;
  return true;
}

size_t encode_answer_clear(const AnswerClear& message, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u8(code(message.message));
  writer.bytes(message.accept_random);
  return written_or_zero(writer);
}

bool parse_connection_accepted_sealed(std::span<const uint8_t> plaintext, ConnectionAcceptedSealed* out) {
  if (plaintext.size() != kConnectionAcceptedSealedBytes) return false;
  base::ByteReader reader(plaintext);
  out->connection_id = reader.u64();
  out->server_tick = reader.u32();
  out->mtu_hint = reader.u16();
  out->tick_rate = reader.u16();
  out->peer_id = reader.u64();
  out->schema_id = reader.u64();
  out->features = reader.u32();
  return reader.ok();
}

size_t encode_connection_accepted_sealed(const ConnectionAcceptedSealed& message, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u64(message.connection_id);
  writer.u32(message.server_tick);
  writer.u16(message.mtu_hint);
  writer.u16(message.tick_rate);
  writer.u64(message.peer_id);
  writer.u64(message.schema_id);
  writer.u32(message.features);
  return written_or_zero(writer);
}

bool parse_connection_refused_sealed(std::span<const uint8_t> plaintext, ConnectionRefusedSealed* out) {
  base::ByteReader reader(plaintext);
  ConnectionRefusedSealed message;
  message.reason = reader.u16();
  message.schema_id = reader.u64();
  const size_t text_bytes = reader.u8();
  message.text = reader.bytes(text_bytes);
  if (!reader.ok() || text_bytes > kMaxReasonTextBytes || !is_valid_reason_text(message.text)) return false;
  if (reader.remaining() != 0) {
    message.page = reader.u16();
    message.pages = reader.u16();
    message.schema_page = reader.bytes(reader.remaining());
    if (!reader.ok() || !has_valid_page(message)) return false;
  }
  *out = message;
  return true;
}

size_t encode_connection_refused_sealed(const ConnectionRefusedSealed& message, std::span<uint8_t> out) {
  if (message.text.size() > kMaxReasonTextBytes) return 0;
  if (!message.schema_page.empty() && !has_valid_page(message)) return 0;
  base::ByteWriter writer(out);
  writer.u16(message.reason);
  writer.u64(message.schema_id);
  writer.u8(static_cast<uint8_t>(message.text.size()));
  writer.bytes(message.text);
  if (!message.schema_page.empty()) {
    writer.u16(message.page);
    writer.u16(message.pages);
    writer.bytes(message.schema_page);
  }
  return written_or_zero(writer);
}

bool parse_schema_difference_clear(std::span<const uint8_t> body, SchemaDifferenceClear* out) {
  base::ByteReader reader(body);
  SchemaDifferenceClear message;
  bool has_token = false;
  if (reader.u8() != code(HandshakeMessage::kSchemaDifference)) return false;
  read_response(reader, &message.response, &has_token);
  if (!has_token) return false;
  reader.copy(message.salt.data(), message.salt.size());
  message.response.clear_bytes = reader.position();
  const size_t sealed_bytes = reader.remaining();
  if (!reader.ok() || sealed_bytes < kSchemaDifferenceMinSealedBytes + kTagBytes ||
      sealed_bytes > kSchemaDifferenceMaxSealedBytes + kTagBytes) {
    return false;
  }
  message.response.sealed = reader.bytes(sealed_bytes);
  *out = message;
  return true;
}

size_t encode_schema_difference_clear(const SchemaDifferenceClear& message, std::span<uint8_t> out) {
  if (!is_token_length(message.response.token)) return 0;
  base::ByteWriter writer(out);
  writer.u8(code(HandshakeMessage::kSchemaDifference));
  write_response(writer, message.response);
  writer.bytes(message.salt);
  return written_or_zero(writer);
}

bool parse_schema_difference_sealed(std::span<const uint8_t> plaintext, SchemaDifferenceSealed* out) {
  base::ByteReader reader(plaintext);
  SchemaDifferenceSealed message;
  message.schema_id = reader.u64();
  message.lines = reader.bytes(reader.remaining());
  if (!reader.ok() || !are_schema_lines(message.lines)) return false;
  *out = message;
  return true;
}

size_t encode_schema_difference_sealed(const SchemaDifferenceSealed& message, std::span<uint8_t> out) {
  if (!are_schema_lines(message.lines)) return 0;
  base::ByteWriter writer(out);
  writer.u64(message.schema_id);
  writer.bytes(message.lines);
  return written_or_zero(writer);
}

bool parse_connection_denied(std::span<const uint8_t> body, ConnectionDenied* out) {
  if (body.size() != kConnectionDeniedBodyBytes) return false;
  base::ByteReader reader(body);
  if (reader.u8() != code(HandshakeMessage::kConnectionDenied)) return false;
  out->reason = reader.u16();
  out->protocol_id = reader.u32();
  return reader.ok();
}

size_t encode_connection_denied(const ConnectionDenied& message, std::span<uint8_t> out) {
  base::ByteWriter writer(out);
  writer.u8(code(HandshakeMessage::kConnectionDenied));
  writer.u16(message.reason);
  writer.u32(message.protocol_id);
  return written_or_zero(writer);
}

}  // namespace lattice::wire
