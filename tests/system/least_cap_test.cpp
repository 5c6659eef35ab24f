// The least cap that a world accepts is enough: what a client owns is told in nearly each snapshot, whatever
// else changes.
#include <span>

#include "interest_pair.h"

namespace lattice::test::least_cap_test {
namespace {

constexpr uint32_t kOwnBytes = 32;

/// Changes 5 numbers of some 32 bits each: with their mask and the object's head no more than kOwnBytes.
void change(lattice_world* world, lattice_netid object, uint32_t step) {
  auto* bulk = static_cast<Bulk*>(lattice_object_state(world, object, 0));
  for (uint32_t i = 0; i < 5; ++i) bulk->numbers[i] = 0x10000000u + (step * 0x9E3779B1u >> 4) + i;
}

/// Changes everything, lets 5 ms pass, and returns the tick that the client then knows of its own object.
uint32_t confirmed_after_change(InterestPair& pair, lattice_netid own, std::span<const lattice_netid> others,
                                uint32_t step) {
  change(pair.server(), own, step);
  for (const lattice_netid other : others) change(pair.server(), other, step);
  pair.run(5);
  lattice_object_info info;
  lattice_object_info_init(&info);
  EXPECT_EQ(lattice_object_get_info(pair.client(), own, &info), LATTICE_OK) << lattice_last_error();
  return info.confirmed_tick;
}

uint64_t inputs_used(lattice_world* world) {
  lattice_world_stats stats;
  lattice_world_stats_init(&stats);
  EXPECT_EQ(lattice_world_get_stats(world, &stats), LATTICE_OK) << lattice_last_error();
  return stats.inputs_used;
}

TEST(LeastCap, corrects_what_a_client_owns_in_each_snapshot) {
  InterestPair pair(LATTICE_INTEREST_NONE, 0, [](lattice_world_config* config) {
    config->predicted_set_bytes = kOwnBytes;
    config->max_send_bytes_per_s = 40 * 53 + 30 * (64 + 2 * kOwnBytes);
  });
  std::vector<lattice_netid> others;
  for (uint32_t i = 0; i < 20; ++i) others.push_back(pair.spawn_bulk(1));
  ASSERT_TRUE(pair.connect()) << lattice_last_error();
  const lattice_netid own = pair.spawn_bulk(1, pair.peer());
  pair.run(3000);

  uint32_t confirmed = 0;
  uint32_t newest = 0;
  constexpr uint32_t kSeconds = 4;
  for (uint32_t ms = 0; ms < 1000 * kSeconds; ms += 5) {
    const uint32_t now = confirmed_after_change(pair, own, others, ms);
    confirmed += now != newest ? 1u : 0u;
    newest = now;
  }
  EXPECT_GE(confirmed, kSeconds * 27) << "of 30 snapshots a second";
}

// Where packets overtake each other, each of them asks for an ack at once. Acks alone do not take the rate.
TEST(LeastCap, corrects_what_a_client_owns_where_packets_overtake_each_other) {
  for (const auto& [tick_rate_hz, snapshot_rate_hz] : {std::pair<uint32_t, uint32_t>{60, 30}, {128, 10}}) {
    static uint32_t tick_hz, snapshot_hz;
    tick_hz = tick_rate_hz;
    snapshot_hz = snapshot_rate_hz;
    InterestPair pair(LATTICE_INTEREST_NONE, 0,
                      [](lattice_world_config* config) {
                        config->tick_rate_hz = tick_hz;
                        config->snapshot_rate_hz = snapshot_hz;
                        config->predicted_set_bytes = kOwnBytes;
                        config->max_send_bytes_per_s =
                            std::max(snapshot_hz, 40u) * 53 + snapshot_hz * (64 + 2 * kOwnBytes);
                      },
                      {.rate_hz = tick_rate_hz, .have_inputs = true});
    std::vector<lattice_netid> others;
    for (uint32_t i = 0; i < 20; ++i) others.push_back(pair.spawn_bulk(1));
    ASSERT_TRUE(pair.connect()) << lattice_last_error();
    const lattice_netid own = pair.spawn_bulk(1, pair.peer());
    pair.run(2000);
    pair.overtake(50, 25);

    uint32_t newest = 0, since_ms = 0, longest_ms = 0;
    for (uint32_t ms = 0; ms < 12000; ms += 5) {
      const uint32_t now = confirmed_after_change(pair, own, others, ms);
      since_ms = now != newest ? 0 : since_ms + 5;
      newest = now;
      longest_ms = std::max(longest_ms, since_ms);
    }
    EXPECT_GT(inputs_used(pair.server()), 8 * tick_rate_hz);
    // Two intervals, and one snapshot overtaken by the next.
    EXPECT_LE(longest_ms, 3 * 1000 / snapshot_rate_hz + 50) << tick_rate_hz;
  }
}

// The messages fill every packet that the cap allows, and a snapshot leaves in each.
TEST(LeastCap, snapshots_get_a_quarter_beside_reliable_messages) {
  for (const size_t message_bytes : {size_t{100}, size_t{1000}}) {
    InterestPair pair(LATTICE_INTEREST_NONE, 0, [](lattice_world_config* config) {
      config->snapshot_rate_hz = 60;
      config->predicted_set_bytes = kOwnBytes;
      config->max_send_bytes_per_s = 60 * 53 + 60 * (64 + 2 * kOwnBytes);
    });
    std::vector<lattice_netid> others;
    for (uint32_t i = 0; i < 60; ++i) others.push_back(pair.spawn_bulk(1));
    ASSERT_TRUE(pair.connect()) << lattice_last_error();
    const lattice_netid own = pair.spawn_bulk(1, pair.peer());
    pair.run(3000);
    const auto stats = [&] {
      lattice_world_stats out;
      lattice_world_stats_init(&out);
      EXPECT_EQ(lattice_world_get_stats(pair.server(), &out), LATTICE_OK);
      return out;
    };
    const std::vector<uint8_t> message(message_bytes, 7);
    lattice_world_stats before = stats();
    for (uint32_t ms = 0; ms < 8000; ms += 5) {
      if (ms == 2000) before = stats();
      while (lattice_send(pair.conn(), LATTICE_CHANNEL_RELIABLE_ORDERED, message.data(), message.size()) ==
             LATTICE_OK) {
      }
      confirmed_after_change(pair, own, others, ms);
    }
    const lattice_world_stats after = stats();
    const auto of = [](uint64_t from, uint64_t to) { return static_cast<double>(to - from); };
    const double share =
        of(before.snapshot_bytes_sent, after.snapshot_bytes_sent) / of(before.bytes_sent, after.bytes_sent);
    EXPECT_GT(share, 0.2) << message_bytes;
    EXPECT_LT(share, 0.5) << message_bytes;
  }
}

}  // namespace
}  // namespace lattice::test::least_cap_test
