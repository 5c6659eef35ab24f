// Builder and applier against each other over a lossy, reordering, duplicating link, with objects coming,
// going, changing owner and leaving interest sets: every state a client ever applies must be the
// authority's state of that tick, and after the noise ends both hold the same (X-01, X-02 checks).
#include <gtest/gtest.h>

#include <deque>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

struct LinkModel {
  double loss = 0;
  double ack_loss = 0;  // the part arrived, but the sender is told it was lost
  double duplicate = 0;
  Tick min_delay = 1;
  Tick max_delay = 4;
};

using State = std::vector<serialization::Word>;
using Truth = std::map<Tick, std::map<uint64_t, State>>;

class CheckingListener : public SnapshotListener {
 public:
  CheckingListener(const ObjectTable& mirror, const Truth& truth) : mirror_(mirror), truth_(truth) {}
  void on_spawn(uint32_t slot, Tick) override { shown_[mirror_.network_id(slot)]; }
  void on_despawn(uint32_t slot, Tick, DespawnReason) override { shown_.erase(mirror_.network_id(slot)); }
  void on_state(uint32_t slot, Tick tick, const serialization::Word* words, EntryKind) override {
    check(slot, tick, words);
    Shown& shown = shown_[mirror_.network_id(slot)];
    EXPECT_TRUE(shown.tick == 0 || base::tick_after(tick, shown.tick));
    shown = Shown{tick, State(words, words + mirror_.info(slot).type->word_count)};
  }
  void on_late_state(uint32_t slot, Tick tick, const serialization::Word* words) override {
    check(slot, tick, words);
  }
  void on_rested(uint32_t slot, Tick tick) override {
    check(slot, tick, shown_[mirror_.network_id(slot)].state.data());
    ++markers;
  }
  uint64_t states = 0;
  uint64_t markers = 0;

 private:
  struct Shown {
    Tick tick = 0;
    State state;
  };
  void check(uint32_t slot, Tick tick, const serialization::Word* words) {
    ++states;
    const uint64_t id = mirror_.network_id(slot);
    const auto at = truth_.find(tick);
    if (at == truth_.end()) return;  // longer ago than is remembered here
    const auto object = at->second.find(id);
    ASSERT_NE(object, at->second.end()) << "object " << id << " at tick " << tick;
    ASSERT_EQ(State(words, words + object->second.size()), object->second) << "object " << id << " @" << tick;
  }
  const ObjectTable& mirror_;
  const Truth& truth_;
  std::map<uint64_t, Shown> shown_;
};

class SoakClient {
 public:
  SoakClient(const Types& types, const Truth& truth, const LinkModel& link, uint64_t seed)
      : recipient(ReplicaList::Config{}),
        mirror(512),
        listener(mirror, truth),
        applier(types.table, mirror, listener, slot_bound(512)),
        link_(link),
        random_(seed) {}

  void send(Tick now, const SnapshotPart& part) {
    if (random_.chance(link_.loss)) {
      receipts_.push_back({now + 30, part.receipt, false});
      return;
    }
    const Tick spread = link_.max_delay - link_.min_delay + 1;
    const auto delay = [&] { return link_.min_delay + static_cast<Tick>(random_.next_below(spread)); };
    const std::vector<uint8_t> bytes = copy(part.bytes);
    if (random_.chance(link_.duplicate)) flying_.push_back({now + delay(), 0, bytes});
    flying_.push_back({now + delay(), part.receipt, bytes});
  }

