// Resimulations that a budget interrupts: what is seen meanwhile, and what comes out.
#include <gtest/gtest.h>

#include "base/random.h"
#include "prediction/reconciler.h"
#include "unit/prediction/counter_host.h"

namespace lattice::prediction {
namespace {

using test::Counter;
using test::same;
using test::simulate;
using test::words_of;
using Host = test::CounterHost;
using World = test::CounterWorld;

class ReconcilerBudget : public ::testing::Test {
 protected:
  ReconcilerBudget() {
    for (const uint32_t slot : {1u, 2u}) {
      host_.live[slot] = Counter{};
      reconciler_.add(slot, layout_);
    }
  }
  void run_tick() {
    ++current_;
    simulate(host_.live, current_);
    reconciler_.record(current_, host_);
  }
  void run_until(Tick tick) {
    while (current_ != tick) run_tick();
  }
  /// One receive phase with the authority's states of `tick`.
  ReconcileOutcome receive(Tick tick, const World& known) {
    if (reconciler_.begin(tick)) {
      for (const auto& [slot, value] : known) {
        reconciler_.authoritative(slot, words_of(layout_, value).data());
      }
    }
    return reconciler_.reconcile(current_, host_);
  }
  /// One receive phase without a snapshot.
  void receive_nothing() { reconciler_.reconcile(current_, host_); }
  Counter shown(uint32_t slot, Tick tick) {
    Counter value{};
    void* hosts[1] = {&value};
    layout_.dequantize(reconciler_.predicted(slot, tick), hosts);
    return value;
  }
  World shown(Tick tick) { return World{{1, shown(1, tick)}, {2, shown(2, tick)}}; }
  static bool equal(const World& a, const World& b) {
    return same(a.at(1), b.at(1)) && same(a.at(2), b.at(2));
  }

