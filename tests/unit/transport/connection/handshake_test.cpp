// The handshake between honest sides: round trips, loss, retries, fall-back, budget, refusals with their
// reasons.
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "unit/transport/connection/handshake_rig.h"

namespace lattice::connection {
namespace {

using test::Bytes;
using test::kMs;
using test::kSecond;
using test::kStartUnixS;
using test::Rig;
using test::Sent;

TEST(Handshake, ConnectsInTwoRoundTrips) {
  Rig rig;
  ClientHandshake client = rig.new_client({.features = 6, .max_datagram_bytes = 1400});
  const Bytes request = rig.request_of(client);  // Round trip 1.
  EXPECT_EQ(request.size(), 1200u);
  EXPECT_EQ(client.lifecycle().state(), State::kConnecting);
  const Bytes challenge = rig.ask(request);
  rig.now_ns += 40 * kMs;
  rig.tell(client, challenge);
  EXPECT_EQ(client.lifecycle().state(), State::kHandshake);
  const Bytes response = rig.client_sink.take_one();  // Round trip 2.
  rig.now_ns += 60 * kMs;
  const Bytes accepted = rig.ask(response);
  const ClientResult done = rig.tell(client, accepted);
  ASSERT_EQ(done.outcome, ClientOutcome::kAccepted);
  EXPECT_EQ(client.lifecycle().state(), State::kConnected);
  EXPECT_EQ(done.accepted->first_rtt_ns, 60 * kMs);

  ASSERT_TRUE(rig.last.accepted);
  const ServerAccepted& server = *rig.last.accepted;
  EXPECT_EQ(server.connection_id, done.accepted->connection_id);
  EXPECT_EQ(server.peer_id, done.accepted->peer_id);
  EXPECT_EQ(server.max_datagram_bytes, 1400u);
  EXPECT_EQ(server.address, rig.client_address);
  EXPECT_EQ(server.features, 0u) << "only what both sides have";
  EXPECT_EQ(rig.server.policy.call_count, 1u);

  SecureLink client_link(wire::kProtocolId, server.connection_id, crypto::Role::kClient,
                         done.accepted->master.clone());
  SecureLink server_link(wire::kProtocolId, server.connection_id, crypto::Role::kServer,
                         server.master.clone());
  Bytes buffer(64, 5);
  EXPECT_TRUE(server_link.open(client_link.seal(wire::PacketType::kKeepalive, buffer, 20, 8)->datagram));
  EXPECT_TRUE(client_link.open(server_link.seal(wire::PacketType::kKeepalive, buffer, 20, 8)->datagram));
}

TEST(Handshake, KeysAreErasedWhenItEnds) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes accepted = rig.ask(rig.response_of(client));
  EXPECT_EQ(client.challenge_count(), 1u);
  ASSERT_EQ(rig.tell(client, accepted).outcome, ClientOutcome::kAccepted);
  EXPECT_EQ(client.challenge_count(), 0u);
  EXPECT_EQ(rig.tell(client, accepted).drop, ClientDrop::kUnexpectedMessage);
}

/// Runs one client over a path that loses `loss` of the datagrams each way; returns how it ended.
ClientResult run_lossy(Rig& rig, ClientHandshake& client, double loss, base::Random& random,
                       std::vector<SecureLink>* server_links) {
  struct InFlight {
    uint64_t at_ns;
    bool to_server;
    Bytes bytes;
  };
  std::deque<InFlight> path;
  const auto launch = [&](bool to_server, std::vector<Sent> sent) {
    for (Sent& each : sent) {
      if (random.chance(loss)) continue;
      path.push_back({rig.now_ns + 30 * kMs, to_server, std::move(each.bytes)});
    }
  };
  client.start(rig.now_ns, rig.client_sink);
  for (;;) {
    launch(true, rig.client_sink.take());
    rig.now_ns += 10 * kMs;
    while (!path.empty() && path.front().at_ns <= rig.now_ns) {
      const InFlight next = std::move(path.front());
      path.pop_front();
      if (next.to_server) {
        ServerResult result = test::deliver(rig.server.handshake, rig.client_address, next.bytes,
                                            test::moment_at(rig.now_ns), rig.server.sink);
        if (result.accepted) {
          server_links->emplace_back(wire::kProtocolId, result.accepted->connection_id, crypto::Role::kServer,
                                     std::move(result.accepted->master));
        }
        launch(false, rig.server.sink.take());
      } else {
        ClientResult result = rig.tell(client, next.bytes);
        if (result.outcome != ClientOutcome::kPending) return result;
      }
    }
    ClientResult result = client.update(rig.now_ns, test::moment_at(rig.now_ns).unix_s, rig.client_sink);
    if (result.outcome != ClientOutcome::kPending) return result;
  }
}

TEST(Handshake, SurvivesLossWithOneConnectionPerToken) {
  int connected = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Rig rig;
    base::Random random(seed);
    ClientHandshake client = rig.new_client({.jitter_seed = seed});
    std::vector<SecureLink> server_links;
    ClientResult done = run_lossy(rig, client, 0.4, random, &server_links);
    ASSERT_LE(server_links.size(), 1u) << "seed " << seed;
    if (done.outcome != ClientOutcome::kAccepted) continue;
    ++connected;
    ASSERT_EQ(server_links.size(), 1u) << "seed " << seed;
    SecureLink link(wire::kProtocolId, done.accepted->connection_id, crypto::Role::kClient,
                    std::move(done.accepted->master));
    Bytes buffer(64);
    EXPECT_TRUE(server_links[0].open(link.seal(wire::PacketType::kPayload, buffer, 20, 9)->datagram))
        << "seed " << seed;
  }
  EXPECT_GE(connected, 50);
}

