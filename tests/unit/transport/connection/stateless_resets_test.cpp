// The server's side of stateless resets, and how a client knows one.
#include "transport/connection/stateless_resets.h"

#include <gtest/gtest.h>

#include <set>

#include "handshake_rig.h"
#include "unit/transport/connection/link_keys.h"
#include "unit/transport/connection/routed_socket.h"
#include "unit/transport/handshake_vectors.h"

namespace lattice::connection {
namespace {

using test::Bytes;
using test::key_of;
using test::kId;
using test::kSecond;
using Outcome = StatelessResets::Outcome;

const base::PathId kClient = base::ipv4_path(192, 0, 2, 1, 40000);

struct Server {
  explicit Server(const ResetLimits& limits = {}, const socket::DatagramSocket* socket = nullptr)
      : resets(key_of(7), limits, entropy, socket) {}

  Outcome ask(size_t datagram_bytes, uint64_t packet_seq = 1,
              wire::PacketType type = wire::PacketType::kPayload, const base::PathId& from = kClient) {
    wire::PacketHeader header;
    header.protocol_id = wire::kProtocolId;
    header.type = type;
    header.connection_id = kId;
    header.key_epoch = 3;
    header.packet_seq = packet_seq;
    return resets.answer(from, header, wire::packet_header_bytes(packet_seq), datagram_bytes, now_ns, sink);
  }

