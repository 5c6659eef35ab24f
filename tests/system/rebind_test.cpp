// A client whose NAT gives it other addresses in the middle of a session, over real sockets on loopback: the
// server follows once the new address has proved itself (L-04), and nothing that was under way is lost or
// repeated.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/durations.h"
#include "system/message_pair.h"
#include "system/nat_relay.h"

namespace lattice::test::rebind_test {
namespace {

constexpr uint64_t kStepNs = 5 * kMs;

/// A session through a NAT: the client at 127.0.0.1 talks to 127.0.0.2, which comes to the server from
/// elsewhere.
class Rebind : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(pair.client.world, nullptr) << lattice_last_error();
    char text[64];
    ASSERT_EQ(lattice_world_address(pair.server.world, text, sizeof text), LATTICE_OK);
    platform::Address server;
    ASSERT_TRUE(platform::parse_address(text, &server));
    const platform::Address inward = platform::make_ipv4(127, 0, 0, 2, server.port);
    ASSERT_TRUE(relay.open(inward, platform::make_ipv4(127, 0, 0, 3, 0), server));
    ASSERT_TRUE(pair.start());
    ASSERT_TRUE(run_until(5000, [&] { return pair.server.connected + pair.client.connected == 2; }));
  }

  void step() {
    relay.forward();
    pair.step(kStepNs);
  }
  void run_ms(uint64_t ms) {
    for (uint64_t ns = 0; ns < ms * kMs; ns += kStepNs) step();
  }
  template <class Condition>
  bool run_until(uint64_t at_most_ms, Condition condition) {
    for (uint64_t ns = 0; ns < at_most_ms * kMs && !condition(); ns += kStepNs) step();
    return condition();
  }

  lattice_conn_stats server_stats() {
    lattice_conn_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(lattice_conn_get_stats(pair.server.conn, &stats), LATTICE_OK);
    return stats;
  }
  std::string seen_by_server() {
    lattice_conn_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(lattice_conn_get_info(pair.server.conn, &info), LATTICE_OK);
    return info.remote_address;
  }
  std::string outward() const {
    char text[platform::kAddressTextBytes];
    return platform::format_address(relay.outward(), text);
  }

  /// The `number`-th message of every channel, both ways.
  void say(uint32_t number) {
    const Bytes body = {static_cast<uint8_t>(number), static_cast<uint8_t>(number >> 8)};
    for (Side* side : {&pair.server, &pair.client}) {
      for (const lattice_channel channel : kChannels) EXPECT_EQ(side->send(channel, body), LATTICE_OK);
    }
  }
  /// The numbers that came by `channel`, in the order of their coming.
  static std::vector<uint32_t> heard(const Side& side, lattice_channel channel) {
    std::vector<uint32_t> out;
    for (const auto& [by, body] : side.received) {
      if (by == channel) out.push_back(body[0] | uint32_t{body[1]} << 8);
    }
    return out;
  }
  /// Whatever was said from 0 to `count` came, exactly once where that is promised and at most once
  /// elsewhere.
  void expect_heard(uint32_t count) {
    for (const Side* side : {&pair.server, &pair.client}) {
      SCOPED_TRACE(side == &pair.server ? "the server heard" : "the client heard");
      for (const lattice_channel channel : kChannels) {
        SCOPED_TRACE(testing::Message() << "channel " << channel);
        std::vector<uint32_t> numbers = heard(*side, channel);
        const bool is_ordered = std::is_sorted(numbers.begin(), numbers.end());
        if (channel == LATTICE_CHANNEL_RELIABLE_ORDERED || channel == LATTICE_CHANNEL_UNRELIABLE_SEQUENCED) {
          EXPECT_TRUE(is_ordered);
        }
        std::sort(numbers.begin(), numbers.end());
        EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end()) << "heard twice";
        const bool is_reliable =
            channel == LATTICE_CHANNEL_RELIABLE_ORDERED || channel == LATTICE_CHANNEL_RELIABLE_UNORDERED;
        if (is_reliable) {
          EXPECT_EQ(numbers.size(), count);
        } else {
          EXPECT_GT(numbers.size(), count / 2);
        }
      }
    }
  }

  static constexpr lattice_channel kChannels[] = {
      LATTICE_CHANNEL_UNRELIABLE, LATTICE_CHANNEL_UNRELIABLE_SEQUENCED, LATTICE_CHANNEL_RELIABLE_UNORDERED,
      LATTICE_CHANNEL_RELIABLE_ORDERED};

  std::vector<std::string> moves_logged;
  MessagePair pair{{.simulated = false,
                    .server_address = "127.0.0.1:0",
                    .client_address = "127.0.0.1:0",
                    .client_connects_to = "127.0.0.2:",
                    .adjust = [this](lattice_world_config* config) {
                      config->log_ctx = &moves_logged;
                      config->log = [](void* ctx, lattice_log_level, const char*, const char* text) {
                        if (std::strstr(text, " moved from ") == nullptr) return;
                        static_cast<std::vector<std::string>*>(ctx)->emplace_back(text);
                      };
                    }}};
  NatRelay relay;
};

