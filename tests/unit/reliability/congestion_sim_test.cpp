// Endpoints through narrow places in virtual time: what congestion control does to a whole connection.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/random.h"
#include "endpoint_rig.h"
#include "reliability/congestion/pacer.h"
#include "transport/socket/bottleneck_link.h"

namespace lattice::reliability {
namespace {

using test::EndpointRig;
using test::kMs;
using test::kSecond;
using test::kSnapshot;
using test::Node;
using test::number_body;
using test::RigOptions;

// Clients that send to the server through one shared link, and what happened on it.
class Narrow {
 public:
  struct Options {
    uint64_t rate_bits_per_s = 10'000'000;
    uint64_t queue_bytes = 0;
    double delay_ms = 20;
    size_t clients = 1;
    CongestionMode mode = CongestionMode::kDelay;
    uint64_t step_ns = 2 * kMs;
  };
  explicit Narrow(const Options& options)
      : rig(rig_options(options)), link({options.rate_bits_per_s, nullptr, options.queue_bytes}) {
    link.set_observer(
        [](void* self, uint64_t waited_ns, size_t) {
          auto& longest = static_cast<Narrow*>(self)->longest_wait_ns;
          longest = std::max(longest, waited_ns);
        },
        this);
    connected = rig.connect_all();
    rig.server.handler.record = false;
    for (const auto& client : rig.clients) {
      connected = rig.network.set_bottleneck(client->address, rig.server.address, &link) && connected;
    }
  }

  static RigOptions rig_options(const Options& options) {
    RigOptions out;
    out.path.delay_ms = options.delay_ms;
    out.client_count = options.clients;
    out.step_ns = options.step_ns;
    out.client.congestion.mode = options.mode;
    out.server.congestion.mode = options.mode;
    return out;
  }

  /// Lets `senders` offer more than the link takes for a time.
  void saturate(uint64_t for_ns, std::initializer_list<size_t> senders) {
    const test::Bytes body(1100, 1);
    for (const uint64_t end_ns = rig.now_ns + for_ns; rig.now_ns < end_ns; rig.step()) {
      for (const size_t i : senders) {
        Node& node = *rig.clients[i];
        while (node.endpoint->stats(node.connection)->waiting_bytes < 60'000) {
          ASSERT_EQ(node.endpoint->send(node.connection, Channel::kUnreliable, {}, body), SendResult::kOk);
        }
      }
    }
  }
  const ConnectionStats& stats(size_t client = 0) {
    return *rig.clients[client]->endpoint->stats(rig.clients[client]->connection);
  }
  uint64_t sent_bytes(size_t client) { return stats(client).traffic.bytes_sent; }

