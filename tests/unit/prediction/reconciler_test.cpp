#include "prediction/reconciler.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "base/random.h"
#include "unit/prediction/counter_host.h"

namespace lattice::prediction {
namespace {

using test::Counter;
using test::same;
using test::simulate;
using test::words_of;
using Host = test::CounterHost;
using World = test::CounterWorld;

class ReconcilerTest : public ::testing::Test {
 protected:
  void predict_until(Reconciler& reconciler, Tick tick) {
    while (current_ != tick) {
      ++current_;
      simulate(host_.live, current_);
      reconciler.record(current_, host_);
    }
  }
  ReconcileOutcome truth(Reconciler& reconciler, Tick tick, uint32_t id, const Counter& value) {
    if (!reconciler.begin(tick)) return ReconcileOutcome::kNothing;
    reconciler.authoritative(id, words_of(layout_, value).data());
    return reconciler.reconcile(current_, host_);
  }
  Counter recorded(const Reconciler& reconciler, uint32_t id, Tick tick) {
    Counter value{};
    void* hosts[1] = {&value};
    layout_.dequantize(reconciler.predicted(id, tick), hosts);
    return value;
  }

  serialization::Layout layout_ = test::counter_layout();
  Host host_{layout_};
  Tick current_ = 0;
};

TEST_F(ReconcilerTest, RightPredictionDoesNothing) {
  Reconciler reconciler({4});
  host_.live[1] = Counter{};
  ASSERT_TRUE(reconciler.add(1, layout_));
  predict_until(reconciler, 20);
  const Counter before = host_.live[1];
  EXPECT_EQ(truth(reconciler, 15, 1, recorded(reconciler, 1, 15)), ReconcileOutcome::kConfirmed);
  EXPECT_TRUE(same(host_.live[1], before));
  EXPECT_TRUE(host_.resimulated.empty());
  EXPECT_EQ(reconciler.last_reconciled_tick(), 15u);
  EXPECT_EQ(reconciler.stats().compared, 1u);
  EXPECT_EQ(reconciler.stats().rollbacks, 0u);
}

TEST_F(ReconcilerTest, MispredictionRewindsAndOverwritesTheComparedState) {
  Reconciler reconciler({4});
  host_.live[1] = Counter{};
  reconciler.add(1, layout_);
  predict_until(reconciler, 20);
  const Counter server{1000, 0};
  EXPECT_EQ(truth(reconciler, 15, 1, server), ReconcileOutcome::kRolledBack);
  EXPECT_EQ(host_.resimulated, (std::vector<Tick>{16, 17, 18, 19, 20}));
  EXPECT_TRUE(same(recorded(reconciler, 1, 15), server));  // S-01
  World expected{{1, server}};
  for (Tick tick = 16; tick <= 20; ++tick) simulate(expected, tick);
  EXPECT_TRUE(same(host_.live[1], expected[1]));
  EXPECT_TRUE(same(recorded(reconciler, 1, 20), expected[1]));
  EXPECT_EQ(host_.corrections, std::set<uint32_t>{1});
  EXPECT_EQ(reconciler.stats().rollbacks, 1u);
  EXPECT_EQ(reconciler.stats().resimulated_ticks, 5u);
  EXPECT_EQ(reconciler.stats().max_depth_ticks, 5u);
}

TEST_F(ReconcilerTest, OlderThanTheLastReconciledIsIgnored) {
  Reconciler reconciler({4});
  host_.live[1] = Counter{};
  reconciler.add(1, layout_);
  predict_until(reconciler, 20);
  truth(reconciler, 15, 1, Counter{1, 1});
  EXPECT_FALSE(reconciler.begin(14));
  EXPECT_EQ(reconciler.stats().stale, 1u);
  host_.resimulated.clear();
  EXPECT_EQ(truth(reconciler, 15, 1, Counter{2, 2}), ReconcileOutcome::kNothing);  // the same part again
  EXPECT_TRUE(host_.resimulated.empty());
}

TEST_F(ReconcilerTest, ASecondPartOfTheSameTickKeepsTheFirst) {
  Reconciler reconciler({4});
  host_.live[1] = Counter{};
  host_.live[2] = Counter{};
  reconciler.add(2, layout_);
  reconciler.add(1, layout_);
  predict_until(reconciler, 20);
  EXPECT_EQ(truth(reconciler, 15, 1, Counter{50, 1}), ReconcileOutcome::kRolledBack);
  EXPECT_EQ(truth(reconciler, 15, 2, Counter{70, 2}), ReconcileOutcome::kRolledBack);
  World expected{{1, {50, 1}}, {2, {70, 2}}};
  for (Tick tick = 16; tick <= 20; ++tick) simulate(expected, tick);
  EXPECT_TRUE(same(host_.live[1], expected[1]));
  EXPECT_TRUE(same(host_.live[2], expected[2]));
}

TEST_F(ReconcilerTest, HardResetWhenTheTickLeftTheWindow) {
  Reconciler reconciler({4});
  host_.live[1] = Counter{};
  reconciler.add(1, layout_);
  predict_until(reconciler, 100);
  EXPECT_EQ(truth(reconciler, 36, 1, Counter{9, 9}), ReconcileOutcome::kHardReset);
  EXPECT_TRUE(same(host_.live[1], Counter{9, 9}));
  EXPECT_TRUE(host_.resimulated.empty());
  EXPECT_EQ(reconciler.predicted(1, 99), nullptr);
  EXPECT_NE(reconciler.predicted(1, 100), nullptr);
  EXPECT_EQ(reconciler.stats().hard_resets, 1u);
  EXPECT_EQ(host_.corrections, std::set<uint32_t>{1});
}

TEST_F(ReconcilerTest, TheOldestTickOfTheWindowStillRollsBack) {
  Reconciler reconciler({4});
  host_.live[1] = Counter{};
  reconciler.add(1, layout_);
  predict_until(reconciler, 100);
  EXPECT_EQ(truth(reconciler, 37, 1, Counter{9, 9}), ReconcileOutcome::kRolledBack);
  EXPECT_EQ(reconciler.stats().max_depth_ticks, 63u);
}

TEST_F(ReconcilerTest, HardResetWhenTheServerIsAhead) {
  Reconciler reconciler({4});
  host_.live[1] = Counter{};
  reconciler.add(1, layout_);
  predict_until(reconciler, 20);
  EXPECT_EQ(truth(reconciler, 25, 1, Counter{9, 9}), ReconcileOutcome::kHardReset);
  EXPECT_TRUE(same(host_.live[1], Counter{9, 9}));
}

TEST_F(ReconcilerTest, AStateNeverRecordedIsTakenAndBroughtForward) {
  Reconciler reconciler({4});
  host_.live[1] = Counter{};
  current_ = 20;
  reconciler.add(1, layout_);
  EXPECT_EQ(truth(reconciler, 17, 1, Counter{9, 9}), ReconcileOutcome::kHardReset);
  World expected{{1, {9, 9}}};
  for (Tick tick = 18; tick <= 20; ++tick) simulate(expected, tick);
  EXPECT_TRUE(same(host_.live[1], expected[1]));
}

TEST_F(ReconcilerTest, AnObjectPredictedLaterRejoinsWhereItsRecordBegins) {
  Reconciler reconciler({4});
  host_.live[2] = Counter{};
  reconciler.add(2, layout_);
  predict_until(reconciler, 10);
  host_.live[3] = Counter{500, 0};
  reconciler.add(3, layout_);
  predict_until(reconciler, 12);
  const Counter at_11 = recorded(reconciler, 3, 11);
  EXPECT_EQ(truth(reconciler, 8, 2, Counter{100, 0}), ReconcileOutcome::kRolledBack);
  EXPECT_TRUE(same(recorded(reconciler, 3, 11), at_11));
  World expected{{2, recorded(reconciler, 2, 11)}, {3, at_11}};
  simulate(expected, 12);
  EXPECT_TRUE(same(host_.live[3], expected[3]));

  host_.live[4] = Counter{7, 7};  // never recorded: rolling back leaves it alone
  reconciler.add(4, layout_);
  truth(reconciler, 9, 2, Counter{-100, 0});
  EXPECT_TRUE(same(host_.live[4], Counter{7, 7}));
}

TEST_F(ReconcilerTest, BoundsAndMembership) {
  Reconciler reconciler({2});
  EXPECT_TRUE(reconciler.add(5, layout_));
  EXPECT_FALSE(reconciler.add(5, layout_));
  EXPECT_TRUE(reconciler.add(3, layout_));
  EXPECT_FALSE(reconciler.add(4, layout_));
  reconciler.remove(5);
  EXPECT_FALSE(reconciler.contains(5));
  EXPECT_TRUE(reconciler.add(4, layout_));
  EXPECT_EQ(reconciler.predicted(5, 1), nullptr);
  ASSERT_TRUE(reconciler.begin(1));
  reconciler.authoritative(99, nullptr);  // not predicted: not even looked at
  EXPECT_EQ(reconciler.reconcile(1, host_), ReconcileOutcome::kNothing);
}

/// The same rules, written plainly over whole worlds by tick.
struct Model {
  std::map<Tick, World> recorded;
  World live;
  Tick last = 0;
  std::map<uint32_t, Tick> reconciled;