TEST(Handshake, RetriesGrowToFourTimesTheFirstWithTenPercentJitter) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const uint64_t first_ms = seed % 4 == 1 ? 50 : seed % 4 == 2 ? 1000 : 250;
    Rig rig;
    ClientHandshake client = rig.new_client({.first_retry_ns = first_ms * kMs, .jitter_seed = seed});
    const Bytes first = rig.request_of(client);
    uint64_t last_ns = rig.now_ns;
    std::vector<uint64_t> gaps_ms;
    while (client.lifecycle().state() == State::kConnecting) {
      rig.now_ns = client.next_deadline_ns();
      client.update(rig.now_ns, kStartUnixS, rig.client_sink);
      for (const Sent& sent : rig.client_sink.take()) {
        EXPECT_EQ(sent.bytes, first) << "byte-identical";
        gaps_ms.push_back((rig.now_ns - last_ns) / kMs);
        last_ns = rig.now_ns;
      }
    }
    EXPECT_EQ(client.lifecycle().state(), State::kTimeout);
    EXPECT_EQ(rig.now_ns, 85 * kSecond) << "10 s budget";
    ASSERT_GE(gaps_ms.size(), first_ms == 1000 ? 3u : 9u);
    for (size_t i = 0; i < gaps_ms.size(); ++i) {
      const uint64_t plain = first_ms << std::min<size_t>(i, 2);
      EXPECT_GE(gaps_ms[i], plain * 9 / 10) << "seed " << seed;
      EXPECT_LE(gaps_ms[i], plain * 11 / 10) << "seed " << seed;
    }
  }
}

TEST(Handshake, FallsBackToAFreshRequestAfterThreeUnansweredResponses) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  int responses = 1;
  while (client.lifecycle().state() == State::kHandshake) {
    rig.now_ns = client.next_deadline_ns();
    client.update(rig.now_ns, kStartUnixS, rig.client_sink);
    for (const Sent& sent : rig.client_sink.take()) {
      if (sent.bytes.size() == 1200) continue;
      EXPECT_EQ(sent.bytes, response) << "byte-identical";
      ++responses;
    }
  }
  EXPECT_EQ(responses, 3);
  EXPECT_EQ(client.lifecycle().state(), State::kConnecting);
}

// S-20: the first message 3 is one of the three.
TEST(Handshake, TheThreeRoundsOfMessageThreeIncludeTheFirst) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  rig.response_of(client);
  const uint64_t began_ns = rig.now_ns;
  std::vector<uint64_t> later_ms;
  while (client.lifecycle().state() == State::kHandshake) {
    rig.now_ns = client.next_deadline_ns();
    client.update(rig.now_ns, kStartUnixS, rig.client_sink);
    ASSERT_EQ(rig.client_sink.take().size(), 1u);
    later_ms.push_back((rig.now_ns - began_ns) / kMs);
  }
  ASSERT_EQ(later_ms.size(), 3u) << "two more messages 3, then a fresh message 1";
  const uint64_t plain_ms[] = {250, 750, 1750};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_GE(later_ms[i], plain_ms[i] * 9 / 10) << i;
    EXPECT_LE(later_ms[i], plain_ms[i] * 11 / 10) << i;
  }
}

TEST(Handshake, CookieAgesOutAndTheFallBackConnects) {
  Rig rig;
  rig.now_ns = 79'500 * kMs;  // Half a second before a bucket ends.
  ClientHandshake client = rig.new_client({.budget_ns = 60 * kSecond});
  const Bytes stale = rig.response_of(client);
  rig.now_ns += 2 * kBucketNs;
  EXPECT_TRUE(rig.ask(stale).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kCookie);
  Bytes request;
  while (request.empty()) {
    rig.now_ns = client.next_deadline_ns() > rig.now_ns ? client.next_deadline_ns() : rig.now_ns;
    client.update(rig.now_ns, kStartUnixS, rig.client_sink);
    for (const Sent& sent : rig.client_sink.take()) {
      if (sent.bytes.size() == 1200) request = sent.bytes;
    }
  }
  rig.tell(client, rig.ask(request));
  EXPECT_EQ(rig.tell(client, rig.ask(rig.client_sink.take_one())).outcome, ClientOutcome::kAccepted);
}

