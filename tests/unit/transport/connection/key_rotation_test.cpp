#include "transport/connection/key_rotation.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/durations.h"
#include "transport/crypto/nonce_ledger.h"
#include "unit/transport/connection/handshake_rig.h"
#include "unit/transport/connection/link_keys.h"
#include "unit/transport/handshake_vectors.h"

namespace lattice::connection {
namespace {

using test::Bytes;
using test::HandshakeVectors;
using test::kId;
using test::kMs;
using test::kSecond;
using test::to_hex;
using wire::PacketType;

constexpr uint64_t kRtoNs = 100 * kMs;
constexpr uint64_t kMinute = 60 * kSecond;

/// One side: its keys, its rotation and its randomness.
struct Side {
  Side(crypto::Role role, const RotationConfig& config, uint64_t seed, const crypto::Key& master)
      : link(wire::kProtocolId, kId, role, master.clone()), rotation(role, config, 0), entropy(seed) {}

  Bytes seal() {
    Bytes buffer(100);
    const auto sealed = link.seal(PacketType::kPayload, buffer, 30, 10);
    Bytes datagram(sealed->datagram.begin(), sealed->datagram.end());
    rotation.on_sealed(datagram.size());
    return datagram;
  }
  OpenRefusal open(Bytes datagram, uint64_t now_ns, uint64_t rto_ns = kRtoNs) {
    const SecureLink::Opened opened = link.open(datagram);
    if (opened) rotation.on_opened(link, opened.epoch, datagram.size(), now_ns, rto_ns);
    return opened.refusal;
  }
  /// What update() wants said at `now_ns`.
  Bytes update(uint64_t now_ns) {
    rotation.update(link, entropy, now_ns);
    return take();
  }
  Bytes take() {
    Bytes body(rotation.outgoing().begin(), rotation.outgoing().end());
    rotation.on_queued();
    return body;
  }
  KeyRotation::ControlResult control(const Bytes& body, uint64_t now_ns) {
    return rotation.on_control(body, link, entropy, now_ns);
  }

  SecureLink link;
  KeyRotation rotation;
  test::ScriptedEntropy entropy;
};

class Rotation : public testing::Test {
 protected:
  Rotation() { crypto::nonce_ledger_clear(); }

  static crypto::Key first_master() {
    std::array<uint8_t, 32> bytes;
    bytes.fill(7);
    return crypto::Key(bytes);
  }

  /// One whole rotation at `now_ns`, which must be due, with a packet each way under the new epoch.
  void rotate(Side& client, Side& server, uint64_t now_ns) {
    const Bytes init = client.update(now_ns);
    ASSERT_EQ(init.size(), wire::kRekeyBodyBytes);
    ASSERT_EQ(server.control(init, now_ns).refusal, RotationRefusal::kNone);
    ASSERT_TRUE(client.control(server.take(), now_ns).switched);
    ASSERT_EQ(server.open(client.seal(), now_ns), OpenRefusal::kNone);
    ASSERT_EQ(client.open(server.seal(), now_ns), OpenRefusal::kNone);
  }