  serialization::Layout layout_ = test::counter_layout();
  Host host_{layout_};
  Reconciler reconciler_{{4, 64, 3}};  // 3 ticks a call
  Tick current_ = 0;
};

TEST_F(ReconcilerBudget, TheOldTimelineIsShownUntilTheNewOneArrives) {
  run_until(20);
  World expected = shown(12);
  expected[1].x += 1001;
  const World before = host_.live;
  EXPECT_EQ(receive(12, {{1, expected[1]}}), ReconcileOutcome::kRolledBack);
  EXPECT_EQ(host_.resimulated, (std::vector<Tick>{13, 14, 15}));
  EXPECT_TRUE(reconciler_.unfinished());
  EXPECT_TRUE(equal(host_.live, before));
  EXPECT_TRUE(equal(shown(20), before));
  EXPECT_TRUE(host_.corrections.empty());

  World old = before;
  run_tick();  // the next tick goes on from the old present
  simulate(old, 21);
  EXPECT_TRUE(equal(host_.live, old));
  receive_nothing();  // the tick that ran, and 3 more
  EXPECT_EQ(host_.resimulated.back(), 19u);
  EXPECT_TRUE(equal(shown(21), old));
  EXPECT_TRUE(equal(host_.live, old));

  receive_nothing();
  EXPECT_FALSE(reconciler_.unfinished());
  EXPECT_EQ(host_.resimulated.size(), 9u);  // each tick once
  for (Tick tick = 13; tick <= 21; ++tick) {
    simulate(expected, tick);
    EXPECT_TRUE(equal(shown(tick), expected)) << tick;
  }
  EXPECT_TRUE(equal(host_.live, expected));
  EXPECT_EQ(host_.corrections, (std::set<uint32_t>{1, 2}));
  EXPECT_EQ(reconciler_.stats().rollbacks, 1u);
  EXPECT_EQ(reconciler_.stats().resimulated_ticks, 9u);
}

TEST_F(ReconcilerBudget, ANewerStateBehindTheReachedTickWaits) {
  run_until(20);
  World expected = shown(12);
  expected[1].x += 1001;
  receive(12, {{1, expected[1]}});  // reached 15
  run_tick();
  EXPECT_EQ(receive(13, {{1, {5, 5}}}), ReconcileOutcome::kNothing);
  EXPECT_EQ(reconciler_.stats().deferred, 1u);
  EXPECT_EQ(reconciler_.last_reconciled_tick(), 12u);
  run_tick();
  receive_nothing();
  EXPECT_FALSE(reconciler_.unfinished());
  for (Tick tick = 13; tick <= 22; ++tick) simulate(expected, tick);
  EXPECT_TRUE(equal(host_.live, expected));
}

TEST_F(ReconcilerBudget, ANewerStateOfEveryCorrectedObjectReplacesTheUnfinished) {
  run_until(20);
  receive(12, {{1, {1000, 0}}});  // reached 15
  World expected = shown(17);
  expected[1] = Counter{2000, 0};
  EXPECT_EQ(receive(17, {{2, {3, 3}}}), ReconcileOutcome::kNothing);  // says nothing of object 1; reached 18
  EXPECT_EQ(reconciler_.stats().superseded, 0u);
  expected = shown(18);
  expected[1] = Counter{2000, 0};
  host_.resimulated.clear();
  EXPECT_EQ(receive(18, {{1, expected[1]}}), ReconcileOutcome::kRolledBack);
  EXPECT_EQ(reconciler_.stats().superseded, 1u);
  EXPECT_EQ(host_.resimulated, (std::vector<Tick>{19, 20}));
  EXPECT_FALSE(reconciler_.unfinished());
  for (Tick tick = 19; tick <= 20; ++tick) simulate(expected, tick);
  EXPECT_TRUE(equal(host_.live, expected));
}

TEST_F(ReconcilerBudget, AnObjectAddedMeanwhileJoinsAtItsFirstRecord) {
  run_until(20);
  World expected = shown(12);
  expected[1].x += 1001;
  receive(12, {{1, expected[1]}});  // reached 15
  host_.live[3] = Counter{70, 0};
  ASSERT_TRUE(reconciler_.add(3, layout_));
  run_until(22);
  const Counter at_21 = shown(3, 21);
  receive_nothing();  // reached 20
  EXPECT_TRUE(reconciler_.unfinished());
  EXPECT_TRUE(same(host_.live[3], shown(3, 22)));
  receive_nothing();
  EXPECT_FALSE(reconciler_.unfinished());
  EXPECT_TRUE(same(shown(3, 21), at_21));
  for (Tick tick = 13; tick <= 21; ++tick) simulate(expected, tick);
  expected[3] = at_21;
  simulate(expected, 22);
  EXPECT_TRUE(equal(host_.live, expected));
  EXPECT_TRUE(same(host_.live[3], expected[3]));
}

TEST_F(ReconcilerBudget, AnObjectRemovedMeanwhileIsLeftAlone) {
  run_until(20);
  receive(12, {{1, {1000, 0}}, {2, {7, 7}}});
  reconciler_.remove(1);
  host_.live.erase(1);
  run_tick();
  receive_nothing();
  receive_nothing();
  EXPECT_FALSE(reconciler_.unfinished());
  EXPECT_EQ(host_.live.count(1), 0u);
  EXPECT_TRUE(same(host_.live[2], shown(2, 21)));
}

TEST_F(ReconcilerBudget, AClockJumpTakesWhatAnUnfinishedResimulationReached) {
  run_until(20);
  World expected = shown(12);
  expected[1].x += 1001;
  receive(12, {{1, expected[1]}});
  for (Tick tick = 13; tick <= 15; ++tick) simulate(expected, tick);
  reconciler_.clear_histories(host_);
  EXPECT_TRUE(equal(host_.live, expected));
  EXPECT_EQ(host_.corrections, (std::set<uint32_t>{1, 2}));
  current_ = 15;
  host_.resimulated.clear();
  receive_nothing();
  EXPECT_TRUE(host_.resimulated.empty());
  EXPECT_TRUE(equal(host_.live, expected));
}

/// As of a client at 240 Hz that draws ten times a second: each receive phase is followed by a jump.
TEST_F(ReconcilerBudget, TheTruthIsSeenWhereTheClockJumpsAgainAndAgain) {
  run_until(20);
  World truth = host_.live;
  truth[1].x += 1001;
  for (int round = 0; round < 5; ++round) {
    const Tick confirmed = current_ - 10;
    for (Tick tick = confirmed; tick != current_; ++tick) simulate(truth, tick);
    receive(confirmed, {{1, truth[1]}, {2, truth[2]}});
    reconciler_.clear_histories(host_);
    for (int i = 0; i < 16; ++i) run_tick();
  }
  EXPECT_GT(host_.live[1].x, 900);
}

TEST_F(ReconcilerBudget, AnotherSessionComparesItsFirstStateWhateverItsTick) {
  run_until(20);
  receive(15, {{1, {1000, 0}}});
  reconciler_.clear_histories(host_);
  EXPECT_FALSE(reconciler_.begin(3));
  reconciler_.restart();
  EXPECT_TRUE(reconciler_.begin(3));
}

/// A storm: every snapshot contradicts the prediction. Each resimulation has to arrive, and once the storm
/// ends, the client equals the server.
TEST_F(ReconcilerBudget, EveryResimulationArrivesInAStorm) {
  for (const uint32_t budget : {1u, 2u, 5u}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE("budget " + std::to_string(budget) + " seed " + std::to_string(seed));
      base::Random random(seed);
      Reconciler reconciler({4, 64, budget});
      Host host(layout_);
      World server;
      std::map<Tick, World> server_at;
      for (const uint32_t slot : {1u, 2u, 3u}) {
        server[slot] = host.live[slot] = Counter{0, 0};
        reconciler.add(slot, layout_);
      }
      const Tick lead = 9;
      uint32_t calls_unfinished = 0;
      for (Tick now = 1; now <= 400; ++now) {
        simulate(host.live, now);
        reconciler.record(now, host);
        if (now > lead) {
          const Tick at = now - lead;
          simulate(server, at);
          if (at < 300) server[1 + static_cast<uint32_t>(random.next_below(3))].v += 9;
          server_at[at] = server;
          if (random.chance(0.5) && reconciler.begin(at)) {
            for (const auto& [slot, value] : server) {
              if (random.chance(0.8)) reconciler.authoritative(slot, words_of(layout_, value).data());
            }
          }
        }
        const size_t before = host.resimulated.size();
        reconciler.reconcile(now, host);
        ASSERT_LE(host.resimulated.size() - before, budget + 1);
        calls_unfinished = reconciler.unfinished() ? calls_unfinished + 1 : 0;
        ASSERT_LE(calls_unfinished, lead / budget + 1);
      }
      EXPECT_FALSE(reconciler.unfinished());
      for (Tick tick = 380; tick <= 391; ++tick) {
        for (const uint32_t slot : {1u, 2u, 3u}) {
          Counter value{};
          void* hosts[1] = {&value};
          layout_.dequantize(reconciler.predicted(slot, tick), hosts);
          ASSERT_TRUE(same(value, server_at[tick][slot])) << tick;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lattice::prediction
