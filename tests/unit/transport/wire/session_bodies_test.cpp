// Keepalive, Disconnect and control bodies, and the text rule they share.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "golden.h"
#include "transport/wire/control_body.h"
#include "transport/wire/disconnect_body.h"
#include "transport/wire/keepalive_body.h"
#include "transport/wire/utf8.h"

namespace lattice::wire {
namespace {

using test::from_hex;
using test::to_hex;

TEST(Keepalive, GoldenBytes) {
  KeepaliveBody body;
  body.flags = kKeepaliveProbe | kKeepaliveAckRequested;
  body.ack = {1042, 0xB};
  body.tick = 7;
  body.probe_us = 0x0102030405060708u;
  uint8_t out[kMaxKeepaliveBodyBytes];
  const size_t n = encode_keepalive(body, out);
  EXPECT_EQ(to_hex({out, n}), "2112040b000000070000000807060504030201");
}

TEST(Keepalive, RoundTripTruncationPadding) {
  EXPECT_TRUE(rc::check("every flag combination", [] {
    KeepaliveBody body;
    body.flags = static_cast<uint8_t>(*rc::gen::inRange(0, 64));
    body.ack.ack_seq = *rc::gen::arbitrary<uint16_t>();
    body.ack.ack_bitfield = *rc::gen::arbitrary<uint32_t>();
    body.tick = *rc::gen::arbitrary<uint32_t>();
    if (body.flags & kKeepaliveProbe) body.probe_us = *rc::gen::arbitrary<uint64_t>();
    if (body.flags & kKeepaliveEcho) {
      body.echo_us = *rc::gen::arbitrary<uint64_t>();
      body.echo_delay_us = *rc::gen::arbitrary<uint32_t>();
    }
    if (body.flags & kKeepalivePathChallenge) body.challenge.fill(*rc::gen::arbitrary<uint8_t>());
    if (body.flags & kKeepalivePathResponse) body.response.fill(*rc::gen::arbitrary<uint8_t>());
    uint8_t out[kMaxKeepaliveBodyBytes + 20] = {};
    const size_t n = encode_keepalive(body, out);
    RC_ASSERT(n > 0);
    KeepaliveBody back;
    RC_ASSERT(parse_keepalive({out, n}, &back));
    RC_ASSERT(back == body);
    RC_ASSERT(parse_keepalive({out, n + 20}, &back));  // zero padding
    RC_ASSERT(back == body);
    for (size_t cut = 0; cut < n; ++cut) {
      RC_ASSERT(!parse_keepalive({out, cut}, &back));
      RC_ASSERT(encode_keepalive(body, {out, cut}) == 0);
    }
  }));
}

TEST(Keepalive, RefusesUnknownFlagsAndDirtyPadding) {
  uint8_t out[kMaxKeepaliveBodyBytes + 1] = {};
  KeepaliveBody back;
  const size_t n = encode_keepalive(KeepaliveBody{}, out);
  out[0] = 64;
  EXPECT_FALSE(parse_keepalive({out, n}, &back));
  out[0] = 128;
  EXPECT_FALSE(parse_keepalive({out, n}, &back));
  out[0] = 0;
  out[n] = 1;
  EXPECT_FALSE(parse_keepalive({out, n + 1}, &back));
}

TEST(Disconnect, GoldenAndLimits) {
  const std::vector<uint8_t> text(kMaxReasonTextBytes + 1, 'x');
  DisconnectBody body;
  body.reason = 9;
  body.is_acknowledgement = true;
  body.text = std::span<const uint8_t>(text).first(2);
  uint8_t out[kMaxDisconnectBodyBytes + 1] = {};
  size_t n = encode_disconnect(body, out);
  EXPECT_EQ(to_hex({out, n}), "090001027878");
  DisconnectBody back;
  ASSERT_TRUE(parse_disconnect({out, n}, &back));
  EXPECT_EQ(back.reason, 9);
  EXPECT_TRUE(back.is_acknowledgement);
  EXPECT_EQ(back.text.size(), 2u);
  for (size_t cut = 0; cut < n; ++cut) EXPECT_FALSE(parse_disconnect({out, cut}, &back));
  EXPECT_FALSE(parse_disconnect({out, n + 1}, &back));
  out[2] = 2;
  EXPECT_FALSE(parse_disconnect({out, n}, &back));
  out[2] = 0;
  out[4] = 0xC0;
  EXPECT_FALSE(parse_disconnect({out, n}, &back));

  body.text = text;
  EXPECT_EQ(encode_disconnect(body, out), 0u);
  body.text = std::span<const uint8_t>(text).first(kMaxReasonTextBytes);
  n = encode_disconnect(body, out);
  ASSERT_EQ(n, kMaxDisconnectBodyBytes);
  EXPECT_TRUE(parse_disconnect({out, n}, &back));
  std::vector<uint8_t> over = from_hex("00000041");
  over.resize(4 + 65, 'a');
  EXPECT_FALSE(parse_disconnect(over, &back));
}

TEST(Control, RekeyGolden) {
  const auto bytes = from_hex(test::kGoldenRekeyInit);
  RekeyBody body;
  ASSERT_TRUE(parse_rekey(bytes, &body));
  EXPECT_EQ(body.type, ControlType::kRekeyInit);
  EXPECT_EQ(body.epoch, 1u);
  uint8_t out[kRekeyBodyBytes];
  ASSERT_EQ(encode_rekey(body, out), bytes.size());
  EXPECT_EQ(to_hex(out), test::kGoldenRekeyInit);
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(parse_rekey(std::span<const uint8_t>(bytes).first(n), &body));
  }
  out[0] = 3;
  EXPECT_FALSE(parse_rekey(out, &body));
}

TEST(Control, CreditGolden) {
  const auto bytes = from_hex("0f030004");  // channel 3, 1024 messages
  Credit credit;
  ASSERT_TRUE(parse_credit(bytes, &credit));
  EXPECT_EQ(credit.channel, 3);
  EXPECT_EQ(credit.messages, 1024);
  EXPECT_EQ(to_hex(encode_credit(credit)), "0f030004");
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(parse_credit(std::span<const uint8_t>(bytes).first(n), &credit));
  }
  EXPECT_FALSE(parse_credit(from_hex("0f03000400"), &credit));
  EXPECT_FALSE(parse_credit(from_hex("0f100004"), &credit)) << "there are sixteen channels";
}

