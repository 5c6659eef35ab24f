// Many seeds of the whole system under random impairment: one server, eight clients, thirty seconds.
//
// Checked in every seed: I1 (whole ticks in order), I3 (the nonce ledger of validation builds), I4 (exactly
// once, in order, on every channel and for RPCs), I5 (only the authority writes), every state a client
// ever holds equals the server's at that tick bit for bit, and after the network calms down every client's
// state hash equals the server's.
// How many seeds: seed_range.h. Faults that the C interface cannot commit: faults_test.cpp.
#include <gtest/gtest.h>

#include "allocation_counter.h"
#include "arena.h"
#include "seed_range.h"

namespace lattice::test::simulation_test {
namespace {

/// A network that is bad in a way the seed decides.
lattice_impairment random_impairment(base::Random& random) {
  lattice_impairment value;
  lattice_impairment_init(&value);
  value.delay_ms = 5.0 + 95.0 * random.next_unit();
  value.jitter_ms = value.delay_ms * 0.5 * random.next_unit();
  value.jitter_reorders = random.chance(0.5) ? 1 : 0;
  value.loss_percent = 15.0 * random.next_unit();
  if (random.chance(0.3)) {
    value.burst_enter_percent = 1.0;
    value.burst_leave_percent = 30.0;
  }
  value.duplicate_percent = 5.0 * random.next_unit();
  value.reorder_percent = 5.0 * random.next_unit();
  value.reorder_ms = 200.0 * random.next_unit();
  return value;
}

struct Totals {
  uint64_t delivered = 0;
  uint64_t states = 0;
};

void run_seed(uint64_t seed, Totals* total) {
  base::Random random(seed);
  ArenaConfig config;
  config.seed = seed;
  config.impairment = random_impairment(random);
  Arena arena(config);
  arena.run(15.0);
  if (random.chance(0.3)) {
    lattice_impairment dark = config.impairment;
    dark.blackout = 1;
    arena.set_impairment(dark);
    arena.run(1.0);
    arena.set_impairment(config.impairment);
  }
  arena.run(11.0);
  arena.settle();
  for (size_t i = 0; i < arena.client_count(); ++i) {
    if (!arena.connected(i)) arena.violation("player " + std::to_string(i) + " is not connected at the end");
    if (arena.hash_of(arena.client(i)) != arena.hash_of(arena.server())) {
      arena.violation("player " + std::to_string(i) + " holds another state than the server at rest");
    }
  }
  total->delivered += arena.delivered();
  total->states += arena.states_checked();
  if (arena.violations().empty()) return;
  for (const std::string& line : arena.violations()) ADD_FAILURE() << "seed " << seed << ": " << line;
  ADD_FAILURE() << "replay with: LATTICE_SIM_SEED=" << seed << " ./lattice test --filter system.simulation";
}

TEST(Simulation, HoldsItsInvariantsUnderRandomImpairment) {
  Totals total;
  const std::vector<uint64_t> seeds = seeds_to_run(200, 2000);
  {
    // What a process allocates once (the nonce ledger of validation builds) is not a leak of the seeds.
    ArenaConfig warm_up;
    lattice_impairment_init(&warm_up.impairment);
    warm_up.clients = 1;
    Arena(warm_up).run(1.0);
  }
  const int64_t before = live_bytes();
  uint64_t runs = 0;
  for (const uint64_t seed : seeds) {
    run_seed(seed, &total);
    ++runs;
    if (HasFailure()) break;
  }
  // A quiet test would be a broken one.
  EXPECT_GT(total.delivered, 1000 * runs);
  EXPECT_GT(total.states, 10000 * runs);
  // No leak: worlds come and go, memory does not grow with them (the registries of a process stay).
  EXPECT_LT(live_bytes() - before, 1 << 20);
  std::printf("%llu seeds, %llu messages delivered, %llu states compared\n",
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(total.delivered),
              static_cast<unsigned long long>(total.states));
}

}  // namespace
}  // namespace lattice::test::simulation_test
