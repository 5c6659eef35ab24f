// Numbers left out against peers that acknowledge what they never received.
#include "reliability/recovery/number_skipper.h"

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
  EXPECT_EQ(missing_packets(10'000, 9'000), 978u);
  EXPECT_EQ(missing_packets(100, 98), 0u);
  EXPECT_EQ(missing_packets(100, 97), 1u);
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
        uint64_t& last = self.last[base::hash_path(datagram.from)];
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

TEST(SkipAllowance, GapsOfTheUsualRateAreForgivenAndNoMore) {
  SkipAllowance fresh;
  EXPECT_EQ(fresh.lost_of(60, 2), 0);
  EXPECT_NEAR(fresh.lost_of(60, 1), 0.7, 1e-9);  // 120 of the 400 numbers that a third gap takes.
  EXPECT_EQ(fresh.lost_of(400, 1), 0);
  EXPECT_EQ(fresh.lost_of(100'000, 5), 2) << "it holds three";
  EXPECT_EQ(fresh.lost_of(1, -1), 0) << "what comes late gives back";
  EXPECT_EQ(fresh.lost_of(1, 1), 0);
  EXPECT_NEAR(fresh.lost_of(0, 60), 60, 0.1);
  EXPECT_EQ(fresh.lost_of(1, INT64_MIN), 0) << "a peer may choose its numbers";
  EXPECT_GT(fresh.lost_of(1, INT64_MAX), 0);
}

// Sends 60 packets a second for a minute. What the receiver showed in each second.
struct ShownLoss {
  std::vector<double> loss;
  uint32_t worst_quality = 100;
  uint64_t missing = 0;
};
ShownLoss show_loss(double real_loss, uint64_t seed) {
  test::RigOptions options;
  options.seed = seed;
  options.path.delay_ms = 5;
  options.path.loss = real_loss;
  options.step_ns = kSecond / 60;
  EndpointRig rig(std::move(options));
  rig.server.entropy = test::CountingEntropy(1000 + seed);
  rig.client().entropy = test::CountingEntropy(2000 + seed);
  ShownLoss out;
  EXPECT_TRUE(rig.connect_all());
  rig.run(2 * kSecond);
  for (uint64_t i = 0; i < 3600; ++i) {
    rig.client().endpoint->send(rig.client().connection, Channel::kUnreliable, {}, number_body(i));
    rig.step();
    if (i % 60 != 59) continue;
    out.loss.push_back(rig.server_stats().loss_in);
    out.worst_quality = std::min(out.worst_quality, rig.server_stats().quality);
  }
  out.missing = rig.server_stats().packets_missing;
  return out;
}

TEST(OptimisticAcks, ALinkThatLosesNothingShowsNoLoss) {
  size_t seconds = 0, with_loss = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const ShownLoss shown = show_loss(0, seed);
    for (const double loss : shown.loss) {
      ++seconds;
      with_loss += loss != 0 ? 1u : 0u;
    }
    if (with_loss == 0) {
      EXPECT_EQ(shown.worst_quality, 100u);
    }
    EXPECT_LE(shown.missing, 3u);
  }
  EXPECT_EQ(seconds, 600u);
  EXPECT_LE(with_loss, 6u);
}

TEST(OptimisticAcks, RealLossShows) {
  double sum = 0;
  uint64_t missing = 0;
  constexpr uint64_t kRuns = 10;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    const ShownLoss shown = show_loss(0.02, seed);
    for (const double loss : shown.loss) sum += loss;
    missing += shown.missing;
  }
  EXPECT_NEAR(sum / (60 * kRuns), 0.02, 0.003);
  EXPECT_NEAR(static_cast<double>(missing) / (3600 * kRuns), 0.02, 0.003);
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
