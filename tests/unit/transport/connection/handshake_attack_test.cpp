// One test per threat (§4.2; the review's H1…H29): an attacker on the path or at either end tries, and the
// handshake yields a key to nobody but the honest pair.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "unit/transport/connection/handshake_rig.h"

namespace lattice::connection {
namespace {

using test::Bytes;
using test::kBody;
using test::kMs;
using test::kSecond;
using test::kStartUnixS;
using test::Rig;

constexpr size_t kResponseToken = kBody + 32 + 16 + 1 + 2;
constexpr size_t kBucketKey = kBody + 1 + wire::kTokenEchoBytes;

TEST(HandshakeAttack, KeySwappingProxyGainsNothing) {
  // H1: the proxy answers with its own bucket key, and forwards with its own client key.
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes request = rig.request_of(client);
  const crypto::KeyPair mallory = rig.new_key();

  Bytes swapped_request = request;
  std::copy(mallory.public_key().begin(), mallory.public_key().end(), swapped_request.begin() + kBody + 1);
  EXPECT_TRUE(rig.ask(swapped_request).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kTokenKeyMismatch);

  Bytes swapped_challenge = rig.ask(request);
  std::copy(mallory.public_key().begin(), mallory.public_key().end(), swapped_challenge.begin() + kBucketKey);
  rig.tell(client, swapped_challenge);
  const Bytes response = rig.client_sink.take_one();
  // The cookie is right, but the server derives other keys from its own bucket.
  EXPECT_TRUE(rig.ask(response).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kResponseNotAuthentic);

  // Without the server's static secret the proxy cannot make message 4: all it can compute is ee.
  wire::ChallengeResponseClear clear;
  ASSERT_TRUE(wire::parse_challenge_response_clear(std::span(response).subspan(kBody), &clear));
  crypto::Key ee;
  ASSERT_TRUE(crypto::x25519(mallory.secret(), clear.client_pub, &ee));
  const crypto::Digest th1 = crypto::transcript_request(wire::kProtocolId, rig.server.handshake.identity(),
                                                        crypto::sha256({clear.token}), clear.client_pub);
  const crypto::Digest th2 =
      crypto::transcript_challenge(th1, mallory.public_key(), clear.challenge_nonce, clear.key_index);
  const crypto::Key guessed = crypto::handshake_secret(th2, ee, ee);
  std::array<uint8_t, wire::kChallengeResponseSealedBytes> plaintext;
  EXPECT_FALSE(crypto::open(crypto::client_handshake_key(guessed), crypto::Nonce{},
                            std::span(response).first(kBody + clear.clear_bytes), clear.sealed, plaintext));
}

TEST(HandshakeAttack, TokenThiefRacesTheVictim) {
  // H2: the thief reads the token off message 1 and connects first with its own key.
  Rig rig;
  const crypto::KeyPair victim_key = rig.new_key(), thief_key = rig.new_key();
  const Bytes token = rig.sign(rig.token_fields(victim_key.public_key()));
  ClientHandshake victim = rig.client_with(token, victim_key);
  const Bytes victim_response = rig.response_of(victim);

  ClientHandshake thief = rig.client_with(token, thief_key);
  EXPECT_EQ(thief.start(rig.now_ns, rig.client_sink), DisconnectReason::kTokenInvalid);
  // By hand, then: the victim's key in the clear part, the thief's in the seal, sent before the victim's.
  Bytes forged = victim_response;
  base::Random random(5);
  for (size_t i = forged.size() - 62; i < forged.size(); ++i)
    forged[i] = static_cast<uint8_t>(random.next_u64());
  EXPECT_TRUE(rig.ask(forged).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kResponseNotAuthentic);
  EXPECT_EQ(rig.server.handshake.claim_count(), 0u) << "H8: not burnt";
  EXPECT_EQ(rig.tell(victim, rig.ask(victim_response)).outcome, ClientOutcome::kAccepted);
}

TEST(HandshakeAttack, TokenIdClaimedByAnotherKeyMeetsSilence) {
  // An issuer's mistake (one id, two keys) must not become two sessions.
  Rig rig;
  const crypto::KeyPair first_key = rig.new_key(), second_key = rig.new_key();
  wire::TokenFields fields = rig.token_fields(first_key.public_key());
  ClientHandshake first = rig.client_with(rig.sign(fields), first_key);
  ASSERT_EQ(rig.tell(first, rig.ask(rig.response_of(first))).outcome, ClientOutcome::kAccepted);
  fields.cnf = second_key.public_key();
  ClientHandshake second = rig.client_with(rig.sign(fields), second_key);
  EXPECT_TRUE(rig.ask(rig.response_of(second)).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kTokenReused);
}

TEST(HandshakeAttack, SwappedTokenBreaksTheTranscript) {
  // H3: an own, valid token spliced into another player's message 3.
  Rig rig;
  const crypto::KeyPair key = rig.new_key();
  const Bytes token_a = rig.sign(rig.token_fields(key.public_key()));
  const Bytes token_b = rig.sign(rig.token_fields(key.public_key()));
  ClientHandshake client = rig.client_with(token_a, key);
  Bytes response = rig.response_of(client);
  std::copy(token_b.begin(), token_b.end(), response.begin() + kResponseToken);
  EXPECT_TRUE(rig.ask(response).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kCookie);
}

TEST(HandshakeAttack, BadTokensAreRefusedByNameAtMessageOne) {
  Rig rig;
  const crypto::KeyPair key = rig.new_key();
  const wire::TokenFields good = rig.token_fields(key.public_key());
  const uint64_t now_s = test::moment_at(rig.now_ns).unix_s;
  test::ServerProcess sibling(1234, rig.issuer.public_key());

  const auto refusal_of = [&](const wire::TokenFields& fields, const crypto::PublicKey& client) {
    const Bytes token = rig.sign(fields);
    Bytes request(1200);
    const size_t header_bytes = wire::encode_packet_header({}, request);
    wire::encode_connection_request({client, token}, std::span(request).subspan(header_bytes));
    const Bytes answer = rig.ask(request);
    EXPECT_EQ(answer.empty(), rig.refusal() != ServerRefusal::kNone);
    return rig.refusal();
  };
  const auto spoilt = [&](auto spoil) {
    wire::TokenFields fields = good;
    spoil(fields);
    return refusal_of(fields, key.public_key());
  };
  EXPECT_EQ(spoilt([](auto&) {}), ServerRefusal::kNone);
  const std::array<uint8_t, 24> relay_data{};
  EXPECT_EQ(spoilt([&](auto& f) { f.kind = wire::TokenKind::kRelay, f.user_data = relay_data; }),
            ServerRefusal::kTokenKind);
  EXPECT_EQ(spoilt([](auto& f) { f.protocol_id ^= 1u << 24; }), ServerRefusal::kTokenProtocol);
  EXPECT_EQ(spoilt([&](auto& f) { f.aud = sibling.handshake.identity(); }), ServerRefusal::kTokenForeign);
  EXPECT_EQ(spoilt([](auto& f) { f.cnf[5] ^= 1; }), ServerRefusal::kTokenKeyMismatch);
  EXPECT_EQ(spoilt([](auto& f) { f.role = wire::TokenRole::kResponder; }), ServerRefusal::kTokenRole);
  EXPECT_EQ(spoilt([&](auto& f) { f.issued_s = now_s - 100, f.expires_s = now_s - 31; }),
            ServerRefusal::kTokenExpired);
  EXPECT_EQ(spoilt([&](auto& f) { f.issued_s = now_s - 100, f.expires_s = now_s - 30; }),
            ServerRefusal::kNone);
  EXPECT_EQ(spoilt([&](auto& f) { f.issued_s = now_s + 31, f.expires_s = now_s + 100; }),
            ServerRefusal::kTokenNotYetValid);
  EXPECT_EQ(spoilt([&](auto& f) { f.issued_s = now_s + 30, f.expires_s = now_s + 100; }),
            ServerRefusal::kNone);
  EXPECT_EQ(spoilt([&](auto& f) { f.expires_s = f.issued_s + 3601; }), ServerRefusal::kTokenLifetime);
  EXPECT_EQ(spoilt([&](auto& f) { f.expires_s = f.issued_s + 3600; }), ServerRefusal::kNone);
  EXPECT_EQ(spoilt([&](auto& f) { f.expires_s = f.issued_s - 1; }), ServerRefusal::kTokenLifetime);
  // H17: our own key, in a token that names it.
  wire::TokenFields own = good;
  own.cnf = rig.server.handshake.identity();
  EXPECT_EQ(refusal_of(own, rig.server.handshake.identity()), ServerRefusal::kOwnKey);
}

TEST(HandshakeAttack, ForeignAndForgedIssuersFailAtMessageThree) {
  Rig rig;
  test::ScriptedEntropy entropy(77);
  const auto stranger = crypto::SigningKeyPair::generate(entropy);
  const crypto::KeyPair key = rig.new_key();
  Bytes token = Rig::sign(rig.token_fields(key.public_key()), stranger);
  {
    ClientHandshake client = rig.client_with(token, key);
    EXPECT_TRUE(rig.ask(rig.response_of(client)).empty());
    EXPECT_EQ(rig.refusal(), ServerRefusal::kUnknownIssuer);
  }
  // Claiming the real issuer's key id does not help.
  const crypto::IssuerKeyId id = crypto::issuer_key_id(rig.issuer.public_key());
  std::copy(id.begin(), id.end(), token.begin() + 8);
  ClientHandshake client = rig.client_with(token, key);
  EXPECT_TRUE(rig.ask(rig.response_of(client)).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kTokenSignature);
  EXPECT_EQ(rig.server.handshake.claim_count(), 0u);
  EXPECT_EQ(rig.server.policy.call_count, 0u);
  EXPECT_EQ(rig.server.policy.place_count, 0u);
}

TEST(HandshakeAttack, ASignatureForAnotherKindOfTokenIsNone) {
  // H21: the issuer signs relay tokens with the same key; their signatures open no connection.
  Rig rig;
  const crypto::KeyPair key = rig.new_key();
  Bytes token = rig.sign(rig.token_fields(key.public_key()));
  const auto body = std::span(token).first(token.size() - 64);
  for (const char* domain : {"lattice/v1/relay-token", ""}) {
    const crypto::Signature signature = rig.issuer.sign(domain, body);
    std::copy(signature.begin(), signature.end(), token.end() - 64);
    ClientHandshake client = rig.client_with(token, key);
    EXPECT_TRUE(rig.ask(rig.response_of(client)).empty()) << domain;
    EXPECT_EQ(rig.refusal(), ServerRefusal::kTokenSignature) << domain;
  }
}

TEST(HandshakeAttack, FeaturesAndVersionAreNotLoweredOnTheWay) {
  // H25: what both sides offer is agreed inside the seals; a proxy that takes a feature away ends the
  // handshake.
  Rig rig({.features = 7,
           .responses_per_s = 100'000,
           .response_burst = 100'000,
           .verified_per_s = 100'000,
           .verified_burst = 100'000});
  ClientHandshake client = rig.new_client({.features = 0x13});
  const Bytes response = rig.response_of(client);
  const size_t features_at =
      // features u32, max_datagram, tick_rate, max_objects, placed, tag
      response.size() - wire::kTagBytes - 12 - wire::kPlacedSummaryBytes;
  for (size_t bit = 0; bit < 32; ++bit) {
    Bytes lowered = response;
    lowered[features_at + bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    EXPECT_TRUE(rig.ask(lowered).empty());
    EXPECT_EQ(rig.refusal(), ServerRefusal::kResponseNotAuthentic) << bit;
  }
  Bytes older = response;
  older[2] ^= 1;
  rig.ask(older);
  EXPECT_EQ(rig.refusal(), ServerRefusal::kWrongVersion);

  const Bytes accepted = rig.ask(response);
  ASSERT_TRUE(rig.last.accepted);
  EXPECT_EQ(rig.last.accepted->features, 3u);
  const size_t answered_at = accepted.size() - wire::kTagBytes - 4;
  for (size_t bit = 0; bit < 32; ++bit) {
    Bytes lowered = accepted;
    lowered[answered_at + bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    EXPECT_EQ(rig.tell(client, lowered).drop, ClientDrop::kAnswerNotAuthentic) << bit;
  }
  const ClientResult result = rig.tell(client, accepted);
  ASSERT_EQ(result.outcome, ClientOutcome::kAccepted);
  EXPECT_EQ(result.accepted->features, 3u);
}

TEST(HandshakeAttack, RevokedIssuerIsRefused) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  rig.server.handshake.set_issuers({});
  EXPECT_TRUE(rig.ask(response).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kUnknownIssuer);
}

TEST(HandshakeAttack, TokenOfAnotherServerIsForeignThere) {
  // H21: same issuer, sibling process.
  Rig rig;
  test::ServerProcess sibling(1234, rig.issuer.public_key());
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  ServerResult result = test::deliver(sibling.handshake, rig.client_address, response,
                                      test::moment_at(rig.now_ns), sibling.sink);
  EXPECT_EQ(result.refusal, ServerRefusal::kCookie);
  EXPECT_TRUE(sibling.sink.take().empty());
}

TEST(HandshakeAttack, CookieFromAnotherAddressIsRefused) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  base::PathId other_port = rig.client_address;
  other_port.number++;
  EXPECT_TRUE(rig.ask_from(other_port, response).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kCookie);
  EXPECT_TRUE(rig.ask_from(base::ipv4_path(192, 0, 2, 2, rig.client_address.number), response).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kCookie);
  EXPECT_FALSE(rig.ask(response).empty());
}

TEST(HandshakeAttack, ReflectedMessagesAreUnexpected) {
  // H17: each side gets its own messages back.
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes request = rig.request_of(client);
  EXPECT_EQ(rig.tell(client, request).drop, ClientDrop::kUnexpectedMessage);
  const Bytes challenge = rig.ask(request);
  EXPECT_TRUE(rig.ask(challenge).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kUnexpectedMessage);
  rig.tell(client, challenge);
  const Bytes response = rig.client_sink.take_one();
  EXPECT_EQ(rig.tell(client, response).drop, ClientDrop::kUnexpectedMessage);
  const Bytes accepted = rig.ask(response);
  EXPECT_TRUE(rig.ask(accepted).empty());
  EXPECT_EQ(rig.tell(client, accepted).outcome, ClientOutcome::kAccepted);
}

/// Of somebody on the path, who has seen the token.
Bytes forged_challenge(base::Random& random, const Bytes& request) {
  Bytes out(kBody + wire::kChallengeBodyBytes);
  const size_t header_bytes = wire::encode_packet_header({}, out);
  wire::Challenge challenge;
  wire::ConnectionRequest asked;
  EXPECT_TRUE(wire::parse_connection_request(std::span(request).subspan(kBody), &asked));
  challenge.token_echo = test::echo_of(asked.token);
  for (uint8_t& byte : challenge.bucket_pub) byte = static_cast<uint8_t>(random.next_u64());
  for (uint8_t& byte : challenge.challenge_nonce) byte = static_cast<uint8_t>(random.next_u64());
  wire::encode_challenge(challenge, std::span(out).subspan(header_bytes));
  return out;
}

TEST(HandshakeAttack, ForgedChallengeFloodBeforeTheHonestOne) {
  // H19: up to 16 are kept, and the honest one still wins.
  Rig rig;
  base::Random random(11);
  ClientHandshake client = rig.new_client();
  const Bytes request = rig.request_of(client);
  const Bytes honest = rig.ask(request);
  for (int i = 0; i < 20; ++i) {
    rig.tell(client, forged_challenge(random, request));
    EXPECT_LE(client.challenge_count(), ClientHandshake::kMaxChallenges);
  }
  rig.client_sink.take();
  rig.tell(client, honest);
  const Bytes response = rig.client_sink.take_one();
  for (int i = 0; i < 15; ++i) rig.tell(client, forged_challenge(random, request));
  EXPECT_EQ(client.challenge_count(), ClientHandshake::kMaxChallenges);
  EXPECT_EQ(rig.tell(client, rig.ask(response)).outcome, ClientOutcome::kAccepted);
}

TEST(HandshakeAttack, MessageThreeIsRepeatedForTheChallengesThatCameLast) {
  Rig rig;
  base::Random random(13);
  ClientHandshake client = rig.new_client();
  const Bytes request = rig.request_of(client);
  const Bytes honest = rig.ask(request);
  rig.tell(client, honest);
  const Bytes response = rig.client_sink.take_one();
  for (int i = 0; i < 10; ++i) rig.tell(client, forged_challenge(random, request));
  rig.client_sink.take();
  const auto repeated = [&] {
    rig.now_ns = client.next_deadline_ns();
    client.update(rig.now_ns, kStartUnixS, rig.client_sink);
    return rig.client_sink.take();
  };
  const auto has_response = [&](const std::vector<test::Sent>& sent) {
    return std::any_of(sent.begin(), sent.end(),
                       [&](const test::Sent& each) { return each.bytes == response; });
  };
  for (int round = 0; round < 2; ++round) {
    const std::vector<test::Sent> sent = repeated();
    EXPECT_EQ(sent.size(), ClientHandshake::kRepeatedChallenges);
    EXPECT_FALSE(has_response(sent)) << "forgeries came after it";
  }
  EXPECT_EQ(repeated().size(), 1u) << "a fresh message 1";
  rig.tell(client, honest);
  EXPECT_EQ(rig.client_sink.take_one(), response) << "of the same Challenge, the same bytes";
  EXPECT_TRUE(has_response(repeated())) << "it came again, so it is one of the newest";
}

TEST(HandshakeAttack, WhoHasNotSeenTheTokenForgesNoChallenge) {
  Rig rig;
  base::Random random(14);
  ClientHandshake client = rig.new_client(), other = rig.new_client();
  const Bytes request = rig.request_of(client), of_other = rig.request_of(other);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(rig.tell(client, forged_challenge(random, of_other)).drop, ClientDrop::kForeignChallenge);
  }
  EXPECT_EQ(rig.tell(client, rig.ask(of_other)).drop, ClientDrop::kForeignChallenge)
      << "the server's, for another";
  EXPECT_TRUE(rig.client_sink.take().empty());
  EXPECT_EQ(client.challenge_count(), 0u);
  rig.tell(client, rig.ask(request));
  EXPECT_EQ(rig.tell(client, rig.ask(rig.client_sink.take_one())).outcome, ClientOutcome::kAccepted)
      << "nor did they use up what it answers in a second";
}

TEST(HandshakeAttack, EndlessForgedChallengesCostABoundedAmount) {
  Rig rig;
  base::Random random(12);
  ClientHandshake client = rig.new_client();
  const Bytes request = rig.request_of(client);
  for (int i = 0; i < 1000; ++i) rig.tell(client, forged_challenge(random, request));
  EXPECT_EQ(rig.client_sink.take().size(), 64u);
  EXPECT_EQ(client.drop_count(ClientDrop::kChallengeRate), 936u);
}

TEST(HandshakeAttack, LowOrderKeysAreRefusedOnBothSides) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  Bytes challenge = rig.ask(rig.request_of(client));
  std::fill_n(challenge.begin() + kBucketKey, 32, uint8_t{0});
  EXPECT_EQ(rig.tell(client, challenge).drop, ClientDrop::kLowOrderKey);
  EXPECT_TRUE(rig.client_sink.take().empty());
  EXPECT_EQ(client.lifecycle().state(), State::kConnecting);

  // A token for an all-zero client key gets a challenge (no curve operation yet), and no further.
  wire::TokenFields fields = rig.token_fields(crypto::PublicKey{});
  const Bytes token = rig.sign(fields);
  Bytes request(1200);
  size_t header_bytes = wire::encode_packet_header({}, request);
  wire::encode_connection_request({crypto::PublicKey{}, token}, std::span(request).subspan(header_bytes));
  const Bytes answer = rig.ask(request);
  wire::Challenge parsed;
  ASSERT_TRUE(wire::parse_challenge(std::span(answer).subspan(kBody), &parsed));
  Bytes response(kBody + 51 + token.size() + wire::kChallengeResponseSealedBytes + crypto::kTagBytes);
  wire::PacketHeader header;
  header.type = wire::PacketType::kChallengeResponse;
  header_bytes = wire::encode_packet_header(header, response);
  wire::ChallengeResponseClear clear;
  clear.challenge_nonce = parsed.challenge_nonce;
  clear.key_index = parsed.key_index;
  clear.token = token;
  wire::encode_challenge_response_clear(clear, std::span(response).subspan(header_bytes));
  EXPECT_TRUE(rig.ask(response).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kLowOrderKey);
}

TEST(HandshakeAttack, ReplayedMessageThreeAfterARestartIsSilence) {
  // H10: a restarted process has another static key and other buckets.
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  ASSERT_FALSE(rig.ask(response).empty());
  test::ServerProcess restarted(4321, rig.issuer.public_key());
  const ServerResult result = test::deliver(restarted.handshake, rig.client_address, response,
                                            test::moment_at(rig.now_ns), restarted.sink);
  EXPECT_EQ(result.refusal, ServerRefusal::kCookie);
  EXPECT_TRUE(restarted.sink.take().empty());
}

TEST(HandshakeAttack, ReplayedMessageThreeWhileLiveGetsTheSameBytes) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  const Bytes accepted = rig.ask(response);
  const uint64_t seals = crypto::nonce_ledger_count();
  for (int i = 0; i < 10; ++i) {
    rig.now_ns += 100 * kMs;
    EXPECT_EQ(rig.ask(response), accepted);
    EXPECT_FALSE(rig.last.accepted);
  }
  EXPECT_EQ(crypto::nonce_ledger_count(), seals) << "nothing is sealed again";
  EXPECT_EQ(rig.server.handshake.claim_count(), 1u);
}

TEST(HandshakeAttack, EveryFlippedBitOfMessageFourIsRefused) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes accepted = rig.ask(rig.response_of(client));
  for (size_t bit = 0; bit < accepted.size() * 8; ++bit) {
    Bytes bad = accepted;
    bad[bit / 8] = static_cast<uint8_t>(bad[bit / 8] ^ (1u << (bit % 8)));
    const ClientResult result = rig.tell(client, bad);
    EXPECT_EQ(result.outcome, ClientOutcome::kPending) << "bit " << bit;
    EXPECT_NE(result.drop, ClientDrop::kNone) << "bit " << bit;
  }
  EXPECT_EQ(rig.tell(client, accepted).outcome, ClientOutcome::kAccepted);
}

