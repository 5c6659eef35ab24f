// The parts that receive, predict and draw, fed by an authority without a network: the test decides which
// parts of snapshots come. The game adds 1 to the level of each predicted lamp in a tick.
#pragma once

#include <string>
#include <vector>

#include "unit/replication/replication_fixture.h"
#include "world/presenter.h"

namespace lattice::world::test {

using base::Tick;
using replication::test::Authority;
using replication::test::Lamp;
using replication::test::Types;

class PartsRig : public StateListener, public PredictionGame {
 public:
  static constexpr uint64_t kPeer = 5;  // who this side is
  static constexpr uint64_t kTickNs = 1'000'000'000 / 60;

  explicit PartsRig(uint64_t delay_ns = prediction::kInterpolationDelayNs)
      : presenter({.clock = {.configured_delay_ns = delay_ns}, .poses = {}}, table, receiver, predictor,
                  ticks, frames) {
    table.set_local_peer(kPeer);
    receiver.start(types.table);
    authority.recipients.push_back(&recipient);
  }

  /// An object of this side, with its first state here. Returns the slot, which is the same on both sides.
  uint32_t spawn(uint8_t level) {
    const uint32_t slot = authority.spawn(types.lamp(), kPeer);
    set_remote(slot, level);
    receive();
    return slot;
  }
  void set_remote(uint32_t slot, uint8_t level) { authority.state<Lamp>(slot).level = level; }
  uint8_t& local(uint32_t slot) { return static_cast<Lamp*>(table.host(slot)[0])->level; }
  /// Records a tick of the authority, and gives the receiver its snapshot, which confirms what this side owns
  /// or does not. Returns the tick.
  Tick receive(bool confirms_own = false) {
    authority.record();
    authority.builder.begin_send(authority.tick);
    for (const replication::SnapshotPart& sent : authority.builder.build(recipient, {}, 0)) {
      EXPECT_EQ(give(sent.bytes), reliability::Verdict::kAccept);
      recipient.on_receipt(sent.receipt, true);
      replication::SnapshotHeader said = *part;
      said.confirms_own = confirms_own;
      predictor.on_part(said);
    }
    return authority.tick++;
  }
  reliability::Verdict give(std::span<const uint8_t> bytes) { return receiver.receive(bytes, &part); }
  std::vector<std::string> take_events() { return std::exchange(events, {}); }

  // StateListener
  void on_object(uint32_t slot, Tick) override { events.push_back("object " + std::to_string(slot)); }
  void on_states(Tick tick, std::span<const replication::NewState> states) override {
    for (const auto& [slot, words] : states) {
      const std::string before = std::to_string(level(receiver.former(slot)));
      events.push_back("state " + before + " to " + std::to_string(level(words)));
    }
    presenter.on_states(states, now_ns);
    for (const auto& [slot, words] : states) {
      if (predictor.predicts(slot)) {
        predictor.on_state(slot, tick, words);
      } else {
        receiver.update_host(slot);
      }
    }
  }
  void on_authority(uint32_t slot) override { events.push_back("authority " + std::to_string(slot)); }
  void on_frozen(uint32_t slot) override {
    events.push_back(receiver.frozen(slot) ? "frozen" : "not frozen");
  }
  void on_gone(uint32_t slot, replication::DespawnReason reason) override {
    events.push_back(reason == replication::DespawnReason::kSessionEnded ? "ended" : "gone");
    predictor.set_predicted(slot, false);
    presenter.on_gone(slot);
  }
  void on_loaded() override { events.push_back("loaded"); }

  // PredictionGame
  void run_again(Tick tick) override {
    ran_again.push_back(tick);
    step();
  }
  void on_corrected(uint32_t slot, const serialization::Word* before,
                    const serialization::Word* after) override {
    events.push_back("corrected " + std::to_string(level(before)) + " to " + std::to_string(level(after)));
    presenter.on_corrected(slot, before, after, now_ns);
  }
  void step() {
    for (const uint32_t slot : table.ascending()) {
      if (predictor.predicts(slot)) ++local(slot);
    }
  }
  /// A tick of this side.
  void tick(Tick tick) {
    step();
    predictor.record(tick);
  }

  Types types;
  Authority authority{types};
  replication::ReplicaList recipient{replication::ReplicaList::Config{}};
  replication::ObjectTable table{64};
  StateReceiver receiver{table, *this, 64};
  Predictor predictor{{.max_objects = 8}, table, receiver, *this};
  simulation::FixedTick ticks{60};
  FrameLog frames{table.id_seed()};
  Presenter presenter;
  const replication::SnapshotHeader* part = nullptr;  // of the last that was given
  uint64_t now_ns = 1'000'000'000;
  std::vector<std::string> events;
  std::vector<Tick> ran_again;

 private:
  static int level(const serialization::Word* words) { return static_cast<int>(words[1]); }
};

using Events = std::vector<std::string>;

}  // namespace lattice::world::test
