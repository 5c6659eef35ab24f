// A server that refuses a client for its schema tells its own, page by page (S-44, S-45).
#include <gtest/gtest.h>

#include <string>

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
  EXPECT_EQ(rig.now_ns - started_ns, 3 * kSecond);
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
  rig.now_ns += 3 * kSecond;
  EXPECT_EQ(client.update(rig.now_ns, kStartUnixS, rig.client_sink).reason,
            DisconnectReason::kSchemaMismatch);
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