TEST(HandshakeAttack, EveryFlippedByteOfMessageThreeIsRefused) {
  Rig rig({.responses_per_s = 100'000,
           .response_burst = 100'000,
           .verified_per_s = 100'000,
           .verified_burst = 100'000});
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  for (size_t i = 0; i < response.size(); ++i) {
    Bytes bad = response;
    bad[i] ^= 0x20;
    const Bytes answer = rig.ask(bad);
    EXPECT_NE(rig.refusal(), ServerRefusal::kNone) << "byte " << i;
    EXPECT_TRUE(answer.empty()) << "byte " << i;
  }
  EXPECT_EQ(rig.server.handshake.claim_count(), 0u);
  EXPECT_EQ(rig.tell(client, rig.ask(response)).outcome, ClientOutcome::kAccepted);
}

TEST(HandshakeAttack, EveryTruncationAndExtensionOfEachMessageIsRefused) {
  Rig rig({.requests_per_s = 100'000, .request_burst = 100'000});
  ClientHandshake client = rig.new_client();
  const auto lengths = [](const Bytes& good, auto each) {
    for (size_t n = 0; n < good.size(); ++n)
      each(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(n)));
    Bytes longer = good;
    longer.push_back(0);
    each(longer);
  };
  const auto server_refuses = [&](const Bytes& bad) {
    EXPECT_TRUE(rig.ask(bad).empty()) << bad.size();
    EXPECT_EQ(rig.refusal(), ServerRefusal::kMalformed) << bad.size();
  };
  const auto client_drops = [&](const Bytes& bad) {
    const ClientResult result = rig.tell(client, bad);
    EXPECT_EQ(result.outcome, ClientOutcome::kPending) << bad.size();
    EXPECT_EQ(result.drop, ClientDrop::kMalformed) << bad.size();
  };
  const Bytes request = rig.request_of(client);
  lengths(request, [&](const Bytes& bad) {
    EXPECT_TRUE(rig.ask(bad).empty()) << bad.size();
    EXPECT_NE(rig.refusal(), ServerRefusal::kNone) << bad.size();
  });
  const Bytes challenge = rig.ask(request);
  lengths(challenge, client_drops);
  rig.tell(client, challenge);
  const Bytes response = rig.client_sink.take_one();
  lengths(response, server_refuses);
  const Bytes accepted = rig.ask(response);
  lengths(accepted, client_drops);
  EXPECT_EQ(rig.tell(client, accepted).outcome, ClientOutcome::kAccepted);
}

TEST(HandshakeAttack, TruncatedRefusalsAreDropped) {
  Rig rig({.schema_id = 1});
  ClientHandshake client = rig.new_client({.schema_id = 2});
  const Bytes refused = rig.ask(rig.response_of(client));
  ASSERT_FALSE(refused.empty());
  for (size_t n = 0; n < refused.size(); ++n) {
    EXPECT_EQ(rig.tell(client, Bytes(refused.begin(), refused.begin() + static_cast<ptrdiff_t>(n))).outcome,
              ClientOutcome::kPending);
    Bytes bad = refused;
    bad[n] ^= 1;
    EXPECT_EQ(rig.tell(client, bad).outcome, ClientOutcome::kPending);
  }
  EXPECT_EQ(rig.tell(client, refused).outcome, ClientOutcome::kRefused);
}

TEST(HandshakeAttack, UnauthenticatedWordsNeverEndAHandshake) {
  // H18: denials with any reason, from the right address.
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes request = rig.request_of(client);
  for (uint16_t reason = 0; reason < 400; ++reason) {
    Bytes denial(22);
    const size_t header_bytes = wire::encode_packet_header({}, denial);
    wire::encode_connection_denied({reason, wire::kProtocolId}, std::span(denial).subspan(header_bytes));
    EXPECT_EQ(rig.tell(client, denial).outcome, ClientOutcome::kPending);
  }
  rig.tell(client, rig.ask(request));
  EXPECT_EQ(rig.tell(client, rig.ask(rig.client_sink.take_one())).outcome, ClientOutcome::kAccepted);
}

TEST(HandshakeAttack, NeitherAForgedReportNorAWrongClockKeepsAClientOut) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  Bytes request = rig.request_of(client);
  constexpr uint64_t kDayLater = kStartUnixS + 86400;
  for (int tries = 0; tries < 8; ++tries) {
    client.on_unreachable();
    rig.now_ns += 1150 * kMs;
    ASSERT_EQ(client.update(rig.now_ns, kDayLater, rig.client_sink).outcome, ClientOutcome::kPending);
    request = rig.client_sink.take_one();
  }
  rig.tell(client, rig.ask(request));
  client.on_unreachable();
  EXPECT_EQ(rig.tell(client, rig.ask(rig.client_sink.take_one())).outcome, ClientOutcome::kAccepted);
}

