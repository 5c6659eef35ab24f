// Which cipher a connection uses (S-33…S-35): the better one both have, and nobody on the way can change
// that.
#include <gtest/gtest.h>

#include "endpoint_rig.h"
#include "transport/crypto/packet_key.h"
#include "transport/wire/handshake_bodies.h"

namespace lattice::test {
namespace {

constexpr size_t kAcceptedBytes = 84;     // the datagram of message 4
constexpr size_t kResponseAtLeast = 352;  // of message 3, which is shorter than message 1

RigOptions offering(bool server, bool client) {
  RigOptions options;
  options.server.offer_aes256gcm = server;
  options.client.offer_aes256gcm = client;
  return options;
}

uint32_t features(const Node& node) {
  return node.handler.infos.empty() ? ~0u : node.handler.infos[0].features;
}

/// Sends one message each way and says whether both came.
bool talks(EndpointRig& rig) {
  const Bytes body = {1, 2, 3};
  rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, body);
  rig.server.endpoint->send(rig.server.connection, Channel::kReliableOrdered, {}, body);
  return rig.run_until(kSecond, [&] {
    return rig.client().handler.received.size() == 1 && rig.server.handler.received.size() == 1;
  });
}

TEST(EndpointCipher, IsAesWhereBothHaveIt) {
  EndpointRig rig(offering(true, true));
  ASSERT_TRUE(rig.connect_all());
  const uint32_t expected = crypto::has_aes256gcm() ? wire::kFeatureAes256Gcm : 0;
  EXPECT_EQ(features(rig.client()), expected);
  EXPECT_EQ(features(rig.server), expected);
  EXPECT_TRUE(talks(rig));
}

TEST(EndpointCipher, IsChaChaWhereEitherLacksAes) {
  for (const bool server : {false, true}) {
    EndpointRig rig(offering(server, !server));
    ASSERT_TRUE(rig.connect_all());
    EXPECT_EQ(features(rig.client()), 0u);
    EXPECT_EQ(features(rig.server), 0u);
    EXPECT_TRUE(talks(rig));
  }
}

TEST(EndpointCipher, HoldsAcrossRotations) {
  RigOptions options = offering(true, true);
  options.server.rotation.packets = options.client.rotation.packets = 40;
  options.client.rotation.min_interval_ns = options.server.rotation.min_interval_ns = kSecond;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  for (int i = 0; i < 1500; ++i) {
    const Bytes body = {static_cast<uint8_t>(i)};
    rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, body);
    rig.step();
  }
  ASSERT_TRUE(rig.run_until(kSecond, [&] { return rig.server.handler.received.size() == 1500; }));
  EXPECT_GT(rig.client_stats().key_epoch, 1u);
  EXPECT_TRUE(rig.server.handler.ended.empty());
}

/// Flips one bit of the sealed part of every first message 3 or 4 that passes.
struct Downgrader {
  size_t from_end;  // the byte, counted from the datagram's end
  bool is_response;
  int tampered = 0;
  int limit = 3;

  static socket::TapVerdict tap(void* context, socket::TappedDatagram& datagram) {
    auto& self = *static_cast<Downgrader*>(context);
    const auto type = static_cast<wire::PacketType>(datagram.data[4]);
    const bool hit = self.is_response
                         ? type == wire::PacketType::kChallengeResponse && datagram.size >= kResponseAtLeast
                         : type == wire::PacketType::kHandshake && datagram.size == kAcceptedBytes;
    if (hit && self.tampered < self.limit) {
      datagram.data[datagram.size - self.from_end] ^= 1;
      ++self.tampered;
    }
    return socket::TapVerdict::kPass;
  }
};

// features is followed by max_datagram (2 bytes) and the tag in message 3, and by the tag in message 4. Bit 0
// of its first byte is the AES bit: in a stream cipher the attacker flips it without knowing the key.
TEST(EndpointCipher, AFlippedOfferGivesNoConnectionRatherThanAWeakerOne) {
  for (const bool is_response : {true, false}) {
    Downgrader downgrader{.from_end = crypto::kTagBytes + 4 + (is_response ? 2u : 0u),
                          .is_response = is_response};
    EndpointRig rig(offering(true, true));
    rig.network.set_tap(Downgrader::tap, &downgrader);
    ASSERT_EQ(rig.connect(rig.client()), reliability::ConnectResult::kOk);
    // Not one of the tampered messages gets anywhere; the first untouched retry does, with the offers intact.
    ASSERT_TRUE(rig.run_until(10 * kSecond, [&] {
      const bool connected = !rig.client().handler.connected.empty();
      EXPECT_FALSE(connected && downgrader.tampered < downgrader.limit);
      return connected;
    }));
    EXPECT_EQ(downgrader.tampered, downgrader.limit);
    EXPECT_EQ(features(rig.client()), crypto::has_aes256gcm() ? wire::kFeatureAes256Gcm : 0);
    rig.network.set_tap(nullptr, nullptr);
  }
}

}  // namespace
}  // namespace lattice::test