TEST(Handshake, ACookieOfThePreviousBucketIsGood) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  rig.now_ns += kBucketNs;
  EXPECT_EQ(rig.tell(client, rig.ask(response)).outcome, ClientOutcome::kAccepted);
}

TEST(Handshake, LostAcceptanceIsRepeatedByteForByteAlsoToALaterChallenge) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  const Bytes accepted = rig.ask(response);
  ASSERT_TRUE(rig.last.accepted);
  rig.now_ns += 300 * kMs;
  EXPECT_EQ(rig.ask(response), accepted);
  EXPECT_FALSE(rig.last.accepted);
  EXPECT_EQ(rig.server.handshake.repeated_accept_count(), 1u);
  // The client falls back and meets a challenge of the next bucket; it still knows the first one's keys.
  Bytes request;
  while (request.empty()) {
    rig.now_ns = client.next_deadline_ns() > rig.now_ns ? client.next_deadline_ns() : rig.now_ns;
    client.update(rig.now_ns, kStartUnixS, rig.client_sink);
    for (const Sent& sent : rig.client_sink.take()) {
      if (sent.bytes.size() == 1200) request = sent.bytes;
    }
  }
  rig.now_ns = 80 * kSecond;
  rig.tell(client, rig.ask(request));
  EXPECT_EQ(client.challenge_count(), 2u);
  const Bytes again = rig.ask(rig.client_sink.take_one());
  EXPECT_EQ(again, accepted);
  EXPECT_EQ(rig.tell(client, again).outcome, ClientOutcome::kAccepted);
  EXPECT_EQ(rig.server.policy.call_count, 1u);
}

TEST(Handshake, AfterTheConnectionEndedItsTokenMeetsSilence) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  rig.ask(response);
  ASSERT_TRUE(rig.last.accepted);
  rig.server.handshake.on_ended(rig.last.accepted->connection_id, rig.now_ns);
  EXPECT_TRUE(rig.ask(response).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kTokenReused);
}

TEST(Handshake, SchemaMismatchIsReportedWithBothHashesOnBothSides) {
  Rig rig({.schema_id = 100});
  ClientHandshake client = rig.new_client({.schema_id = 200});
  const ClientResult done = rig.tell(client, rig.ask(rig.response_of(client)));
  EXPECT_EQ(rig.refusal(), ServerRefusal::kSchemaMismatch);
  EXPECT_EQ(rig.last.remote_schema_id, 200u);
  EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
  EXPECT_EQ(done.reason, DisconnectReason::kSchemaMismatch);
  EXPECT_EQ(done.remote_schema_id, 100u);
  EXPECT_EQ(client.lifecycle().state(), State::kDisconnected);
  EXPECT_EQ(rig.server.handshake.claim_count(), 0u);
  EXPECT_EQ(rig.server.policy.call_count, 0u);
  EXPECT_EQ(rig.server.policy.place_count, 0u);
}

TEST(Handshake, AnotherTickRateIsRefusedWithBothNumbersOnBothSides) {
  Rig rig({.tick_rate_hz = 60});
  ClientHandshake client = rig.new_client({.tick_rate_hz = 30});
  const ClientResult done = rig.tell(client, rig.ask(rig.response_of(client)));
  EXPECT_EQ(rig.refusal(), ServerRefusal::kConfigMismatch);
  EXPECT_EQ(rig.last.text.view(), "tick_rate_hz: server 60, client 30");
  EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
  EXPECT_EQ(done.reason, DisconnectReason::kConfigMismatch);
  EXPECT_EQ(done.text.view(), rig.last.text.view());
  EXPECT_EQ(rig.server.handshake.claim_count(), 0u);
  EXPECT_EQ(rig.server.policy.call_count, 0u);
  EXPECT_EQ(rig.server.policy.place_count, 0u);
}

TEST(Handshake, RoomForFewerObjectsThanTheServersIsRefused) {
  const auto outcome = [](uint32_t server_max, uint32_t client_max) {
    Rig rig({.max_objects = server_max});
    ClientHandshake client = rig.new_client({.max_objects = client_max});
    return rig.tell(client, rig.ask(rig.response_of(client)));
  };
  const ClientResult refused = outcome(1048576, 1048575);
  EXPECT_EQ(refused.reason, DisconnectReason::kConfigMismatch);
  EXPECT_EQ(refused.text.view(), "max_objects: server 1048576, client 1048575");
  EXPECT_EQ(outcome(1048576, 1048576).outcome, ClientOutcome::kAccepted);
  EXPECT_EQ(outcome(100, 101).outcome, ClientOutcome::kAccepted);
}

