// Large transfers over whole endpoints and a network that loses, pauses and fills up.
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/transfer/transfer_rig.h"

namespace lattice::transfer {
namespace {

using test::kMs;
using test::kSecond;
using test::TransferRig;

constexpr uint64_t kEightMegabytes = 8'000'000;

test::RigOptions path(double delay_ms, double loss, uint64_t step_ns = kMs) {
  test::RigOptions options;
  options.path.delay_ms = delay_ms;
  options.path.loss = loss;
  options.step_ns = step_ns;
  return options;
}

void expect_whole(TransferRig& rig, uint64_t size_bytes) {
  EXPECT_EQ(rig.client.app.written_bytes, size_bytes);
  EXPECT_EQ(rig.client.app.wrong_bytes, 0u);
  for (const test::TransferSide* side : {&rig.server, &rig.client}) {
    ASSERT_EQ(side->app.ended.size(), 1u);
    EXPECT_EQ(side->app.ended[0].ending, TransferEnding::kDone);
  }
}

TEST(TransferPath, EightMegabytesThroughLossAreFastAndCheap) {
  TransferRig rig(path(50, 0.01));
  ASSERT_TRUE(rig.rig.connect_all());
  rig.rig.run(kSecond);
  const uint64_t from_ns = rig.rig.now_ns;
  const uint64_t before_bytes = rig.rig.server_stats().traffic.bytes_sent;
  rig.start(kEightMegabytes);
  ASSERT_TRUE(rig.run_until_done(20 * kSecond));
  expect_whole(rig, kEightMegabytes);
  const double seconds = static_cast<double>(rig.rig.now_ns - from_ns) / kSecond;
  const double sent = static_cast<double>(rig.rig.server_stats().traffic.bytes_sent - before_bytes);
  const double rate = kEightMegabytes / seconds;
  RecordProperty("kb_per_s", static_cast<int>(rate / 1000));
  RecordProperty("bytes_per_mille", static_cast<int>(1000 * sent / kEightMegabytes));
  EXPECT_GE(rate, 4e6);
  EXPECT_LE(sent / kEightMegabytes, 1.1);
}

TEST(TransferPath, EightMegabytesThroughANarrowLinkKeepItsQueueShort) {
  test::RigOptions options = path(20, 0);
  options.path.rate_bits_per_s = 10'000'000;
  options.path.queue_bytes = 250'000;
  TransferRig rig(std::move(options));
  ASSERT_TRUE(rig.rig.connect_all());
  rig.rig.run(kSecond);
  const uint64_t from_ns = rig.rig.now_ns;
  const uint64_t before_bytes = rig.rig.server_stats().traffic.bytes_sent;
  rig.start(kEightMegabytes);
  std::vector<uint64_t> round_trips_ns;
  ASSERT_TRUE(rig.run_until(20 * kSecond, [&] {
    round_trips_ns.push_back(rig.rig.server_stats().latest_rtt_ns);
    return !rig.server.app.ended.empty();
  }));
  expect_whole(rig, kEightMegabytes);
  std::sort(round_trips_ns.begin(), round_trips_ns.end());
  const uint64_t queue_ns = round_trips_ns[round_trips_ns.size() * 95 / 100] - 40 * kMs;
  const double seconds = static_cast<double>(rig.rig.now_ns - from_ns) / kSecond;
  const double sent = static_cast<double>(rig.rig.server_stats().traffic.bytes_sent - before_bytes);
  const double rate = kEightMegabytes / seconds;
  RecordProperty("kb_per_s", static_cast<int>(rate / 1000));
  RecordProperty("bytes_per_mille", static_cast<int>(1000 * sent / kEightMegabytes));
  RecordProperty("queue_p95_us", static_cast<int>(queue_ns / 1000));
  EXPECT_GE(rate, 1'100'000);
  EXPECT_LE(sent / kEightMegabytes, 1.05);
  EXPECT_LE(queue_ns, 60 * kMs);
}

/// Latencies of a game's messages in both directions over 10 Mbit/s, with or without a transfer beside them.
struct GameLatency {
  uint64_t sent = 0;
  std::vector<uint64_t> down_ns, up_ns;

