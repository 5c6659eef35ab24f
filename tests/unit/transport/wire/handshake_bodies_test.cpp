// Handshake bodies against the golden packets; exact lengths, every truncation, bad texts.
#include "transport/wire/handshake_bodies.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "golden.h"

namespace lattice::wire {
namespace {

using test::from_hex;
using test::to_hex;

constexpr const char* kClientPub = "cdefd8783a91b446640e2e1f95599db35e484a0071bd2182b3b60d0812c10c70";
constexpr const char* kNonce = "d2d5889a9611d5f902cd6aa425a3489d";

std::vector<uint8_t> body_of(const char* hex) {
  auto bytes = from_hex(hex);
  bytes.erase(bytes.begin(), bytes.begin() + kMinHeaderBytes);
  return bytes;
}

template <class Array>
Array array_of(const char* hex) {
  Array out{};
  const auto bytes = from_hex(hex);
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return out;
}

TEST(ConnectionRequest, GoldenAndPadding) {
  const auto token = from_hex(test::kGoldenToken);
  ConnectionRequest message;
  message.client_pub = array_of<PublicKey>(kClientPub);
  message.token = token;
  std::vector<uint8_t> body(kConnectionRequestBodyBytes, 0xEE);
  ASSERT_EQ(encode_connection_request(message, body), kConnectionRequestBodyBytes);
  EXPECT_EQ(to_hex(std::span<const uint8_t>(body).first(35)), std::string("01") + kClientPub + "e900");
  EXPECT_EQ(to_hex(std::span<const uint8_t>(body).subspan(35, token.size())), test::kGoldenToken);
  EXPECT_EQ(body.size() + kMinHeaderBytes, kFloorDatagramBytes);

  ConnectionRequest back;
  ASSERT_TRUE(parse_connection_request(body, &back));
  EXPECT_EQ(back.client_pub, message.client_pub);
  EXPECT_EQ(to_hex(back.token), test::kGoldenToken);

  for (size_t n = 0; n < body.size(); ++n) {
    EXPECT_FALSE(parse_connection_request(std::span<const uint8_t>(body).first(n), &back));
  }
  auto longer = body;
  longer.push_back(0);
  EXPECT_FALSE(parse_connection_request(longer, &back));
  auto dirty = body;
  dirty.back() = 1;
  EXPECT_FALSE(parse_connection_request(dirty, &back));
  auto other = body;
  other[0] = 2;
  EXPECT_FALSE(parse_connection_request(other, &back));
}

TEST(ConnectionRequest, TokenLengthLimits) {
  const std::vector<uint8_t> bytes(kMaxTokenBytes + 1, 0x55);
  std::vector<uint8_t> body(kConnectionRequestBodyBytes);
  ConnectionRequest message;
  ConnectionRequest back;
  for (const size_t n : {kMinTokenBytes - 1, kMaxTokenBytes + 1}) {
    message.token = std::span<const uint8_t>(bytes).first(n);
    EXPECT_EQ(encode_connection_request(message, body), 0u) << n;
  }
  for (const size_t n : {kMinTokenBytes, kMaxTokenBytes}) {
    message.token = std::span<const uint8_t>(bytes).first(n);
    ASSERT_EQ(encode_connection_request(message, body), body.size()) << n;
    EXPECT_TRUE(parse_connection_request(body, &back)) << n;
  }
  body[33] = 0xFF;
  body[34] = 0xFF;
  EXPECT_FALSE(parse_connection_request(body, &back));
}

TEST(Challenge, Golden) {
  const auto body = body_of(test::kGoldenChallenge);
  Challenge message;
  ASSERT_TRUE(parse_challenge(body, &message));
  EXPECT_EQ(to_hex(message.challenge_nonce), kNonce);
  EXPECT_EQ(message.key_index, 7);
  uint8_t out[kChallengeBodyBytes];
  ASSERT_EQ(encode_challenge(message, out), body.size());
  EXPECT_EQ(to_hex(out), to_hex(body));
  for (size_t n = 0; n < body.size(); ++n) {
    EXPECT_FALSE(parse_challenge(std::span<const uint8_t>(body).first(n), &message));
    EXPECT_EQ(encode_challenge(message, std::span<uint8_t>(out).first(n)), 0u);
  }
}

TEST(ChallengeResponse, Golden) {
  const auto body = body_of(test::kGoldenChallengeResponse);
  ChallengeResponseClear message;
  ASSERT_TRUE(parse_challenge_response_clear(body, &message));
  EXPECT_EQ(to_hex(message.client_pub), kClientPub);
  EXPECT_EQ(to_hex(message.challenge_nonce), kNonce);
  EXPECT_EQ(message.key_index, 7);
  EXPECT_EQ(to_hex(message.token), test::kGoldenToken);
  EXPECT_EQ(message.sealed.size(), kChallengeResponseSealedBytes + kTagBytes);
  EXPECT_EQ(message.clear_bytes + message.sealed.size(), body.size());
  std::vector<uint8_t> out(message.clear_bytes);
  ASSERT_EQ(encode_challenge_response_clear(message, out), out.size());
  EXPECT_TRUE(std::equal(out.begin(), out.end(), body.begin()));
  for (size_t n = 0; n < body.size(); ++n) {
    EXPECT_FALSE(parse_challenge_response_clear(std::span<const uint8_t>(body).first(n), &message));
  }
  auto longer = body;
  longer.push_back(0);
  EXPECT_FALSE(parse_challenge_response_clear(longer, &message));
}

TEST(ChallengeResponse, SealedRoundTrip) {
  ChallengeResponseSealed message;
  message.challenge_nonce.fill(1);
  message.token_id.fill(2);
  message.schema_id = 0x1122334455667788u;
  message.features = 0xA0B0C0D0u;
  message.max_datagram = 1200;
  message.tick_rate = 60;
  message.max_objects = 4096;
  message.placed = {3, 4, 5, 6};
  uint8_t out[kChallengeResponseSealedBytes];
  ASSERT_EQ(encode_challenge_response_sealed(message, out), sizeof(out));
  EXPECT_EQ(to_hex(std::span<const uint8_t>(out).subspan(32)),
            "8877665544332211d0c0b0a0b0043c0000100000"
            "03000000"
            "0400000000000000"
            "0500000000000000"
            "0600000000000000");
  ChallengeResponseSealed back;
  ASSERT_TRUE(parse_challenge_response_sealed(out, &back));
  EXPECT_EQ(back.schema_id, message.schema_id);
  EXPECT_EQ(back.max_datagram, 1200);
  EXPECT_EQ(back.tick_rate, 60);
  EXPECT_EQ(back.max_objects, 4096);
  EXPECT_EQ(back.placed, message.placed);
  for (size_t n = 0; n < sizeof(out); ++n) {
    EXPECT_FALSE(parse_challenge_response_sealed(std::span<const uint8_t>(out).first(n), &back));
  }
}

TEST(Answer, GoldenAcceptedAndRefused) {
  AnswerClear message;
  const auto accepted = body_of(test::kGoldenAccepted);
  ASSERT_TRUE(parse_answer_clear(accepted, &message));
  EXPECT_EQ(message.message, HandshakeMessage::kConnectionAccepted);
  EXPECT_EQ(to_hex(message.accept_random), "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  EXPECT_EQ(message.sealed.size(), kConnectionAcceptedSealedBytes + kTagBytes);
  const auto refused = body_of(test::kGoldenRefused);
  ASSERT_TRUE(parse_answer_clear(refused, &message));
  EXPECT_EQ(message.message, HandshakeMessage::kConnectionRefused);
  uint8_t clear[kAnswerClearBytes];
  ASSERT_EQ(encode_answer_clear(message, clear), sizeof(clear));
  EXPECT_TRUE(std::equal(clear, clear + sizeof(clear), refused.begin()));
  // The refusal's text may have any length up to 64, so only the seal itself can show a cut inside it.
  constexpr size_t kShortest = kAnswerClearBytes + kConnectionRefusedMinSealedBytes + kTagBytes;
  for (size_t n = 0; n <= refused.size(); ++n) {
    EXPECT_EQ(parse_answer_clear(std::span<const uint8_t>(refused).first(n), &message), n >= kShortest);
  }
  for (size_t n = 0; n < accepted.size(); ++n) {
    EXPECT_FALSE(parse_answer_clear(std::span<const uint8_t>(accepted).first(n), &message));
  }
}

TEST(Answer, AcceptedSealedLayout) {
  ConnectionAcceptedSealed message;
  message.connection_id = 0x8877665544332211u;
  message.server_tick = 1000;
  message.mtu_hint = 1200;
  message.tick_rate = 60;
  message.peer_id = 42;
  message.schema_id = 0x1122334455667788u;
  uint8_t out[kConnectionAcceptedSealedBytes];
  ASSERT_EQ(encode_connection_accepted_sealed(message, out), sizeof(out));
  EXPECT_EQ(to_hex(out), "1122334455667788e8030000b0043c002a00000000000000887766554433221100000000");
  ConnectionAcceptedSealed back;
  ASSERT_TRUE(parse_connection_accepted_sealed(out, &back));
  EXPECT_EQ(back.connection_id, message.connection_id);
  EXPECT_EQ(back.tick_rate, 60);
  for (size_t n = 0; n < sizeof(out); ++n) {
    EXPECT_FALSE(parse_connection_accepted_sealed(std::span<const uint8_t>(out).first(n), &back));
  }
}

TEST(Answer, RefusedText) {
  const std::vector<uint8_t> text(kMaxReasonTextBytes + 1, 'a');
  std::vector<uint8_t> out(kConnectionRefusedMaxSealedBytes + 8);
  ConnectionRefusedSealed message;
  message.reason = 300;
  message.schema_id = 9;
  message.text = text;
  EXPECT_EQ(encode_connection_refused_sealed(message, out), 0u);
  message.text = std::span<const uint8_t>(text).first(kMaxReasonTextBytes);
  const size_t n = encode_connection_refused_sealed(message, out);
  ASSERT_EQ(n, kConnectionRefusedMinSealedBytes + kMaxReasonTextBytes);
  ConnectionRefusedSealed back;
  ASSERT_TRUE(parse_connection_refused_sealed(std::span<const uint8_t>(out).first(n), &back));
  EXPECT_EQ(back.reason, 300);
  EXPECT_EQ(back.text.size(), kMaxReasonTextBytes);
  for (size_t cut = 0; cut < n; ++cut) {
    EXPECT_FALSE(parse_connection_refused_sealed(std::span<const uint8_t>(out).first(cut), &back));
  }
  out[n - 1] = 0xFF;  // not UTF-8
  EXPECT_FALSE(parse_connection_refused_sealed(std::span<const uint8_t>(out).first(n), &back));
}

TEST(Answer, RefusedWithAPageOfTheSchema) {
  const std::vector<uint8_t> page(kSchemaPageBytes + 1, 'x');
  std::vector<uint8_t> out(kConnectionRefusedMaxSealedBytes + 8);
  ConnectionRefusedSealed message;
  message.reason = 7;
  const auto bytes = [&](uint16_t number, uint16_t pages, size_t size) {
    message.page = number, message.pages = pages;
    message.schema_page = std::span<const uint8_t>(page).first(size);
    return encode_connection_refused_sealed(message, out);
  };
  EXPECT_EQ(bytes(0, 2, kSchemaPageBytes - 1), 0u) << "only the last page is shorter";
  EXPECT_EQ(bytes(2, 2, 5), 0u);
  EXPECT_EQ(bytes(1, 2, kSchemaPageBytes + 1), 0u);
  EXPECT_EQ(bytes(0, kMaxSchemaPages + 1, kSchemaPageBytes), 0u);
  message.reason = 8;
  EXPECT_EQ(bytes(0, 1, 5), 0u) << "with no other reason";
  message.reason = 7;
  EXPECT_EQ(bytes(255, 256, kSchemaPageBytes), kConnectionRefusedMinSealedBytes + 4 + kSchemaPageBytes);
  const size_t n = bytes(1, 2, 5);
  ASSERT_EQ(n, kConnectionRefusedMinSealedBytes + 4 + 5);
  ConnectionRefusedSealed back;
  ASSERT_TRUE(parse_connection_refused_sealed(std::span<const uint8_t>(out).first(n), &back));
  EXPECT_EQ(back.page, 1);
  EXPECT_EQ(back.pages, 2);
  EXPECT_EQ(back.schema_page.size(), 5u);
  for (size_t cut = kConnectionRefusedMinSealedBytes + 1; cut < n - 4; ++cut) {
    EXPECT_FALSE(parse_connection_refused_sealed(std::span<const uint8_t>(out).first(cut), &back)) << cut;
  }
  out[kConnectionRefusedMinSealedBytes] = 2;  // page 2 of 2
  EXPECT_FALSE(parse_connection_refused_sealed(std::span<const uint8_t>(out).first(n), &back));
  out[kConnectionRefusedMinSealedBytes] = 0;  // page 0 of 2 has fewer than 256 bytes
  EXPECT_FALSE(parse_connection_refused_sealed(std::span<const uint8_t>(out).first(n), &back));
}

TEST(SchemaDifference, ClearPartAndItsLengths) {
  const auto token = from_hex(test::kGoldenToken);
  SchemaDifferenceClear message;
  message.response.client_pub = array_of<PublicKey>(kClientPub);
  message.response.challenge_nonce = array_of<Nonce16>(kNonce);
  message.response.key_index = 7;
  message.response.token = token;
  message.salt.fill(0xAB);
  std::vector<uint8_t> body(kMaxSchemaDifferenceBytes, 0xEE);
  const size_t clear_bytes = encode_schema_difference_clear(message, body);
  ASSERT_EQ(clear_bytes, 1u + 32 + 16 + 1 + 2 + token.size() + 16);
  EXPECT_EQ(to_hex(std::span<const uint8_t>(body).first(52)),
            std::string("07") + kClientPub + kNonce + "07" + "e900");
  EXPECT_EQ(to_hex(std::span<const uint8_t>(body).subspan(clear_bytes - 16, 17)),
            "abababababababababababababababab"
            "ee");
  for (size_t n = 0; n < clear_bytes; ++n) {
    std::vector<uint8_t> out(n);
    EXPECT_EQ(encode_schema_difference_clear(message, out), 0u);
  }
  SchemaDifferenceClear back;
  for (size_t n = 0; n < body.size(); ++n) {
    const size_t sealed_bytes = n < clear_bytes ? 0 : n - clear_bytes;
    const bool is_legal = sealed_bytes >= 8 + 1 + kTagBytes && sealed_bytes <= 8 + 512 + kTagBytes;
    ASSERT_EQ(parse_schema_difference_clear(std::span<const uint8_t>(body).first(n), &back), is_legal) << n;
    if (!is_legal) continue;
    EXPECT_EQ(back.salt, message.salt);
    EXPECT_EQ(back.response.clear_bytes, clear_bytes);
    EXPECT_EQ(back.response.sealed.size(), sealed_bytes);
    EXPECT_EQ(to_hex(back.response.token), test::kGoldenToken);
  }
  body[0] = 6;
  EXPECT_FALSE(parse_schema_difference_clear(std::span<const uint8_t>(body).first(clear_bytes + 40), &back));
}

TEST(SchemaDifference, LinesArePrintableAndEnded) {
  std::vector<uint8_t> out(kSchemaDifferenceMaxSealedBytes + 8);
  const auto bytes_of = [&out](const std::string& lines) {
    const auto* first = reinterpret_cast<const uint8_t*>(lines.data());
    const size_t n = encode_schema_difference_sealed({0x1122334455667788, {first, lines.size()}}, out);
    std::vector<uint8_t> plaintext(8);
    std::copy_n(from_hex("8877665544332211").begin(), 8, plaintext.begin());
    plaintext.insert(plaintext.end(), lines.begin(), lines.end());
    SchemaDifferenceSealed back;
    EXPECT_EQ(parse_schema_difference_sealed(plaintext, &back), n != 0) << "writer and reader agree";
    if (n != 0) {
      EXPECT_EQ(to_hex(std::span<const uint8_t>(out).first(n)), to_hex(plaintext));
      EXPECT_EQ(back.schema_id, 0x1122334455667788u);
      EXPECT_EQ(to_hex(back.lines), to_hex(std::span(plaintext).subspan(8)));
    }
    return n;
  };
  EXPECT_EQ(bytes_of("A.b\tbool\nC\n"), 8u + 11);
  EXPECT_EQ(bytes_of("\n"), 9u);
  EXPECT_EQ(bytes_of(std::string(511, '~') + "\n"), 8u + 512);
  EXPECT_EQ(bytes_of(std::string(512, '~') + "\n"), 0u);
  EXPECT_EQ(bytes_of(""), 0u);
  EXPECT_EQ(bytes_of("A.b\tbool"), 0u) << "the last line has no end";
  for (const char bad : {'\0', '\x1b', '\r', '\x7f', '\x80', '\xff', '\b'}) {
    EXPECT_EQ(bytes_of(std::string("A") + bad + "\n"), 0u) << static_cast<int>(bad);
  }
  SchemaDifferenceSealed back;
  for (size_t n = 0; n < 9; ++n) {
    EXPECT_FALSE(parse_schema_difference_sealed(std::vector<uint8_t>(n, '\n'), &back)) << n;
  }
}

TEST(Denied, RoundTrip) {
  ConnectionDenied message;
  message.reason = 6;
  uint8_t out[kConnectionDeniedBodyBytes];
  ASSERT_EQ(encode_connection_denied(message, out), sizeof(out));
  EXPECT_EQ(to_hex(out), "0406004c540001");
  ConnectionDenied back;
  ASSERT_TRUE(parse_connection_denied(out, &back));
  EXPECT_EQ(back.reason, 6);
  EXPECT_EQ(back.protocol_id, kProtocolId);
  for (size_t n = 0; n < sizeof(out); ++n) {
    EXPECT_FALSE(parse_connection_denied(std::span<const uint8_t>(out).first(n), &back));
  }
}

TEST(Handshake, PeekKnowsItsMessages) {
  for (unsigned type = 0; type < 256; ++type) {
    const uint8_t body[1] = {static_cast<uint8_t>(type)};
    EXPECT_EQ(peek_handshake_message(body).has_value(), type >= 1 && type <= 7) << type;
  }
  EXPECT_FALSE(peek_handshake_message({}).has_value());
}

}  // namespace
}  // namespace lattice::wire