TEST(Handshake, OtherPlacedObjectsAreRefusedAndTheTextSaysWhichSideLacksWhat) {
  const wire::PlacedSummary two{2, 5 + 9, 25 + 81, 100};
  const wire::PlacedSummary three{3, 5 + 9 + 7000000000, 25 + 81 + uint64_t{7000000000} * 7000000000, 101};
  const auto text = [](wire::PlacedSummary server, wire::PlacedSummary clients) {
    Rig rig({.placed = server});
    ClientHandshake client = rig.new_client({.placed = clients});
    const ClientResult done = rig.tell(client, rig.ask(rig.response_of(client)));
    EXPECT_EQ(rig.refusal(), ServerRefusal::kPlacedMismatch);
    EXPECT_EQ(done.reason, DisconnectReason::kPlacedMismatch);
    EXPECT_EQ(done.text.view(), rig.last.text.view());
    EXPECT_EQ(rig.server.handshake.claim_count(), 0u);
    EXPECT_EQ(rig.server.policy.call_count, 0u);
    EXPECT_EQ(rig.server.policy.place_count, 0u);
    return std::string(done.text.view());
  };
  EXPECT_EQ(text(three, two), "placed: server 3, client 2 lacks 7000000000");
  EXPECT_EQ(text(two, three), "placed: client 3, server 2 lacks 7000000000");
  EXPECT_EQ(text(two, {}), "placed: server 2, client 0");
  EXPECT_EQ(text(two, {3, 999, 999, 1}), "placed: server 2, client 3") << "not the same but for one";
  EXPECT_EQ(text(two, {2, 5 + 10, 25 + 100, 1}), "placed: 2, with other keys");
  EXPECT_EQ(text(two, {2, 5 + 9, 25 + 81, 99}), "placed: 2, with other types or states");
  EXPECT_EQ(text({1048576, UINT64_MAX, 1, 1}, {1048575, 0, 0, 1}).size(), 64u) << "the longest";
  Rig rig({.placed = two});
  ClientHandshake client = rig.new_client({.placed = two});
  EXPECT_EQ(rig.tell(client, rig.ask(rig.response_of(client))).outcome, ClientOutcome::kAccepted);
}

/// A server that holds the right keys and says wrong things: answers message 3 with `fields` in message 4.
Bytes accept_by_hand(const Bytes& response, const crypto::KeyPair& identity, const crypto::KeyPair& bucket,
                     uint64_t header_id, const wire::ConnectionAcceptedSealed& fields) {
  wire::ChallengeResponseClear clear;
  EXPECT_TRUE(wire::parse_challenge_response_clear(std::span(response).subspan(15), &clear));
  crypto::Key es, ee;
  EXPECT_TRUE(crypto::x25519(identity.secret(), clear.client_pub, &es));
  EXPECT_TRUE(crypto::x25519(bucket.secret(), clear.client_pub, &ee));
  const crypto::Digest th1 = crypto::transcript_request(wire::kProtocolId, identity.public_key(),
                                                        crypto::sha256({clear.token}), clear.client_pub);
  const crypto::Digest th2 =
      crypto::transcript_challenge(th1, bucket.public_key(), clear.challenge_nonce, clear.key_index);
  const crypto::Key prk = crypto::handshake_secret(th2, es, ee);
  wire::AnswerClear answer;
  answer.accept_random.fill(static_cast<uint8_t>(header_id));
  const crypto::Key k4 =
      crypto::server_handshake_key(prk, crypto::transcript_response(th2, clear.sealed), answer.accept_random);
  Bytes out(kAcceptedDatagramBytes);
  wire::PacketHeader header;
  header.connection_id = header_id;
  size_t front_bytes = wire::encode_packet_header(header, out);
  front_bytes += wire::encode_answer_clear(answer, std::span(out).subspan(front_bytes));
  wire::encode_connection_accepted_sealed(fields, std::span(out).subspan(front_bytes));
  crypto::seal_in_place(k4, crypto::Nonce{}, std::span(out).first(front_bytes),
                        std::span(out).subspan(front_bytes));
  return out;
}

/// What a client that was configured with `config` makes of message 4 with the given contents, one after the
/// other.
class HandmadeServer {
 public:
  explicit HandmadeServer(const ClientHandshakeConfig& config) {
    const crypto::KeyPair key = rig_.new_key();
    wire::TokenFields token = rig_.token_fields(key.public_key());
    token.aud = identity_.public_key();
    const Bytes signed_token = rig_.sign(token);
    client_.emplace(rig_.client_with(signed_token, key, config));
    rig_.request_of(*client_);
    Bytes challenge(kBody + wire::kChallengeBodyBytes);
    wire::Challenge made;
    made.token_echo = test::echo_of(signed_token);
    made.bucket_pub = bucket_.public_key();
    const size_t header_bytes = wire::encode_packet_header({}, challenge);
    wire::encode_challenge(made, std::span(challenge).subspan(header_bytes));
    rig_.tell(*client_, challenge);
    response_ = rig_.client_sink.take_one();
  }
  ClientResult accept(uint64_t header_id, const wire::ConnectionAcceptedSealed& fields) {
    return rig_.tell(*client_, accept_by_hand(response_, identity_, bucket_, header_id, fields));
  }

 private:
  Rig rig_;
  crypto::KeyPair identity_ = rig_.new_key(), bucket_ = rig_.new_key();
  std::optional<ClientHandshake> client_;
  Bytes response_;
};