TEST(HandshakeAttack, DatagramsFromElsewhereAreNotLookedAt) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes challenge = rig.ask(rig.request_of(client));
  base::PathId elsewhere = rig.server_address;
  elsewhere.number++;
  EXPECT_EQ(client.on_datagram(elsewhere, challenge, rig.now_ns, rig.client_sink).drop,
            ClientDrop::kForeignAddress);
}

TEST(HandshakeAttack, SpoofedRequestFloodKeepsNothing) {
  // H5, H6: 20000 well-formed requests from as many addresses, and no claim, no half-open entry, no signature
  // check.
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes request = rig.request_of(client);
  base::Random random(21);
  size_t in = 0, out = 0;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t r = random.next_u64();
    const auto from =
        base::ipv4_path(static_cast<uint8_t>(r), static_cast<uint8_t>(r >> 8), static_cast<uint8_t>(r >> 16),
                        static_cast<uint8_t>(r >> 24), static_cast<uint16_t>(r >> 32));
    in += request.size();
    out += rig.ask_from(from, request).size();
  }
  EXPECT_LT(out * 10, in);
  EXPECT_EQ(rig.server.handshake.claim_count(), 0u);
  EXPECT_EQ(rig.server.handshake.accepted_count(), 0u);
  EXPECT_EQ(rig.server.policy.call_count, 0u);
  EXPECT_EQ(rig.server.policy.place_count, 0u);
}

