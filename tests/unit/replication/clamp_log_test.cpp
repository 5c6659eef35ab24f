// Clamped values: counted each time, reported once for each member of a type.
#include "replication/clamp_log.h"

#include <gtest/gtest.h>

#include <limits>

#include "allocation_counter.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

constexpr uint16_t kLevel = 1, kPosition = 0, kHealth = 1 << 8;

struct Report {
  uint32_t slot;
  uint16_t prop_id;
  Tick tick;
  bool operator==(const Report&) const = default;
};

std::vector<Report> take_reports(StateStore& store) {
  std::vector<Report> taken;
  for (const ClampReport& r : store.clamps().reports()) taken.push_back({r.slot, r.prop_id, r.tick});
  store.clear_clamp_reports();
  return taken;
}

TEST(ClampLog, values_that_fit_are_not_counted) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  for (; authority.tick < 20; ++authority.tick) {
    authority.state<Lamp>(slot).level = static_cast<uint8_t>(authority.tick % 16);
    authority.record();
  }
  EXPECT_EQ(authority.store.clamps().values(), 0u);
  EXPECT_EQ(take_reports(authority.store), std::vector<Report>{});
}

TEST(ClampLog, counts_each_value_and_reports_a_member_once) {
  Types types;
  Authority authority(types);
  const uint32_t lamp = authority.spawn(types.lamp());
  const uint32_t other = authority.spawn(types.lamp());
  const uint32_t actor = authority.spawn(types.actor());
  authority.record();
  ++authority.tick;
  authority.state<Lamp>(lamp).level = 16;
  authority.record();
  EXPECT_EQ(take_reports(authority.store), (std::vector<Report>{{lamp, kLevel, 2}}));
  EXPECT_EQ(authority.store.current(lamp)[1], 15u);
  ++authority.tick;
  authority.state<Lamp>(other).level = 99;
  authority.state<Lamp>(lamp).level = 17;
  authority.record();
  EXPECT_EQ(take_reports(authority.store), std::vector<Report>{}) << "the member was reported already";
  EXPECT_EQ(authority.store.clamps().values(), 3u);
  ++authority.tick;
  authority.state<Body>(actor).position[2] = std::numeric_limits<float>::quiet_NaN();
  authority.state<Soul>(actor, 1).health = -1;
  authority.record();
  EXPECT_EQ(take_reports(authority.store), (std::vector<Report>{{actor, kPosition, 4}, {actor, kHealth, 4}}));
  EXPECT_EQ(authority.store.clamps().values(), 5u);
}

TEST(ClampLog, what_is_not_written_is_not_counted_again) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.lamp());
  authority.state<Lamp>(slot).level = 16;
  for (; authority.tick < 10; ++authority.tick) authority.record();
  EXPECT_EQ(authority.store.clamps().values(), 1u);
}

TEST(ClampLog, a_rounded_object_holds_the_clamped_value) {
  Types types;
  Authority authority(types);
  ObjectType type = types.lamp();
  type.round_host = true;
  const uint32_t slot = authority.spawn(type);
  authority.state<Lamp>(slot).level = 16;
  authority.record();
  EXPECT_EQ(authority.state<Lamp>(slot).level, 15);
  ++authority.tick;
  authority.record();
  EXPECT_EQ(authority.store.clamps().values(), 1u) << "from then on it fits";
}

TEST(ClampLog, the_first_report_allocates_nothing) {
  Types types;
  Authority authority(types);
  const uint32_t slot = authority.spawn(types.actor());
  for (; authority.tick < 100; ++authority.tick) {
    authority.state<Soul>(slot, 1).health = static_cast<int32_t>(authority.tick % 100);
    authority.record();
  }
  const uint64_t allocations = lattice::test::allocation_count();
  for (; authority.tick < 110; ++authority.tick) {
    authority.state<Soul>(slot, 1).health = 101 + static_cast<int32_t>(authority.tick);
    authority.record();
  }
  EXPECT_EQ(lattice::test::allocation_count(), allocations);
  EXPECT_EQ(authority.store.clamps().values(), 10u);
  EXPECT_EQ(authority.store.clamps().reports().size(), 1u);
}

}  // namespace
}  // namespace lattice::replication::test
