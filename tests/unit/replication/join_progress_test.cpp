#include "replication/join_progress.h"

#include <gtest/gtest.h>

#include <vector>

namespace lattice::replication {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes bytes_of(JoinProgress& progress, Tick tick, JoinCount count, uint32_t receipt) {
  const auto part = progress.write(tick, count, receipt);
  return {part.begin(), part.end()};
}

TEST(JoinProgress, golden_bytes) {
  JoinProgress progress;
  EXPECT_EQ(bytes_of(progress, 1000, {300, 7}, 1), (Bytes{0xE8, 0x03, 0, 0, 0x08, 0xAC, 0x02, 0x07}));
  EXPECT_EQ(bytes_of(progress, 1000, {UINT32_MAX, UINT32_MAX}, 1).size(), JoinProgress::kMaxPartBytes);
}

TEST(JoinProgress, is_due_at_once_then_five_times_a_second) {
  JoinProgress progress;
  EXPECT_TRUE(progress.due(10, 4, 60));
  progress.write(10, {4, 4}, 1);
  EXPECT_FALSE(progress.due(21, 4, 60));
  EXPECT_TRUE(progress.due(22, 4, 60)) << "12 ticks of 60 a second";
  EXPECT_TRUE(progress.due(11, 0, 60)) << "nothing is missing any more";
}

TEST(JoinProgress, the_last_part_is_repeated_until_it_is_acked) {
  JoinProgress progress;
  progress.write(10, {4, 1}, 1);
  progress.write(11, {4, 0}, 2);
  progress.on_receipt(1, true);
  EXPECT_FALSE(progress.done()) << "that part said that one is missing";
  EXPECT_FALSE(progress.due(12, 0, 60)) << "in flight";
  progress.on_receipt(2, false);
  EXPECT_TRUE(progress.due(13, 0, 60)) << "lost";
  progress.write(13, {4, 0}, 3);
  progress.on_receipt(3, true);
  EXPECT_TRUE(progress.done());
  EXPECT_FALSE(progress.due(1000, 0, 60));
}

// Parts follow each other faster than their acks come back.
TEST(JoinProgress, the_round_trip_may_take_seconds) {
  JoinProgress progress;
  Tick tick = 10;
  uint32_t sent = 0;
  for (; tick < 1000; ++tick) {
    if (!progress.due(tick, 0, 60)) continue;
    progress.write(tick, {4, 0}, ++sent);
  }
  EXPECT_EQ(sent, 8u) << "then it waits for a verdict";
  progress.on_receipt(1, false);
  ASSERT_TRUE(progress.due(tick, 0, 60));
  progress.write(tick, {4, 0}, ++sent);
  EXPECT_FALSE(progress.due(tick + 600, 0, 60));
  progress.on_receipt(2, true);
  EXPECT_TRUE(progress.done());
  progress.on_receipt(3, false);
  EXPECT_TRUE(progress.done());
}

}  // namespace
}  // namespace lattice::replication
