// Builder and applier against each other over a lossy, reordering, duplicating link, with objects that come,
// go, change owner, are attached, are called and leave interest sets. Checked at every tick: each state that
// a client applies is the authority's state of that tick, no part is refused, no snapshot is longer than its
// budget, and nothing that has news waits longer than it must. After the noise ends, both sides hold the same
// (X-01, X-02).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
struct LinkModel {
  double loss = 0;
  double ack_loss = 0;  // the part arrived, but the sender is told it was lost
  double duplicate = 0;
  Tick min_delay = 1;
  Tick max_delay = 4;
};

struct SoakOptions {
  LinkModel link;
  SnapshotBuilder::Config builder;
  uint32_t budget_bytes = 0;
  Tick first_tick = 1;
  uint32_t max_objects = 256;
  uint32_t resting_slots = 1024;
  uint32_t clients = 3;
  uint32_t objects = 40;
  double churn = 0.15;                      // chance of a spawn, and of a despawn, in a tick
  uint32_t changes = 20;                    // at most so many objects change in a tick
  double streams = 0;                       // chance that one of most objects changes in a tick
  uint32_t panels = 0;                      // also objects of the first so many types with many behaviours
  double scrolls = 0;                       // chance that a new object is one whose state may be long
  double attach = 0;                        // chance that objects are attached, and detached, in a tick
  double calls = 0;                         // chance of a reliable RPC in a tick
  bool conditions = false;                  // some members are not for everyone
  Tick silence_from = 0;                    // from here on, for 3 s, every ack is lost
  uint32_t most_silent_ticks = UINT32_MAX;  // an object with news is sent within this time
};

using State = std::vector<serialization::Word>;
struct OwnedState {
  State words;
  uint64_t owner = 0;
};
using Truth = std::map<Tick, std::map<uint64_t, OwnedState>>;

/// What a client may know of a state: nothing of the members that are not for it. Of those that it gets once
/// it keeps what it `has`.
inline State as_seen(const serialization::Layout& layout, State state, bool is_owner,
                     const serialization::Word* has) {
  for (const serialization::LayoutBehaviour& behaviour : layout.behaviours()) {
    for (const serialization::LayoutNode& node :
         layout.nodes().subspan(behaviour.first_node, behaviour.node_count)) {
      const bool hides =
          (node.conditions & (is_owner ? LATTICE_MEMBER_SKIP_OWNER : LATTICE_MEMBER_OWNER_ONLY)) != 0;
      const bool once = (node.conditions & LATTICE_MEMBER_INITIAL_ONLY) != 0;
      for (uint32_t i = node.first_word; i < node.first_word + node.word_count; ++i) {
        if (hides) {
          state[i] = 0;  // of every type here, the zero value has zero words
        } else if (once) {
          state[i] = has[i];
        }
      }
    }
  }
  return state;
}

class CheckingListener : public SnapshotListener {
 public:
  CheckingListener(const ObjectTable& mirror, const Truth& truth, uint64_t peer)
      : mirror_(mirror), truth_(truth), peer_(peer) {}
  void on_spawn(uint32_t slot, Tick) override { shown_[mirror_.network_id(slot)]; }
  void on_despawn(uint32_t slot, Tick, DespawnReason) override {
    shown_.erase(mirror_.network_id(slot));
    calls_heard.erase(mirror_.network_id(slot));
  }
  bool may_despawn(uint32_t slot, uint32_t rpc_count) override {
    const uint64_t id = mirror_.network_id(slot);
    return calls_heard[id] >= rpc_count || ++asked_[id] % 200 == 0;  // it does not wait for ever (D-36)
  }
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
  /// A part of `tick` has confirmed the client's own objects: each is shown as it was then, or later (D-40).
  /// One whose state may go in pieces may be left out.
  void check_own(Tick tick, const std::set<uint64_t>& in_set, uint32_t longest_entry) {
    const auto at = truth_.find(tick);
    if (at == truth_.end()) return;
    for (const uint32_t slot : mirror_.ascending()) {
      const ObjectInfo& info = mirror_.info(slot);
      const auto object = at->second.find(info.network_id);
      const bool is_own = object != at->second.end() && object->second.owner == peer_ && info.owner == peer_;
      if (!is_own || info.type->max_entry_bytes > longest_entry || !in_set.contains(info.network_id))
        continue;
      const Shown& shown = shown_[info.network_id];
      if (shown.tick == 0 || base::tick_after(shown.tick, tick)) continue;
      ++confirmed;
      ASSERT_EQ(shown.state, as_seen(*info.type->layout, object->second.words, true, shown.state.data()))
          << "object " << info.network_id << " of tick " << shown.tick << " confirmed @" << tick;
    }
  }
  uint64_t states = 0;
  uint64_t markers = 0;
  uint64_t confirmed = 0;
  std::map<uint64_t, uint32_t> calls_heard;

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
    const auto& [truth, owner] = object->second;
    ASSERT_EQ(State(words, words + truth.size()),
              as_seen(*mirror_.info(slot).type->layout, truth, owner == peer_, words))
        << "object " << id << " @" << tick;
  }
  const ObjectTable& mirror_;
  const Truth& truth_;
  uint64_t peer_;
  std::map<uint64_t, Shown> shown_;
  std::map<uint64_t, uint32_t> asked_;
};

