// Chunks leave when nothing else waits, and each is told its fate once.
#include <gtest/gtest.h>

#include "endpoint_rig.h"

namespace lattice::reliability {
namespace {

using test::EndpointRig;
using test::kMs;
using test::kSecond;

constexpr uint8_t kBulkChannel = 13;

class CountingSource final : public BulkSource {
 public:
  bool has_chunk(ConnectionHandle) override { return next < count && in_flight < window; }
  size_t take_chunk(ConnectionHandle, std::span<uint8_t> out, size_t floor_bytes, Taken* taken) override {
    EXPECT_TRUE(floor_bytes >= kMaxUnreliableBody && floor_bytes <= out.size());
    EXPECT_LE(out.size(), kMaxBulkBody);
    largest_room_bytes = std::max(largest_room_bytes, out.size());
    if (next == broken_at) {
      count = 0;
      return 0;
    }
    std::fill(out.begin(), out.end(), static_cast<uint8_t>(next));
    *taken = {kBulkChannel, next++};
    ++in_flight;
    return out.size();
  }
  void on_chunk_receipt(ConnectionHandle, uint32_t chunk, bool acked) override {
    told[chunk].push_back(acked);
    --in_flight;
  }
  uint32_t next = 0, count = 0, window = 100, broken_at = UINT32_MAX;
  uint32_t in_flight = 0;
  size_t largest_room_bytes = 0;
  std::map<uint32_t, std::vector<bool>> told;
};

class EndpointBulk : public testing::Test {
 protected:
  void start(double loss) {
    test::RigOptions options;
    options.path.delay_ms = 20;
    options.path.loss = loss;
    for (EndpointConfig* side : {&options.server, &options.client}) {
      side->channels.declare(kBulkChannel, ChannelMode::kBulk);
    }
    options.server.bulk = &source;
    rig = std::make_unique<EndpointRig>(std::move(options));
    ASSERT_TRUE(rig->connect_all());
  }
  CountingSource source;
  std::unique_ptr<EndpointRig> rig;
};

TEST_F(EndpointBulk, EachChunkIsToldOnceAndThoseAckedArrived) {
  start(0.1);
  source.count = 500;
  rig->run(10 * kSecond);
  ASSERT_EQ(source.told.size(), 500u);
  size_t acked = 0;
  for (const auto& [chunk, fates] : source.told) {
    ASSERT_EQ(fates.size(), 1u) << chunk;
    if (fates[0]) ++acked;
  }
  EXPECT_GT(acked, 350u);
  EXPECT_LT(acked, 500u);
  EXPECT_GE(rig->client().handler.message_count, acked);
  EXPECT_EQ(source.in_flight, 0u);
}

TEST_F(EndpointBulk, ChunksFillTheDatagramsOfThePath) {
  start(0);
  rig->run(kSecond);
  ASSERT_EQ(rig->server_stats().datagram_bytes, kLargestDatagramBytes);
  const auto before = rig->server_stats().traffic;
  source.count = 100;
  rig->server.endpoint->wake(rig->server.connection);
  rig->run(kSecond);
  const auto after = rig->server_stats().traffic;
  ASSERT_EQ(source.told.size(), 100u);
  EXPECT_GE(source.largest_room_bytes, kMaxBulkBody - 1) << "a number of two bytes at most";
  EXPECT_GE((after.bytes_sent - before.bytes_sent) / 100, kLargestDatagramBytes - 1);
}

TEST_F(EndpointBulk, MessagesGoBeforeChunks) {
  start(0);
  rig->run(kSecond);
  source.count = 1000;
  source.window = 1000;
  const auto message = test::number_body(7);
  ASSERT_EQ(rig->server.endpoint->send(rig->server.connection, Channel::kUnreliable, {}, message),
            SendResult::kOk);
  ASSERT_EQ(rig->server.endpoint->send(rig->server.connection, Channel::kReliableOrdered, {}, message),
            SendResult::kOk);
  ASSERT_TRUE(rig->run_until(kSecond, [this] { return !rig->client().handler.received.empty(); }));
  ASSERT_GE(rig->client().handler.received.size(), 2u);
  EXPECT_EQ(rig->client().handler.received[0].channel, Channel::kReliableOrdered);
  EXPECT_EQ(rig->client().handler.received[1].channel, Channel::kUnreliable);
}

TEST_F(EndpointBulk, ChunksInFlightAreLostWithTheConnection) {
  start(0);
  source.count = 50;
  rig->server.endpoint->wake(rig->server.connection);
  rig->step();
  ASSERT_GT(source.in_flight, 0u);
  rig->server.endpoint->disconnect(rig->server.connection, connection::DisconnectReason::kRequested);
  rig->step();
  EXPECT_EQ(source.in_flight, 0u);
  for (const auto& [chunk, fates] : source.told) EXPECT_EQ(fates.size(), 1u) << chunk;
}

TEST_F(EndpointBulk, SourceThatCannotReadSendsNothing) {
  start(0);
  rig->run(kSecond);
  const uint64_t before = rig->client().handler.message_count;
  source.count = 10;
  source.broken_at = 3;
  rig->server.endpoint->wake(rig->server.connection);
  rig->step();
  EXPECT_GT(source.in_flight, 0u) << "an idle connection is asked at once";
  rig->run(kSecond);
  EXPECT_EQ(rig->client().handler.message_count - before, 3u);
  EXPECT_EQ(source.told.size(), 3u);
}

}  // namespace
}  // namespace lattice::reliability