TEST_F(Rebind, NothingSaidIsLostOrRepeatedWhileTheAddressChanges) {
  EXPECT_EQ(seen_by_server(), outward());
  uint32_t said = 0;
  const platform::Address mappings[] = {
      platform::make_ipv4(127, 0, 0, 3, 0),  // Another port,
      platform::make_ipv4(127, 0, 0, 4, 0),  // another address,
      platform::make_ipv4(127, 0, 0, 3, 0),  // and back to the first, by another port.
  };
  uint64_t moves = 0;
  for (const platform::Address& mapping : mappings) {
    for (int i = 0; i < 150; ++i) {
      say(said++);
      step();
    }
    const std::string before = outward();
    ASSERT_TRUE(relay.rebind(mapping));  // With a round trip's worth of datagrams under way.
    ASSERT_NE(outward(), before);
    for (int i = 0; i < 150; ++i) {
      say(said++);
      step();
    }
    EXPECT_EQ(server_stats().path_moves, ++moves);
    EXPECT_EQ(seen_by_server(), outward());
    ASSERT_EQ(moves_logged.size(), moves);
    EXPECT_TRUE(moves_logged.back().ends_with(" moved from " + before + " to " + outward()))
        << moves_logged.back();
  }
  run_ms(3000);
  expect_heard(said);
  EXPECT_EQ(pair.server.connected + pair.client.connected, 2) << "one session throughout";
  EXPECT_EQ(pair.server.reason, -1);
  EXPECT_EQ(pair.client.reason, -1);
  EXPECT_EQ(pair.client_stats().path_moves, 0u) << "the client follows nobody";
  EXPECT_GT(pair.client_stats().messages_resent + server_stats().messages_resent, 0u)
      << "nothing was under way";
}

TEST_F(Rebind, ASilentClientIsFoundAgainByItsKeepalive) {
  run_ms(5000);
  ASSERT_TRUE(relay.rebind(platform::make_ipv4(127, 0, 0, 5, 0)));
  EXPECT_EQ(pair.server.send(LATTICE_CHANNEL_RELIABLE_ORDERED, {1}),
            LATTICE_OK);  // To the address that is gone.
  ASSERT_TRUE(run_until(5000, [&] { return !pair.client.received.empty(); }));
  EXPECT_EQ(server_stats().path_moves, 1u);
  EXPECT_EQ(seen_by_server(), outward());
  run_ms(3000);
  EXPECT_EQ(pair.client.received.size(), 1u);
}

TEST_F(Rebind, ALongMessageUnderWayArrivesWhole) {
  const Bytes up = pattern(LATTICE_MESSAGE_MAX_BYTES, 1);
  const Bytes down = pattern(LATTICE_MESSAGE_MAX_BYTES, 2);
  ASSERT_EQ(pair.client.send(LATTICE_CHANNEL_RELIABLE_ORDERED, up), LATTICE_OK);
  ASSERT_EQ(pair.server.send(LATTICE_CHANNEL_RELIABLE_ORDERED, down), LATTICE_OK);
  run_ms(40);
  ASSERT_TRUE(pair.server.received.empty() && pair.client.received.empty());
  ASSERT_TRUE(relay.rebind(platform::make_ipv4(127, 0, 0, 4, 0)));
  ASSERT_TRUE(
      run_until(60'000, [&] { return !pair.server.received.empty() && !pair.client.received.empty(); }));
  run_ms(2000);
  ASSERT_EQ(pair.server.received.size(), 1u);
  ASSERT_EQ(pair.client.received.size(), 1u);
  EXPECT_EQ(pair.server.received[0].second, up);
  EXPECT_EQ(pair.client.received[0].second, down);
  EXPECT_EQ(server_stats().path_moves, 1u);
}

}  // namespace
}  // namespace lattice::test::rebind_test
