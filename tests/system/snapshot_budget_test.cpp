// What a snapshot holds follows from what the connection may send until the next one, however often the
// application pumps; and on a narrow link the queue stays short and every object moves.
#include <algorithm>

#include "message_pair.h"
#include "plain_type.h"
#include "support/durations.h"

namespace lattice::test::snapshot_budget_test {
namespace {

constexpr uint32_t kCrateType = 5;
constexpr size_t kCrates = 100;
constexpr size_t kWords = 9;

/// About 75 bytes on the wire, all of which change with every tick.
struct Crate {
  uint32_t tick;
  uint64_t load[kWords - 1];
};

void register_crate(lattice_world* world) {
  lattice_member_desc members[2];
  for (lattice_member_desc& member : members) lattice_member_desc_init(&member);
  members[0].name = "tick";
  members[0].type = LATTICE_WIRE_UINT32;
  members[0].offset = offsetof(Crate, tick);
  members[1].name = "load";
  members[1].type = LATTICE_WIRE_UINT64;
  members[1].encoding = LATTICE_ENCODING_FIXED;
  members[1].offset = offsetof(Crate, load);
  members[1].array_count = kWords - 1;
  register_plain_type<Crate>(world, {.type_id = kCrateType, .name = "Crate", .members = members});
}

/// A server with moving crates, one client, and a pump at a fixed interval.
class Crates {
 public:
  Crates(double delay_ms, double rate_kbit_per_s, uint64_t pump_ns) : pump_ns_(pump_ns) {
    lattice_impairment impairment;
    lattice_impairment_init(&impairment);
    impairment.delay_ms = delay_ms;
    impairment.rate_kbit_per_s = rate_kbit_per_s;
    EXPECT_EQ(lattice_netsim_set_impairment(pair.net, &impairment), LATTICE_OK);
    register_crate(pair.server.world);
    register_crate(pair.client.world);
    for (lattice_netid& id : ids) id = lattice_spawn(pair.server.world, kCrateType, LATTICE_AUTHORITY_SERVER);
    connected =
        pair.start() &&
        pair.run_until(
            5'000, [this] { return pair.server.connected > 0 && pair.client.connected > 0; }, pump_ns);
    lattice_callbacks callbacks;
    lattice_callbacks_init(&callbacks);
    callbacks.on_tick = [](void* ctx, lattice_world* world, const lattice_tick_context* tick) {
      for (const lattice_netid id : static_cast<Crates*>(ctx)->ids) {
        auto* crate = static_cast<Crate*>(lattice_object_state(world, id, 0));
        crate->tick = tick->tick;
        uint64_t word = tick->tick * 0x9e3779b97f4a7c15u + id;
        for (uint64_t& load : crate->load) load = word = word * 6364136223846793005u + 1442695040888963407u;
      }
    };
    // In place of the callbacks that saw the two connect.
    EXPECT_EQ(lattice_set_callbacks(pair.server.world, &callbacks, this), LATTICE_OK);
  }

  template <class EachPump>
  void run(uint64_t for_ns, EachPump each_pump) {
    for (const uint64_t end_ns = pair.now_ns + for_ns; pair.now_ns < end_ns;) {
      pair.now_ns += pump_ns_;
      lattice_netsim_advance(pair.net, pump_ns_);
      lattice_world_pump(pair.server.world);
      lattice_world_pump(pair.client.world);
      each_pump();
    }
  }
  void run(uint64_t for_ns) {
    run(for_ns, [] {});
  }

  lattice_world_stats stats(const Side& side) const {
    lattice_world_stats out;
    lattice_world_stats_init(&out);
    EXPECT_EQ(lattice_world_get_stats(side.world, &out), LATTICE_OK);
    return out;
  }
  lattice_conn_stats link() const {
    lattice_conn_stats out;
    lattice_conn_stats_init(&out);
    EXPECT_EQ(lattice_conn_get_stats(pair.server.conn, &out), LATTICE_OK);
    return out;
  }
  /// How many ticks behind the server the client's oldest state is.
  uint32_t oldest_ticks() const {
    const uint32_t now = stats(pair.server).tick;
    uint32_t oldest = 0;
    for (const lattice_netid id : ids) {
      Crate crate{};
      if (lattice_object_confirmed(pair.client.world, id, 0, &crate, sizeof crate, nullptr) == 0) return now;
      oldest = std::max(oldest, now - crate.tick);
    }
    return oldest;
  }

  /// The tick of the client's newest state.
  uint32_t newest_tick() const {
    uint32_t newest = 0;
    for (const lattice_netid id : ids) {
      Crate crate{};
      if (lattice_object_confirmed(pair.client.world, id, 0, &crate, sizeof crate, nullptr) == 0) continue;
      newest = std::max(newest, crate.tick);
    }
    return newest;
  }

  MessagePair pair;
  lattice_netid ids[kCrates];
  bool connected = false;

 private:
  uint64_t pump_ns_;
};

struct Measured {
  double snapshots_per_s = 0;
  double whole_per_s = 0;
  double longest_rtt_ms = 0;
  double mean_rtt_ms = 0;
  uint32_t oldest_ticks = 0;
  uint64_t lost = 0;
};

Measured measure(Crates& crates, uint64_t seconds) {
  Measured out;
  const uint64_t sent = crates.stats(crates.pair.server).snapshots_sent;
  const uint64_t applied = crates.stats(crates.pair.client).snapshots_applied;
  const uint64_t lost = crates.link().packets_lost;
  uint32_t pumps = 0;
  crates.run(seconds * kSecond, [&] {
    const double rtt_ms = crates.link().rtt_ms;
    out.longest_rtt_ms = std::max(out.longest_rtt_ms, rtt_ms);
    out.mean_rtt_ms += rtt_ms;
    out.oldest_ticks = std::max(out.oldest_ticks, crates.oldest_ticks());
    ++pumps;
  });
  const auto per_s = [&](uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(seconds);
  };
  out.snapshots_per_s = per_s(crates.stats(crates.pair.server).snapshots_sent - sent);
  out.whole_per_s = per_s(crates.stats(crates.pair.client).snapshots_applied - applied);
  out.mean_rtt_ms /= pumps;
  out.lost = crates.link().packets_lost - lost;
  return out;
}

TEST(SnapshotBudget, SnapshotsAreWholeHoweverOftenTheApplicationPumps) {
  for (const double delay_ms : {10.0, 50.0}) {
    for (const uint64_t pump_us : {1000u, 4000u, 8300u, 16667u}) {
      SCOPED_TRACE(testing::Message() << delay_ms << " ms each way, a pump every " << pump_us << " us");
      Crates crates(delay_ms, 0, pump_us * 1000);
      ASSERT_TRUE(crates.connected);
      crates.run(3 * kSecond);
      const Measured out = measure(crates, 3);
      EXPECT_NEAR(out.snapshots_per_s, 30, 0.5);
      EXPECT_NEAR(out.whole_per_s, 30, 0.5);
      // The way, two ticks of an interval, and the last part is not held back for long.
      EXPECT_LE(out.oldest_ticks, delay_ms == 10.0 ? 2u : 5u);
    }
  }
}

TEST(SnapshotBudget, ANarrowLinkKeepsItsQueueShortAndEveryObjectMoves) {
  for (const double rate_kbit_per_s : {500.0, 2000.0}) {
    for (const uint64_t pump_us : {1000u, 4000u, 16667u}) {
      SCOPED_TRACE(testing::Message() << rate_kbit_per_s << " kbit/s, a pump every " << pump_us << " us");
      Crates crates(20, rate_kbit_per_s, pump_us * 1000);
      ASSERT_TRUE(crates.connected);
      crates.run(5 * kSecond);  // Startup overshoots.
      const Measured out = measure(crates, 8);
      EXPECT_EQ(out.lost, 0u);  // The queue holds 64 KB: a second at 500 kbit/s.
      EXPECT_LT(out.mean_rtt_ms, rate_kbit_per_s == 500.0 ? 120 : 90);
      EXPECT_LT(out.longest_rtt_ms, rate_kbit_per_s == 500.0 ? 180 : 110);
      EXPECT_LT(out.oldest_ticks, rate_kbit_per_s == 500.0 ? 30u : 12u);
      EXPECT_GT(out.snapshots_per_s, 20);
    }
  }
}

// What waits when the path falls silent is not sent when it comes back: newer states are.
TEST(SnapshotBudget, AfterABlackoutTheFirstStatesAreNew) {
  Crates crates(50, 0, 4 * kMs);
  ASSERT_TRUE(crates.connected);
  crates.run(3 * kSecond);
  lattice_impairment dark;
  lattice_impairment_init(&dark);
  dark.blackout = 1;
  EXPECT_EQ(lattice_netsim_set_impairment(crates.pair.net, &dark), LATTICE_OK);
  crates.run(3 * kSecond);
  crates.pair.impair(50, 0);
  const uint32_t light_tick = crates.stats(crates.pair.server).tick;
  uint32_t newest = 0, previous = crates.newest_tick();
  crates.run(2 * kSecond, [&] {
    const uint32_t tick = crates.newest_tick();
    if (newest == 0 && tick != previous) newest = tick;
  });
  EXPECT_GE(newest + 4, light_tick);
  EXPECT_LE(crates.oldest_ticks(), 5u);
}

}  // namespace
}  // namespace lattice::test::snapshot_budget_test
