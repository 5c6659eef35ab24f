// Token layout against the golden token, every truncation and each one-past-limit value.
#include "transport/wire/token.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "golden.h"

namespace lattice::wire {
namespace {

using test::from_hex;
using test::kGoldenToken;
using test::to_hex;

TEST(Token, GoldenFields) {
  const auto bytes = from_hex(kGoldenToken);
  TokenFields fields;
  ASSERT_EQ(parse_token(bytes, &fields), TokenStatus::kOk);
  EXPECT_EQ(fields.kind, TokenKind::kConnect);
  EXPECT_EQ(fields.role, TokenRole::kInitiator);
  EXPECT_EQ(to_hex(fields.issuer_key_id), "b14705888f4a6839");
  EXPECT_EQ(to_hex(fields.token_id), "000102030405060708090a0b0c0d0e0f");
  EXPECT_EQ(fields.protocol_id, kProtocolId);
  EXPECT_EQ(fields.schema_id, 0x1122334455667788u);
  EXPECT_EQ(fields.issued_s, 1800000000u);
  EXPECT_EQ(fields.expires_s, 1800000300u);
  EXPECT_EQ(to_hex(fields.aud), "261cd9cd2e935f9c2455876a80f02a4d6786b8ab877f07227737ca0b577bf161");
  EXPECT_EQ(to_hex(fields.cnf), "cdefd8783a91b446640e2e1f95599db35e484a0071bd2182b3b60d0812c10c70");
  EXPECT_EQ(to_hex(fields.user_data), "757365722d64617461");
  EXPECT_EQ(token_signed_part(bytes).size(), kTokenFixedBytes + 9);
  EXPECT_EQ(token_signature(bytes).size(), kTokenSignatureBytes);

  std::vector<uint8_t> again(bytes.size());
  ASSERT_EQ(encode_token_fields(fields, again), bytes.size() - kTokenSignatureBytes);
  EXPECT_TRUE(std::equal(again.begin(), again.end() - kTokenSignatureBytes, bytes.begin()));
}

TEST(Token, EveryOtherLengthIsRefused) {
  auto bytes = from_hex(kGoldenToken);
  TokenFields fields;
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_NE(parse_token(std::span<const uint8_t>(bytes).first(n), &fields), TokenStatus::kOk) << n;
  }
  bytes.push_back(0);
  EXPECT_EQ(parse_token(bytes, &fields), TokenStatus::kBadLength);
}

TEST(Token, BadFieldsAreNamed) {
  TokenFields fields;
  const auto check = [&](size_t offset, uint8_t value, TokenStatus expected) {
    auto bytes = from_hex(kGoldenToken);
    bytes[offset] = value;
    EXPECT_EQ(parse_token(bytes, &fields), expected) << offset;
  };
  check(0, 'X', TokenStatus::kBadMagic);
  check(4, 0, TokenStatus::kBadKind);
  check(4, 3, TokenStatus::kBadKind);
  check(5, 0, TokenStatus::kBadRole);
  check(5, 3, TokenStatus::kBadRole);
  check(6, 10, TokenStatus::kBadLength);
  check(7, 1, TokenStatus::kBadLength);
  for (size_t i = 36; i < 40; ++i) check(i, 1, TokenStatus::kBadReserved);
}

TEST(Token, UserDataLimit) {
  const std::vector<uint8_t> user(kMaxTokenUserBytes + 1, 7);
  TokenFields fields;
  std::vector<uint8_t> out(kMaxTokenBytes + 8);
  fields.user_data = user;
  EXPECT_EQ(encode_token_fields(fields, out), 0u);
  fields.user_data = std::span<const uint8_t>(user).first(kMaxTokenUserBytes);
  EXPECT_EQ(encode_token_fields(fields, std::span<uint8_t>(out).first(kMaxTokenBytes - 1)), 0u);
  ASSERT_EQ(encode_token_fields(fields, out), kTokenFixedBytes + kMaxTokenUserBytes);
  TokenFields back;
  EXPECT_EQ(parse_token(std::span<const uint8_t>(out).first(kMaxTokenBytes), &back), TokenStatus::kOk);
  EXPECT_EQ(back.user_data.size(), kMaxTokenUserBytes);
}

}  // namespace
}  // namespace lattice::wire
