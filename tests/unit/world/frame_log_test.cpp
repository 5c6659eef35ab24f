#include "world/frame_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "serialization/layout.h"
#include "unit/replication/replication_types.h"

namespace lattice::world {
namespace {

using replication::DespawnReason;
using replication::ObjectInfo;
using replication::test::Types;

constexpr base::Tick kTick = 100;

class FrameLogTest : public testing::Test {
 protected:
  ObjectInfo object(uint64_t id) const {
    ObjectInfo info;
    info.network_id = id;
    info.type = &types_.lamp();
    return info;
  }
  static std::vector<uint64_t> ids(std::span<const lattice_frame_object> objects) {
    std::vector<uint64_t> out;
    for (const lattice_frame_object& shown : objects) out.push_back(shown.object);
    return out;
  }
  using Ids = std::vector<uint64_t>;

  Types types_;
  FrameLog log_{0};
};

TEST_F(FrameLogTest, NothingIsCollectedBeforeTheStart) {
  log_.spawned(3, object(30));
  log_.changed(3, object(30), 1);
  log_.left(3, object(30), DespawnReason::kLeft);
  log_.start();
  log_.begin(kTick, {});
  EXPECT_TRUE(log_.shown_spawned().empty() && log_.shown_changed().empty() && log_.shown_left().empty());
  EXPECT_EQ(log_.number(), 1u);
  EXPECT_EQ(log_.tick(), kTick);
}

TEST_F(FrameLogTest, WhatIsForgottenIsInNoArray) {
  log_.start();
  for (const uint32_t slot : {1u, 2u, 3u}) {
    log_.changed(slot, object(slot), 1);
    log_.corrected(slot, object(slot), 2);
  }
  for (const uint32_t slot : {4u, 5u, 6u}) log_.left(slot, object(slot - 3), DespawnReason::kDestroyed);
  log_.forget_up_to(2);
  log_.left(7, object(3), DespawnReason::kSessionEnded);
  log_.begin(kTick, {});
  EXPECT_EQ(ids(log_.shown_changed()), Ids{3});
  EXPECT_EQ(ids(log_.shown_corrected()), Ids{3});
  ASSERT_EQ(ids(log_.shown_left()), Ids{3});
  EXPECT_EQ(log_.shown_left()[0].reason, uint32_t{LATTICE_DESPAWN_SESSION_ENDED});
}

TEST_F(FrameLogTest, AFrameStaysAsItIsWhileTheNextIsCollected) {
  log_.start();
  log_.spawned(1, object(10));
  log_.begin(kTick, {});
  log_.spawned(2, object(20));
  log_.left(1, object(10), DespawnReason::kDestroyed);
  EXPECT_EQ(ids(log_.shown_spawned()), Ids{10});
  EXPECT_TRUE(log_.shown_left().empty());
  log_.begin(kTick + 1, {});
  EXPECT_EQ(ids(log_.shown_spawned()), Ids{20});
  EXPECT_EQ(ids(log_.shown_left()), Ids{10});
  log_.begin(kTick + 2, {});
  EXPECT_TRUE(log_.shown_spawned().empty() && log_.shown_left().empty());
}

TEST_F(FrameLogTest, MembersOfOneObjectAddUp) {
  log_.start();
  log_.changed(5, object(50), 1);
  log_.changed(6, object(60), 2);
  log_.changed(5, object(50), 4);
  log_.changed(6, object(60), 0);
  log_.corrected(5, object(50), 2);
  log_.begin(kTick, {});
  ASSERT_EQ(ids(log_.shown_changed()), (Ids{50, 60}));
  EXPECT_EQ(log_.shown_changed()[0].members, 5u);
  EXPECT_EQ(log_.shown_changed()[1].members, 2u);
  ASSERT_EQ(ids(log_.shown_corrected()), Ids{50});
  EXPECT_EQ(log_.shown_corrected()[0].members, 2u);
}

TEST_F(FrameLogTest, WhatLeavesTakesItsOtherEntriesWithIt) {
  log_.start();
  for (uint32_t slot = 1; slot <= 3; ++slot) {
    log_.changed(slot, object(slot * 10), 1);
    log_.corrected(slot, object(slot * 10), 1);
  }
  log_.left(1, object(10), DespawnReason::kLeft);
  log_.changed(3, object(30), 8);  // its entry has moved
  log_.begin(kTick, {});
  EXPECT_EQ(ids(log_.shown_changed()), (Ids{30, 20}));
  EXPECT_EQ(log_.shown_changed()[0].members, 9u);
  EXPECT_EQ(ids(log_.shown_corrected()), (Ids{30, 20}));
  EXPECT_EQ(ids(log_.shown_left()), Ids{10});
  EXPECT_EQ(log_.shown_left()[0].reason, uint32_t{LATTICE_DESPAWN_LEFT});
}

TEST_F(FrameLogTest, WhatComesAndGoesIsNowhereAndItsSlotServesAnother) {
  log_.start();
  log_.spawned(1, object(10));
  log_.left(1, object(10), DespawnReason::kDestroyed);
  log_.spawned(1, object(11));
  log_.begin(kTick, {});
  EXPECT_EQ(ids(log_.shown_spawned()), Ids{11});
  EXPECT_TRUE(log_.shown_left().empty());
}

TEST_F(FrameLogTest, TheLastReasonCountsForWhatLeftTwice) {
  log_.start();
  log_.left(1, object(10), DespawnReason::kLeft);
  log_.spawned(2, object(10));
  log_.left(2, object(10), DespawnReason::kDestroyed);
  log_.begin(kTick, {});
  EXPECT_TRUE(log_.shown_spawned().empty());
  ASSERT_EQ(ids(log_.shown_left()), Ids{10});
  EXPECT_EQ(log_.shown_left()[0].reason, uint32_t{LATTICE_DESPAWN_DESTROYED});
}

// Members are counted through all behaviours, the first member lowest; the last bit stands for all the rest.
TEST_F(FrameLogTest, AMemberHasItsBitInTypesOfAnySize) {
  for (uint32_t panel = 0; panel < Types::kPanels; ++panel) {
    const serialization::Layout& layout = *types_.panel(panel).layout;
    std::vector<serialization::Word> before(layout.word_count());
    layout.zero_baseline(before.data());
    EXPECT_EQ(frame_members(layout, before.data(), before.data()), 0u);
    uint32_t number = 0;
    for (uint32_t behaviour = 0; behaviour < Types::kPanelBehaviours[panel]; ++behaviour) {
      for (uint32_t member = 0; member < 5; ++member, ++number) {
        std::vector<serialization::Word> after = before;
        const int32_t value = 7;
        ASSERT_TRUE(layout.set_prop(after.data(), static_cast<uint16_t>(behaviour << 8 | member), &value,
                                    sizeof value));
        const uint32_t bit = std::min(number, LATTICE_FRAME_LAST_MEMBER);
        EXPECT_EQ(frame_members(layout, before.data(), after.data()), uint64_t{1} << bit)
            << "panel " << panel << ", member " << number;
      }
    }
  }
}

}  // namespace
}  // namespace lattice::world