TEST(Handshake, ClientChecksTheTickRateOfAnAcceptance) {
  HandmadeServer server({.tick_rate_hz = 30});
  wire::ConnectionAcceptedSealed fields;
  fields.connection_id = 8;
  fields.tick_rate = 60;
  const ClientResult done = server.accept(8, fields);
  EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
  EXPECT_EQ(done.reason, DisconnectReason::kConfigMismatch);
  EXPECT_EQ(done.text.view(), "tick_rate_hz: server 60, client 30");
}

TEST(Handshake, ClientChecksTheSchemaAndIdOfAnAcceptance) {
  HandmadeServer server({.schema_id = 5});

  wire::ConnectionAcceptedSealed fields;
  fields.connection_id = 8;
  fields.schema_id = 5;
  EXPECT_EQ(server.accept(9, fields).drop, ClientDrop::kAnswerMismatch);
  fields.connection_id = 10;
  fields.schema_id = 6;
  const ClientResult done = server.accept(10, fields);
  EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
  EXPECT_EQ(done.reason, DisconnectReason::kSchemaMismatch);
  EXPECT_EQ(done.remote_schema_id, 6u);
}

TEST(Handshake, RefusalsLeaveTheTokenUnclaimed) {
  Rig rig;
  const crypto::KeyPair key = rig.new_key();
  const Bytes token = rig.sign(rig.token_fields(key.public_key()));
  struct Case {
    DisconnectReason reason;
    const char* text;
    ServerRefusal counted;
  };
  const Case cases[] = {
      {DisconnectReason::kServerFull, "64 of 64", ServerRefusal::kServerFull},
      {DisconnectReason::kKicked, "banned until tomorrow", ServerRefusal::kPolicyRefused},
      {static_cast<DisconnectReason>(300), "", ServerRefusal::kPolicyRefused},
  };
  for (const Case& c : cases) {
    ClientHandshake client = rig.client_with(token, key);
    rig.server.policy.next = {.refusal = c.reason, .text = c.text};
    const ClientResult done = rig.tell(client, rig.ask(rig.response_of(client)));
    EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
    EXPECT_EQ(done.reason, c.reason);
    EXPECT_EQ(done.text.view(), c.text);
    EXPECT_EQ(rig.refusal(), c.counted);
  }
  rig.server.policy.next = {};
  ClientHandshake client = rig.client_with(token, key);
  EXPECT_EQ(rig.tell(client, rig.ask(rig.response_of(client))).outcome, ClientOutcome::kAccepted);
}

TEST(Handshake, AFullClaimTableSaysServerFull) {
  Rig rig({.max_claims = 2, .max_half_open_per_prefix = 64});
  for (int i = 0; i < 2; ++i) {
    ClientHandshake client = rig.new_client();
    ASSERT_EQ(rig.tell(client, rig.ask(rig.response_of(client))).outcome, ClientOutcome::kAccepted);
  }
  ClientHandshake third = rig.new_client();
  const ClientResult done = rig.tell(third, rig.ask(rig.response_of(third)));
  EXPECT_EQ(done.reason, DisconnectReason::kServerFull);
  EXPECT_EQ(rig.refusal(), ServerRefusal::kTokensFull);
  // Once the first tokens are past expiry + 60 s there is room.
  rig.now_ns += 361 * kSecond;
  const crypto::KeyPair key = rig.new_key();
  wire::TokenFields fields = rig.token_fields(key.public_key());
  fields.issued_s += 400;
  fields.expires_s += 400;
  ClientHandshake later = rig.client_with(rig.sign(fields), key);
  EXPECT_EQ(rig.tell(later, rig.ask(rig.response_of(later))).outcome, ClientOutcome::kAccepted);
}

TEST(Handshake, OnePlayersTokensLeaveRoomForOthers) {
  Rig rig({.max_claims = 16, .max_half_open_per_prefix = 64});
  const auto join_as = [&rig](uint8_t player) {
    const crypto::KeyPair key = rig.new_key();
    wire::TokenFields fields = rig.token_fields(key.public_key());
    fields.player.fill(player);
    ClientHandshake client = rig.client_with(rig.sign(fields), key);
    rig.now_ns += 100 * kMs;
    return rig.tell(client, rig.ask(rig.response_of(client)));
  };
  for (int i = 0; i < 8; ++i) ASSERT_EQ(join_as(1).outcome, ClientOutcome::kAccepted) << i;
  const ClientResult refused = join_as(1);
  EXPECT_EQ(refused.reason, DisconnectReason::kServerFull);
  EXPECT_EQ(refused.text.view(), "too many used tokens of this player");
  EXPECT_EQ(rig.refusal(), ServerRefusal::kTokenShare);
  EXPECT_EQ(join_as(2).outcome, ClientOutcome::kAccepted);
  // Tokens that name nobody count for the prefix.
  for (int i = 0; i < 4; ++i) ASSERT_EQ(join_as(0).outcome, ClientOutcome::kAccepted) << i;
  EXPECT_EQ(join_as(0).reason, DisconnectReason::kServerFull);
  EXPECT_EQ(rig.refusal(), ServerRefusal::kTokenShare);
  rig.client_address = base::ipv4_path(203, 0, 113, 1, 40000);
  EXPECT_EQ(join_as(0).outcome, ClientOutcome::kAccepted);
}