  void run(Tick tick) {
    simulate(live, tick);
    recorded[tick] = live;
  }
  void truth(Tick tick, World known, Tick current) {
    if (tick < last) return;
    for (auto at = known.begin(); at != known.end();) {
      at = reconciled[at->first] == tick ? known.erase(at) : std::next(at);
    }
    if (known.empty()) return;
    last = tick;
    for (const auto& [id, value] : known) reconciled[id] = tick;
    const bool in_window = tick <= current && current - tick < 64;
    if (!in_window) {
      for (const auto& [id, value] : known) live[id] = value;
      recorded.clear();
      recorded[current] = live;
      return;
    }
    const World predicted = recorded[tick];
    bool differs = false;
    for (const auto& [id, value] : known) {
      differs = differs || predicted.count(id) == 0 || !same(predicted.at(id), value);
    }
    if (!differs) return;
    std::set<uint32_t> waiting;  // no state at `tick`; they come back where one was recorded
    for (auto& [id, value] : live) {
      if (known.count(id) != 0) {
        recorded[tick][id] = value = known[id];
      } else if (predicted.count(id) != 0) {
        value = predicted.at(id);
      } else {
        waiting.insert(id);
      }
    }
    for (Tick t = tick + 1; t <= current; ++t) {
      simulate(live, t);
      for (auto& [id, value] : live) {
        const bool comes_back = waiting.count(id) != 0 && recorded[t].count(id) != 0;
        if (comes_back) {
          value = recorded[t][id];
          waiting.erase(id);
        }
        if (waiting.count(id) == 0) recorded[t][id] = value;
      }
    }
  }
};

TEST_F(ReconcilerTest, AgreesWithABruteForceModel) {
  EXPECT_TRUE(rc::check("live and recorded states equal the model's", [this] {
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    base::Random random(seed);
    const auto objects = static_cast<uint32_t>(1 + random.next_below(4));
    Reconciler reconciler({4});
    Host host(layout_);
    Model model;
    World server;
    std::map<Tick, World> server_at;
    for (uint32_t id = 1; id <= objects; ++id) {
      server[id] = Counter{static_cast<int32_t>(id) * 10, 0};
      host.live[id] = model.live[id] = server[id];
      RC_ASSERT(reconciler.add(id, layout_));
    }
    const Tick lead = static_cast<Tick>(random.next_below(70));
    const double kicks = random.next_unit() * 0.2;
    Tick current = 0;
    for (Tick now = 1; now <= 300; ++now) {
      current = now;
      simulate(host.live, now);
      reconciler.record(now, host);
      model.run(now);
      if (now <= lead) continue;
      const Tick at = now - lead;
      simulate(server, at);
      if (random.chance(kicks)) server[1 + static_cast<uint32_t>(random.next_below(objects))].x += 17;
      server_at[at] = server;
      while (random.chance(0.5)) {  // parts of this or an earlier tick, in any order
        const Tick tick = at - static_cast<Tick>(random.next_below(std::min<uint64_t>(at, 4)));
        World known;
        for (const auto& [id, value] : server_at.at(tick)) {
          if (random.chance(0.7)) known[id] = value;
        }
        model.truth(tick, known, current);
        if (reconciler.begin(tick)) {
          for (const auto& [id, value] : known) reconciler.authoritative(id, words_of(layout_, value).data());
          reconciler.reconcile(current, host);
        }
        for (const auto& [id, value] : model.live) RC_ASSERT(same(host.live.at(id), value));
        if (!random.chance(0.2)) continue;
        for (Tick t = current > 63 ? current - 63 : 1; t <= current; ++t) {
          for (uint32_t id = 1; id <= objects; ++id) {
            const bool held = reconciler.predicted(id, t) != nullptr;
            RC_ASSERT(held == (model.recorded[t].count(id) != 0));
            if (held) RC_ASSERT(same(recorded(reconciler, id, t), model.recorded[t][id]));
          }
        }
      }
    }
  }));
}

TEST_F(ReconcilerTest, ClientEqualsServerOnceTheSurprisesEnd) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random(seed);
    Reconciler reconciler({4});
    Host host(layout_);
    World server;
    std::map<Tick, World> server_at;
    for (uint32_t id = 1; id <= 3; ++id) {
      server[id] = host.live[id] = Counter{0, 0};
      reconciler.add(id, layout_);
    }
    const Tick lead = 12;
    for (Tick now = 1; now <= 200; ++now) {
      simulate(host.live, now);
      reconciler.record(now, host);
      if (now <= lead) continue;
      const Tick at = now - lead;
      simulate(server, at);
      if (at < 120 && random.chance(0.2)) server[1 + static_cast<uint32_t>(random.next_below(3))].v += 9;
      server_at[at] = server;
      if (!random.chance(0.6)) continue;  // lost
      ASSERT_TRUE(reconciler.begin(at));
      for (const auto& [id, value] : server) reconciler.authoritative(id, words_of(layout_, value).data());
      reconciler.reconcile(now, host);
    }
    for (Tick tick = 150; tick <= 188; ++tick) {
      for (uint32_t id = 1; id <= 3; ++id) {
        ASSERT_TRUE(same(recorded(reconciler, id, tick), server_at[tick][id])) << tick;
      }
    }
  }
}