  void deliver(Tick now) {
    for (size_t i = 0; i < flying_.size();) {
      if (base::tick_after(flying_[i].due, now)) {
        ++i;
        continue;
      }
      const SnapshotApplier::Result result = applier.apply(flying_[i].bytes);
      ASSERT_NE(result, SnapshotApplier::Result::kRefused) << snapshot_refusal_name(applier.refusal());
      const bool acked = result == SnapshotApplier::Result::kApplied && !random_.chance(link_.ack_loss);
      if (flying_[i].receipt != 0) receipts_.push_back({now + link_.min_delay, flying_[i].receipt, acked});
      flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (size_t i = 0; i < receipts_.size();) {
      if (base::tick_after(receipts_[i].due, now)) {
        ++i;
        continue;
      }
      recipient.on_receipt(receipts_[i].receipt, receipts_[i].acked);
      receipts_.erase(receipts_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  ReplicaList recipient;
  ObjectTable mirror;
  CheckingListener listener;
  SnapshotApplier applier;

 private:
  struct Flying {
    Tick due;
    uint32_t receipt;
    std::vector<uint8_t> bytes;
  };
  struct Receipt {
    Tick due;
    uint32_t receipt;
    bool acked;
  };
  LinkModel link_;
  base::Random random_;
  std::vector<Flying> flying_;
  std::vector<Receipt> receipts_;
};

class Soak {
 public:
  Soak(uint64_t seed, const LinkModel& link, SnapshotBuilder::Config config, uint32_t budget, Tick first_tick)
      : random_(seed), authority_(types_, config, 256), budget_(budget), start_(first_tick) {
    authority_.tick = first_tick;
    for (uint64_t i = 0; i < 3; ++i) {
      clients_.push_back(std::make_unique<SoakClient>(types_, truth_, link, seed * 100 + i));
    }
    for (int i = 0; i < 40; ++i) spawn();
  }

  void run(Tick ticks) {
    for (Tick i = 0; i < ticks; ++i) {
      if (i == 50) join(0), join(1);
      if (i == ticks / 2) join(2);  // a late join
      if (i < ticks * 3 / 4) disturb();
      step();
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  void settle(Tick ticks) {
    for (Tick i = 0; i < ticks && !testing::Test::HasFatalFailure(); ++i) step();
  }

  void expect_equal() {
    for (const auto& client : clients_) {
      EXPECT_GT(client->listener.states, 100u);
      EXPECT_EQ(client->recipient.pending_removals(), 0u);
      EXPECT_TRUE(client->recipient.loaded());
      std::vector<uint64_t> held;
      for (const uint32_t slot : client->mirror.ascending()) held.push_back(client->mirror.network_id(slot));
      std::vector<uint64_t> expected;
      for (const uint32_t slot : authority_.table.ascending()) {
        if (!client->recipient.in_set(slot)) continue;
        const ObjectInfo& info = authority_.table.info(slot);
        expected.push_back(info.network_id);
        const uint32_t mirrored = client->mirror.find(info.network_id);
        ASSERT_NE(mirrored, kNoSlot);
        const serialization::Word* words = client->applier.confirmed(mirrored, nullptr);
        EXPECT_EQ(info.type->layout->state_hash(words),
                  info.type->layout->state_hash(authority_.store.current(slot)));
        EXPECT_EQ(client->mirror.info(mirrored).owner, info.owner);
      }
      EXPECT_EQ(held, expected);
    }
  }

 private:
  void join(size_t index) {
    clients_[index]->recipient.join(authority_.table);
    authority_.recipients.push_back(&clients_[index]->recipient);
  }

  void spawn() {
    if (authority_.table.size() >= 200) return;
    const uint32_t slot =
        authority_.spawn(random_.chance(0.5) ? types_.actor() : types_.lamp(), random_.next_below(4));
    change(slot);
  }

  uint32_t any_slot() {
    return authority_.table.ascending()[static_cast<size_t>(random_.next_below(authority_.table.size()))];
  }

  void change(uint32_t slot) {
    if (authority_.table.info(slot).type == &types_.lamp()) {
      authority_.state<Lamp>(slot) =
          Lamp{static_cast<uint8_t>(random_.next_below(2)), static_cast<uint8_t>(random_.next_below(16))};
      return;
    }
    Body& body = authority_.state<Body>(slot);
    Soul& soul = authority_.state<Soul>(slot, 1);
    for (float& x : body.position) x = static_cast<float>(random_.next_unit() * 200 - 100);
    body.velocity[0] = random_.chance(0.5) ? 0.0f : 3.0f;
    if (random_.chance(0.3)) soul.health = static_cast<int32_t>(random_.next_below(101));
    if (random_.chance(0.1)) soul.target = random_.next_u64() >> random_.next_below(64);
    if (random_.chance(0.1))
      std::snprintf(soul.name, sizeof soul.name, "n%d", static_cast<int>(random_.next_below(999)));
    if (random_.chance(0.2)) soul.alive ^= 1;
  }

  void disturb() {
    for (uint64_t i = random_.next_below(20); i > 0 && authority_.table.size() > 0; --i) change(any_slot());
    if (random_.chance(0.15)) spawn();
    if (random_.chance(0.15) && authority_.table.size() > 10) authority_.despawn(any_slot());
    if (random_.chance(0.05)) {
      const uint32_t slot = any_slot();
      authority_.table.set_authority(slot, random_.next_below(5), LATTICE_AUTHORITY_SHARED, authority_.tick);
      authority_.store.announce(slot);
    }
    if (random_.chance(0.2) && !authority_.recipients.empty()) {
      ReplicaList* recipient = authority_.recipients[random_.next_below(authority_.recipients.size())];
      const uint32_t slot = any_slot();
      if (recipient->in_set(slot)) {
        recipient->leave(slot, authority_.table.network_id(slot));
      } else {
        recipient->enter(slot, authority_.table.network_id(slot));
      }
    }
  }

  void step() {
    authority_.record();
    auto& now = truth_[authority_.tick];
    for (const uint32_t slot : authority_.table.ascending()) {
      now[authority_.table.network_id(slot)] = authority_.words(slot);
    }
    truth_.erase(authority_.tick - 300);
    if ((authority_.tick - start_) % 2 == 0) {
      authority_.builder.begin_send(authority_.tick);
      for (const auto& client : clients_) {
        if (std::find(authority_.recipients.begin(), authority_.recipients.end(), &client->recipient) ==
            authority_.recipients.end()) {
          continue;
        }
        for (const SnapshotPart& part :
             authority_.builder.build(client->recipient, SnapshotHeader{}, budget_)) {
          client->send(authority_.tick, part);
        }
      }
    }
    for (const auto& client : clients_) client->deliver(authority_.tick);
    ++authority_.tick;
  }

  Types types_;
  base::Random random_;
  Truth truth_;
  Authority authority_;
  std::vector<std::unique_ptr<SoakClient>> clients_;
  uint32_t budget_;
  Tick start_;
};

void soak(uint64_t first_seed, uint64_t seeds, const LinkModel& link, uint32_t capacity = 1100,
          uint32_t budget = 0, Tick first_tick = 1) {
  for (uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SnapshotBuilder::Config config;
    config.part_capacity_bytes = capacity;
    Soak run(seed, link, config, budget, first_tick);
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