TEST(Handshake, PerPrefixRatesHoldForBothMessages) {
  Rig rig({.requests_per_s = 1,
           .request_burst = 3,
           .responses_per_s = 1,
           .response_burst = 2,
           .hashed_per_s = 10,
           .hashed_burst = 20});
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  ClientHandshake other = rig.new_client();
  const Bytes request = rig.request_of(other);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(rig.ask(request).empty()) << "there is enough for all";
  EXPECT_TRUE(rig.ask(request).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kRequestRate);
  EXPECT_FALSE(rig.ask_from(base::ipv4_path(203, 0, 113, 1, 1), request).empty()) << "another prefix";
  rig.ask(response);
  rig.ask(response);
  EXPECT_TRUE(rig.ask(response).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kResponseRate);
}

TEST(Handshake, AForgedNeighbourKeepsNobodyOut) {
  Rig rig;
  ClientHandshake stranger = rig.new_client();
  const Bytes request = rig.request_of(stranger);
  base::PathId neighbour = rig.client_address;
  neighbour.bytes[15] ^= 1;
  constexpr int kJoins = 12;
  for (int i = 0; i < kJoins; ++i) {
    for (int k = 0; k < 1000; ++k) {  // A second of the flood.
      rig.now_ns += 1'000'000;
      rig.ask_from(neighbour, request);
    }
    ClientHandshake honest = rig.new_client();
    rig.ask(rig.response_of(honest));
    ASSERT_TRUE(rig.last.accepted.has_value()) << i;
    rig.server.handshake.on_confirmed(rig.last.accepted->connection_id);
  }
  EXPECT_EQ(rig.server.handshake.refusal_count(ServerRefusal::kRequestRate), 0u);
}

TEST(Handshake, CurveOperationsHaveARateAndWaitForIt) {
  Rig rig({.verified_per_s = 2, .verified_burst = 4});
  std::vector<Bytes> responses;
  for (uint8_t i = 0; i < 6; ++i) {
    ClientHandshake client = rig.client_as(i);
    rig.client_address = base::ipv4_path(203, 0, i, 1, 1);  // A prefix each.
    responses.push_back(rig.response_of(client));
    rig.ask(responses.back());
    EXPECT_EQ(rig.last.accepted.has_value(), i < 4) << "the burst, then its turn is awaited";
    EXPECT_EQ(rig.refusal(), ServerRefusal::kNone);
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(rig.server.handshake.take_waiting(rig.now_ns));
    rig.now_ns += 500 * kMs;
    const auto waited = rig.server.handshake.take_waiting(rig.now_ns);
    ASSERT_TRUE(waited);
    EXPECT_EQ(waited->from, base::ipv4_path(203, 0, static_cast<uint8_t>(4 + i), 1, 1));
    EXPECT_TRUE(rig.server.handshake.verify(*waited, test::moment_at(rig.now_ns), rig.server.sink).accepted);
  }
  rig.now_ns += kSecond;
  EXPECT_FALSE(rig.server.handshake.take_waiting(rig.now_ns)) << "none waits";
}

TEST(Handshake, AMessageThatFailsCheaplyDoesNotWait) {
  Rig rig({.verified_per_s = 1, .verified_burst = 1});
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);
  rig.ask_from(base::ipv4_path(203, 0, 9, 1, 1), response);
  EXPECT_EQ(rig.refusal(), ServerRefusal::kCookie);
  rig.ask(response);
  EXPECT_TRUE(rig.last.accepted.has_value()) << "the rate was not used up";
}

TEST(Handshake, DenialsAreTenASecondForEachPrefix) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  Bytes request = rig.request_of(client);
  request[3] ^= 1;  // The version's major number.
  uint32_t denied = 0;
  for (int i = 0; i < 30; ++i) denied += rig.ask(request).empty() ? 0u : 1u;
  EXPECT_EQ(denied, 10u);
  EXPECT_EQ(rig.server.handshake.refusal_count(ServerRefusal::kWrongVersion), 30u) << "all are counted";
  EXPECT_FALSE(rig.ask_from(base::ipv4_path(203, 0, 113, 1, 1), request).empty()) << "another prefix";
}

TEST(Handshake, WhatAllPrefixesMayMakeTheServerHashIsBounded) {
  Rig rig({.hashed_per_s = 1000, .hashed_burst = 10});
  ClientHandshake client = rig.new_client();
  const Bytes response = rig.response_of(client);  // Takes one.
  ClientHandshake other = rig.new_client();
  const Bytes request = rig.request_of(other);
  const auto from = [](int i) { return base::ipv4_path(10, 1, static_cast<uint8_t>(i), 1, 5); };
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(rig.ask_from(from(i), request).empty());
  EXPECT_TRUE(rig.ask_from(from(9), request).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kRequestBudget);

  // Message 3 has an allowance of its own: whoever has been challenged is not kept out by those who ask.
  for (int i = 0; i < 9; ++i) {
    EXPECT_TRUE(rig.ask_from(from(i), response).empty());
    EXPECT_EQ(rig.refusal(), ServerRefusal::kCookie) << "the cookie is another address's";
  }
  EXPECT_EQ(rig.tell(client, rig.ask(response)).outcome, ClientOutcome::kAccepted);
  EXPECT_TRUE(rig.ask_from(from(9), response).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kCookieBudget);

  rig.now_ns += 1'000'000;
  EXPECT_FALSE(rig.ask_from(from(9), request).empty()) << "one more a millisecond later";
  EXPECT_TRUE(rig.ask_from(from(9), request).empty());
}

