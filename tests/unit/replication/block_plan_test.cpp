// Counting of bits before anything is written: exactly, or roughly where nobody needs to know what is left.
#include "replication/block_plan.h"

#include "unit/replication/replication_fixture.h"

namespace lattice::replication {
namespace test {
namespace {

TEST(BlockPlan, counts_roughly_never_too_few) {
  constexpr uint32_t kCapacityBytes = 1100, kMaxParts = 64;
  Types types;
  const ObjectTable table(1);
  base::Random random(7);
  uint32_t rough_blocks = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<Candidate> candidates(1 + random.next_below(60));
    const uint64_t most_gap = uint64_t{1} << random.next_below(16);
    const uint64_t most_bits = 1 + random.next_below(300);
    uint32_t slot = static_cast<uint32_t>(random.next_below(1000));
    for (Candidate& candidate : candidates) {
      candidate.slot = slot;
      slot += 1 + static_cast<uint32_t>(random.next_below(most_gap));
      candidate.type = random.next_below(4) != 0 ? &types.actor() : &types.lamp();
      candidate.mask = {random.next_below(4), 4};
      candidate.bits = static_cast<uint32_t>(random.next_below(most_bits));
      candidate.age = 6;
    }
    BlockPlan exact(kCapacityBytes), rough(kCapacityBytes);
    ASSERT_TRUE(exact.plan(candidates, table, kMaxParts));
    ASSERT_TRUE(rough.plan(candidates, table, kMaxParts, BlockPlan::Counting::kRoughly));
    ASSERT_GE(rough.bytes(), exact.bytes());
    ASSERT_LE(rough.room_bytes(), exact.room_bytes());
    ASSERT_EQ(rough.parts().size(), exact.parts().size());
    ASSERT_EQ(rough.blocks().size(), exact.blocks().size());
    for (size_t i = 0; i < exact.blocks().size(); ++i) {
      ASSERT_EQ(rough.blocks()[i].count, exact.blocks()[i].count);
      ASSERT_EQ(rough.blocks()[i].k, exact.blocks()[i].k);
      ASSERT_EQ(rough.blocks()[i].age, exact.blocks()[i].age);
    }
    rough_blocks += rough.bytes() != exact.bytes() ? 1u : 0u;
  }
  EXPECT_GT(rough_blocks, 500u);
}

}  // namespace
}  // namespace test
}  // namespace lattice::replication
