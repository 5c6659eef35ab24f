// Every byte of the four messages, the refusal and the first sealed packets, made by the real objects from
// the vectors' keys and compared with the file.
#include <gtest/gtest.h>

#include "unit/transport/connection/handshake_rig.h"
#include "unit/transport/handshake_vectors.h"

namespace lattice::connection {
namespace {

using test::Bytes;
using test::HandshakeVectors;
using test::kSecond;
using test::to_hex;

class MessageVectors : public testing::Test {
 protected:
  MessageVectors() : entropy_(1) { crypto::nonce_ledger_clear(); }

  ServerHandshakeConfig server_config(uint64_t schema_id) const {
    ServerHandshakeConfig config;
    config.features = features_;
    config.schema_id = schema_id;
    config.mtu_hint_bytes = v_.input<uint16_t>("mtu_hint");
    config.tick_rate_hz = v_.input<uint16_t>("tick_rate");
    config.placed = placed();
    return config;
  }
  wire::PlacedSummary placed() const {
    return {v_.input<uint32_t>("placed_count"), v_.input_hex("placed_key_sum"),
            v_.input_hex("placed_key_squares"), v_.input_hex("placed_digest")};
  }
  ClientHandshake make_client(
      std::function<std::string(uint64_t, std::string_view)> schema_lines = {}) const {
    ClientHandshakeConfig config;
    config.schema_lines = std::move(schema_lines);
    config.features = features_;
    config.schema_id = v_.input_hex("schema_id");
    config.max_datagram_bytes = v_.input<uint16_t>("max_datagram");
    config.tick_rate_hz = v_.input<uint16_t>("tick_rate");
    config.max_objects = v_.input<uint32_t>("max_objects");
    config.placed = placed();
    return ClientHandshake(config, server_address_, v_.bytes("token"), v_.key_pair("client"));
  }
  /// A server whose bucket is the vectors'.
  std::unique_ptr<ServerHandshake> make_server(uint64_t schema_id) {
    policy_.next.peer_id = v_.input<uint64_t>("peer_id");
    const crypto::PublicKey issuer = v_.public_key("issuer");
    auto server = std::make_unique<ServerHandshake>(server_config(schema_id), v_.key_pair("server_static"),
                                                    std::span(&issuer, 1), entropy_, policy_);
    entropy_.push(v_.bytes("private_keys", "bucket"));
    entropy_.push(v_.bytes("inputs", "cookie_secret"));
    return server;
  }
  Bytes ask(ServerHandshake& server, const Bytes& datagram) {
    result_ = test::deliver(server, HandshakeVectors::client_address(), datagram, moment(), sink_);
    return sink_.take_one();
  }
  ServerMoment moment() const {
    return {now_ns_, v_.input<uint64_t>("token_issued"), v_.input<uint32_t>("server_tick")};
  }

