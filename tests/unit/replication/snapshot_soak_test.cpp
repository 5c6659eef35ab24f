// The link's faults one by one, and the wrap of ticks; see snapshot_soak.h.
#include "unit/replication/snapshot_soak.h"
#include "support/seed_share.h"

namespace lattice::replication::test {
namespace {

void soak(uint64_t first_seed, uint64_t seeds, const LinkModel& link, uint32_t capacity = 1100,
          uint32_t budget = 0, Tick first_tick = 1) {
  for (uint64_t seed = first_seed; seed < first_seed + lattice::test::share_of_seeds(seeds); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SoakOptions options;
    options.link = link;
    options.builder.part_capacity_bytes = capacity;
    options.budget_bytes = budget;
    options.first_tick = first_tick;
    Soak run(seed, options);
    run.run(1200);
    run.settle(600);
    if (testing::Test::HasFatalFailure()) return;
    run.expect_equal();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(SnapshotSoak, clean_link) {
  soak(1, 2, LinkModel{});
}

TEST(SnapshotSoak, loss_reordering_and_duplicates) {
  LinkModel link;
  link.loss = 0.2, link.ack_loss = 0.1, link.duplicate = 0.1, link.max_delay = 12;
  soak(10, 4, link);
}

TEST(SnapshotSoak, reordering_up_to_60_ticks_never_errs) {
  LinkModel link;
  link.loss = 0.05, link.duplicate = 0.05, link.max_delay = 61;
  soak(20, 4, link);
}

TEST(SnapshotSoak, reordering_past_what_is_kept_only_costs_acks) {
  LinkModel link;
  link.loss = 0.05, link.duplicate = 0.05, link.max_delay = 150;
  soak(30, 3, link);
}

TEST(SnapshotSoak, small_parts_and_a_tight_budget) {
  LinkModel link;
  link.loss = 0.1, link.max_delay = 8;
  soak(40, 3, link, 128, 300);
}

TEST(SnapshotSoak, across_the_wrap_of_ticks) {
  LinkModel link;
  link.loss = 0.1, link.max_delay = 20;
  soak(50, 2, link, 1100, 0, 0xFFFFFE01u);
}

}  // namespace
}  // namespace lattice::replication::test