TEST(Handshake, WrongVersionIsDeniedAndReportedWhenTheBudgetEnds) {
  Rig rig;
  constexpr uint32_t kOther = 0x0200544C;
  const crypto::KeyPair key = rig.new_key();
  wire::TokenFields fields = rig.token_fields(key.public_key());
  fields.protocol_id = kOther;
  ClientHandshake client = rig.client_with(rig.sign(fields), key, {.protocol_id = kOther});
  const Bytes request = rig.request_of(client);
  const Bytes denial = rig.ask(request);
  EXPECT_EQ(rig.refusal(), ServerRefusal::kWrongVersion);
  ASSERT_EQ(denial.size(), 22u);
  EXPECT_EQ(rig.tell(client, denial).drop, ClientDrop::kAdvisoryDenial);
  EXPECT_EQ(client.lifecycle().state(), State::kConnecting) << "advisory: it keeps trying";
  rig.now_ns += 10 * kSecond;
  const ClientResult done = client.update(rig.now_ns, kStartUnixS, rig.client_sink);
  EXPECT_EQ(done.outcome, ClientOutcome::kGaveUp);
  EXPECT_EQ(done.reason, DisconnectReason::kVersionMismatch);
  EXPECT_EQ(done.text.view(), "protocol version: server 1.0, client 2.0");
  // At most ten a second to one prefix.
  int denials = 0;
  for (int i = 0; i < 50; ++i) denials += !rig.ask(request).empty();
  EXPECT_EQ(denials, 10);
  // Shorter than a real request: not answered.
  EXPECT_TRUE(rig.ask_from(base::ipv4_path(203, 0, 113, 1, 1), Bytes(request.begin(), request.begin() + 100))
                  .empty());
}

TEST(Handshake, ADenialIsForgottenWhenTheServerAcceptsAfterAll) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes request = rig.request_of(client);
  Bytes denial(22);
  const size_t header_bytes = wire::encode_packet_header({}, denial);
  wire::ConnectionDenied denied;
  denied.reason = static_cast<uint16_t>(DisconnectReason::kVersionMismatch);
  wire::encode_connection_denied(denied, std::span(denial).subspan(header_bytes));
  EXPECT_EQ(rig.tell(client, denial).drop, ClientDrop::kAdvisoryDenial);
  rig.tell(client, rig.ask(request));
  EXPECT_EQ(rig.tell(client, rig.ask(rig.client_sink.take_one())).outcome, ClientOutcome::kAccepted);
}

/// What a client says that asked at `client_unix_s` by its own clock and spent its budget. `happens` is told
/// the client once it has asked, and the datagram it asked with.
ClientResult give_up_after(uint64_t client_unix_s,
                           void (*happens)(Rig&, ClientHandshake&, const Bytes& request)) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const uint64_t asked_ns = rig.now_ns;
  happens(rig, client, rig.request_of(client));
  const uint64_t ends_ns = asked_ns + 10 * kSecond;
  EXPECT_EQ(client.update(ends_ns - 1, client_unix_s, rig.client_sink).outcome, ClientOutcome::kPending);
  ClientResult done = client.update(ends_ns, client_unix_s, rig.client_sink);
  EXPECT_EQ(done.outcome, ClientOutcome::kGaveUp);
  return done;
}