TEST(Control, KnownTypes) {
  EXPECT_FALSE(is_known_control_type(0));
  EXPECT_TRUE(is_known_control_type(1));
  EXPECT_TRUE(is_known_control_type(13));
  EXPECT_TRUE(is_known_control_type(14));
  EXPECT_TRUE(is_known_control_type(15));
  EXPECT_TRUE(is_known_control_type(16));
  EXPECT_TRUE(is_known_control_type(19));
  EXPECT_FALSE(is_known_control_type(20));
  EXPECT_FALSE(is_known_control_type(127));
  EXPECT_TRUE(is_known_control_type(128));
  EXPECT_TRUE(is_known_control_type(255));
}

TEST(ReasonText, IsUtf8WithoutControlCharacters) {
  for (const char* good :
       {"", "20", "61", "7e", "c2a0", "c3a9", "e282ac", "f09f9880", "f48fbfbf", "ed9fbf", "ee8080"}) {
    EXPECT_TRUE(is_valid_reason_text(from_hex(good))) << good;
  }
  for (const char* bad : {"00",       "80",       "c0af", "c1bf", "e08080", "eda080", "f0808080",
                          "f4908080", "f5808080", "c3",   "e282", "f09f98", "c328",   "ff",
                          "1b",       "1f",       "610a", "7f",   "c280",   "c29b",   "c29f"}) {
    EXPECT_FALSE(is_valid_reason_text(from_hex(bad))) << bad;
  }
}

TEST(ReasonText, HasNothingInvisibleThatTurnsOrHidesText) {
  constexpr uint32_t kRanges[][2] = {{0x061C, 0x061C}, {0x200B, 0x200F}, {0x2028, 0x202E},
                                     {0x2060, 0x2069}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}};
  const auto is_valid = [](uint32_t character) {
    std::vector<uint8_t> text = {'a'};
    if (character >= 0x800) {
      text.push_back(static_cast<uint8_t>(0xE0 | character >> 12));
      text.push_back(static_cast<uint8_t>(0x80 | (character >> 6 & 0x3F)));
    } else {
      text.push_back(static_cast<uint8_t>(0xC0 | character >> 6));
    }
    text.push_back(static_cast<uint8_t>(0x80 | (character & 0x3F)));
    text.push_back('b');
    return is_valid_reason_text(text);
  };
  for (const auto& [first, last] : kRanges) {
    for (uint32_t character = first; character <= last; ++character) {
      EXPECT_FALSE(is_valid(character)) << std::hex << character;
    }
    EXPECT_TRUE(is_valid(first - 1)) << std::hex << first - 1;
    EXPECT_TRUE(is_valid(last + 1)) << std::hex << last + 1;
  }
  // The same bits in another length are other characters.
  EXPECT_TRUE(is_valid_reason_text(from_hex("f0928080")));  // U+12000
  EXPECT_TRUE(is_valid_reason_text(from_hex("f09fbbbf")));  // U+1FEFF
}

}  // namespace
}  // namespace lattice::wire
