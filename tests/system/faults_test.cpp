// Many seeds of the transport under every fault at once; see fault_run.h for what is committed and checked,
// and seed_range.h for how many seeds run.
#include <gtest/gtest.h>

#include "fault_run.h"
#include "seed_range.h"

namespace lattice::test::faults_test {
namespace {

TEST(Faults, EveryKindIsCommittedAndNoInvariantBreaks) {
  FaultCounts total;
  uint64_t delivered = 0, second_tokens = 0;
  const std::vector<uint64_t> seeds = seeds_to_run(200, 10'000);
  for (const uint64_t seed : seeds) {
    FaultRun run(seed);
    run.run();
    total.add(run.faults());
    delivered += run.delivered();
    second_tokens += run.second_tokens();
    for (const std::string& line : run.violations()) ADD_FAILURE() << "seed " << seed << ": " << line;
    if (run.violations().empty()) continue;
    ADD_FAILURE() << "replay with: LATTICE_SIM_SEED=" << seed << " ./lattice test --filter system.faults";
    break;
  }
  std::printf("%zu seeds, %llu messages delivered\n", seeds.size(),
              static_cast<unsigned long long>(delivered));
  for (size_t i = 0; i < kFaultCount; ++i) {
    const auto fault = static_cast<Fault>(i);
    std::printf("fault: %llu %s\n", static_cast<unsigned long long>(total[fault]), fault_name(fault));
    // A quiet test would be a broken one.
    EXPECT_GE(total[fault], seeds.size() < 5 ? 0 : 1) << fault_name(fault);
  }
  EXPECT_GT(delivered, 500 * seeds.size());
  // Three handshakes to a seed; of 15,000 on these paths 37 did not end within the ten seconds they have.
  EXPECT_LE(second_tokens, 1 + 3 * seeds.size() / 200) << "handshakes that needed another token";
}

TEST(Faults, ASeedIsTheSameRunEveryTime) {
  FaultRun first(7);
  first.run();
  FaultRun second(7);  // A rig lets the nonce ledger forget the one before, which made the same keys.
  second.run();
  EXPECT_EQ(first.delivered(), second.delivered());
  EXPECT_EQ(first.faults().count, second.faults().count);
}

}  // namespace
}  // namespace lattice::test::faults_test