  test::ScriptedEntropy entropy{1};
  test::RecordingSink sink;
  uint64_t now_ns = kSecond;
  StatelessResets resets;
};

TEST(StatelessResets, AnswersAreShorterThanQuestionsAndNeverAnswered) {
  for (const uint64_t packet_seq : {uint64_t{1}, uint64_t{300}, (uint64_t{1} << 62) - 1}) {
    Server server({.per_s = 10'000, .burst = 10'000, .in_all_per_s = 10'000});
    const size_t header_bytes = wire::packet_header_bytes(packet_seq);
    for (size_t bytes = header_bytes; bytes <= 1472; ++bytes) {
      const Outcome outcome = server.ask(bytes, packet_seq);
      const std::vector<test::Sent> sent = server.sink.take();
      ASSERT_EQ(outcome == Outcome::kSent, bytes > header_bytes + 27) << bytes;
      ASSERT_EQ(sent.size(), outcome == Outcome::kSent ? 1u : 0u);
      if (sent.empty()) continue;
      ASSERT_LT(sent[0].bytes.size(), bytes);
      ASSERT_EQ(sent[0].bytes.size(), header_bytes + 27) << "the size of a bare Keepalive";
      ASSERT_EQ(server.ask(sent[0].bytes.size(), packet_seq, wire::PacketType::kKeepalive), Outcome::kNone);
    }
  }
}

TEST(StatelessResets, EachRouteHasItsPartOfTheBudget) {
  const test::RoutedSocket socket(2);
  Server server({.per_s = 100, .burst = 100, .in_all_per_s = 20}, &socket);
  size_t sent = 0;
  for (uint16_t i = 0; i < 100; ++i) {
    const Outcome outcome = server.ask(100, 1, wire::PacketType::kPayload, test::opaque_path(1, i));
    sent += outcome == Outcome::kSent ? 1 : 0;
  }
  EXPECT_EQ(sent, 10u);
  EXPECT_EQ(server.ask(100), Outcome::kSent) << "UDP has its own";
}

TEST(StatelessResets, LooksLikeAKeepaliveNearTheQuestion) {
  Server server;
  ASSERT_EQ(server.ask(100, 300), Outcome::kSent);
  const Bytes reset = server.sink.take_one();
  wire::PacketHeader header;
  size_t header_bytes = 0;
  ASSERT_EQ(wire::parse_packet_header(reset, wire::kProtocolId, &header, &header_bytes),
            wire::HeaderStatus::kOk);
  EXPECT_EQ(header.type, wire::PacketType::kKeepalive);
  EXPECT_EQ(header.connection_id, kId);
  EXPECT_EQ(header.key_epoch, 3);
  EXPECT_EQ(header.packet_seq, 300u);
  EXPECT_TRUE(is_reset(reset, header_bytes, server.resets.token_of(kId)));
  ASSERT_EQ(server.ask(100, 300), Outcome::kSent);
  EXPECT_NE(server.sink.take_one(), reset) << "what is not the token is random";
}

TEST(StatelessResets, EveryFlippedBitOfATokenIsNoReset) {
  Server server;
  ASSERT_EQ(server.ask(100), Outcome::kSent);
  const Bytes reset = server.sink.take_one();
  const wire::ResetToken token = server.resets.token_of(kId);
  for (size_t bit = 0; bit < 128; ++bit) {
    Bytes spoilt = reset;
    spoilt[reset.size() - 16 + bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    EXPECT_FALSE(is_reset(spoilt, wire::kMinHeaderBytes, token)) << bit;
  }
  for (size_t bytes = 0; bytes < reset.size(); ++bytes) {
    EXPECT_FALSE(is_reset(std::span(reset).last(bytes), wire::kMinHeaderBytes, token)) << bytes;
  }
  Bytes longer(reset);
  longer.insert(longer.begin() + 15, 0);
  EXPECT_FALSE(is_reset(longer, wire::kMinHeaderBytes, token));
}

TEST(StatelessResets, AreThoseOfTheVectors) {
  const test::HandshakeVectors v;
  const crypto::HmacKey key(v.array<32>("inputs", "reset_key"));
  const uint64_t id = v.input_hex("connection_id");
  const wire::ResetToken token = make_reset_token(key, id);
  EXPECT_EQ(token, v.array<16>("reset_token"));
  wire::PacketHeader question;
  question.connection_id = id;
  question.packet_seq = 1;
  Bytes reset(wire::kMaxResetBytes);
  const auto random = v.array<wire::kResetRandomBytes>("inputs", "reset_random");
  reset.resize(wire::encode_reset(question, random, token, reset));
  EXPECT_EQ(reset, v.bytes("reset"));
}

TEST(StatelessResets, TokensDifferByKeyAndConnection) {
  std::set<wire::ResetToken> tokens;
  for (uint8_t fill = 0; fill < 8; ++fill) {
    const crypto::HmacKey key(key_of(fill).bytes());
    for (uint64_t id = 1; id <= 8; ++id) tokens.insert(make_reset_token(key, id));
  }
  EXPECT_EQ(tokens.size(), 64u);
}

TEST(StatelessResets, AGoodbyeIsNotAnswered) {
  Server server;
  EXPECT_EQ(server.ask(100, 1, wire::PacketType::kDisconnect), Outcome::kNone);
  EXPECT_EQ(server.ask(100, 1, wire::PacketType::kKeepalive), Outcome::kSent);
}

TEST(StatelessResets, EachPrefixHasItsShare) {
  Server server;
  size_t sent = 0;
  for (int i = 0; i < 1000; ++i) sent += server.ask(100) == Outcome::kSent;
  EXPECT_EQ(sent, 200u);
  EXPECT_EQ(server.ask(100), Outcome::kPrefixRate);
  EXPECT_EQ(server.ask(100, 1, wire::PacketType::kPayload, base::ipv4_path(203, 0, 113, 1, 1)),
            Outcome::kSent);
  server.now_ns += kSecond;
  sent = 0;
  for (int i = 0; i < 1000; ++i) sent += server.ask(100) == Outcome::kSent;
  EXPECT_EQ(sent, 100u);
}

TEST(StatelessResets, AllPrefixesTogetherHaveABudget) {
  Server server;
  size_t sent = 0, over = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto from = base::ipv4_path(10, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i), 1, 1);
    const Outcome outcome = server.ask(100, 1, wire::PacketType::kPayload, from);
    sent += outcome == Outcome::kSent;
    over += outcome == Outcome::kBudget;
  }
  EXPECT_EQ(sent, 2000u);
  EXPECT_EQ(over, 3000u);
}

}  // namespace
}  // namespace lattice::connection
