// The ack of a block comes late: the group has come out of step since, and the state that the block held is
// no longer kept. A client acks what it got, so all it applies has to be what the authority had.
#include <cstdio>
#include <map>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication {
namespace test {
namespace {

class LateBlockAck : public testing::Test {
 protected:
  static constexpr uint32_t kObjects = 24;
  static constexpr uint32_t kInterval = 2;
  static constexpr uint32_t kBudget = 460;  // too small for all that comes out of step at once
  static constexpr Tick kPause = 100;       // the block of this tick is acked after the silence
  static constexpr Tick kActive = kPause + 25;

  struct Held {
    uint32_t receipt = 0;
    uint32_t build = 0;  // the verdict comes with it
  };
  /// The client applies each state as the authority had it at that tick.
  static void expect_true_states(const Authority& authority, const Client& client,
                                 const std::map<std::pair<uint64_t, Tick>, std::vector<Word>>& truth,
                                 const std::string& run) {
    for (const uint32_t slot : authority.table.ascending()) {
      const uint64_t id = authority.table.network_id(slot);
      const uint32_t mirrored = client.mirror.find(id);
      if (mirrored == kNoSlot) continue;
      Tick tick = 0;
      client.applier.confirmed(mirrored, &tick);
      ASSERT_EQ(client.words(id), truth.at({id, tick}))
          << "object " << id << ", tick " << tick << ", " << run;
    }
  }

  void run(int32_t history, Tick first, Tick silence) {
    const std::string name = "first tick " + std::to_string(first) + ", silence " + std::to_string(silence);
    Types types;
    SnapshotBuilder::Config config;
    config.send_interval_ticks = kInterval;
    config.part_capacity_bytes = 128;
    Authority authority(types, config, 256, history);
    ReplicaList list{ReplicaList::Config{}};
    authority.recipients.push_back(&list);
    authority.tick = first;
    Client client(types, 256);
    std::vector<uint32_t> slots;
    for (uint32_t i = 0; i < kObjects; ++i) {
      slots.push_back(authority.spawn(types.actor()));
      auto& soul = authority.state<Soul>(slots.back(), 1);  // what makes a full entry long
      std::snprintf(soul.name, sizeof soul.name, "object%05u", i);
      soul.target = 0x1234567890abcdefu + i;
      authority.state<Body>(slots.back()).velocity[1] = 3;
    }
    std::map<std::pair<uint64_t, Tick>, std::vector<Word>> truth;
    std::vector<Held> held;
    uint32_t builds = 0;
    for (Tick now = 0; builds < 60; ++now, ++authority.tick) {
      for (const uint32_t slot : slots) {
        authority.state<Body>(slot).position[0] = static_cast<float>((authority.tick * 7 + slot) % 90);
        if (now > kActive) continue;
        authority.state<Soul>(slot, 1).health = static_cast<int>((authority.tick * 3 + slot) % 101);
      }
      authority.record();
      for (const uint32_t slot : slots) {
        truth[{authority.table.network_id(slot), authority.tick}] = authority.words(slot);
      }
      if (now % kInterval != 0 || (now > kPause && now < kPause + silence)) continue;
      for (const Held& ack : held) {
        if (ack.build == builds) list.on_receipt(ack.receipt, true);
      }
      for (const SnapshotPart& part : authority.send(list, kBudget)) {
        ASSERT_EQ(client.apply(part.bytes), SnapshotApplier::Result::kApplied)
            << snapshot_refusal_name(client.applier.refusal()) << ", " << name;
        if (now < kPause) {
          list.on_receipt(part.receipt, true);
        } else {
          held.push_back({part.receipt, builds + 2});
        }
      }
      if (now >= kPause) ++builds;
      expect_true_states(authority, client, truth, name);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_F(LateBlockAck, tells_nothing_of_a_state_that_is_not_kept) {
  for (Tick first = 16; first <= 20; ++first) {
    for (Tick silence = 80; silence <= 92; silence += 2) run(kHistoryTicks, first, silence);
    for (Tick silence = 48; silence <= 60; silence += 2) run(8, first, silence);
  }
}

}  // namespace
}  // namespace test
}  // namespace lattice::replication
