// A server that refuses a client for its schema tells its own, page by page (S-44, S-45).
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "unit/transport/connection/handshake_rig.h"

namespace lattice::connection {
namespace {

using test::Bytes;
using test::kSecond;
using test::kStartUnixS;
using test::Rig;
using test::Sent;

std::string text_of_bytes(size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "member " + std::to_string(text.size()) + "\n";
  return text.substr(0, bytes);
}

// A client that repeats its message 3 after each refusal, as `loses` lets it.
template <class Loses>
ClientResult learn_schema(Rig& rig, ClientHandshake& client, const Loses& loses) {
  Bytes message = rig.response_of(client);
  for (int turn = 0; turn < 2000; ++turn) {
    Bytes answer = loses(turn) ? Bytes() : rig.ask(message);
    ClientResult done;
    if (!answer.empty()) done = rig.tell(client, answer);
    std::vector<Sent> sent = rig.client_sink.take();
    if (done.outcome == ClientOutcome::kPending && sent.empty()) {
      rig.now_ns = client.next_deadline_ns();
      done = client.update(rig.now_ns, kStartUnixS, rig.client_sink);
      sent = rig.client_sink.take();
    }
    if (done.outcome != ClientOutcome::kPending) return done;
    if (!sent.empty() && sent[0].bytes.size() < 1200) {
      EXPECT_EQ(sent[0].bytes, message) << "every repetition has the same bytes (S-19)";
    }
  }
  return {};
}

TEST(HandshakeSchema, AServerTellsItsSchemaPageByPage) {
  for (const size_t bytes : {1u, 255u, 256u, 257u, 2500u, 20'000u}) {
    const std::string text = text_of_bytes(bytes);
    Rig rig({.schema_id = 100, .schema_text = text});
    ClientHandshake client = rig.new_client({.schema_id = 200});
    const ClientResult done = learn_schema(rig, client, [](int) { return false; });
    EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
    EXPECT_EQ(done.reason, DisconnectReason::kSchemaMismatch);
    EXPECT_EQ(done.remote_schema_id, 100u);
    EXPECT_EQ(done.remote_schema_text, text);
    EXPECT_TRUE(done.is_told_by_server);
    EXPECT_EQ(client.lifecycle().state(), State::kDisconnected);
    EXPECT_EQ(rig.server.handshake.claim_count(), 0u);
  }
}

TEST(HandshakeSchema, PagesOfASchemaMayBeLost) {
  const std::string text = text_of_bytes(1000);
  Rig rig({.schema_id = 100, .schema_text = text});
  ClientHandshake client = rig.new_client({.schema_id = 200});
  const ClientResult done = learn_schema(rig, client, [](int turn) { return turn % 3 == 1; });
  EXPECT_EQ(done.reason, DisconnectReason::kSchemaMismatch);
  EXPECT_EQ(done.remote_schema_text, text);
}

TEST(HandshakeSchema, AClientEndsWithThePagesThatItHas) {
  const std::string text = text_of_bytes(5000);
  Rig rig({.schema_id = 100, .schema_text = text});
  ClientHandshake client = rig.new_client({.schema_id = 200});
  const uint64_t started_ns = rig.now_ns;
  const ClientResult done = learn_schema(rig, client, [](int turn) { return turn >= 10; });
  EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
  EXPECT_EQ(done.reason, DisconnectReason::kSchemaMismatch);
  EXPECT_TRUE(text.starts_with(done.remote_schema_text));
  EXPECT_LT(done.remote_schema_text.size(), text.size());
  EXPECT_EQ(rig.now_ns - started_ns, 8 * kSecond);
}

TEST(HandshakeSchema, OfALongSchemaTheFrontIsTold) {
  const std::string text = text_of_bytes(100'000);
  Rig rig({.schema_id = 100,
           .schema_text = text,
           .responses_per_s = 100'000,
           .response_burst = 100'000,
           .verified_per_s = 100'000,
           .verified_burst = 100'000});
  ClientHandshake client = rig.new_client({.schema_id = 200});
  const ClientResult done = learn_schema(rig, client, [](int) { return false; });
  EXPECT_EQ(done.remote_schema_text, text.substr(0, 65'536));
}

// Many at once: each gets all pages in as many questions as there are, or few more.
TEST(HandshakeSchema, ManyThatAreRefusedAtOnceGetAllPagesEach) {
  const std::string text = text_of_bytes(10'000);  // 40 pages
  Rig rig({.schema_id = 100,
           .schema_text = text,
           .responses_per_s = 100'000,
           .response_burst = 100'000,
           .verified_per_s = 100'000,
           .verified_burst = 100'000});
  constexpr size_t kClients = 30;
  std::vector<std::unique_ptr<ClientHandshake>> clients;
  std::vector<Bytes> messages;
  for (size_t i = 0; i < kClients; ++i) {
    clients.emplace_back(new ClientHandshake(rig.new_client({.schema_id = 200})));
    messages.push_back(rig.response_of(*clients.back()));
  }
  std::vector<std::string> texts(kClients);
  size_t done = 0;
  for (int turn = 0; turn < 3 * 40 && done < kClients; ++turn, rig.now_ns += kSecond / 20) {
    for (size_t i = 0; i < kClients; ++i) {
      if (!texts[i].empty()) continue;
      const Bytes answer = rig.ask(messages[i]);
      ASSERT_FALSE(answer.empty()) << turn << ' ' << i;
      const ClientResult result = rig.tell(*clients[i], answer);
      if (result.outcome == ClientOutcome::kPending) continue;
      texts[i] = result.remote_schema_text;
      ++done;
    }
  }
  for (size_t i = 0; i < kClients; ++i) EXPECT_EQ(texts[i].size(), text.size()) << "client " << i;
}

TEST(HandshakeSchema, ARefusalForAnotherReasonEndsTheQuestions) {
  Rig before({.schema_id = 100, .schema_text = text_of_bytes(1000)});
  ClientHandshake client = before.new_client({.schema_id = 200});
  const Bytes message = before.response_of(client);
  ASSERT_EQ(before.tell(client, before.ask(message)).outcome, ClientOutcome::kPending);
  // The same server with the client's schema, and a tick rate of its own.
  Rig now({.schema_id = 200, .tick_rate_hz = 30});
  ClientHandshake other = now.new_client({.schema_id = 200});
  now.ask(now.response_of(other));  // or its first refusal would have the random number of the one above
  const ClientResult done = before.tell(client, now.ask(message));
  EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
  EXPECT_EQ(done.reason, DisconnectReason::kConfigMismatch);
  EXPECT_EQ(done.remote_schema_text, "");
}

// Who copies an old answer again and again makes the client send a bounded number of datagrams.
TEST(HandshakeSchema, CopiesOfAnOldRefusalMakeAClientSendLittle) {
  Rig rig({.schema_id = 100, .schema_text = text_of_bytes(1000)});
  ClientHandshake client = rig.new_client({.schema_id = 200});
  const Bytes refusal = rig.ask(rig.response_of(client));
  size_t sent = 0;
  for (int copy = 0; copy < 1000; ++copy) {
    ASSERT_EQ(rig.tell(client, refusal).outcome, ClientOutcome::kPending);
    sent += rig.client_sink.take().size();
  }
  EXPECT_EQ(sent, 3u * 4u);
  rig.now_ns += 8 * kSecond;
  EXPECT_EQ(client.update(rig.now_ns, kStartUnixS, rig.client_sink).reason,
            DisconnectReason::kSchemaMismatch);
}

// ---- What the client tells in return (S-46 to S-49)

constexpr const char* kLines = "Player.Fighter.health\tuint16 bits 10 flags 0\nCrate\n";

ClientHandshakeConfig telling(std::string lines) {
  ClientHandshakeConfig config;
  config.schema_id = 200;
  config.schema_lines = [lines](uint64_t, std::string_view) { return lines; };
  return config;
}

/// The message 7 of a client that has not started: it learns the schema first.
Bytes difference_of(Rig& rig, ClientHandshake& client, Bytes* response = nullptr) {
  const Bytes message = rig.response_of(client);
  if (response != nullptr) *response = message;
  for (;;) {
    EXPECT_EQ(rig.tell(client, rig.ask(message)).outcome, ClientOutcome::kPending);
    const Bytes sent = rig.client_sink.take_one();
    if (sent != message) return sent;
  }
}

TEST(HandshakeSchema, ARefusedClientTellsWhatDiffers) {
  const std::string text = text_of_bytes(1000);
  Rig rig({.schema_id = 100, .schema_text = text});
  ClientHandshakeConfig config = telling(kLines);
  int asked = 0;
  config.schema_lines = [&](uint64_t schema_id, std::string_view told) {
    ++asked;
    EXPECT_EQ(schema_id, 100u);
    EXPECT_EQ(told, text);
    return std::string(kLines);
  };
  ClientHandshake client = rig.new_client(config);
  const Bytes told = difference_of(rig, client);
  EXPECT_EQ(rig.last.schema_lines, "") << "a message 3 tells none";
  Bytes answer = rig.ask(told);
  EXPECT_EQ(rig.refusal(), ServerRefusal::kSchemaMismatch);
  EXPECT_EQ(rig.last.schema_lines, kLines);
  EXPECT_EQ(rig.last.remote_schema_id, 200u);
  EXPECT_TRUE(rig.last.refused.is_proven);
  EXPECT_FALSE(rig.last.accepted);
  EXPECT_LT(answer.size(), 124u) << "no page";
  const Bytes again = rig.ask(told);
  EXPECT_FALSE(again.empty());
  EXPECT_NE(again, answer) << "each refusal has a key of its own";

  const ClientResult done = rig.tell(client, answer);
  EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
  EXPECT_EQ(done.reason, DisconnectReason::kSchemaMismatch);
  EXPECT_EQ(done.remote_schema_id, 100u);
  EXPECT_EQ(done.remote_schema_text, text);
  EXPECT_TRUE(done.is_told_by_server);
  EXPECT_EQ(client.lifecycle().state(), State::kDisconnected);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(rig.server.handshake.claim_count(), 0u);
}

TEST(HandshakeSchema, ALostMessageSevenComesThreeTimesInASecond) {
  Rig rig({.schema_id = 100, .schema_text = text_of_bytes(300)});
  ClientHandshake client = rig.new_client(telling(kLines));
  const Bytes told = difference_of(rig, client);
  const uint64_t began_ns = rig.now_ns;
  std::vector<double> at_ms = {0};
  ClientResult done;
  while (done.outcome == ClientOutcome::kPending) {
    ASSERT_GT(client.next_deadline_ns(), rig.now_ns);
    rig.now_ns = client.next_deadline_ns();
    done = client.update(rig.now_ns, kStartUnixS, rig.client_sink);
    for (const Sent& sent : rig.client_sink.take()) {
      EXPECT_EQ(sent.bytes, told);
      at_ms.push_back(static_cast<double>(rig.now_ns - began_ns) / 1e6);
    }
  }
  ASSERT_EQ(at_ms.size(), 3u);
  EXPECT_NEAR(at_ms[1], 250, 25);
  EXPECT_NEAR(at_ms[2], 750, 75);
  EXPECT_EQ(rig.now_ns - began_ns, kSecond);
  EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
  EXPECT_EQ(done.reason, DisconnectReason::kSchemaMismatch);
}

TEST(HandshakeSchema, OnlyTheAnswerToMessageSevenEndsTheTelling) {
  Rig rig({.schema_id = 100, .schema_text = text_of_bytes(300)});
  ClientHandshake client = rig.new_client(telling(kLines));
  Bytes response;
  const Bytes told = difference_of(rig, client, &response);
  const auto changes_nothing = [&](const Bytes& datagram) {
    EXPECT_EQ(rig.tell(client, datagram).outcome, ClientOutcome::kPending);
    EXPECT_TRUE(rig.client_sink.take().empty());
  };
  const Bytes answer = rig.ask(told);
  ASSERT_FALSE(answer.empty());
  changes_nothing(rig.ask(response));  // a refusal of an earlier message 3, late
  rig.now_ns += 30 * kSecond;          // a Challenge of another bucket
  ClientHandshake other = rig.new_client(telling(kLines));
  changes_nothing(rig.ask(rig.request_of(other)));
  rig.now_ns -= 30 * kSecond;
  for (size_t i = 0; i < answer.size(); ++i) {
    Bytes damaged = answer;
    damaged[i] ^= 1;
    changes_nothing(damaged);
  }
  EXPECT_EQ(rig.tell(client, answer).outcome, ClientOutcome::kRefused);
}

TEST(HandshakeSchema, TheKeyDependsOnTheText) {
  const std::string other = "Player.Fighter.health\tuint16 bits 11 flags 0\nCrate\n";
  Rig rig({.schema_id = 100, .schema_text = text_of_bytes(300)});
  const crypto::KeyPair key = rig.new_key();
  const Bytes token = rig.sign(rig.token_fields(key.public_key()));
  std::vector<Bytes> told;
  for (const std::string& lines : {std::string(kLines), other, std::string(kLines)}) {
    crypto::nonce_ledger_clear();  // they are one client with one Challenge
    ClientHandshake client = rig.client_with(token, key, telling(lines));
    told.push_back(difference_of(rig, client));
  }
  EXPECT_EQ(told[0], told[2]);
  ASSERT_EQ(told[0].size(), told[1].size());
  const size_t sealed = 16 + 8 + other.size(), salt = told[0].size() - sealed - 16;
  EXPECT_TRUE(std::equal(told[0].begin(), told[0].begin() + static_cast<ptrdiff_t>(salt), told[1].begin()));
  // Under one key, what is the same in two texts would be the same in the seals.
  for (size_t from : {salt, told[0].size() - sealed}) {
    EXPECT_FALSE(std::equal(told[0].begin() + static_cast<ptrdiff_t>(from),
                            told[0].begin() + static_cast<ptrdiff_t>(from + 8),
                            told[1].begin() + static_cast<ptrdiff_t>(from)));
  }
}

TEST(HandshakeSchema, WithoutAValidTokenNothingIsTold) {
  Rig rig({.schema_id = 100, .schema_text = text_of_bytes(300)});
  ClientHandshake client = rig.new_client(telling(kLines));
  const Bytes told = difference_of(rig, client);
  const auto is_silent = [&](const Bytes& datagram, ServerRefusal refusal) {
    rig.now_ns += 10'000'000;
    EXPECT_TRUE(rig.ask(datagram).empty());
    EXPECT_TRUE(refusal == ServerRefusal::kNone || rig.refusal() == refusal)
        << server_refusal_name(rig.refusal());
    EXPECT_EQ(rig.last.schema_lines, "");
  };
  for (size_t i = 0; i < told.size(); ++i) {
    Bytes damaged = told;
    damaged[i] ^= 0x10;
    is_silent(damaged, ServerRefusal::kNone);
    damaged.resize(i);
    is_silent(damaged, ServerRefusal::kNone);
  }
  EXPECT_TRUE(rig.ask_from(base::ipv4_path(192, 0, 2, 1, 40001), told).empty()) << "from elsewhere";
  const crypto::PublicKey stranger = crypto::SigningKeyPair::generate(rig.entropy).public_key();
  rig.server.handshake.set_issuers({&stranger, 1});
  is_silent(told, ServerRefusal::kUnknownIssuer);
  const crypto::PublicKey issuer = rig.issuer.public_key();
  rig.server.handshake.set_issuers({&issuer, 1});
  EXPECT_FALSE(rig.ask(told).empty());
  rig.now_ns += 30 * kSecond;
  is_silent(told, ServerRefusal::kCookie);
}

TEST(HandshakeSchema, WhoIsConnectedOrHasTheSameSchemaTellsNothing) {
  Rig rig({.schema_id = 100, .schema_text = text_of_bytes(300)});
  const crypto::KeyPair key = rig.new_key();
  const Bytes token = rig.sign(rig.token_fields(key.public_key()));
  ClientHandshake client = rig.client_with(token, key, telling(kLines));
  const Bytes told = difference_of(rig, client);
  Rig same({.schema_id = 200, .schema_text = text_of_bytes(300)});  // with the keys of the other
  ClientHandshake any = same.new_client({.schema_id = 200});
  same.ask(same.request_of(any));
  EXPECT_TRUE(same.ask(told).empty());
  EXPECT_EQ(same.refusal(), ServerRefusal::kResponseMismatch);
  EXPECT_EQ(same.last.schema_lines, "");

  crypto::nonce_ledger_clear();  // the same token and key with another schema: a second text under one k3
  ClientHandshake fits = rig.client_with(token, key, {.schema_id = 100});
  rig.ask(rig.response_of(fits));
  ASSERT_TRUE(rig.last.accepted);
  EXPECT_TRUE(rig.ask(told).empty());
  EXPECT_EQ(rig.refusal(), ServerRefusal::kTokenReused);
  EXPECT_EQ(rig.last.schema_lines, "");
}

TEST(HandshakeSchema, CopiesOfAMessageSevenCostWhatCopiesOfAMessageThreeDo) {
  Rig rig({.schema_id = 100, .schema_text = text_of_bytes(300)});
  ClientHandshake client = rig.new_client(telling(kLines));
  const Bytes told = difference_of(rig, client);
  rig.now_ns += kSecond;
  const uint64_t verified = rig.server.handshake.verified_count();
  int answers = 0;
  for (int copy = 0; copy < 2000; ++copy) answers += rig.ask(told).empty() ? 0 : 1;
  EXPECT_EQ(static_cast<uint64_t>(answers), rig.server.handshake.verified_count() - verified);
  EXPECT_LE(answers, 17);
  EXPECT_GT(rig.server.handshake.refusal_count(ServerRefusal::kResponseRate), 0u);
}

TEST(HandshakeSchema, AClientWithNothingToTellEndsAtOnce) {
  for (const std::string& lines : {std::string(), std::string("not ended"), std::string(513, '\n')}) {
    Rig rig({.schema_id = 100, .schema_text = text_of_bytes(300)});
    ClientHandshake client = rig.new_client(telling(lines));
    const ClientResult done = learn_schema(rig, client, [](int) { return false; });
    EXPECT_EQ(done.reason, DisconnectReason::kSchemaMismatch);
    EXPECT_EQ(done.remote_schema_text.size(), 300u);
  }
  Rig rig({.schema_id = 100});  // a server that tells nothing
  ClientHandshake client = rig.new_client(telling(kLines));
  EXPECT_EQ(rig.tell(client, rig.ask(rig.response_of(client))).outcome, ClientOutcome::kRefused);
}

// Two clients that take turns exactly.
TEST(HandshakeSchema, ClientsDoNotTakeThePagesOfEachOther) {
  const std::string text = text_of_bytes(1000);
  Rig rig({.schema_id = 100, .schema_text = text});
  ClientHandshake one = rig.new_client({.schema_id = 200}), two = rig.new_client({.schema_id = 201});
  const Bytes of_one = rig.response_of(one), of_two = rig.response_of(two);
  ClientResult first, second;
  for (int turn = 0; turn < 100 && (first.remote_schema_text.empty() || second.remote_schema_text.empty());
       ++turn) {
    if (first.remote_schema_text.empty()) first = rig.tell(one, rig.ask(of_one));
    if (second.remote_schema_text.empty()) second = rig.tell(two, rig.ask(of_two));
  }
  EXPECT_EQ(first.remote_schema_text, text);
  EXPECT_EQ(second.remote_schema_text, text);
}

}  // namespace
}  // namespace lattice::connection
