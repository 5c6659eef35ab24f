// Bodies of the handshake packets (handshake.md, "Messages"), byte-aligned, little-endian. Each body
// follows the ordinary outer header with key_epoch 0 and packet_seq 0.
//
//   1 ConnectionRequest   u8 1 · C_pub 32 · token_len u16 · token · zeros to a 1200-byte datagram
//   2 Challenge           u8 2 · token_echo 8 · E_pub 32 · challenge_nonce 16 · key_index u8
//   - ChallengeResponse   C_pub 32 · challenge_nonce 16 · key_index u8 · token_len u16 · token
//     (type 0x04)         | sealed, k3: challenge_nonce 16 · token_id 16 · schema_id u64 · features u32 ·
//                         |             max_datagram u16 · tick_rate u16 · max_objects u32 · placed 28
//   3 ConnectionAccepted  u8 3 · accept_random 16
//                         | sealed, k4: connection_id u64 · server_tick u32 · mtu_hint u16 · tick_rate u16 ·
//                         |             peer_id u64 · schema_id u64 · features u32
//   4 ConnectionDenied    u8 4 · reason u16 · protocol_id u32            advisory, unauthenticated (P-03)
//   6 ConnectionRefused   u8 6 · accept_random 16
//                         | sealed, k4: reason u16 · schema_id u64 · text_len u8 · text
//   7 SchemaDifference    u8 7 · C_pub 32 · challenge_nonce 16 · key_index u8 · token_len u16 · token ·
//                         salt 16
//                         | sealed, k7: schema_id u64 · lines
//
// A message with a sealed part is read in two steps: parse_…_clear() splits the body, the layer above opens
// the sealed part, and parse_…_sealed() reads the plaintext. The AAD is header ‖ clear part. Every parser
// refuses any length but the exact one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/wire/constants.h"
#include "transport/wire/token.h"

