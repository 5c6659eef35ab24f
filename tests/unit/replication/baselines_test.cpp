// The states of an object that a client is known to hold, through losses, late acks and blackouts.
#include <gtest/gtest.h>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

using Receipts = std::vector<uint32_t>;

/// A world of one object that changes in each tick, sent to one client every `interval` ticks from tick
/// `first` on.
struct Stream {
  Stream(uint32_t tick_rate_hz, uint32_t interval, Tick first)
      : interval_(interval), authority(types, config(tick_rate_hz, interval)) {
    authority.recipients.push_back(&recipient);
    authority.tick = first;
    slot = authority.spawn(types.actor());
  }
  static SnapshotBuilder::Config config(uint32_t tick_rate_hz, uint32_t interval) {
    SnapshotBuilder::Config c;
    c.tick_rate_hz = tick_rate_hz;
    c.send_interval_ticks = interval;
    return c;
  }
  /// Runs `ticks` ticks. Acks come `ack_sends` sends later; in a blackout they never come.
  void run(Tick ticks, size_t ack_sends, bool blackout = false, bool changes = true) {
    for (Tick i = 0; i < ticks; ++i, ++authority.tick) {
      if (changes) authority.state<Soul>(slot, 1).target = ++value;
      authority.record();
      if (i % interval_ != 0) continue;
      for (const SnapshotPart& part : authority.send(recipient)) {
        ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied)
            << snapshot_refusal_name(client.applier.refusal()) << " at " << authority.tick;
        if (!blackout) acks.push_back(part.receipt);
      }
      while (acks.size() > ack_sends) {
        recipient.on_receipt(acks.front(), true);
        acks.erase(acks.begin());
      }
      ASSERT_EQ(client.words(1), authority.words(slot));
    }
  }
  uint32_t interval_;
  Types types;
  Authority authority;
  ReplicaList recipient{ReplicaList::Config{}};
  Client client{types};
  uint32_t slot = 0;
  uint64_t value = 0;
  Receipts acks;
};

TEST(Baselines, after_30_s_at_rest_the_next_change_is_a_delta) {
  for (const uint32_t rate : {30u, 60u, 240u}) {
    Stream stream(rate, 2, 1);
    stream.run(100, 2);
    stream.run(30 * rate, 2, false, false);
    const uint64_t full = stream.authority.builder.stats().full_entries;
    const uint64_t deltas = stream.authority.builder.stats().delta_entries;
    stream.run(20, 2);
    EXPECT_EQ(stream.authority.builder.stats().full_entries, full);
    EXPECT_EQ(stream.authority.builder.stats().delta_entries, deltas + 10);
  }
}

// D-15, D-26: in 3 s a client gets more than the 64 states that it must keep, and no ack comes back.
TEST(Baselines, after_a_blackout_of_3_s_entries_are_deltas_against_a_kept_state) {
  for (const uint32_t interval : {1u, 2u, 3u}) {
    for (Tick phase = 0; phase < interval; ++phase) {
      SCOPED_TRACE(testing::Message() << "every " << interval << " ticks from " << phase);
      Stream stream(60, interval, 100 * interval + phase);
      stream.run(240, 4);
      const uint64_t full = stream.authority.builder.stats().full_entries;
      stream.acks.clear();
      stream.run(180, 4, true);
      stream.run(60, 4);
      if (testing::Test::HasFatalFailure()) return;
      EXPECT_EQ(stream.authority.builder.stats().full_entries, full);
    }
  }
}

TEST(Baselines, a_blackout_of_any_length_is_never_a_refusal) {
  for (const Tick ticks : {30u, 120u, 300u, 330u, 360u, 600u, 2000u}) {
    Stream stream(60, 1, 1);
    stream.run(400, 3);
    stream.acks.clear();
    stream.run(ticks, 3, true);
    stream.run(200, 3);
    if (testing::Test::HasFatalFailure()) return;
    const uint64_t full = stream.authority.builder.stats().full_entries;
    stream.run(100, 3);
    EXPECT_EQ(stream.authority.builder.stats().full_entries, full) << "deltas again, after " << ticks;
  }
}

TEST(Baselines, acks_that_come_after_64_later_states_are_no_baselines) {
  for (const size_t sends : {62u, 63u, 64u, 65u, 79u, 80u, 81u, 100u, 200u}) {
    SCOPED_TRACE(testing::Message() << "acks come " << sends << " sends later");
    Stream stream(60, 1, 1);
    stream.run(900, sends);
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_GT(stream.authority.builder.stats().delta_entries, 500u);
  }
}

// The same state is sent again and again to its owner, so it never leaves the store.
TEST(Baselines, a_late_ack_of_a_state_that_was_sent_64_times_since_is_no_baseline) {
  Types types;
  Authority authority(types);
  ReplicaList::Config config;
  config.peer_id = 9;
  ReplicaList owner(config);
  authority.recipients.push_back(&owner);
  const uint32_t slot = authority.spawn(types.actor(), 9);
  Client client(types);
  Receipts receipts;
  for (; authority.tick <= 100; ++authority.tick) {
    authority.record();
    for (const SnapshotPart& part : authority.send(owner)) {
      ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied);
      receipts.push_back(part.receipt);
    }
  }
  owner.on_receipt(receipts[4], true);
  authority.state<Soul>(slot, 1).health = 7;
  authority.record();
  ASSERT_EQ(client.apply(authority.send(owner)[0].bytes), SnapshotApplier::Result::kApplied)
      << snapshot_refusal_name(client.applier.refusal());
  EXPECT_EQ(client.words(1), authority.words(slot));
}

TEST(Baselines, the_client_never_refuses_whatever_the_acks_do) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    Stream stream(60, 1 + static_cast<uint32_t>(seed % 3), static_cast<Tick>(1 + seed % 2));
    for (int phase = 0; phase < 30; ++phase) {
      const bool blackout = random.chance(0.3);
      const bool changes = random.chance(0.8);
      stream.run(1 + static_cast<Tick>(random.next_below(200)), random.next_below(120), blackout, changes);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace lattice::replication::test