TEST(HandshakeAttack, RandomBytesNeverConnect) {
  Rig rig;
  base::Random random(31);
  ClientHandshake client = rig.new_client();
  const Bytes request = rig.request_of(client);
  const Bytes challenge = rig.ask(request);
  rig.tell(client, challenge);
  const Bytes response = rig.client_sink.take_one();
  const std::array<Bytes, 3> seeds = {request, challenge, response};
  for (int i = 0; i < 20'000; ++i) {
    Bytes bytes = seeds[random.next_below(3)];
    const uint64_t flips = 1 + random.next_below(8);
    for (uint64_t k = 0; k < flips; ++k) {
      bytes[random.next_below(bytes.size())] ^= static_cast<uint8_t>(1 + random.next_below(255));
    }
    test::deliver(rig.server.handshake, rig.client_address, bytes, test::moment_at(rig.now_ns),
                  rig.server.sink);
    ASSERT_EQ(rig.tell(client, bytes).outcome, ClientOutcome::kPending) << "seed 31, step " << i;
    rig.server.sink.take();
    rig.client_sink.take();
    rig.now_ns += kMs;
  }
  EXPECT_EQ(rig.server.handshake.accepted_count(), 0u);
}

#if defined(LATTICE_VALIDATION)
TEST(HandshakeAttack, NonceLedgerThroughLossRetriesRestartAndASecondWorker) {
  // I3: the worst case is two processes with the same static key, bucket key and cookie secret (a restored
  // snapshot): a replayed message 3 then reaches both. Every seal below is in the ledger; a repeat aborts.
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);

  std::vector<SecureLink> server_links;
  const auto admit = [&](test::ServerProcess& server) {
    ServerResult result = test::deliver(server.handshake, rig.client_address, response,
                                        test::moment_at(rig.now_ns), server.sink);
    ASSERT_TRUE(result.accepted);
    server_links.emplace_back(wire::kProtocolId, result.accepted->connection_id, crypto::Role::kServer,
                              std::move(result.accepted->master));
  };
  admit(rig.server);
  const Bytes accepted = rig.server.sink.take_one();

  // The clone: same seed, so same S; driven through the same request, so same bucket; then new entropy.
  test::ServerProcess clone(8, rig.issuer.public_key());
  ASSERT_EQ(clone.handshake.identity(), rig.server.handshake.identity());
  ClientHandshake other = rig.new_client();
  const Bytes other_request = rig.request_of(other);
  clone.handshake.on_datagram(rig.client_address, other_request, test::moment_at(rig.now_ns), clone.sink);
  clone.sink.take();
  std::array<uint8_t, 8> other_id;
  std::array<uint8_t, 16> other_random;
  rig.entropy.fill(other_id);
  rig.entropy.fill(other_random);
  clone.entropy.push(other_id);
  clone.entropy.push(other_random);
  admit(clone);
  EXPECT_NE(clone.sink.take_one(), accepted);

  for (SecureLink& link : server_links) {
    Bytes buffer(64);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(link.seal(wire::PacketType::kPayload, buffer, 20, 9));
  }
  // Loss and retries: everything the client and the server repeat is stored bytes.
  for (int i = 0; i < 20; ++i) {
    rig.now_ns += 400 * kMs;
    client.update(rig.now_ns, kStartUnixS, rig.client_sink);
    for (const test::Sent& sent : rig.client_sink.take()) rig.ask(sent.bytes);
  }
  const ClientResult done = rig.tell(client, accepted);
  ASSERT_EQ(done.outcome, ClientOutcome::kAccepted);
  EXPECT_GE(crypto::nonce_ledger_count(), 203u);
}
#endif