TEST(Handshake, GivingUpNamesTheLikeliestCause) {
  constexpr uint64_t kInForce = kStartUnixS + 100, kDayLater = kStartUnixS + 86400;
  const auto nothing = [](Rig&, ClientHandshake&, const Bytes&) {};
  const auto unreachable = [](Rig&, ClientHandshake& client, const Bytes&) { client.on_unreachable(); };
  const auto started_late = [](Rig& rig, ClientHandshake& client, const Bytes&) {
    client.on_unreachable();
    for (int i = 0; i < 5; ++i) {  // a server that refuses in silence
      rig.now_ns = client.next_deadline_ns();
      client.update(rig.now_ns, kStartUnixS, rig.client_sink);
    }
  };
  const auto challenged = [](Rig& rig, ClientHandshake& client, const Bytes& request) {
    client.on_unreachable();  // Before the server was there.
    rig.tell(client, rig.ask(request));
  };
  struct Case {
    uint64_t client_unix_s;
    void (*happens)(Rig&, ClientHandshake&, const Bytes&);
    DisconnectReason reason;
    const char* words;
  };
  const Case cases[] = {
      {kInForce, nothing, DisconnectReason::kNoAnswer, "no answer: server absent or its key changed"},
      {kInForce, unreachable, DisconnectReason::kUnreachable, "nobody listens"},
      {kDayLater, unreachable, DisconnectReason::kUnreachable, "nobody listens"},
      {kInForce, started_late, DisconnectReason::kNoAnswer, "no answer: server absent or its key changed"},
      {kDayLater, nothing, DisconnectReason::kTokenExpired, "expired by this clock"},
      {kStartUnixS + 300 + 30, nothing, DisconnectReason::kNoAnswer, "no answer"},
      {kStartUnixS + 300 + 31, nothing, DisconnectReason::kTokenExpired, "expired by this clock"},
      {kInForce, challenged, DisconnectReason::kTimeout, "never accepted"},
      {kDayLater, challenged, DisconnectReason::kTimeout, "never accepted"},
  };
  for (const Case& c : cases) {
    const ClientResult done = give_up_after(c.client_unix_s, c.happens);
    EXPECT_EQ(done.reason, c.reason) << c.words;
    EXPECT_NE(done.text.view().find(c.words), std::string_view::npos) << done.text.view();
  }
}

TEST(Handshake, ATokenOfAStrangeIssuerIsChallengedAndNeverAccepted) {
  Rig rig;
  const crypto::KeyPair key = rig.new_key();
  test::ScriptedEntropy other_entropy(99);
  const auto stranger = crypto::SigningKeyPair::generate(other_entropy);
  ClientHandshake client = rig.client_with(Rig::sign(rig.token_fields(key.public_key()), stranger), key);
  base::Random random(1);
  std::vector<SecureLink> links;
  const ClientResult done = run_lossy(rig, client, 0.0, random, &links);
  EXPECT_EQ(done.outcome, ClientOutcome::kGaveUp);
  EXPECT_EQ(done.reason, DisconnectReason::kTimeout);
  EXPECT_NE(done.text.view().find("never accepted"), std::string_view::npos) << done.text.view();
  EXPECT_GT(rig.server.handshake.refusal_count(ServerRefusal::kUnknownIssuer), 3u);
}

TEST(Handshake, ClientRefusesHopelessTokensBeforeSending) {
  Rig rig;
  const crypto::KeyPair key = rig.new_key();
  const wire::TokenFields good = rig.token_fields(key.public_key());
  const auto start = [&](const Bytes& token, ClientHandshakeConfig config = {}) {
    ClientHandshake client = rig.client_with(token, key, config);
    const DisconnectReason reason = client.start(rig.now_ns, rig.client_sink);
    EXPECT_TRUE(rig.client_sink.take().empty());
    return reason;
  };
  EXPECT_EQ(start({}), DisconnectReason::kTokenInvalid);
  EXPECT_EQ(start(Bytes(481)), DisconnectReason::kTokenInvalid);
  EXPECT_EQ(start(Bytes(5000)), DisconnectReason::kTokenInvalid);
  wire::TokenFields fields = good;
  fields.cnf[0] ^= 1;
  EXPECT_EQ(start(rig.sign(fields)), DisconnectReason::kTokenInvalid);
  fields = good;
  fields.role = wire::TokenRole::kResponder;
  EXPECT_EQ(start(rig.sign(fields)), DisconnectReason::kTokenInvalid);
  fields = good;
  fields.aud = {};  // A low-order server key.
  EXPECT_EQ(start(rig.sign(fields)), DisconnectReason::kTokenInvalid);
  fields = good;
  fields.protocol_id = 0x0200544C;
  EXPECT_EQ(start(rig.sign(fields)), DisconnectReason::kVersionMismatch);
  fields = good;
  fields.schema_id = 5;
  EXPECT_EQ(start(rig.sign(fields), {.schema_id = 6}), DisconnectReason::kSchemaMismatch);
}

TEST(Handshake, CancelErasesAndStaysQuiet) {
  Rig rig;
  ClientHandshake client = rig.new_client();
  const Bytes challenge = rig.ask(rig.request_of(client));
  client.cancel();
  EXPECT_EQ(client.lifecycle().state(), State::kDisconnected);
  EXPECT_EQ(rig.tell(client, challenge).drop, ClientDrop::kUnexpectedMessage);
  client.update(rig.now_ns + 60 * kSecond, kStartUnixS, rig.client_sink);
  EXPECT_TRUE(rig.client_sink.take().empty());
  client.cancel();
}

TEST(HandshakeNames, AreDistinct) {
  std::set<std::string> names;
  for (int i = 0; i < static_cast<int>(ServerRefusal::kCount); ++i) {
    names.insert(server_refusal_name(static_cast<ServerRefusal>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(ServerRefusal::kCount));
  names.clear();
  for (int i = 0; i < static_cast<int>(ClientDrop::kCount); ++i) {
    names.insert(client_drop_name(static_cast<ClientDrop>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(ClientDrop::kCount));
}

}  // namespace
}  // namespace lattice::connection