TEST_F(ReconcilerTest, QuantizationNoiseIsNoMisprediction) {
  const serialization::Layout pawn = test::pawn_layout();
  struct PawnHost : ResimulationHost {
    const serialization::Layout& layout;
    test::Pawn live = test::pawn_at(10.0f);
    explicit PawnHost(const serialization::Layout& l) : layout(l) {}
    void load_state(uint32_t, const serialization::Word* words) override {
      void* hosts[1] = {&live};
      layout.dequantize(words, hosts);
    }
    void store_state(uint32_t, serialization::Word* words) override {
      const void* hosts[1] = {&live};
      layout.quantize(hosts, words);
    }
    void resimulate_tick(Tick) override {}
    void corrected(uint32_t, const serialization::Word*, const serialization::Word*) override {}
  } host(pawn);
  Reconciler reconciler({1});
  reconciler.add(1, pawn);
  reconciler.record(1, host);
  reconciler.begin(1);
  reconciler.authoritative(1, words_of(pawn, test::pawn_at(10.0f + 1.0f / 128)).data());
  EXPECT_EQ(reconciler.reconcile(1, host), ReconcileOutcome::kConfirmed);
  reconciler.record(2, host);
  reconciler.begin(2);
  reconciler.authoritative(1, words_of(pawn, test::pawn_at(10.0f + 3.0f / 128)).data());
  EXPECT_EQ(reconciler.reconcile(2, host), ReconcileOutcome::kRolledBack);
}