  EndpointRig rig;
  socket::BottleneckLink link;
  uint64_t longest_wait_ns = 0;
  bool connected = false;
};

TEST(CongestionSim, TheLinkIsFullAndItsQueueShort) {
  Narrow narrow({});
  ASSERT_TRUE(narrow.connected);
  narrow.saturate(2 * kSecond, {0});
  EXPECT_LT(narrow.longest_wait_ns, 60 * kMs);  // Startup included.
  narrow.longest_wait_ns = 0;
  const uint64_t before = narrow.link.stats().passed_bytes;
  narrow.saturate(10 * kSecond, {0});
  // 10 Mbit/s carry 1221 kB/s of UDP payload in datagrams of 1200 and 28 bytes.
  EXPECT_GT(narrow.link.stats().passed_bytes - before, 11'850'000u);
  EXPECT_LT(narrow.longest_wait_ns, 35 * kMs);  // The longest, after a drain; about 11 ms most of the time.
  EXPECT_EQ(narrow.stats().packets_lost, 0u);
}

TEST(CongestionSim, TwoFlowsShareFairlyWhoeverCameFirst) {
  Narrow narrow({.clients = 2});
  ASSERT_TRUE(narrow.connected);
  narrow.saturate(10 * kSecond, {0});
  narrow.saturate(15 * kSecond, {0, 1});  // The second begins in a queue it did not make.
  const uint64_t first = narrow.sent_bytes(0);
  const uint64_t second = narrow.sent_bytes(1);
  const uint64_t passed = narrow.link.stats().passed_bytes;
  narrow.saturate(20 * kSecond, {0, 1});
  const auto a = static_cast<double>(narrow.sent_bytes(0) - first);
  const auto b = static_cast<double>(narrow.sent_bytes(1) - second);
  // Jain's index: 1 is equal, 0.5 is all for one; 0.9 is 2 : 1.
  EXPECT_GT((a + b) * (a + b) / (2 * (a * a + b * b)), 0.9) << a << " beside " << b;
  EXPECT_GT(narrow.link.stats().passed_bytes - passed, 23'000'000u);  // And nothing is wasted.
}

TEST(CongestionSim, ABlackoutCostsLittleAndIsOverQuickly) {
  Narrow narrow({});
  ASSERT_TRUE(narrow.connected);
  narrow.saturate(3 * kSecond, {0});
  const uint64_t before_dark = narrow.sent_bytes(0);
  socket::Impairment dark;
  dark.blackout = true;
  narrow.rig.network.set_default(dark);
  narrow.saturate(4 * kSecond, {0});
  EXPECT_EQ(narrow.stats().congestion_phase, CongestionPhase::kBlackout);
  // One window, and then two datagrams now and again instead of 5 MB.
  EXPECT_LT(narrow.sent_bytes(0) - before_dark, 250'000u);
  socket::Impairment light;
  light.delay_ms = 20;
  narrow.rig.network.set_default(light);
  narrow.saturate(kSecond, {0});
  narrow.longest_wait_ns = 0;
  const uint64_t before = narrow.link.stats().passed_bytes;
  narrow.saturate(2 * kSecond, {0});
  EXPECT_GT(narrow.link.stats().passed_bytes - before, 2'000'000u);
  EXPECT_LT(narrow.longest_wait_ns, 60 * kMs);
}

TEST(CongestionSim, ALongCleanPathIsNotPunished) {
  Narrow narrow({.rate_bits_per_s = 1'000'000'000, .delay_ms = 100});
  ASSERT_TRUE(narrow.connected);
  narrow.saturate(4 * kSecond, {0});
  EXPECT_GT(narrow.stats().window_bytes, 900'000u);
  const uint64_t before = narrow.sent_bytes(0);
  narrow.saturate(4 * kSecond, {0});
  EXPECT_GT(narrow.sent_bytes(0) - before, 16'000'000u);
}

// Ends that read and send rarely, each a little late now and then. What waits for a reading is no queue.
class RarelyPumped {
 public:
  RarelyPumped(uint64_t client_every_ns, uint64_t server_every_ns, double delay_ms) {
    RigOptions options;
    options.path.delay_ms = delay_ms;
    options.step_ns = kMs;
    for (EndpointConfig* config : {&options.client, &options.server}) {
      for (uint8_t channel = 4; channel < 8; ++channel) {
        config->channels.declare(channel, wire::ChannelMode::kReliableOrdered);
      }
    }
    rig_ = std::make_unique<EndpointRig>(std::move(options));
    every_ns_ = {client_every_ns, server_every_ns};
  }
  /// Bytes per second of messages that arrived in `for_ns`, of kOfferedBytesPerS.
  uint64_t transfer(uint64_t for_ns) {
    const uint64_t before = rig_->server.handler.message_count;
    const uint64_t end_ns = rig_->now_ns + for_ns;
    for (; rig_->now_ns < end_ns; rig_->now_ns += kMs) pump();
    return (rig_->server.handler.message_count - before) * kBodyBytes * kSecond / for_ns;
  }
  /// Lets the client send as a game does: in each pump an unreliable message, and every `message_every_ns` a
  /// reliable one. Returns how many of these were sent, and how many were repeated.
  std::pair<uint64_t, uint64_t> play(uint64_t message_every_ns, uint64_t for_ns) {
    offers_ = Offers::kGame;
    message_every_ns_ = message_every_ns;
    const uint64_t sent = game_messages_, resent = rig_->client_stats().traffic.messages_resent;
    const uint64_t end_ns = rig_->now_ns + for_ns;
    for (; rig_->now_ns < end_ns; rig_->now_ns += kMs) pump();
    return {game_messages_ - sent, rig_->client_stats().traffic.messages_resent - resent};
  }
  EndpointRig& rig() { return *rig_; }
  static constexpr uint64_t kOfferedBytesPerS = 7'000'000;

 private:
  static constexpr size_t kBodyBytes = 1150;

  void pump() {
    for (size_t i = 0; i < 2; ++i) {
      if (rig_->now_ns < due_ns_[i]) continue;
      due_ns_[i] =
          rig_->now_ns + every_ns_[i] - every_ns_[i] / 20 + random_.next_below(every_ns_[i] / 10 + 1);
      if (i == 0) offers_ == Offers::kGame ? play_once() : fill();
      rig_->pump(i == 0 ? rig_->client() : rig_->server);
    }
  }
  void play_once() {
    const Node& node = rig_->client();
    const test::Bytes body(60, 1);
    node.endpoint->send(node.connection, Channel::kUnreliable, {}, body);
    if (rig_->now_ns < message_due_ns_) return;
    message_due_ns_ = rig_->now_ns + message_every_ns_;
    game_messages_ +=
        node.endpoint->send(node.connection, static_cast<Channel>(4), {}, body) == SendResult::kOk;
  }
  void fill() {
    const test::Bytes body(kBodyBytes, 1);
    const Node& node = rig_->client();
    for (uint64_t full = 0; full < 4 && offered_bytes_ * kSecond < rig_->now_ns * kOfferedBytesPerS;) {
      const auto channel = static_cast<Channel>(4 + next_++ % 4);
      const bool sent = node.endpoint->send(node.connection, channel, {}, body) == SendResult::kOk;
      full = sent ? 0 : full + 1;
      offered_bytes_ += sent ? kBodyBytes : 0;
    }
  }

  std::unique_ptr<EndpointRig> rig_;
  std::array<uint64_t, 2> every_ns_{}, due_ns_{};
  base::Random random_{1};
  uint64_t offered_bytes_ = 0;
  uint64_t next_ = 0;
  enum class Offers { kTransfer, kGame } offers_ = Offers::kTransfer;
  uint64_t message_every_ns_ = 0, message_due_ns_ = 0, game_messages_ = 0;
};

// The newest packet that a reader finds has waited least, and those before it up to the whole interval.
TEST(CongestionSim, NoMessageIsRepeatedTowardsAPeerThatReadsRarely) {
  for (const double delay_ms : {1.0, 10.0, 30.0, 100.0}) {
    for (const uint64_t read_every_ns : {33 * kMs, 50 * kMs, 100 * kMs, 125 * kMs, 200 * kMs}) {
      for (const uint64_t send_every_ns : {5 * kMs, 16 * kMs, 33 * kMs}) {
        RarelyPumped ends(send_every_ns, read_every_ns, delay_ms);
        ASSERT_TRUE(ends.rig().connect_all());
        ends.play(50 * kMs, 2 * kSecond);
        const auto [sent, resent] = ends.play(50 * kMs, 20 * kSecond);
        EXPECT_GE(sent, 300u);
        EXPECT_LE(resent, 2u) << resent << " of " << sent << ", path " << delay_ms << ", read every "
                              << read_every_ns / kMs << " ms, sent every " << send_every_ns / kMs;
      }
    }
  }
}

TEST(CongestionSim, RarePumpsAreNotTakenForAQueue) {
  constexpr uint64_t kOften = 5 * kMs;
  for (const double delay_ms : {1.0, 25.0}) {
    for (const uint64_t every_ns : {200 * kMs, 33 * kMs}) {
      for (const auto& [client_ns, server_ns] :
           {std::pair(every_ns, every_ns), std::pair(kOften, every_ns), std::pair(every_ns, kOften)}) {
        RarelyPumped ends(client_ns, server_ns, delay_ms);
        ASSERT_TRUE(ends.rig().connect_all());
        ends.rig().server.handler.record = false;
        ends.transfer(8 * kSecond);
        EXPECT_GE(ends.transfer(4 * kSecond), 5'000'000u)
            << client_ns / kMs << " and " << server_ns / kMs << " ms, path " << delay_ms << " ms";
        EXPECT_LT(ends.rig().client_stats().packets_lost, 20u);
      }
    }
  }
}

TEST(CongestionSim, PacketsThatOvertakeEachOtherAreNotLost) {
  Narrow narrow({.rate_bits_per_s = 16'000'000, .delay_ms = 25, .step_ns = 5 * kMs});
  ASSERT_TRUE(narrow.connected);
  socket::Impairment path;
  path.delay_ms = 25;
  path.jitter_ms = 10;
  path.jitter_reorders = true;
  narrow.rig.network.set_default(path);
  narrow.saturate(5 * kSecond, {0});
  const uint64_t lost = narrow.stats().packets_lost;
  const uint64_t before = narrow.sent_bytes(0);
  narrow.saturate(10 * kSecond, {0});
  EXPECT_GT(narrow.sent_bytes(0) - before, 17'000'000u) << "of 19.5";
  EXPECT_LT(narrow.stats().packets_lost - lost, 450u) << "3 in 100, which came too late for any block";
}

TEST(CongestionSim, WhenTheRateDropsTenfoldTheQueueDrains) {
  Narrow narrow({});
  ASSERT_TRUE(narrow.connected);
  narrow.saturate(5 * kSecond, {0});
  narrow.link.set_rate(1'000'000);
  // What was in flight, a window of about 60 ms at 10 Mbit/s, takes 600 ms at a tenth of it: that nobody can
  // change. Twice that, 30 round trips of the empty path, and the queue is short.
  narrow.saturate(1200 * kMs, {0});
  narrow.longest_wait_ns = 0;
  const uint64_t before = narrow.link.stats().passed_bytes;
  narrow.saturate(4 * kSecond, {0});
  EXPECT_LT(narrow.longest_wait_ns, 80 * kMs);                     // A datagram alone takes 10 ms.
  EXPECT_GT(narrow.link.stats().passed_bytes - before, 380'000u);  // Of 488'000.
  narrow.link.set_rate(10'000'000);
  narrow.saturate(3 * kSecond, {0});
  const uint64_t back = narrow.link.stats().passed_bytes;
  narrow.saturate(2 * kSecond, {0});
  EXPECT_GT(narrow.link.stats().passed_bytes - back, 2'200'000u);
}

// The path of the demo: 100 ms, ±20 ms, 5 % loss each way. Nothing of it is congestion.
TEST(CongestionSim, JitterAndLossDoNotStarve) {
  for (const bool reorders : {false, true}) {
    RigOptions options;
    options.path.delay_ms = 50;
    options.path.jitter_ms = 10;
    options.path.jitter_reorders = reorders;
    options.path.loss = 0.05;
    options.step_ns = 16 * kMs + 666'667;
    EndpointRig rig(std::move(options));
    ASSERT_TRUE(rig.connect_all());
    rig.server.handler.record = false;
    const test::Bytes body(1100, 1);
    const uint64_t start_ns = rig.now_ns;
    uint64_t blocked = 0, offered = 0;
    double owed_bytes = 0;
    while (rig.now_ns < start_ns + 60 * kSecond) {
      // 120 kB/s, five times what the demo's server sends to a client.
      for (owed_bytes += 2000; owed_bytes >= 1100; owed_bytes -= 1100, ++offered) {
        const SendResult sent =
            rig.client().endpoint->send(rig.client().connection, Channel::kUnreliable, {}, body);
        blocked += sent == SendResult::kOk ? 0 : 1;
      }
      rig.step();
      // What waits would go within a tenth of a second.
      if (rig.now_ns > start_ns + kSecond) {
        ASSERT_LT(rig.client_stats().queue_ns, 250 * kMs);
      }
    }
    EXPECT_EQ(blocked, 0u);
    EXPECT_GT(rig.server.handler.message_count * 100, offered * 93);  // All but the 5 %.
    EXPECT_GT(rig.client_stats().rate_bytes_per_s, 120'000u);
  }
}

TEST(CongestionSim, AnApplicationThatSendsLittleIsNeverHeldBack) {
  Narrow narrow({.clients = 2});
  ASSERT_TRUE(narrow.connected);
  // Beside a flow that fills the link: 30 messages of 300 bytes a second leave in the update they are queued
  // in.
  const test::Bytes body(300, 1);
  Node& quiet = *narrow.rig.clients[1];
  for (int i = 0; i < 300; ++i) {
    quiet.endpoint->send(quiet.connection, Channel::kUnreliable, {}, body);
    narrow.saturate(34 * kMs, {0});
    ASSERT_EQ(narrow.stats(1).waiting_bytes, 0u) << i;
  }
}

TEST(CongestionSim, SnapshotsKeepAQuarterBesideATransfer) {
  RigOptions options;
  options.path.delay_ms = 20;
  options.client.congestion.mode = CongestionMode::kGoodBad;  // A budget that does not move: 72 kB/s.
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  const test::Bytes body(1147, 1);
  Endpoint& endpoint = *rig.client().endpoint;
  const auto connection = rig.client().connection;
  uint64_t snapshots = 0, others = 0;
  const uint64_t start_ns = rig.now_ns;
  while (rig.now_ns < start_ns + 20 * kSecond) {
    while (endpoint.send(connection, Channel::kReliableOrdered, {}, body) == SendResult::kOk) {
    }
    // A part whenever the budget has room for one, as a world does it.
    if (endpoint.send_budget_bytes(connection, rig.now_ns + rig.options.step_ns) >= kDatagramBytes) {
      ASSERT_EQ(endpoint.send(connection, Channel::kUnreliableSequenced, kSnapshot, body), SendResult::kOk);
    }
    rig.step();
  }
  for (const auto& message : rig.server.handler.received) {
    (message.channel == Channel::kUnreliableSequenced ? snapshots : others) += 1;
  }
  ASSERT_GT(others, 500u);
  EXPECT_GE(snapshots * 100, (snapshots + others) * 23) << snapshots << " beside " << others;
}

TEST(CongestionSim, ControlPassesAFullWindow) {
  RigOptions options;
  options.path.delay_ms = 100;
  options.client.congestion.mode = CongestionMode::kGoodBad;
  options.client.congestion.good_bad.start_rate_hz = options.client.congestion.good_bad.max_rate_hz = 1;
  EndpointRig rig(std::move(options));
  ASSERT_TRUE(rig.connect_all());
  Endpoint& endpoint = *rig.client().endpoint;
  const test::Bytes body(1100, 1);
  for (int i = 0; i < 20; ++i) endpoint.send(rig.client().connection, Channel::kReliableOrdered, {}, body);
  rig.run(50 * kMs);
  ASSERT_EQ(endpoint.send_budget_bytes(rig.client().connection, rig.now_ns), 0u);
  const uint8_t control[] = {200, 1, 2, 3};  // An application control type.
  ASSERT_EQ(endpoint.send(rig.client().connection, Channel::kControl, {}, control), SendResult::kOk);
  rig.run(120 * kMs);
  EXPECT_EQ(std::count_if(rig.server.handler.received.begin(), rig.server.handler.received.end(),
                          [](const test::Received& m) { return m.channel == Channel::kControl; }),
            1);
}

TEST(CongestionSim, TrafficInOneDirectionMeasuresTheRoundTripWithEveryAck) {
  // Acks of their own tell how long they were held back, so 25 ms of that do not count as queue.
  Narrow narrow({.rate_bits_per_s = 100'000'000, .delay_ms = 30, .step_ns = 1 * kMs});
  ASSERT_TRUE(narrow.connected);
  const uint64_t before = narrow.stats().rtt_samples;
  const test::Bytes body(200, 1);
  Node& node = *narrow.rig.clients[0];
  for (int i = 0; i < 200; ++i) {
    node.endpoint->send(node.connection, Channel::kUnreliable, {}, body);
    narrow.rig.run(10 * kMs);
  }
  EXPECT_GT(narrow.stats().rtt_samples - before, 60u);
  EXPECT_NEAR(static_cast<double>(narrow.stats().srtt_ns), 61e6, 2e6);
  EXPECT_LT(narrow.stats().jitter_ns, 2 * kMs);
}

TEST(CongestionSim, GoodBadSendsSixtyDatagramsASecond) {
  Narrow narrow({.mode = CongestionMode::kGoodBad});
  ASSERT_TRUE(narrow.connected);
  narrow.saturate(5 * kSecond, {0});
  const uint64_t before = narrow.sent_bytes(0);
  narrow.saturate(10 * kSecond, {0});
  EXPECT_NEAR(static_cast<double>(narrow.sent_bytes(0) - before), 720'000, 5'000);
  EXPECT_EQ(narrow.stats().congestion_phase, CongestionPhase::kGood);
  EXPECT_EQ(narrow.stats().rate_bytes_per_s, 72'000u);
}

TEST(CongestionSim, WithoutControlTheQueueIsWhatTheLinkHas) {
  Narrow narrow({.queue_bytes = 256'000, .mode = CongestionMode::kNone});
  ASSERT_TRUE(narrow.connected);
  const test::Bytes body(1100, 1);
  Node& node = *narrow.rig.clients[0];
  for (int i = 0; i < 900; ++i) {
    ASSERT_EQ(node.endpoint->send(node.connection, Channel::kUnreliable, {}, body), SendResult::kOk);
  }
  narrow.rig.run(kSecond);
  EXPECT_GT(narrow.link.stats().dropped, 500u);  // All 900 left at once.
  EXPECT_GT(narrow.longest_wait_ns, 190 * kMs);
  EXPECT_EQ(narrow.stats().rate_bytes_per_s, Pacer::kUnlimited);
  EXPECT_EQ(narrow.stats().congestion_phase, CongestionPhase::kUnlimited);
}

TEST(CongestionSim, StatisticsNameWhatWaits) {
  Narrow narrow({.mode = CongestionMode::kGoodBad});
  ASSERT_TRUE(narrow.connected);
  const test::Bytes body(1000, 1);
  Node& node = *narrow.rig.clients[0];
  for (int i = 0; i < 100; ++i) node.endpoint->send(node.connection, Channel::kReliableOrdered, {}, body);
  narrow.rig.step();
  const ConnectionStats& stats = narrow.stats();
  EXPECT_LE(stats.waiting_bytes, 99'000u);
  EXPECT_GE(stats.waiting_bytes, 96'000u);
  EXPECT_EQ(stats.queue_ns, stats.waiting_bytes * kSecond / stats.rate_bytes_per_s);
  EXPECT_GT(stats.bytes_in_flight, 1000u);
  EXPECT_EQ(stats.congestion_mode, CongestionMode::kGoodBad);
  EXPECT_GT(stats.quality, 95u);
}

}  // namespace
}  // namespace lattice::reliability