namespace lattice::wire {

enum class HandshakeMessage : uint8_t {
  kConnectionRequest = 1,
  kChallenge = 2,
  kConnectionAccepted = 3,
  kConnectionDenied = 4,
  kPunch = 5,
  kConnectionRefused = 6,
  kSchemaDifference = 7,
};

/// The first byte of a type-0x00 body, or nothing when the body is empty or the byte is unknown.
std::optional<HandshakeMessage> peek_handshake_message(std::span<const uint8_t> body);

// --- 1 ConnectionRequest ---------------------------------------------------------------------------

inline constexpr size_t kConnectionRequestBodyBytes = kFloorDatagramBytes - kMinHeaderBytes;

struct ConnectionRequest {
  PublicKey client_pub{};
  std::span<const uint8_t> token;  ///< 224 to 480 bytes, not yet parsed.
};

/// `body` must be exactly kConnectionRequestBodyBytes with all-zero padding.
bool parse_connection_request(std::span<const uint8_t> body, ConnectionRequest* out);
/// Writes the whole padded body; returns kConnectionRequestBodyBytes, or 0 when it does not fit.
size_t encode_connection_request(const ConnectionRequest& message, std::span<uint8_t> out);

// --- 2 Challenge -----------------------------------------------------------------------------------

inline constexpr size_t kTokenEchoBytes = 8;
inline constexpr size_t kChallengeBodyBytes = 1 + kTokenEchoBytes + 32 + 16 + 1;

/// The beginning of SHA-256(token). It tells the client that whoever answers has seen its message 1.
using TokenEcho = std::array<uint8_t, kTokenEchoBytes>;
inline TokenEcho token_echo(const std::array<uint8_t, 32>& token_hash) {
  TokenEcho echo;
  std::copy_n(token_hash.begin(), echo.size(), echo.begin());
  return echo;
}

struct Challenge {
  TokenEcho token_echo{};
  PublicKey bucket_pub{};
  Nonce16 challenge_nonce{};
  uint8_t key_index = 0;
};

bool parse_challenge(std::span<const uint8_t> body, Challenge* out);
size_t encode_challenge(const Challenge& message, std::span<uint8_t> out);

// --- ChallengeResponse (packet type 0x04) ----------------------------------------------------------

/// What a side says of the objects that it placed before the session: key_sum is the sum of their keys and
/// key_squares the sum of the squares, both modulo 2^64. So a single missing key can be told. The digest is
/// about keys, types and states.
struct PlacedSummary {
  uint32_t count = 0;
  uint64_t key_sum = 0;
  uint64_t key_squares = 0;
  uint64_t digest = 0;
  bool operator==(const PlacedSummary&) const = default;
};
inline constexpr size_t kPlacedSummaryBytes = 4 + 8 + 8 + 8;

inline constexpr size_t kChallengeResponseSealedBytes = 16 + 16 + 8 + 4 + 2 + 2 + 4 + kPlacedSummaryBytes;
/// A whole datagram, header included.
inline constexpr size_t kMaxChallengeResponseBytes =
    kMinHeaderBytes + 32 + 16 + 1 + 2 + kMaxTokenBytes + kChallengeResponseSealedBytes + kTagBytes;

struct ChallengeResponseClear {
  PublicKey client_pub{};
  Nonce16 challenge_nonce{};
  uint8_t key_index = 0;
  std::span<const uint8_t> token;   ///< Not yet parsed.
  std::span<const uint8_t> sealed;  ///< On parsing: ciphertext and tag. Ignored by the encoder.
  size_t clear_bytes = 0;           ///< On parsing: length of the clear part in the body.
};

struct ChallengeResponseSealed {
  Nonce16 challenge_nonce{};
  Id16 token_id{};
  uint64_t schema_id = 0;
  uint32_t features = 0;
  uint16_t max_datagram = 0;
  uint16_t tick_rate = 0;    ///< Hz, of the client's simulation.
  uint32_t max_objects = 0;  ///< Number of objects that the client has room for.
  PlacedSummary placed;      ///< The objects that the client placed.
};

bool parse_challenge_response_clear(std::span<const uint8_t> body, ChallengeResponseClear* out);
size_t encode_challenge_response_clear(const ChallengeResponseClear& message, std::span<uint8_t> out);
bool parse_challenge_response_sealed(std::span<const uint8_t> plaintext, ChallengeResponseSealed* out);
size_t encode_challenge_response_sealed(const ChallengeResponseSealed& message, std::span<uint8_t> out);

// --- 3 ConnectionAccepted --------------------------------------------------------------------------

/// The clear part of messages 3 and 6: the type byte and accept_random.
inline constexpr size_t kAnswerClearBytes = 1 + 16;
inline constexpr size_t kConnectionAcceptedSealedBytes = 8 + 4 + 2 + 2 + 8 + 8 + 4;

struct AnswerClear {
  HandshakeMessage message = HandshakeMessage::kConnectionAccepted;  ///< Accepted or Refused.
  Nonce16 accept_random{};
  std::span<const uint8_t> sealed;  ///< On parsing: ciphertext and tag. Ignored by the encoder.
};

struct ConnectionAcceptedSealed {
  uint64_t connection_id = 0;
  uint32_t server_tick = 0;
  uint16_t mtu_hint = 0;
  uint16_t tick_rate = 0;  ///< Hz.
  uint64_t peer_id = 0;
  uint64_t schema_id = 0;
  uint32_t features = 0;
};

/// Splits message 3 or 6; the length of the sealed part must be possible for that message.
bool parse_answer_clear(std::span<const uint8_t> body, AnswerClear* out);
size_t encode_answer_clear(const AnswerClear& message, std::span<uint8_t> out);
bool parse_connection_accepted_sealed(std::span<const uint8_t> plaintext, ConnectionAcceptedSealed* out);
size_t encode_connection_accepted_sealed(const ConnectionAcceptedSealed& message, std::span<uint8_t> out);

// --- 6 ConnectionRefused ---------------------------------------------------------------------------

inline constexpr size_t kConnectionRefusedMinSealedBytes = 2 + 8 + 1;
/// A refusal for another schema may hold a page of the server's schema text: all but the last are full. So it
/// is no longer than the shortest message 3.
inline constexpr size_t kSchemaPageBytes = 256;
inline constexpr size_t kMaxSchemaPages = 256;
inline constexpr size_t kConnectionRefusedMaxSealedBytes =
    kConnectionRefusedMinSealedBytes + kMaxReasonTextBytes + 2 + 2 + kSchemaPageBytes;

struct ConnectionRefusedSealed {
  uint16_t reason = 0;
  uint64_t schema_id = 0;
  std::span<const uint8_t> text;  ///< UTF-8, at most kMaxReasonTextBytes.
  std::span<const uint8_t>
      schema_page;  ///< Page `page` of `pages`, 1..kMaxSchemaPages; empty: there is none.
  uint16_t page = 0;
  uint16_t pages = 0;
};

bool parse_connection_refused_sealed(std::span<const uint8_t> plaintext, ConnectionRefusedSealed* out);
size_t encode_connection_refused_sealed(const ConnectionRefusedSealed& message, std::span<uint8_t> out);

// --- 7 SchemaDifference ----------------------------------------------------------------------------

/// What a client that was refused for its schema tells of it: lines of printable ASCII and tabs, each ended.
inline constexpr size_t kMaxSchemaLinesBytes = 512;
inline constexpr size_t kSchemaDifferenceMinSealedBytes = 8 + 1;
inline constexpr size_t kSchemaDifferenceMaxSealedBytes = 8 + kMaxSchemaLinesBytes;
/// A whole datagram, header included.
inline constexpr size_t kMaxSchemaDifferenceBytes =
    kMinHeaderBytes + 1 + 32 + 16 + 1 + 2 + kMaxTokenBytes + 16 + kSchemaDifferenceMaxSealedBytes + kTagBytes;

struct SchemaDifferenceClear {
  ChallengeResponseClear response;  ///< Its clear_bytes is the length of this whole clear part.
  Nonce16 salt{};
};

struct SchemaDifferenceSealed {
  uint64_t schema_id = 0;  ///< The client's.
  std::span<const uint8_t> lines;
};

bool parse_schema_difference_clear(std::span<const uint8_t> body, SchemaDifferenceClear* out);
size_t encode_schema_difference_clear(const SchemaDifferenceClear& message, std::span<uint8_t> out);
bool parse_schema_difference_sealed(std::span<const uint8_t> plaintext, SchemaDifferenceSealed* out);
/// Returns 0 for lines that the parser refuses.
size_t encode_schema_difference_sealed(const SchemaDifferenceSealed& message, std::span<uint8_t> out);

// --- 4 ConnectionDenied ----------------------------------------------------------------------------

inline constexpr size_t kConnectionDeniedBodyBytes = 1 + 2 + 4;

struct ConnectionDenied {
  uint16_t reason = 0;
  uint32_t protocol_id = kProtocolId;  ///< The version that the denying server speaks.
};

bool parse_connection_denied(std::span<const uint8_t> body, ConnectionDenied* out);
size_t encode_connection_denied(const ConnectionDenied& message, std::span<uint8_t> out);

}  // namespace lattice::wire