  uint32_t features_ = 0;  ///< Of both sides.
  HandshakeVectors v_;
  test::ScriptedEntropy entropy_;
  test::ScriptedPolicy policy_;
  test::RecordingSink sink_;
  ServerResult result_;
  base::PathId server_address_ = base::ipv4_path(198, 51, 100, 7, 27015);
  uint64_t now_ns_ = v_.input<uint64_t>("key_index") * kBucketNs + kSecond;
};

TEST_F(MessageVectors, FourMessagesAndTheFirstPayload) {
  ClientHandshake client = make_client();
  ASSERT_EQ(client.start(now_ns_, sink_), DisconnectReason::kNone);
  const Bytes request = sink_.take_one();
  EXPECT_EQ(to_hex(request), v_.text("connection_request"));

  const auto server = make_server(v_.input_hex("schema_id"));
  const Bytes challenge = ask(*server, request);
  EXPECT_EQ(to_hex(challenge), v_.text("challenge"));

  client.on_datagram(server_address_, challenge, now_ns_, sink_);
  const Bytes response = sink_.take_one();
  EXPECT_EQ(to_hex(response), v_.text("challenge_response"));

  Bytes connection_id(8);
  platform::store_u64_le(connection_id.data(), v_.input_hex("connection_id"));
  entropy_.push(connection_id);
  entropy_.push(v_.bytes("inputs", "accept_random"));
  const Bytes accepted = ask(*server, response);
  EXPECT_EQ(to_hex(accepted), v_.text("connection_accepted"));
  EXPECT_TRUE(entropy_.script_done());

  const ClientResult done = client.on_datagram(server_address_, accepted, now_ns_, sink_);
  ASSERT_EQ(done.outcome, ClientOutcome::kAccepted);
  ASSERT_TRUE(result_.accepted.has_value());
  EXPECT_EQ(to_hex(done.accepted->master.bytes()), v_.text("m0"));
  EXPECT_EQ(to_hex(result_.accepted->master.bytes()), v_.text("m0"));
  EXPECT_EQ(done.accepted->connection_id, v_.input_hex("connection_id"));
  EXPECT_EQ(done.accepted->server_tick, 1000u);
  EXPECT_EQ(done.accepted->mtu_hint_bytes, 1200u);
  EXPECT_EQ(done.accepted->tick_rate_hz, 60u);
  EXPECT_EQ(done.accepted->peer_id, 42u);
  EXPECT_EQ(result_.accepted->peer_id, 42u);
  EXPECT_EQ(to_hex(std::span(result_.accepted->user_data).first(result_.accepted->user_bytes)),
            v_.input<std::string>("user_data"));

  SecureLink link(wire::kProtocolId, done.accepted->connection_id, crypto::Role::kClient,
                  done.accepted->master.clone());
  const Bytes plaintext = v_.bytes("first_payload_client_seq1", "plaintext");
  Bytes buffer(64);
  std::copy(plaintext.begin(), plaintext.end(), buffer.begin() + 20);
  const auto sealed = link.seal(wire::PacketType::kPayload, buffer, 20, plaintext.size());
  ASSERT_TRUE(sealed.has_value());
  EXPECT_EQ(sealed->packet_seq, 1u);
  EXPECT_EQ(to_hex(sealed->datagram), to_hex(v_.bytes("first_payload_client_seq1", "datagram")));
}

TEST_F(MessageVectors, RefusalOfAnotherSchema) {
  constexpr uint64_t kServerSchema = 0x99AABBCCDDEEFF00;
  const auto server = make_server(kServerSchema);
  ask(*server, v_.bytes("connection_request"));
  entropy_.push(v_.bytes("inputs", "refuse_random"));
  const Bytes refused = ask(*server, v_.bytes("challenge_response"));
  EXPECT_EQ(to_hex(refused), v_.text("connection_refused_schema_mismatch"));
  EXPECT_EQ(result_.refusal, ServerRefusal::kSchemaMismatch);
  EXPECT_EQ(result_.remote_schema_id, v_.input_hex("schema_id"));
  EXPECT_EQ(server->claim_count(), 0u);

  crypto::nonce_ledger_clear();
  ClientHandshake client = make_client();
  ASSERT_EQ(client.start(now_ns_, sink_), DisconnectReason::kNone);
  client.on_datagram(server_address_, v_.bytes("challenge"), now_ns_, sink_);
  const ClientResult done = client.on_datagram(server_address_, refused, now_ns_, sink_);
  EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
  EXPECT_EQ(done.reason, DisconnectReason::kSchemaMismatch);
  EXPECT_EQ(done.remote_schema_id, kServerSchema);
  EXPECT_EQ(done.text.view(), "schema");
}

TEST_F(MessageVectors, WhatAClientTellsOfItsSchemaAndTheAnswer) {
  const auto server = make_server(0x99AABBCCDDEEFF00);
  ask(*server, v_.bytes("connection_request"));
  entropy_.push(v_.bytes("inputs", "refuse_random"));
  const Bytes answer = ask(*server, v_.bytes("schema_difference", "datagram"));
  EXPECT_EQ(to_hex(answer), to_hex(v_.bytes("schema_difference", "answer")));
  EXPECT_EQ(result_.refusal, ServerRefusal::kSchemaMismatch);
  EXPECT_EQ(result_.remote_schema_id, v_.input_hex("schema_id"));
  EXPECT_EQ(result_.schema_lines, v_.input<std::string>("schema_lines"));

  const std::string lines = v_.input<std::string>("schema_lines");
  Bytes plaintext(8);
  platform::store_u64_le(plaintext.data(), v_.input_hex("schema_id"));
  plaintext.insert(plaintext.end(), lines.begin(), lines.end());
  const auto salt = v_.array<16>("schema_difference", "salt");
  EXPECT_EQ(crypto::schema_difference_salt(v_.key("prk"), plaintext), salt);
  EXPECT_EQ(to_hex(crypto::schema_difference_key(v_.key("prk"), salt).bytes()),
            to_hex(v_.bytes("schema_difference", "k7")));
}

TEST_F(MessageVectors, TheClientsMessageSeven) {
  // A server with the same keys that tells its schema, which that of the vectors does not.
  ServerHandshakeConfig config = server_config(0x99AABBCCDDEEFF00);
  config.schema_text = "one page";
  const crypto::PublicKey issuer = v_.public_key("issuer");
  ServerHandshake server(config, v_.key_pair("server_static"), std::span(&issuer, 1), entropy_, policy_);
  entropy_.push(v_.bytes("private_keys", "bucket"));
  entropy_.push(v_.bytes("inputs", "cookie_secret"));
  ClientHandshake client = make_client([this](uint64_t schema_id, std::string_view text) {
    EXPECT_EQ(schema_id, 0x99AABBCCDDEEFF00u);
    EXPECT_EQ(text, "one page");
    return v_.input<std::string>("schema_lines");
  });
  ASSERT_EQ(client.start(now_ns_, sink_), DisconnectReason::kNone);
  client.on_datagram(server_address_, ask(server, sink_.take_one()), now_ns_, sink_);
  const Bytes refused = ask(server, sink_.take_one());
  EXPECT_EQ(client.on_datagram(server_address_, refused, now_ns_, sink_).outcome, ClientOutcome::kPending);
  const Bytes told = sink_.take_one();
  EXPECT_EQ(to_hex(told), to_hex(v_.bytes("schema_difference", "datagram")));
  const ClientResult done =
      client.on_datagram(server_address_, v_.bytes("schema_difference", "answer"), now_ns_, sink_);
  EXPECT_EQ(done.outcome, ClientOutcome::kRefused);
  EXPECT_EQ(done.reason, DisconnectReason::kSchemaMismatch);
}

TEST_F(MessageVectors, PayloadAfterTheFirstRotation) {
  SecureLink client(wire::kProtocolId, v_.input_hex("connection_id"), crypto::Role::kClient, v_.key("m0"));
  SecureLink server(wire::kProtocolId, v_.input_hex("connection_id"), crypto::Role::kServer, v_.key("m0"));
  Bytes buffer(64);
  // The vector's packet carries number 300 and the plaintext of the first one.
  while (client.next_packet_seq() < 300) client.seal(wire::PacketType::kPayload, buffer, 20, 1);
  const auto m1 = v_.array<32>("rekey", "m1");
  client.install_epoch(crypto::Key(m1));
  client.send_in_newest_epoch();
  server.install_epoch(crypto::Key(m1));

  const Bytes plaintext = v_.bytes("first_payload_client_seq1", "plaintext");
  std::copy(plaintext.begin(), plaintext.end(), buffer.begin() + 20);
  const auto sealed = client.seal(wire::PacketType::kPayload, buffer, 20, plaintext.size());
  ASSERT_TRUE(sealed.has_value());
  EXPECT_EQ(to_hex(sealed->datagram), to_hex(v_.bytes("rekey", "payload_client_seq300_epoch1")));
  const SecureLink::Opened opened = server.open(sealed->datagram);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened.packet_seq, 300u);
  EXPECT_EQ(to_hex(opened.plaintext), to_hex(plaintext));
}

TEST_F(MessageVectors, Aes256GcmWhereBothHaveIt) {
  const auto agreed = [this](const char* name) { return v_.bytes("aes256gcm", name); };
  features_ = wire::kFeatureAes256Gcm;
  ClientHandshake client = make_client();
  ASSERT_EQ(client.start(now_ns_, sink_), DisconnectReason::kNone);
  const auto server = make_server(v_.input_hex("schema_id"));
  client.on_datagram(server_address_, ask(*server, sink_.take_one()), now_ns_, sink_);
  const Bytes response = sink_.take_one();
  EXPECT_EQ(response, agreed("challenge_response"));
  Bytes connection_id(8);
  platform::store_u64_le(connection_id.data(), v_.input_hex("connection_id"));
  entropy_.push(connection_id);
  entropy_.push(v_.bytes("inputs", "accept_random"));
  const Bytes accepted = ask(*server, response);
  EXPECT_EQ(accepted, agreed("connection_accepted"));
  const ClientResult done = client.on_datagram(server_address_, accepted, now_ns_, sink_);
  ASSERT_EQ(done.outcome, ClientOutcome::kAccepted);
  EXPECT_EQ(done.accepted->features, wire::kFeatureAes256Gcm);
  EXPECT_EQ(to_hex(done.accepted->master.bytes()), to_hex(agreed("m0")));
}

TEST_F(MessageVectors, PayloadsUnderAes256Gcm) {
  if (!crypto::has_aes256gcm()) GTEST_SKIP() << "this processor has no AES instructions";
  const auto m0 = v_.array<32>("aes256gcm", "m0");
  SecureLink link(wire::kProtocolId, v_.input_hex("connection_id"), crypto::Role::kClient, crypto::Key(m0),
                  {}, crypto::Cipher::kAes256Gcm);
  const auto& vectors = v_.json().at("aes256gcm");
  const Bytes plaintext = v_.bytes("first_payload_client_seq1", "plaintext");
  const auto seal = [&] {
    Bytes buffer(64);
    std::copy(plaintext.begin(), plaintext.end(), buffer.begin() + 20);
    return to_hex(link.seal(wire::PacketType::kPayload, buffer, 20, plaintext.size())->datagram);
  };
  EXPECT_EQ(seal(), vectors.at("first_payload_client_seq1").at("datagram").get<std::string>());
  while (link.next_packet_seq() < 300) seal();
  const auto m1 = test::array_from_hex<32>(vectors.at("rekey").at("m1").get<std::string>());
  link.install_epoch(crypto::Key(m1));
  link.send_in_newest_epoch();
  EXPECT_EQ(seal(), vectors.at("rekey").at("payload_client_seq300_epoch1").get<std::string>());
}

}  // namespace
}  // namespace lattice::connection
