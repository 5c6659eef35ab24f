// Transcripts, keys, cookie and tokens against the independent vectors.
#include "transport/crypto/key_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/byte_cursor.h"
#include "transport/crypto/aead.h"
#include "transport/crypto/cookie.h"
#include "transport/crypto/nonce_ledger.h"
#include "transport/crypto/token_signature.h"
#include "transport/wire/handshake_bodies.h"
#include "unit/transport/handshake_vectors.h"

namespace lattice::crypto {
namespace {

using test::HandshakeVectors;
using test::to_hex;

class Vectors : public testing::Test {
 protected:
  void SetUp() override { nonce_ledger_clear(); }

  uint32_t protocol_id() const { return platform::load_u32_le(v.bytes("inputs", "protocol_id").data()); }
  uint8_t key_index() const { return v.input<uint8_t>("key_index"); }
  Digest token_hash() const { return sha256({v.bytes("token")}); }

  HandshakeVectors v;
};

TEST_F(Vectors, PublicKeys) {
  for (const char* name : {"server_static", "client", "bucket", "rekey_initiator", "rekey_responder",
                           "relay_static", "relay_peer"}) {
    EXPECT_EQ(v.key_pair(name).public_key(), v.public_key(name)) << name;
  }
  EXPECT_EQ(v.issuer().public_key(), v.public_key("issuer"));
  EXPECT_EQ(issuer_key_id(v.public_key("issuer")), v.array<8>("public_keys", "issuer_key_id"));
}

TEST_F(Vectors, SharedSecretsFromBothSides) {
  Key from_client, from_server;
  ASSERT_TRUE(x25519(v.key_pair("client").secret(), v.public_key("server_static"), &from_client));
  ASSERT_TRUE(x25519(v.key_pair("server_static").secret(), v.public_key("client"), &from_server));
  EXPECT_EQ(to_hex(from_client.bytes()), v.text("es"));
  EXPECT_EQ(to_hex(from_server.bytes()), v.text("es"));
  ASSERT_TRUE(x25519(v.key_pair("client").secret(), v.public_key("bucket"), &from_client));
  ASSERT_TRUE(x25519(v.key_pair("bucket").secret(), v.public_key("client"), &from_server));
  EXPECT_EQ(to_hex(from_client.bytes()), v.text("ee"));
  EXPECT_EQ(to_hex(from_server.bytes()), v.text("ee"));
}

TEST_F(Vectors, Cookie) {
  const auto secret = v.array<32>("inputs", "cookie_secret");
  EXPECT_EQ(make_cookie(HmacKey(secret), HandshakeVectors::client_address(), protocol_id(),
                        v.public_key("client"), token_hash(), v.public_key("bucket")),
            v.array<16>("challenge_nonce"));
}

TEST_F(Vectors, TranscriptsAndKeys) {
  const auto accept_random = v.array<16>("inputs", "accept_random");
  const auto response = v.bytes("challenge_response");
  const auto accepted = v.bytes("connection_accepted");
  const auto sealed3 = std::span(response).last(wire::kChallengeResponseSealedBytes + kTagBytes);
  const auto sealed4 = std::span(accepted).last(wire::kConnectionAcceptedSealedBytes + kTagBytes);

  const Digest th1 =
      transcript_request(protocol_id(), v.public_key("server_static"), token_hash(), v.public_key("client"));
  EXPECT_EQ(to_hex(th1), v.text("th1"));
  const Digest th2 =
      transcript_challenge(th1, v.public_key("bucket"), v.array<16>("challenge_nonce"), key_index());
  EXPECT_EQ(to_hex(th2), v.text("th2"));
  const Key prk = handshake_secret(th2, v.key("es"), v.key("ee"));
  EXPECT_EQ(to_hex(prk.bytes()), v.text("prk"));
  EXPECT_EQ(to_hex(client_handshake_key(prk).bytes()), v.text("k3"));
  const Digest th3 = transcript_response(th2, sealed3);
  EXPECT_EQ(to_hex(th3), v.text("th3"));
  EXPECT_EQ(to_hex(server_handshake_key(prk, th3, accept_random).bytes()), v.text("k4"));
  const Digest th4 = transcript_accept(th3, accept_random, sealed4);
  EXPECT_EQ(to_hex(th4), v.text("th4"));
  const Key m0 = first_master(prk, th4);
  EXPECT_EQ(to_hex(m0.bytes()), v.text("m0"));
  EXPECT_EQ(to_hex(traffic_key(m0, Role::kClient, 0).bytes()), v.text("key_client_0"));
  EXPECT_EQ(to_hex(traffic_key(m0, Role::kServer, 0).bytes()), v.text("key_server_0"));
}

TEST_F(Vectors, FirstRotation) {
  Key shared;
  ASSERT_TRUE(x25519(v.key_pair("rekey_initiator").secret(), v.public_key("rekey_responder"), &shared));
  const Key m1 =
      next_master(v.key("m0"), shared, v.bytes("rekey", "init_body"), v.bytes("rekey", "response_body"), 1);
  EXPECT_EQ(to_hex(m1.bytes()), to_hex(v.bytes("rekey", "m1")));
  EXPECT_EQ(to_hex(traffic_key(m1, Role::kClient, 1).bytes()), to_hex(v.bytes("rekey", "key_client_1")));
  EXPECT_EQ(to_hex(traffic_key(m1, Role::kServer, 1).bytes()), to_hex(v.bytes("rekey", "key_server_1")));
}

TEST_F(Vectors, ConnectTokenIsReproducedAndVerifies) {
  const auto token = v.bytes("token");
  wire::TokenFields fields;
  ASSERT_EQ(wire::parse_token(token, &fields), wire::TokenStatus::kOk);
  std::array<uint8_t, wire::kMaxTokenBytes> out;
  const size_t n = sign_token(fields, v.issuer(), out);
  EXPECT_EQ(to_hex(std::span(out).first(n)), v.text("token"));
  EXPECT_TRUE(verify_connect_token(token, v.public_key("issuer")));
  EXPECT_FALSE(verify_relay_token(token, v.public_key("issuer")));
  EXPECT_FALSE(verify_connect_token(token, v.public_key("client")));
}

TEST_F(Vectors, RelayTokenIsReproducedAndOnlyItsOwnFunctionTakesIt) {
  const auto token = v.bytes("relay", "token");
  wire::TokenFields fields;
  ASSERT_EQ(wire::parse_token(token, &fields), wire::TokenStatus::kOk);
  std::array<uint8_t, wire::kMaxTokenBytes> out;
  const size_t n = sign_token(fields, v.issuer(), out);
  EXPECT_EQ(to_hex(std::span(out).first(n)), to_hex(token));
  EXPECT_TRUE(verify_relay_token(token, v.public_key("issuer")));
  EXPECT_FALSE(verify_connect_token(token, v.public_key("issuer")));
  // Relabelled as a connect token it still has a relay token's signature.
  auto relabelled = token;
  relabelled[4] = 1;
  EXPECT_FALSE(verify_connect_token(relabelled, v.public_key("issuer")));
}

TEST_F(Vectors, EveryTruncationAndFlippedByteOfATokenIsRefused) {
  const auto token = v.bytes("token");
  const PublicKey issuer = v.public_key("issuer");
  for (size_t n = 0; n < token.size(); ++n) {
    EXPECT_FALSE(verify_connect_token(std::span(token).first(n), issuer)) << n;
    auto bad = token;
    bad[n] ^= 0x40;
    EXPECT_FALSE(verify_connect_token(bad, issuer)) << n;
  }
  auto longer = token;
  longer.push_back(0);
  EXPECT_FALSE(verify_connect_token(longer, issuer));
}

TEST_F(Vectors, SigningRefusesWhatIsNoToken) {
  wire::TokenFields fields;
  std::array<uint8_t, wire::kMaxTokenBytes> out;
  const std::vector<uint8_t> too_long(wire::kMaxTokenUserBytes + 1);
  fields.user_data = too_long;
  EXPECT_EQ(sign_token(fields, v.issuer(), out), 0u);
  fields.user_data = {};
  EXPECT_EQ(sign_token(fields, v.issuer(), std::span(out).first(wire::kMinTokenBytes - 1)), 0u);
  EXPECT_EQ(sign_token(fields, v.issuer(), out), wire::kMinTokenBytes);
  fields.kind = wire::TokenKind::kRelay;
  EXPECT_EQ(sign_token(fields, v.issuer(), out), 0u);
}

TEST_F(Vectors, EveryInputOfTheCookieMatters) {
  const auto secret_bytes = v.array<32>("inputs", "cookie_secret");
  const HmacKey secret{secret_bytes};
  const base::PathId address = HandshakeVectors::client_address();
  const ChallengeNonce right = v.array<16>("challenge_nonce");
  const PublicKey client = v.public_key("client"), bucket = v.public_key("bucket");

  base::PathId other_port = address, other_ip = address, other_family = address;
  other_port.number ^= 1;
  other_ip.bytes[15] ^= 1;
  other_family.form = base::PathForm::kIpv6;
  for (const base::PathId& from : {other_port, other_ip, other_family}) {
    EXPECT_NE(make_cookie(secret, from, protocol_id(), client, token_hash(), bucket), right);
  }
  EXPECT_NE(make_cookie(secret, address, protocol_id() + 1, client, token_hash(), bucket), right);
  EXPECT_NE(make_cookie(secret, address, protocol_id(), bucket, token_hash(), bucket), right);
  EXPECT_NE(make_cookie(secret, address, protocol_id(), client, client, bucket), right);
  EXPECT_NE(make_cookie(secret, address, protocol_id(), client, token_hash(), client), right);
  EXPECT_NE(make_cookie(HmacKey(v.key("m0").bytes()), address, protocol_id(), client, token_hash(), bucket),
            right);
}

// The bytes under the key, by hand: see cookie.h.
TEST_F(Vectors, TheCookieOfAnotherRouteCoversRouteAndContent) {
  const auto secret_bytes = v.array<32>("inputs", "cookie_secret");
  const HmacKey secret{secret_bytes};
  const PublicKey client = v.public_key("client"), bucket = v.public_key("bucket");
  const auto cookie_of = [&](const base::PathId& path) {
    return make_cookie(secret, path, protocol_id(), client, token_hash(), bucket);
  };
  base::PathId path{3, base::PathForm::kOpaque, 0x1234, {0xAA, 0xBB}};
  std::vector<uint8_t> covered = {3, 1, 0xAA, 0xBB};
  covered.resize(18);
  covered.insert(covered.end(), {0x34, 0x12});
  for (int i = 0; i < 4; ++i) covered.push_back(static_cast<uint8_t>(protocol_id() >> (8 * i)));
  const Digest mac = secret.hmac({text("lattice/v1/cookie-route"), covered, client, token_hash(), bucket});
  const ChallengeNonce cookie = cookie_of(path);
  EXPECT_TRUE(std::equal(cookie.begin(), cookie.end(), mac.begin()));

  std::vector<base::PathId> paths = {HandshakeVectors::client_address()};
  base::PathId elsewhere = paths[0];
  for (elsewhere.route = 1; elsewhere.route < base::kMaxRoutes; ++elsewhere.route) paths.push_back(elsewhere);
  for (path.route = 0; path.route < base::kMaxRoutes; ++path.route) paths.push_back(path);
  path.number ^= 1;
  paths.push_back(path);
  path.bytes[15] ^= 1;
  paths.push_back(path);
  std::set<ChallengeNonce> cookies;
  for (const base::PathId& each : paths) cookies.insert(cookie_of(each));
  EXPECT_EQ(cookies.size(), paths.size());
}

}  // namespace
}  // namespace lattice::crypto