  RotationConfig config_;
  Side client_{crypto::Role::kClient, config_, 1, first_master()};
  Side server_{crypto::Role::kServer, config_, 2, first_master()};
};

TEST_F(Rotation, FirstOneEqualsTheVectors) {
  const HandshakeVectors v;
  const uint64_t id = v.input_hex("connection_id");
  Side client(crypto::Role::kClient, {}, 1, v.key("m0"));
  Side server(crypto::Role::kServer, {}, 2, v.key("m0"));
  client.link = SecureLink(wire::kProtocolId, id, crypto::Role::kClient, v.key("m0"));
  client.entropy.push(v.bytes("private_keys", "rekey_initiator"));
  server.entropy.push(v.bytes("private_keys", "rekey_responder"));

  const Bytes init = client.update(15 * kMinute);
  EXPECT_EQ(to_hex(init), to_hex(v.bytes("rekey", "init_body")));
  ASSERT_EQ(server.control(init, 15 * kMinute).refusal, RotationRefusal::kNone);
  const Bytes response = server.take();
  EXPECT_EQ(to_hex(response), to_hex(v.bytes("rekey", "response_body")));
  EXPECT_EQ(to_hex(server.link.master().bytes()), to_hex(v.bytes("rekey", "m1")));
  ASSERT_TRUE(client.control(response, 15 * kMinute).switched);
  EXPECT_EQ(to_hex(client.link.master().bytes()), to_hex(v.bytes("rekey", "m1")));

  while (client.link.next_packet_seq() < 300) client.seal();
  const Bytes plaintext = v.bytes("first_payload_client_seq1", "plaintext");
  Bytes buffer(100);
  std::copy(plaintext.begin(), plaintext.end(), buffer.begin() + 30);
  const auto sealed = client.link.seal(PacketType::kPayload, buffer, 30, plaintext.size());
  EXPECT_EQ(to_hex(sealed->datagram), to_hex(v.bytes("rekey", "payload_client_seq300_epoch1")));
}

TEST_F(Rotation, EachSideOpensBeforeThePeerSeals) {
  const uint64_t now = 15 * kMinute;
  const Bytes init = client_.update(now);
  const Bytes during = client_.seal();
  ASSERT_EQ(server_.control(init, now).refusal, RotationRefusal::kNone);
  EXPECT_EQ(server_.link.newest_epoch(), 1u);
  EXPECT_EQ(server_.link.send_epoch(), 0u) << "not before a packet opened under the new keys";
  EXPECT_EQ(server_.open(during, now), OpenRefusal::kNone);
  EXPECT_EQ(server_.link.send_epoch(), 0u);
  const Bytes old_from_server = server_.seal();

  ASSERT_TRUE(client_.control(server_.take(), now).switched);
  EXPECT_EQ(client_.link.send_epoch(), 1u);
  EXPECT_EQ(client_.open(old_from_server, now), OpenRefusal::kNone);
  const Bytes first = client_.seal();
  EXPECT_EQ(first[13], 1);
  EXPECT_EQ(server_.open(first, now), OpenRefusal::kNone);
  EXPECT_EQ(server_.link.send_epoch(), 1u);
  EXPECT_EQ(client_.open(server_.seal(), now), OpenRefusal::kNone);
}

TEST_F(Rotation, OldKeyLivesThreeRtoWithinOneToFiveSeconds) {
  struct Case {
    uint64_t rto_ns, overlap_ns;
  };
  uint64_t now = 0;
  for (const Case& c : {Case{50 * kMs, kSecond},
                        {500 * kMs, 1500 * kMs},
                        {1000 * kMs, 3 * kSecond},
                        {4000 * kMs, 5 * kSecond}}) {
    Side client(crypto::Role::kClient, {}, 1, first_master());
    Side server(crypto::Role::kServer, {}, 2, first_master());
    crypto::nonce_ledger_clear();
    now = 15 * kMinute;
    const Bytes init = client.update(now);
    const Bytes late = client.seal(), later = client.seal();
    server.control(init, now);
    client.control(server.take(), now);
    now += 2 * kSecond;
    server.update(now);
    EXPECT_TRUE(server.link.old_epoch_live()) << "the overlap begins with the first packet of the new epoch";
    EXPECT_EQ(server.open(client.seal(), now, c.rto_ns), OpenRefusal::kNone);
    server.update(now + c.overlap_ns - 1);
    EXPECT_EQ(server.open(late, now), OpenRefusal::kNone);
    server.update(now + c.overlap_ns);
    EXPECT_EQ(server.open(later, now), OpenRefusal::kUnknownEpoch);
  }
}

TEST_F(Rotation, DueByTimeBytesAndPacketsOfEitherDirection) {
  EXPECT_TRUE(client_.update(15 * kMinute - 1).empty());
  EXPECT_FALSE(client_.update(15 * kMinute).empty());

  const RotationConfig by_bytes = {.bytes = 10 * 41};
  const RotationConfig by_packets = {.packets = 10};
  for (const RotationConfig& config : {by_bytes, by_packets}) {
    for (const bool receiving : {false, true}) {
      crypto::nonce_ledger_clear();
      Side client(crypto::Role::kClient, config, 1, first_master());
      Side server(crypto::Role::kServer, config, 2, first_master());
      for (int i = 0; i < 9; ++i) receiving ? (void)client.open(server.seal(), 0) : (void)client.seal();
      EXPECT_TRUE(client.update(20 * kSecond).empty());
      receiving ? (void)client.open(server.seal(), 0) : (void)client.seal();
      EXPECT_TRUE(client.update(10 * kSecond - 1).empty()) << "not within ten seconds of the last";
      EXPECT_FALSE(client.update(10 * kSecond).empty());
    }
  }
}

TEST_F(Rotation, OneInFlightAndTheOldEpochGoneBeforeTheNext) {
  const RotationConfig config = {.packets = 1, .min_interval_ns = 0};
  Side client(crypto::Role::kClient, config, 1, first_master());
  Side server(crypto::Role::kServer, config, 2, first_master());
  crypto::nonce_ledger_clear();
  client.seal();
  ASSERT_FALSE(client.update(0).empty());
  client.seal();
  EXPECT_TRUE(client.update(kMinute).empty());
  EXPECT_TRUE(client.rotation.in_flight());

  Side again(crypto::Role::kClient, config, 3, first_master());
  crypto::nonce_ledger_clear();
  again.seal();
  rotate(again, server, 0);
  again.seal();
  EXPECT_TRUE(again.update(kSecond - 1).empty()) << "epoch 0 is live";
  EXPECT_FALSE(again.update(kSecond).empty());
}

TEST_F(Rotation, ServerAsksAndTheClientObeys) {
  const RotationConfig eager = {.period_ns = kMinute};
  Side server(crypto::Role::kServer, eager, 2, first_master());
  EXPECT_TRUE(server.update(kMinute).empty()) << "a client with the same limit goes first";
  const Bytes ask = server.update(kMinute + kMinute / 8);
  EXPECT_EQ(ask, Bytes{13});
  EXPECT_TRUE(server.update(2 * kMinute).empty()) << "once per epoch";

  ASSERT_EQ(client_.control(ask, 2 * kMinute).refusal, RotationRefusal::kNone);
  const Bytes init = client_.update(2 * kMinute);
  ASSERT_FALSE(init.empty());
  // Another one crosses RekeyInit: it is answered by the rotation that is under way.
  client_.control(ask, 2 * kMinute);
  ASSERT_EQ(server.control(init, 2 * kMinute).refusal, RotationRefusal::kNone);
  ASSERT_TRUE(client_.control(server.take(), 2 * kMinute).switched);
  server.open(client_.seal(), 2 * kMinute);
  client_.open(server.seal(), 2 * kMinute);
  EXPECT_TRUE(client_.update(3 * kMinute).empty());
}

TEST_F(Rotation, AskedTooEarlyWaits) {
  client_.control({13}, kSecond);
  EXPECT_TRUE(client_.update(10 * kSecond - 1).empty());
  EXPECT_FALSE(client_.update(10 * kSecond).empty());
}

TEST_F(Rotation, BodiesOfNoUseAreRefusedByName) {
  const uint64_t now = 15 * kMinute;
  const Bytes init = client_.update(now);
  const auto altered = [](Bytes body, size_t at, uint8_t value) {
    body[at] = value;
    return body;
  };
  Bytes weak = init;
  std::fill(weak.begin() + 5, weak.end(), uint8_t{0});
  const Bytes cut(init.begin(), init.end() - 1);
  const auto server_says = [&](const Bytes& body, uint64_t at_ns) {
    return server_.control(body, at_ns).refusal;
  };
  EXPECT_EQ(server_says(cut, now), RotationRefusal::kRekeyMalformed);
  EXPECT_EQ(server_says(altered(init, 1, 2), now), RotationRefusal::kRekeyWrongEpoch);
  EXPECT_EQ(server_says(altered(init, 1, 0), now), RotationRefusal::kRekeyWrongEpoch);
  EXPECT_EQ(server_says(altered(init, 4, 1), now), RotationRefusal::kRekeyWrongEpoch) << "all 32 bits count";
  EXPECT_EQ(server_says(altered(init, 0, 2), now), RotationRefusal::kRekeyWrongRole);
  EXPECT_EQ(server_says({13}, now), RotationRefusal::kRekeyWrongRole);
  EXPECT_EQ(server_says(weak, now), RotationRefusal::kRekeyWeakKey);
  EXPECT_EQ(server_says(init, 5 * kSecond - 1), RotationRefusal::kRekeyTooSoon);
  EXPECT_EQ(server_.link.newest_epoch(), 0u);
  EXPECT_TRUE(server_.rotation.outgoing().empty());

  ASSERT_EQ(server_says(init, now), RotationRefusal::kNone);
  const Bytes response = server_.take();
  // The next epoch cannot be asked for under a key that has not opened anything yet.
  EXPECT_EQ(server_says(altered(init, 1, 2), now + kMinute), RotationRefusal::kRekeyWrongEpoch);

  Bytes weak_response = response;
  std::fill(weak_response.begin() + 5, weak_response.end(), uint8_t{0});
  const auto client_says = [&](const Bytes& body) { return client_.control(body, now).refusal; };
  EXPECT_EQ(client_says(init), RotationRefusal::kRekeyWrongRole);
  EXPECT_EQ(client_says({13, 0}), RotationRefusal::kRekeyMalformed);
  EXPECT_EQ(client_says(altered(response, 1, 2)), RotationRefusal::kRekeyWrongEpoch);
  EXPECT_EQ(client_says(weak_response), RotationRefusal::kRekeyWeakKey);
  EXPECT_EQ(client_.link.send_epoch(), 0u);
  EXPECT_EQ(client_says(response), RotationRefusal::kNone);
  EXPECT_EQ(client_says(response), RotationRefusal::kRekeyWrongEpoch) << "an answer to nothing";
}

TEST_F(Rotation, EachKeyAgreedOnInMixesBothBodies) {
  // The same exchange with another epoch byte, or another key, gives other secrets.
  const uint64_t now = 15 * kMinute;
  rotate(client_, server_, now);
  EXPECT_EQ(to_hex(client_.link.master().bytes()), to_hex(server_.link.master().bytes()));
  crypto::nonce_ledger_clear();
  Side other_client(crypto::Role::kClient, config_, 1, first_master());
  Side other_server(crypto::Role::kServer, config_, 3, first_master());
  rotate(other_client, other_server, now);
  EXPECT_NE(to_hex(client_.link.master().bytes()), to_hex(other_client.link.master().bytes()));
}

TEST_F(Rotation, TheLowByteOfTheEpochWraps) {
  uint64_t now = 0;
  std::set<std::string> masters;
  for (int i = 0; i < 300; ++i) {
    now += 15 * kMinute;
    server_.update(now);
    rotate(client_, server_, now);
    ASSERT_FALSE(HasFatalFailure());
    masters.insert(to_hex(server_.link.master().bytes()));
  }
  EXPECT_EQ(client_.link.newest_epoch(), 300u);
  EXPECT_EQ(client_.seal()[13], 300 - 256);
  EXPECT_EQ(masters.size(), 300u);
  EXPECT_EQ(client_.link.next_packet_seq(), 302u) << "numbers go on";
}

TEST_F(Rotation, ARotationThatComesLateRetiresTheEpochBeforeLast) {
  rotate(client_, server_, 15 * kMinute);
  // The server has not been updated since: its overlap has not been looked at.
  ASSERT_TRUE(server_.link.old_epoch_live());
  rotate(client_, server_, 31 * kMinute);
  EXPECT_EQ(server_.link.newest_epoch(), 2u);
}

}  // namespace
}  // namespace lattice::connection
