// How often states leave of objects that the distance slows: counted at the client.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

constexpr Tick kTicksBetween = 2;  // ticks from one snapshot to the next

/// Asks for the interval of each slot that has one.
class Intervals : public SendRules {
 public:
  void terms(uint32_t slot, bool, SendTerms* out) const override {
    const auto at = ticks.find(slot);
    out->interval_ticks = at == ticks.end() ? kTicksBetween : at->second;
  }
  bool common_terms(SendTerms*) const override { return false; }
  bool slows() const override { return true; }
  uint32_t groups_version() const override { return 0; }
  void add_members(uint32_t, std::vector<uint32_t>*) const override {}

  std::map<uint32_t, uint32_t> ticks;
};

class SnapshotRate : public testing::Test {
 protected:
  SnapshotRate() { authority_.recipients.push_back(&recipient_); }

  uint32_t lamp(uint64_t owner = 0) { return authority_.spawn(types_.lamp(), owner); }
  /// Changes each lamp of `slots`, sends, and counts the states by slot.
  void send(const std::vector<uint32_t>& slots, bool acked = true) {
    authority_.tick += kTicksBetween;
    for (const uint32_t slot : slots) {
      authority_.state<Lamp>(slot).level = static_cast<uint8_t>(authority_.tick / kTicksBetween % 16);
    }
    authority_.record();
    authority_.builder.begin_send(authority_.tick);
    most_ = 0;
    const auto parts = authority_.builder.build(recipient_, SnapshotHeader{}, 0, &intervals_);
    for (const SnapshotPart& part : parts) {
      if (acked) {
        ASSERT_EQ(client_.apply(part.bytes), SnapshotApplier::Result::kApplied);
      }
      recipient_.on_receipt(part.receipt, acked);
    }
    for (const uint32_t slot : slots) {
      const auto replica = recipient_.find(slot, authority_.store);
      const bool is_sent = replica->sent_tick == authority_.tick;
      sent_[slot] += is_sent ? 1 : 0;
      most_ += is_sent ? 1 : 0;
    }
  }
  void send_times(uint32_t count, const std::vector<uint32_t>& slots) {
    for (uint32_t i = 0; i < count; ++i) send(slots);
  }

  Types types_;
  Authority authority_{types_};
  ReplicaList recipient_{ReplicaList::Config{2}};
  Client client_{types_};
  Intervals intervals_;
  std::map<uint32_t, uint32_t> sent_;
  uint32_t most_ = 0;  // states in the newest snapshot
};

TEST_F(SnapshotRate, each_object_has_its_rate) {
  std::vector<uint32_t> slots;
  for (const uint32_t interval : {2u, 4u, 6u, 20u, 5u}) {
    slots.push_back(lamp());
    intervals_.ticks[slots.back()] = interval;
  }
  send(slots);
  for (const uint32_t slot : slots) EXPECT_EQ(sent_[slot], 1u) << "the first state waits for nothing";
  sent_.clear();
  send_times(60, slots);  // 120 ticks
  EXPECT_EQ(sent_[slots[0]], 60u);
  EXPECT_NEAR(sent_[slots[1]], 30, 1);
  EXPECT_NEAR(sent_[slots[2]], 20, 1);
  EXPECT_NEAR(sent_[slots[3]], 6, 1);
  EXPECT_NEAR(sent_[slots[4]], 24, 1) << "no multiple of the interval of snapshots";
}

TEST_F(SnapshotRate, objects_of_one_distance_take_turns) {
  std::vector<uint32_t> slots;
  for (uint32_t i = 0; i < 40; ++i) {
    slots.push_back(lamp());
    intervals_.ticks[slots.back()] = 10 * kTicksBetween;
  }
  send_times(20, slots);
  for (uint32_t i = 0; i < 20; ++i) {
    send(slots);
    EXPECT_EQ(most_, 4u);
  }
}

TEST_F(SnapshotRate, the_end_of_a_movement_comes_within_the_interval) {
  const uint32_t slot = lamp();
  intervals_.ticks[slot] = 20;
  send_times(5, {slot});
  for (uint32_t i = 0; i < 10; ++i) send({});
  EXPECT_EQ(client_.words(authority_.table.network_id(slot)), authority_.words(slot));
}

TEST_F(SnapshotRate, a_lost_state_is_sent_again_at_once) {
  const uint32_t slot = lamp();
  intervals_.ticks[slot] = 40;
  send({slot});
  while (sent_[slot] < 2) send({slot}, false);
  send({slot});
  EXPECT_EQ(sent_[slot], 3u);
}

TEST_F(SnapshotRate, own_objects_are_not_slowed) {
  const uint32_t slot = lamp(recipient_.peer_id());
  intervals_.ticks[slot] = 40;
  send_times(10, {slot});
  EXPECT_EQ(sent_[slot], 10u);
}

TEST_F(SnapshotRate, objects_in_step_that_go_far_away_come_out) {
  std::vector<uint32_t> slots;
  for (uint32_t i = 0; i < 16; ++i) slots.push_back(lamp());
  send_times(40, slots);
  ASSERT_GT(authority_.builder.stats().in_step, 0u);
  for (uint32_t i = 0; i < 4; ++i) intervals_.ticks[slots[i]] = 8 * kTicksBetween;
  send_times(16, slots);
  sent_.clear();
  const uint64_t in_step = authority_.builder.stats().in_step;
  send_times(80, slots);
  for (uint32_t i = 0; i < 16; ++i) {
    if (i < 4) {
      EXPECT_NEAR(sent_[slots[i]], 10, 1);
    } else {
      EXPECT_EQ(sent_[slots[i]], 80u);
    }
  }
  EXPECT_GT(authority_.builder.stats().in_step, in_step + 12 * 60) << "the near ones stay in step";
}

}  // namespace
}  // namespace lattice::replication::test
