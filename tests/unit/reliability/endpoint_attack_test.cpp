// Hostile datagrams: forged, replayed, flipped, from elsewhere; and hostile peers that hold the keys.
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "endpoint_rig.h"
#include "transport/connection/secure_link.h"

namespace lattice::reliability {
namespace {

using connection::DisconnectReason;
using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::number_body;

// Copies everything that passes, and lets it pass.
struct Tap {
  static socket::TapVerdict see(void* context, socket::TappedDatagram& datagram) {
    auto& self = *static_cast<Tap*>(context);
    if (self.seen.size() < 4096) {
      self.seen.push_back({datagram.from, datagram.to, Bytes(datagram.data, datagram.data + datagram.size)});
    }
    return socket::TapVerdict::kPass;
  }
  struct Copy {
    base::PathId from, to;
    Bytes bytes;
  };
  std::vector<Copy> seen;
};

TEST(EndpointAttack, SpoofedReplayedAndFlippedDatagramsOnlyCount) {
  EndpointRig rig(test::delayed(10 * kMs));
  Tap tap;
  rig.network.set_tap(&Tap::see, &tap);
  ASSERT_TRUE(rig.connect_all());
  for (uint64_t i = 0; i < 20; ++i) {
    rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(i));
    rig.run(20 * kMs);
  }
  rig.network.set_tap(nullptr, nullptr);
  rig.run(200 * kMs);
  ASSERT_EQ(rig.server.handler.received.size(), 20u);
  const uint64_t opened = rig.server_stats().traffic.packets_received;
  const uint64_t refused = rig.server.endpoint->stats().refusals.total();
  const base::PathId stranger = base::ipv4_path(203, 0, 113, 5, 1234);
  base::Random random(42);
  uint64_t injected = 0;
  for (const Tap::Copy& copy : tap.seen) {
    if (copy.to != rig.server.address) continue;
    // As it was, from its own address and from a stranger's; then with each of some bits flipped.
    ASSERT_TRUE(rig.network.inject(copy.from, copy.to, copy.bytes, rig.now_ns));
    ASSERT_TRUE(rig.network.inject(stranger, copy.to, copy.bytes, rig.now_ns));
    injected += 2;
    for (int i = 0; i < 20; ++i) {
      Bytes flipped = copy.bytes;
      flipped[random.next_below(flipped.size())] ^= static_cast<uint8_t>(1u << random.next_below(8));
      ASSERT_TRUE(rig.network.inject(copy.from, copy.to, flipped, rig.now_ns));
      ++injected;
    }
    rig.pump(rig.server);
  }
  // Random bytes behind a right header with a huge number: must not move the replay window (K-03).
  for (int i = 0; i < 200; ++i) {
    Bytes forged = tap.seen.back().bytes;
    forged.resize(60);
    wire::PacketHeader header;
    header.type = wire::PacketType::kPayload;
    for (const Tap::Copy& copy : tap.seen) {
      size_t n = 0;
      wire::PacketHeader h;
      if (wire::parse_packet_header(copy.bytes, wire::kProtocolId, &h, &n) == wire::HeaderStatus::kOk &&
          wire::is_session_packet(h.type)) {
        header.connection_id = h.connection_id;
      }
    }
    header.packet_seq = (uint64_t{1} << 40) + static_cast<uint64_t>(i);
    wire::encode_packet_header(header, forged);
    ASSERT_TRUE(rig.network.inject(rig.client().address, rig.server.address, forged, rig.now_ns));
    ++injected;
  }
  rig.pump(rig.server);
  EXPECT_EQ(rig.server.handler.received.size(), 20u);
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_EQ(rig.server.handler.connected.size(), 1u);
  EXPECT_EQ(rig.server.endpoint->connection_count(), 1u);
  EXPECT_GE(rig.server_stats().traffic.packets_received, opened);
  EXPECT_LE(rig.server_stats().traffic.packets_received, opened + 2);  // The client's own keepalives.
  EXPECT_GE(rig.server.endpoint->stats().refusals.total() - refused, injected * 9 / 10);
  const RefusalCounters& mine = rig.server_stats().refusals;
  EXPECT_EQ(rig.server_stats().path_trials, 0u);
  EXPECT_GT(mine.get(Refusal::kDuplicate), 0u);
  EXPECT_GE(mine.get(Refusal::kNotAuthentic), 200u);
  // And the connection goes on as if nothing had happened.
  rig.client().endpoint->send(rig.client().connection, Channel::kReliableOrdered, {}, number_body(20), 9);
  rig.run(200 * kMs);
  EXPECT_EQ(rig.server.handler.received.size(), 21u);
  EXPECT_TRUE(rig.client().handler.receipts[9][0]);
}

TEST(EndpointAttack, NoiseOpensNothing) {
  EndpointRig rig(test::delayed(10 * kMs));
  base::Random random(7);
  for (int i = 0; i < 5000; ++i) {
    Bytes noise(random.next_below(1400));
    for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random.next_u64());
    if (i % 2 == 0 && noise.size() > 5) {
      noise[0] = 0x4C, noise[1] = 0x54, noise[2] = 0, noise[3] = 1;
      noise[4] = static_cast<uint8_t>(random.next_below(8));
    }
    ASSERT_TRUE(rig.network.inject(base::ipv4_path(10, 0, 0, 1, 99), rig.server.address, noise, rig.now_ns));
    if (i % 100 == 0) rig.pump(rig.server);
  }
  rig.step();
  EXPECT_EQ(rig.server.endpoint->connection_count(), 0u);
  // What looks like a packet of some connection may be answered by a reset, within the limits.
  EXPECT_EQ(rig.server.socket->stats().datagrams_sent, rig.server.endpoint->stats().resets_sent);
  EXPECT_LE(rig.server.socket->stats().datagrams_sent, 200u);
  EXPECT_EQ(rig.server.endpoint->stats().refusals.total(), 5000u);
  const RefusalCounters& refusals = rig.server.endpoint->stats().refusals;
  for (const Refusal reason :
       {Refusal::kHeaderBadMagic, Refusal::kHeaderUnknownType, Refusal::kHeaderTooShort,
        Refusal::kUnknownConnection, Refusal::kWrongRole, Refusal::kHandshakeRefused}) {
    EXPECT_GT(refusals.get(reason), 0u) << refusal_name(reason);
  }
}

TEST(EndpointAttack, EveryRefusalHasItsOwnName) {
  std::set<std::string> names;
  for (size_t i = 0; i < kRefusalCount; ++i) names.insert(refusal_name(static_cast<Refusal>(i)));
  EXPECT_EQ(names.size(), kRefusalCount);
  EXPECT_EQ(refusal_of(connection::OpenRefusal::kMalformed), Refusal::kMalformed);
  EXPECT_EQ(refusal_of(connection::OpenRefusal::kForgeryLimit), Refusal::kForgeryLimit);
  EXPECT_EQ(refusal_of(wire::FramingError::kTruncated), Refusal::kTruncated);
  EXPECT_EQ(refusal_of(wire::FramingError::kMissingAck), Refusal::kMissingAck);
  EXPECT_EQ(refusal_of(connection::RotationRefusal::kRekeyMalformed), Refusal::kRekeyMalformed);
  EXPECT_EQ(refusal_of(connection::RotationRefusal::kRekeyWeakKey), Refusal::kRekeyWeakKey);
}

}  // namespace
}  // namespace lattice::reliability
