// More to send than packets can be remembered: it goes in as many as can, and each again only when lost.
#include <gtest/gtest.h>

#include "endpoint_rig.h"

namespace lattice::reliability {
namespace {

using test::EndpointRig;
using test::kMs;
using test::kSecond;

// Four full windows are 1024 packets, each with one message. Without congestion control all would leave at
// once, and every packet beyond the records displace one whose message was then sent again, in the same
// update, for ever.
TEST(EndpointFlight, FullWindowsWithoutCongestionControlFitWhatIsRemembered) {
  test::RigOptions options;
  options.path.delay_ms = 20;
  options.path.rate_bits_per_s = 50'000'000;
  options.path.queue_bytes = 2'000'000;
  options.client.congestion.mode = CongestionMode::kNone;
  for (EndpointConfig* config : {&options.server, &options.client}) {
    for (uint8_t channel = 4; channel < 8; ++channel) {
      config->channels.declare(channel, ChannelMode::kReliableOrdered);
    }
  }
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  rig.server.handler.record = false;
  const test::Bytes body(kMaxReliableBody, 7);
  uint64_t sent = 0;
  for (uint8_t channel = 4; channel < 8; ++channel) {
    for (int i = 0; i < 800; ++i, ++sent) {
      ASSERT_EQ(
          rig.client().endpoint->send(rig.client().connection, static_cast<test::Channel>(channel), {}, body),
          SendResult::kOk);
    }
  }
  const uint64_t before = rig.client_stats().traffic.packets_sent;
  rig.step();
  EXPECT_LE(rig.client_stats().traffic.packets_sent - before, kMaxSentPackets);
  EXPECT_EQ(rig.client_stats().packets_lost, 0u);
  ASSERT_TRUE(rig.run_until(10 * kSecond, [&] { return rig.server.handler.message_count >= sent; }));
  EXPECT_EQ(rig.server.handler.message_count, sent);
}

}  // namespace
}  // namespace lattice::reliability