class SoakClient {
 public:
  SoakClient(const Types& types, const Truth& truth, const SoakOptions& options, uint64_t seed, uint64_t peer)
      : recipient(ReplicaList::Config{.peer_id = peer}),
        mirror(2 * options.max_objects),
        listener(mirror, truth, peer),
        applier(types.table, mirror, listener, slot_bound(2 * options.max_objects)),
        link_(options.link),
        random_(seed) {
    constexpr auto kOverhead = static_cast<uint32_t>(kEntryOverheadBytes);
    const uint32_t budget = options.budget_bytes == 0 ? UINT32_MAX : options.budget_bytes;
    longest_entry_ = std::max(std::min(options.builder.part_capacity_bytes, budget), kOverhead) - kOverhead;
  }

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

  /// A reliable RPC on the object is on its way.
  void call(Tick now, uint64_t network_id) {
    const Tick repeats = random_.chance(link_.loss) ? 30 : 0;
    calls_.push_back({now + link_.min_delay + repeats, network_id});
  }

  /// While `silent`, no ack of this client arrives.
  void deliver(Tick now, bool silent) {
    std::erase_if(calls_, [&](const Call& call) {
      if (base::tick_after(call.due, now)) return false;
      ++listener.calls_heard[call.network_id];
      return true;
    });
    applier.retry_removals();
    for (size_t i = 0; i < flying_.size();) {
      if (base::tick_after(flying_[i].due, now)) {
        ++i;
        continue;
      }
      const SnapshotApplier::Result result = applier.apply(flying_[i].bytes);
      ASSERT_NE(result, SnapshotApplier::Result::kRefused) << snapshot_refusal_name(applier.refusal());
      if (result == SnapshotApplier::Result::kApplied && applier.header().confirms_own) {
        listener.check_own(applier.header().server_tick, set_at[applier.header().server_tick],
                           longest_entry_);
      }
      const bool acked =
          result == SnapshotApplier::Result::kApplied && !silent && !random_.chance(link_.ack_loss);
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
  std::map<Tick, std::set<uint64_t>> set_at;  // the network_ids in the set when snapshots were made
  ObjectTable mirror;
  CheckingListener listener;
  SnapshotApplier applier;

 private:
  struct Flying {
    Tick due;
    uint32_t receipt;
    std::vector<uint8_t> bytes;
  };
  struct Call {
    Tick due;
    uint64_t network_id;
  };
  struct Receipt {
    Tick due;
    uint32_t receipt;
    bool acked;
  };
  LinkModel link_;
  base::Random random_;
  uint32_t longest_entry_ = 0;  // a longer one may go in pieces
  std::vector<Call> calls_;
  std::vector<Flying> flying_;
  std::vector<Receipt> receipts_;
};

class Soak {
 public:
  Soak(uint64_t seed, const SoakOptions& options)
      : options_(options),
        types_(options.conditions),
        random_(seed),
        authority_(types_, options.builder, options.max_objects, kHistoryTicks, options.resting_slots),
        start_(options.first_tick) {
    authority_.tick = options.first_tick;
    for (uint64_t i = 0; i < options.clients; ++i) {
      clients_.push_back(std::make_unique<SoakClient>(types_, truth_, options, seed * 100 + i, 10 + i));
    }
    for (uint32_t i = 0; i < options.objects; ++i) spawn();
  }

  void run(Tick ticks) {
    for (Tick i = 0; i < ticks; ++i) {
      for (size_t c = 0; i == 50 && c + 1 < clients_.size(); ++c) join(c);
      if (i == ticks / 2) join(clients_.size() - 1);  // a late join
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
        EXPECT_EQ(State(words, words + info.type->word_count),
                  as_seen(*info.type->layout, authority_.words(slot),
                          info.owned_by(client->recipient.peer_id()), words));
        EXPECT_EQ(client->mirror.info(mirrored).owner, info.owner);
      }
      EXPECT_EQ(held, expected);
    }
  }

  /// The longest time, in ticks, that an object with news was not sent.
  uint32_t most_silent() const { return most_silent_; }
  const SnapshotBuilder::Stats& stats() const { return authority_.builder.stats(); }

 private:
  void join(size_t index) {
    clients_[index]->recipient.join(authority_.table, authority_.store);
    authority_.recipients.push_back(&clients_[index]->recipient);
  }

  void spawn() {
    if (authority_.table.size() >= options_.max_objects * 3 / 4) return;
    const ObjectType* type = random_.chance(0.5) ? &types_.actor() : &types_.lamp();
    if (options_.panels != 0 && random_.chance(0.5))
      type = &types_.panel(static_cast<uint32_t>(random_.next_below(options_.panels)));
    if (random_.chance(options_.scrolls)) type = &types_.scroll();
    change(authority_.spawn(*type, random_.next_below(14)));
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
    if (authority_.table.info(slot).type == &types_.scroll()) return write(slot);
    if (authority_.table.info(slot).type != &types_.actor()) return turn_dials(slot);
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

  // Sometimes a short text, sometimes one that fits no part.
  void write(uint32_t slot) {
    char(&text)[sizeof(Scroll::text)] = authority_.state<Scroll>(slot).text;
    const auto length = static_cast<size_t>(random_.next_below(random_.chance(0.5) ? 40 : sizeof text - 1));
    for (size_t i = 0; i < sizeof text; ++i) {
      text[i] = i < length ? static_cast<char>('a' + random_.next_below(26)) : '\0';
    }
  }

  void attach(uint32_t slot, uint32_t to) {
    if (slot == to) return;
    const uint32_t group = groups_.of.contains(to) ? groups_.of[to] : to;
    if (group == slot) return;
    groups_.of[group] = groups_.of[slot] = group;
    ++groups_.version;
  }

  // The objects of a group whose first object goes have none.
  void detach(uint32_t slot) {
    std::erase_if(groups_.of, [&](const auto& each) { return each.first == slot || each.second == slot; });
    ++groups_.version;
  }

  void turn_dials(uint32_t slot) {
    const auto behaviours =
        static_cast<uint32_t>(authority_.table.info(slot).type->layout->behaviour_count());
    const bool all = random_.chance(0.1);
    for (uint32_t b = 0; b < behaviours; ++b) {
      if (!all && random_.chance(0.7)) continue;
      for (int32_t& value : authority_.state<Dials>(slot, b).values) {
        if (all || random_.chance(0.3)) value = static_cast<int32_t>(random_.next_below(1001));
      }
    }
  }

  void call() {
    if (authority_.recipients.empty() || authority_.table.size() == 0) return;
    const uint32_t slot = any_slot();
    for (const auto& client : clients_) {
      if (!client->recipient.in_set(slot)) continue;
      client->recipient.count_reliable_rpc(slot);
      client->call(authority_.tick, authority_.table.network_id(slot));
    }
  }

  void disturb() {
    if (random_.chance(options_.calls)) call();
    for (uint64_t i = random_.next_below(options_.changes); i > 0 && authority_.table.size() > 0; --i)
      change(any_slot());
    if (options_.streams != 0) {
      for (const uint32_t slot : authority_.table.ascending()) {
        if (slot % 8 != 0 && random_.chance(options_.streams)) change(slot);
      }
    }
    for (double left = options_.churn; left > 0; left -= 1) {
      if (random_.chance(left)) spawn();
      if (random_.chance(left) && authority_.table.size() > 10) {
        const uint32_t slot = any_slot();
        detach(slot);
        authority_.despawn(slot);
      }
    }
    if (random_.chance(options_.attach)) attach(any_slot(), any_slot());
    if (random_.chance(options_.attach)) detach(any_slot());
    if (random_.chance(0.05)) {
      const uint32_t slot = any_slot();
      const bool to_client = options_.conditions && random_.chance(0.7);
      const uint64_t owner = to_client ? 10 + random_.next_below(clients_.size()) : random_.next_below(5);
      // A shared object of a client would change no more: this side does not write it.
      const auto mode = owner <= kAuthorityPeer ? LATTICE_AUTHORITY_SHARED : LATTICE_AUTHORITY_SERVER;
      authority_.table.set_authority(slot, owner, mode, authority_.tick);
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

  /// Nothing that the client does not know waits longer than it must.
  void check_silence(SoakClient& client) {
    for (const uint32_t slot : authority_.table.ascending()) {
      const std::optional<Replica> replica = client.recipient.find(slot, authority_.store);
      auto& since = silent_since_[{&client, authority_.table.network_id(slot)}];
      const bool is_silent = replica && !replica->waits &&
                             replica->sent_version != authority_.store.version(slot) &&
                             replica->sent_tick == since.sent_tick;
      if (!is_silent || since.tick == 0) {
        since = {authority_.tick, replica ? replica->sent_tick : 0};
        continue;
      }
      const uint32_t silent = authority_.tick - since.tick;
      most_silent_ = std::max(most_silent_, silent);
      ASSERT_LE(silent, options_.most_silent_ticks) << "object " << authority_.table.network_id(slot);
    }
  }

  void step() {
    const Tick age = authority_.tick - start_;
    const bool silent = options_.silence_from != 0 && age >= options_.silence_from &&
                        age < options_.silence_from + 3 * options_.builder.tick_rate_hz;
    authority_.record();
    auto& now = truth_[authority_.tick];
    for (const uint32_t slot : authority_.table.ascending()) {
      now[authority_.table.network_id(slot)] = {authority_.words(slot), authority_.table.info(slot).owner};
    }
    truth_.erase(authority_.tick - 300);
    if ((authority_.tick - start_) % options_.builder.send_interval_ticks == 0) {
      authority_.builder.begin_send(authority_.tick);
      for (const auto& client : clients_) {
        if (std::find(authority_.recipients.begin(), authority_.recipients.end(), &client->recipient) ==
            authority_.recipients.end()) {
          continue;
        }
        for (const uint32_t slot : authority_.table.ascending()) {
          if (client->recipient.in_set(slot))
            client->set_at[authority_.tick].insert(authority_.table.network_id(slot));
        }
        uint32_t bytes = 0;
        const SendRules* rules = options_.attach != 0 ? &groups_ : nullptr;
        for (const SnapshotPart& part :
             authority_.builder.build(client->recipient, SnapshotHeader{}, options_.budget_bytes, rules)) {
          client->send(authority_.tick, part);
          bytes += static_cast<uint32_t>(part.bytes.size());
        }
        ASSERT_TRUE(options_.budget_bytes == 0 || bytes <= options_.budget_bytes) << bytes;
        check_silence(*client);
      }
    }
    for (const auto& client : clients_) client->deliver(authority_.tick, silent);
    ++authority_.tick;
  }

  SoakOptions options_;
  Types types_;
  base::Random random_;
  Truth truth_;
  Authority authority_;
  Groups groups_;
  std::vector<std::unique_ptr<SoakClient>> clients_;
  Tick start_;
  struct Silence {
    Tick tick = 0;
    Tick sent_tick = 0;
  };
  std::map<std::pair<const SoakClient*, uint64_t>, Silence> silent_since_;
  uint32_t most_silent_ = 0;
};

}  // namespace lattice::replication::test