  static uint64_t percentile(std::vector<uint64_t> values, size_t percent) {
    std::sort(values.begin(), values.end());
    return values[values.size() * percent / 100];
  }
};

GameLatency play_for(uint64_t for_ns, bool beside_a_transfer) {
  test::RigOptions options = path(20, 0);
  options.path.rate_bits_per_s = 10'000'000;
  options.path.queue_bytes = 250'000;
  TransferRig rig(std::move(options));
  GameLatency out;
  const auto note = [&rig](std::vector<uint64_t>& to) {
    return [&rig, &to](std::span<const uint8_t> body) {
      uint64_t sent_ns = 0;
      std::copy_n(body.begin(), sizeof sent_ns, reinterpret_cast<uint8_t*>(&sent_ns));
      to.push_back(rig.rig.now_ns - sent_ns);
    };
  };
  rig.client.on_other = note(out.down_ns);
  rig.server.on_other = note(out.up_ns);
  EXPECT_TRUE(rig.rig.connect_all());
  rig.rig.run(kSecond);
  if (beside_a_transfer) rig.start(100'000'000);
  const uint64_t end_ns = rig.rig.now_ns + for_ns;
  for (uint64_t tick = 0; rig.rig.now_ns < end_ns; ++tick) {
    const auto send = [&rig, &out](test::Node& from, test::ConnectionHandle connection, size_t bytes) {
      std::vector<uint8_t> body(bytes);
      std::copy_n(reinterpret_cast<const uint8_t*>(&rig.rig.now_ns), sizeof rig.rig.now_ns, body.begin());
      EXPECT_EQ(from.endpoint->send(connection, test::Channel::kUnreliable, {}, body), test::SendResult::kOk);
      ++out.sent;
    };
    send(rig.rig.client(), rig.rig.client().connection, 64);
    if (tick % 2 == 0) send(rig.rig.server, rig.rig.server.connection, 1000);
    for (int ms = 0; ms < 16; ++ms) rig.step();
  }
  EXPECT_EQ(rig.client.app.written_bytes > 8'000'000u, beside_a_transfer);
  for (int ms = 0; ms < 200; ++ms) rig.step();
  return out;
}

TEST(TransferPath, TheGameGoesOnBesideATransferThatFillsTheLink) {
  const GameLatency alone = play_for(10 * kSecond, false);
  const GameLatency beside = play_for(10 * kSecond, true);
  ASSERT_EQ(alone.up_ns.size() + alone.down_ns.size(), alone.sent);
  // Each message waits in the link's queue, which stays short, and in none of ours; of 900, the few that a
  // starting transfer's overshoot drops are all that may be lost.
  EXPECT_LE(beside.up_ns.size() + beside.down_ns.size(), beside.sent);
  EXPECT_GE((beside.up_ns.size() + beside.down_ns.size()) * 100, beside.sent * 99);
  const uint64_t down_before_ns = GameLatency::percentile(alone.down_ns, 95);
  const uint64_t down_ns = GameLatency::percentile(beside.down_ns, 95);
  RecordProperty("down_p95_us", static_cast<int>(down_ns / 1000));
  EXPECT_LE(down_ns, down_before_ns + 20 * kMs);
  EXPECT_LE(GameLatency::percentile(beside.up_ns, 99), GameLatency::percentile(alone.up_ns, 99) + 2 * kMs);
}

TEST(TransferPath, APathThatStopsCarryingLargePacketsStrandsNothing) {
  for (const bool beside_a_game : {false, true}) {
    TransferRig rig(path(20, 0.005));
    ASSERT_TRUE(rig.rig.connect_all());
    rig.rig.run(kSecond);
    ASSERT_EQ(rig.rig.server_stats().datagram_bytes, reliability::kLargestDatagramBytes);
    rig.start(4'000'000);
    ASSERT_TRUE(rig.run_until(5 * kSecond, [&] { return rig.client.app.written_bytes > 1'000'000; }));
    socket::Impairment narrower = rig.rig.options.path;
    narrower.mtu_bytes = wire::kFloorDatagramBytes;
    rig.rig.network.set_default(narrower);
    const uint64_t from_ns = rig.rig.now_ns;
    uint64_t next_tick_ns = from_ns;
    ASSERT_TRUE(rig.run_until(10 * kSecond, [&] {
      if (beside_a_game && rig.rig.now_ns >= next_tick_ns) {
        next_tick_ns += 33 * kMs;
        const uint8_t state[300] = {};
        rig.rig.server.endpoint->send(rig.rig.server.connection, test::Channel::kUnreliable, {}, state);
      }
      return !rig.server.app.ended.empty();
    }));
    expect_whole(rig, 4'000'000);
    EXPECT_EQ(rig.rig.server_stats().mtu_black_holes, 1u);
    EXPECT_EQ(rig.rig.server_stats().datagram_bytes, wire::kFloorDatagramBytes);
    const uint64_t took_ns = rig.rig.now_ns - from_ns;
    RecordProperty(beside_a_game ? "beside_a_game_ms" : "alone_ms", static_cast<int>(took_ns / kMs));
    EXPECT_LE(took_ns, 4 * kSecond);
  }
}

TEST(TransferPath, SurvivesABlackoutShorterThanTheTimeout) {
  TransferRig rig(path(20, 0.0, 5 * kMs));
  ASSERT_TRUE(rig.rig.connect_all());
  rig.start(2'000'000);
  ASSERT_TRUE(rig.run_until(5 * kSecond, [&] { return rig.client.app.written_bytes > 200'000; }));
  rig.rig.network.set_default({.blackout = true});
  rig.run_until(3 * kSecond, [] { return false; });
  rig.rig.network.set_default(rig.rig.options.path);
  ASSERT_TRUE(rig.run_until_done(20 * kSecond));
  expect_whole(rig, 2'000'000);
}

TEST(TransferPath, LossReorderingAndDuplicationOnManySeeds) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    test::RigOptions options = path(30, 0.2, 5 * kMs);
    options.seed = seed;
    options.path.jitter_ms = 20;
    options.path.jitter_reorders = true;
    options.path.duplicate = 0.1;
    TransferRig rig(std::move(options));
    ASSERT_TRUE(rig.rig.connect_all()) << seed;
    rig.start(300'000);
    ASSERT_TRUE(rig.run_until_done(60 * kSecond)) << "seed " << seed;
    expect_whole(rig, 300'000);
  }
}

TEST(TransferPath, ReceiverThatPumpsSlowly) {
  // At 30 Hz a hundred chunks wait for each pump; one acknowledgement block reaches 33 of them.
  TransferRig rig(path(10, 0.0, 33 * kMs));
  ASSERT_TRUE(rig.rig.connect_all());
  const uint64_t before = rig.rig.server_stats().packets_lost;
  rig.start(1'000'000);
  ASSERT_TRUE(rig.run_until_done(20 * kSecond));
  expect_whole(rig, 1'000'000);
  EXPECT_EQ(rig.rig.server_stats().packets_lost, before);
}

TEST(TransferPath, BothWaysAtOnce) {
  TransferRig rig(path(20, 0.02, 2 * kMs));
  ASSERT_TRUE(rig.rig.connect_all());
  rig.start(1'000'000);
  TransferId up;
  ASSERT_EQ(rig.client.transfers.start(rig.rig.client().connection, 1'500'000, nullptr, {}, &up),
            TransferResult::kOk);
  ASSERT_TRUE(rig.run_until(30 * kSecond, [&] { return rig.server.app.ended.size() == 2; }));
  EXPECT_EQ(rig.client.app.written_bytes, 1'000'000u);
  EXPECT_EQ(rig.server.app.written_bytes, 1'500'000u);
  EXPECT_EQ(rig.client.app.wrong_bytes + rig.server.app.wrong_bytes, 0u);
}

TEST(TransferPath, ConnectionThatEndsTellsEveryChunkFirst) {
  TransferRig rig(path(20, 0.0, 5 * kMs));
  ASSERT_TRUE(rig.rig.connect_all());
  rig.start(10'000'000);
  ASSERT_TRUE(rig.run_until(5 * kSecond, [&] { return rig.client.app.written_bytes > 200'000; }));
  const test::ConnectionHandle connection = rig.rig.server.connection;
  rig.rig.server.endpoint->disconnect(connection, connection::DisconnectReason::kRequested);
  rig.step();
  ASSERT_EQ(rig.rig.server.handler.ended.size(), 1u);
  // Afterwards no chunk of it may be told: the transfers of the connection are gone.
  rig.server.transfers.on_disconnected(connection);
  ASSERT_EQ(rig.server.app.ended.size(), 1u);
  EXPECT_EQ(rig.server.app.ended[0].ending, TransferEnding::kConnectionLost);
  rig.rig.run(kSecond);
}

TEST(TransferPath, ChunkOnAChannelOfAnotherKindIsRefusedBySend) {
  TransferRig rig(path(5, 0.0, 5 * kMs));
  ASSERT_TRUE(rig.rig.connect_all());
  const uint8_t body[300] = {};
  EXPECT_EQ(rig.rig.server.endpoint->send(rig.rig.server.connection, test::kTransferChannel, {}, body),
            test::SendResult::kInvalidChannel);
}

}  // namespace
}  // namespace lattice::transfer