// 200 forgers at the addresses that `forger` gives ask in each pump, and a newcomer asks once. It joins
// within `most_pumps`.
void expect_a_newcomer_joins(base::PathId (*forger)(uint8_t i), int most_pumps) {
  // Right cookies and a wrong signature: each costs the curve operations.
  Rig rig({.response_burst = 1000});
  struct Flood {
    base::PathId from;
    Bytes response;
  };
  std::vector<Flood> floods;
  for (uint8_t i = 0; i < 200; ++i) {
    const crypto::KeyPair key = rig.new_key();
    Bytes token = rig.sign(rig.token_fields(key.public_key()));
    token.back() ^= 1;
    ClientHandshake forging = rig.client_with(token, key);
    rig.client_address = forger(i);
    floods.push_back({rig.client_address, rig.response_of(forging)});
  }
  rig.client_address = base::ipv4_path(192, 0, 2, 1, 1);
  ClientHandshake honest = rig.new_client();
  const Bytes response = rig.response_of(honest);
  const auto pump = [&] {
    int verified = 0;
    bool joined = false;
    while (const auto waited = rig.server.handshake.take_waiting(rig.now_ns)) {
      joined |= rig.server.handshake.verify(*waited, test::moment_at(rig.now_ns), rig.server.sink)
                    .accepted.has_value();
      ++verified;
    }
    EXPECT_LE(verified, 16);
    return joined;
  };
  int pumps = 0;
  for (bool joined = false; !joined && pumps < 60; ++pumps) {
    for (const Flood& flood : floods) {
      rig.server.handshake.on_datagram(flood.from, flood.response, test::moment_at(rig.now_ns),
                                       rig.server.sink);
    }
    if (pumps == 5) {
      rig.server.handshake.on_datagram(rig.client_address, response, test::moment_at(rig.now_ns),
                                       rig.server.sink);
    }
    joined = pump();
    rig.now_ns += 16 * kMs;
  }
  EXPECT_LE(pumps, 5 + most_pumps) << "its turn comes within one round of the prefixes";
  EXPECT_GT(rig.server.handshake.refusal_count(ServerRefusal::kResponseQueue), 0u);
  EXPECT_GT(rig.server.handshake.refusal_count(ServerRefusal::kTokenSignature), 16u);
}

TEST(HandshakeAttack, ANewcomerJoinsWhileTwentyPrefixesForge) {
  expect_a_newcomer_joins([](uint8_t i) { return base::ipv4_path(203, 0, i % 20, 1 + i / 20, 1); }, 4);
}

base::PathId ipv6_of(uint8_t prefix, uint8_t host) {
  return {.form = base::PathForm::kIpv6, .number = 1, .bytes = {0x20, 1, 0x0d, 0xb8, 0, 0, prefix, 0, host}};
}

TEST(HandshakeAttack, ANewcomerJoinsWhileTwentyPrefixesOfIpv6Forge) {
  expect_a_newcomer_joins([](uint8_t i) { return ipv6_of(i % 20, i / 20); }, 4);
}

// More prefixes than messages wait: none has more than the newcomer, but their network has.
TEST(HandshakeAttack, ANewcomerJoinsWhileANetworkOfPrefixesForges) {
  expect_a_newcomer_joins([](uint8_t i) { return ipv6_of(i, 1); }, 18);
}

}  // namespace
}  // namespace lattice::connection