TEST(ReconcilerMembers, WhatIsNotPredictedCostsNoRollback) {
  class StillHost : public ResimulationHost {
   public:
    explicit StillHost(const serialization::Layout& layout) : layout_(layout) {}
    void load_state(uint32_t, const serialization::Word*) override {}
    void store_state(uint32_t, serialization::Word* words) override {
      const void* hosts[1] = {&live};
      layout_.quantize(hosts, words);
    }
    void resimulate_tick(Tick) override {}
    void corrected(uint32_t, const serialization::Word*, const serialization::Word*) override {}
    test::Scored live{7, 0};

   private:
    const serialization::Layout& layout_;
  };
  const serialization::Layout layout = test::scored_layout();
  StillHost host(layout);
  Reconciler reconciler({1});
  ASSERT_TRUE(reconciler.add(1, layout));
  for (Tick tick = 1; tick <= 30; ++tick) reconciler.record(tick, host);
  for (Tick tick = 2; tick <= 20; tick += 2) {
    ASSERT_TRUE(reconciler.begin(tick));
    reconciler.authoritative(1, words_of(layout, test::Scored{7, static_cast<int32_t>(tick)}).data());
    EXPECT_EQ(reconciler.reconcile(30, host), ReconcileOutcome::kConfirmed);
  }
  EXPECT_EQ(reconciler.stats().compared, 10u);
  EXPECT_EQ(reconciler.stats().rollbacks, 0u);
  ASSERT_TRUE(reconciler.begin(22));
  reconciler.authoritative(1, words_of(layout, test::Scored{8, 0}).data());
  EXPECT_EQ(reconciler.reconcile(30, host), ReconcileOutcome::kRolledBack);
}

}  // namespace
}  // namespace lattice::prediction
