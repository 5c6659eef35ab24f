#include "world/snapshot_brake.h"

#include <gtest/gtest.h>

namespace lattice::world {
namespace {

/// A client with a snapshot of one part each second tick, of which it acknowledges one of `of`, and all that
/// the world has to be looked at with each.
struct BrakedClient {
  /// Snapshots in so many seconds.
  uint32_t run(uint32_t seconds, uint32_t of, uint64_t objects, bool owns = false) {
    uint32_t snapshots = 0;
    for (const base::Tick end = turn.tick + 60 * seconds; turn.tick != end; turn.tick += 2) {
      turn.owns = owns;
      if (brake.holds(turn)) continue;
      ++snapshots;
      turn.snapshot_tick = turn.tick;
      turn.looks += objects;
      const bool acked = of != 0 && sent++ % of == 0;
      brake.on_part(acked);
      turn.acked_entries += acked ? entries : 0;
    }
    return snapshots;
  }
  SnapshotBrake brake;
  SnapshotBrake::Turn turn{.tick = 1000, .snapshot_tick = 1000};
  uint32_t sent = 0;
  uint32_t entries = 100;  // in a part
};

TEST(SnapshotBrake, holds_back_who_acks_little_of_much) {
  for (const uint32_t of : {0u, 3u, 8u}) {
    BrakedClient client;
    client.run(3, of, 40'000);
    EXPECT_LE(client.run(10, of, 40'000), 15u) << of;
    EXPECT_GE(client.run(10, of, 40'000), 10u) << of;
    EXPECT_GE(client.run(10, of, 40'000, true), 40u) << of << ", owns something";
    EXPECT_LE(client.run(10, of, 40'000, true), 90u) << of << ", owns something";
  }
}

TEST(SnapshotBrake, leaves_others_alone) {
  BrakedClient honest;
  EXPECT_EQ(honest.run(10, 1, 40'000), 300u);
  BrakedClient small;  // what it costs is no matter
  EXPECT_EQ(small.run(10, 8, 1'000), 300u);
  BrakedClient lossy;
  EXPECT_EQ(lossy.run(10, 2, 25'000), 300u);
}

// Its congestion control lets next to nothing out to a client that times its acks so. What comes, it acks.
TEST(SnapshotBrake, holds_back_who_acks_all_of_next_to_nothing) {
  BrakedClient slow;
  slow.entries = 6;
  slow.run(10, 1, 40'000);
  EXPECT_LE(slow.run(10, 1, 40'000), 15u);
  EXPECT_LE(slow.run(10, 1, 40'000, true), 90u) << "owns something";
}

TEST(SnapshotBrake, a_moment_of_darkness_is_forgotten_at_once) {
  BrakedClient client;
  client.run(10, 1, 40'000);
  for (int i = 0; i < 10; ++i) {
    client.run(1, 0, 40'000);
    EXPECT_EQ(client.run(4, 1, 40'000), 120u) << i;
  }
  client.run(20, 0, 40'000);  // what is_silent() does not see
  client.run(6, 1, 40'000);   // at one snapshot a second until it has acked the last few
  EXPECT_EQ(client.run(4, 1, 40'000), 120u);
}

}  // namespace
}  // namespace lattice::world
