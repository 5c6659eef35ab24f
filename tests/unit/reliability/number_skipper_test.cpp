// Numbers left out against peers that acknowledge what they never received.
#include "reliability/number_skipper.h"

#include <gtest/gtest.h>

#include "raw_client.h"
#include "transport/wire/disconnect_body.h"
#include "transport/wire/keepalive_body.h"

namespace lattice::reliability {
namespace {

using test::Bytes;
using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::number_body;
using test::RawClient;

TEST(NumberSkipper, LeavesOutOneIn500WithinItsBounds) {
  test::CountingEntropy entropy(5);
  NumberSkipper skipper;
  uint32_t gap = 0, shortest = UINT32_MAX, longest = 0, skips = 0;
  constexpr uint32_t kPackets = 1'000'000;
  EXPECT_FALSE(skipper.skip_before_next(entropy)) << "never before the first packet";
  for (uint32_t i = 0; i < kPackets; ++i) {
    ++gap;
    if (!skipper.skip_before_next(entropy)) continue;
    shortest = std::min(shortest, gap);
    longest = std::max(longest, gap);
    gap = 0;
    ++skips;
  }
  EXPECT_NEAR(skips, kPackets / kMeanSkipInterval, 100);
  EXPECT_LT(shortest, 10u);
  EXPECT_GT(longest, 990u);
  EXPECT_LE(longest, 999u);
}

TEST(NumberSkipper, AnotherConnectionLeavesOutOthers) {
  test::CountingEntropy entropy(5);
  NumberSkipper a, b;
  int differing = 0;
  for (int i = 0; i < 5000; ++i)
    differing += a.skip_before_next(entropy) != b.skip_before_next(entropy) ? 1 : 0;
  EXPECT_GT(differing, 0);
}

TEST(NumberSkipper, MissingPacketsDoNotCountThem) {
  EXPECT_EQ(missing_packets(0, 0), 0u);
  EXPECT_EQ(missing_packets(499, 499), 0u);
  EXPECT_EQ(missing_packets(10'000, 9'980), 0u);
  EXPECT_EQ(missing_packets(10'000, 9'000), 980u);
  EXPECT_EQ(missing_packets(10'000, 10'000), 0u);
}

TEST(OptimisticAcks, ALyingAckerIsClosedByName) {
  test::RigOptions options;
  options.client_count = 0;
  EndpointRig rig(std::move(options));
  RawClient liar(rig);
  ASSERT_TRUE(liar.connect());
  liar.send(wire::PacketType::kPayload, Bytes{0xe0, 0x00, 0x18, 0, 0, 0, 0, 0, 0});
  rig.run(10 * kMs);
  ASSERT_EQ(rig.server.handler.connected.size(), 1u);
  const ConnectionHandle to = rig.server.handler.connected[0];
  int rounds = 0;
  for (; rounds < 1100 && rig.server.handler.ended.empty(); ++rounds) {
    rig.server.endpoint->send(to, Channel::kUnreliable, {}, number_body(0),
                              static_cast<uint32_t>(rounds + 1));
    rig.step();
    // Everything up to the newest is claimed, whether it came or not.
    liar.receive(wire::PacketType::kPayload);
    const uint64_t newest = liar.link->highest_received();
    Bytes claim = {0xe0, 0x00, 0x18, 0, 0, 0xff, 0xff, 0xff, 0xff};
    platform::store_u16_le(claim.data() + 3, static_cast<uint16_t>(newest));
    liar.send(wire::PacketType::kPayload, claim);
  }
  EXPECT_LE(rounds, 1000);
  ASSERT_EQ(rig.server.handler.ended.size(), 1u);
  EXPECT_EQ(rig.server.handler.ended[0].reason, connection::DisconnectReason::kProtocolError);
  EXPECT_EQ(rig.server.handler.ended[0].text, "ack_skipped");
  EXPECT_EQ(rig.server.endpoint->stats().refusals.get(Refusal::kAckSkipped), 1u);
}

TEST(OptimisticAcks, HonestPeersNeverNameOne) {
  struct Gaps {
    static socket::TapVerdict see(void* context, socket::TappedDatagram& datagram) {
      auto& self = *static_cast<Gaps*>(context);
      wire::PacketHeader header;
      size_t bytes = 0;
      if (wire::parse_packet_header({datagram.data, datagram.size}, wire::kProtocolId, &header, &bytes) ==
              wire::HeaderStatus::kOk &&
          wire::is_session_packet(header.type)) {
        uint64_t& last = self.last[platform::hash_address(datagram.from)];
        self.left_out += header.packet_seq - last - 1;
        last = header.packet_seq;
      }
      return socket::TapVerdict::kPass;
    }
    std::map<uint64_t, uint64_t> last;
    uint64_t left_out = 0;
  } gaps;
  test::RigOptions options;
  options.path.delay_ms = 20;
  options.path.jitter_ms = 15;
  options.path.jitter_reorders = true;
  options.path.loss = 0.2;
  EndpointRig rig(std::move(options));
  rig.network.set_tap(&Gaps::see, &gaps);
  ASSERT_TRUE(rig.connect_all());
  for (uint64_t i = 0; i < 5000; ++i) {
    rig.client().endpoint->send(rig.client().connection, Channel::kUnreliable, {}, number_body(i));
    rig.server.endpoint->send(rig.server.connection, Channel::kReliableUnordered, {}, number_body(i));
    rig.step();
  }
  rig.run(2 * kSecond);
  EXPECT_GE(gaps.left_out, 12u);  // 20 expected.
  EXPECT_LE(gaps.left_out, 32u);
  EXPECT_TRUE(rig.server.handler.ended.empty());
  EXPECT_TRUE(rig.client().handler.ended.empty());
  EXPECT_EQ(rig.client().handler.received.size(), 5000u);
}

TEST(OptimisticAcks, NumbersLeftOutAreNoLoss) {
  EndpointRig rig;
  ASSERT_TRUE(rig.connect_all());
  for (uint64_t i = 0; i < 20'000; ++i) {
    rig.client().endpoint->send(rig.client().connection, Channel::kUnreliable, {}, number_body(i));
    rig.step();
    rig.server.handler.received.clear();
  }
  EXPECT_LE(rig.server_stats().packets_missing, 20u);  // 40 numbers were left out.
  EXPECT_EQ(rig.client_stats().packets_lost, 0u);
}

}  // namespace
}  // namespace lattice::reliability
