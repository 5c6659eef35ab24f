#include "transport/wire/stateless_reset.h"

#include <gtest/gtest.h>

#include <vector>

#include "transport/wire/control_body.h"
#include "unit/transport/hex.h"

namespace lattice::wire {
namespace {

ResetToken counted_token() {
  ResetToken token;
  for (size_t i = 0; i < token.size(); ++i) token[i] = static_cast<uint8_t>(0xA0 + i);
  return token;
}

TEST(StatelessReset, Golden) {
  PacketHeader question;
  question.type = PacketType::kPayload;
  question.connection_id = 0x1122334455667788u;
  question.key_epoch = 1;
  question.packet_seq = 300;
  std::array<uint8_t, kResetRandomBytes> random;
  random.fill(0x5A);
  std::array<uint8_t, kMaxResetBytes> out;
  const size_t bytes = encode_reset(question, random, counted_token(), out);
  EXPECT_EQ(test::to_hex(std::span<const uint8_t>(out).first(bytes)),
            "4c54000102887766554433221101ac02"
            "5a5a5a5a5a5a5a5a5a5a5a"
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  const auto found = reset_token_in(std::span<const uint8_t>(out).first(bytes), 16);
  EXPECT_EQ(test::to_hex(found), "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  EXPECT_TRUE(reset_token_in(std::span<const uint8_t>(out).first(bytes - 1), 16).empty());
  EXPECT_TRUE(reset_token_in(std::span<const uint8_t>(out).first(bytes + 1), 16).empty());
  EXPECT_EQ(encode_reset(question, random, counted_token(), std::span(out).first(kMaxResetBytes - 1)), 0u);
}

TEST(StatelessReset, TokenMessageHasOneLengthAndOneType) {
  const auto body = encode_reset_token(counted_token());
  EXPECT_EQ(test::to_hex(body), "0ea0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  EXPECT_TRUE(is_known_control_type(body[0]));
  EXPECT_TRUE(is_transport_control_type(body[0]));
  ResetToken back;
  ASSERT_TRUE(parse_reset_token(body, &back));
  EXPECT_EQ(back, counted_token());
  for (size_t n = 0; n < body.size(); ++n) EXPECT_FALSE(parse_reset_token(std::span(body).first(n), &back));
  std::vector<uint8_t> longer(body.begin(), body.end());
  longer.push_back(0);
  EXPECT_FALSE(parse_reset_token(longer, &back));
  longer.pop_back();
  longer[0] = 13;
  EXPECT_FALSE(parse_reset_token(longer, &back));
}

}  // namespace
}  // namespace lattice::wire
