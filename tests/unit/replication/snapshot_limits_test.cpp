// Builder and applier at the limits of their settings, all that may go wrong at once; see snapshot_soak.h.
#include "support/seed_share.h"
#include "unit/replication/snapshot_soak.h"

namespace lattice::replication::test {
namespace {

SoakOptions hostile(uint32_t tick_rate_hz, uint32_t interval_ticks, uint32_t budget_bytes, double loss) {
  SoakOptions options;
  options.builder.tick_rate_hz = tick_rate_hz;
  options.builder.send_interval_ticks = interval_ticks;
  options.budget_bytes = budget_bytes;
  options.link.loss = loss;
  options.link.ack_loss = loss / 2;
  options.link.duplicate = 0.05;
  options.link.min_delay = std::max(1u, tick_rate_hz / 20);
  options.link.max_delay = options.link.min_delay + 1 + tick_rate_hz / 15;
  // The largest does not fit the smallest budget.
  options.panels = budget_bytes != 0 && budget_bytes < 200 ? Types::kPanels - 1 : Types::kPanels;
  options.calls = 0.3;
  options.max_objects = 96;
  options.resting_slots = 4;
  options.changes = 10;
  options.most_silent_ticks = 120 * interval_ticks;
  return options;
}

void soak(const SoakOptions& options, uint64_t first_seed, uint64_t seeds, Tick ticks = 900) {
  for (uint64_t seed = first_seed; seed < first_seed + lattice::test::share_of_seeds(seeds); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Soak run(seed, options);
    run.run(ticks);
    run.settle(ticks);
    if (testing::Test::HasFatalFailure()) return;
    run.expect_equal();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(SnapshotLimits, every_budget_and_loss) {
  uint64_t seed = 999;
  for (const uint32_t budget : {128u, 200u, 300u, 600u, 1200u, 0u}) {
    for (const double loss : {0.0, 0.05, 0.4}) {
      if (!lattice::test::is_in_share(++seed)) continue;
      SCOPED_TRACE("budget " + std::to_string(budget) + " loss " + std::to_string(loss));
      soak(hostile(60, 2, budget, loss), seed, 1);
      if (HasFailure()) return;
    }
  }
}

TEST(SnapshotLimits, every_rate_and_interval) {
  uint64_t seed = 1999;
  for (const uint32_t rate : {10u, 20u, 30u, 60u, 128u, 240u}) {
    for (const uint32_t interval : {1u, 2u, 3u, 4u, 6u}) {
      if (!lattice::test::is_in_share(++seed)) continue;
      SCOPED_TRACE("rate " + std::to_string(rate) + " interval " + std::to_string(interval));
      soak(hostile(rate, interval, 600, 0.1), seed, 1, 600);
      if (HasFailure()) return;
    }
  }
}

TEST(SnapshotLimits, acks_lost_for_three_seconds) {
  for (const uint32_t budget : {200u, 0u}) {
    SoakOptions options = hostile(60, 2, budget, 0.05);
    options.silence_from = 300;
    soak(options, 3000 + budget, 2);
  }
}

TEST(SnapshotLimits, slots_are_reused_at_once) {
  SoakOptions options = hostile(60, 2, 400, 0.1);
  options.max_objects = 24;
  options.objects = 18;
  options.resting_slots = 0;
  options.churn = 2;
  soak(options, 4000, 4);
}

// Everything changes in every tick, so many times what the budget holds waits.
TEST(SnapshotLimits, far_more_changes_than_the_budget_holds) {
  uint64_t seed = 6000;
  for (const uint32_t budget : {128u, 300u, 900u}) {
    SoakOptions options = hostile(60, 2, budget, 0.1);
    options.changes = 120;
    options.churn = 0.5;
    soak(options, seed++, 1);
  }
}

// One object is about as long as the budget, and many small ones want to be sent as well.
TEST(SnapshotLimits, a_large_object_is_sent_beside_many_small_ones) {
  const Types types;
  for (uint32_t budget = 128; budget < 256; budget += 2) {
    SCOPED_TRACE("budget " + std::to_string(budget));
    Authority authority(types);
    ReplicaList recipient{ReplicaList::Config{}};
    authority.recipients.push_back(&recipient);
    base::Random random(budget);
    const uint32_t large = authority.spawn(types.panel(3));
    std::vector<uint32_t> small;
    for (int i = 0; i < 80; ++i) small.push_back(authority.spawn(i % 2 == 0 ? types.lamp() : types.panel(0)));
    recipient.owe(large);
    for (const uint32_t slot : small) recipient.owe(slot);
    uint32_t last_sent = 0;
    uint32_t longest = 0;
    for (uint32_t snapshot = 0; snapshot < 150; ++snapshot) {
      for (uint32_t b = 0; b < 16; ++b) {
        for (int32_t& value : authority.state<Dials>(large, b).values) {
          value = static_cast<int32_t>(random.next_below(1001));
        }
      }
      for (size_t i = 0; i < small.size(); ++i) {
        if (i % 2 == 0) {
          authority.state<Lamp>(small[i]).level ^= 5;
        } else {
          authority.state<Dials>(small[i]).values[snapshot % 5] ^= 77;
        }
      }
      authority.tick += 2;
      authority.record();
      for (const SnapshotPart& part : authority.send(recipient, budget))
        recipient.on_receipt(part.receipt, true);
      const Replica replica = *recipient.find(large, authority.store);
      if (replica.sent_tick == authority.tick) last_sent = snapshot;
      longest = std::max(longest, snapshot - last_sent);
    }
    // Its last piece waits until the others leave room for that.
    EXPECT_LE(longest, authority.builder.stats().pieces != 0 ? 40u : 10u);
    EXPECT_EQ(authority.builder.stats().over_budget, 0u);
  }
}

TEST(SnapshotLimits, twenty_clients) {
  SoakOptions options = hostile(60, 3, 500, 0.1);
  options.clients = 20;
  soak(options, 5000, 1, 600);
}

}  // namespace
}  // namespace lattice::replication::test
