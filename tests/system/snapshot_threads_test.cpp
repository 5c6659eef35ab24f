// Snapshots that are built on several threads are the same to the bit as those that one thread builds.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "base/random.h"
#include "system/task_workers.h"
#include "unit/replication/replication_fixture.h"
#include "world/snapshot_batch.h"

namespace lattice::replication::test {
namespace {

using lattice::test::CarelessWorkers;
using lattice::test::NoWorkers;
using lattice::test::PoolWorkers;
using lattice::test::Workers;
using reliability::CallerTasks;

constexpr uint32_t kClients = 90;  // more than a batch has room for
constexpr uint32_t kObjects = 150;
constexpr uint32_t kLongObjects = 4;
constexpr int kTicks = 40;
constexpr Tick kAckTicks = 6;

struct InFlight {
  Tick tick = 0;
  uint32_t client = 0, receipt = 0;
};

/// A world with all that a snapshot may hold: what changes all the time and what rests, what comes and goes,
/// states in pieces, and clients with other budgets and losses.
class Session {
 public:
  explicit Session(const CallerTasks& tasks)
      : authority_(types_), batch_({}, tasks, authority_.table, authority_.store) {
    for (uint32_t i = 0; i < kClients; ++i) {
      clients_.push_back(std::make_unique<ReplicaList>(ReplicaList::Config{}));
      authority_.recipients.push_back(clients_.back().get());
    }
    for (uint32_t i = 0; i < kObjects; ++i) {
      slots_.push_back(authority_.spawn(i % 3 == 0 ? types_.lamp() : types_.actor()));
    }
    for (uint32_t i = 0; i < kLongObjects; ++i) longs_.push_back(authority_.spawn(types_.tome()));
  }

  void step() {
    ++authority_.tick;
    deliver();
    change();
    authority_.record();
    batch_.begin(authority_.tick);
    for (uint32_t i = authority_.tick % 2; i < kClients; i += 2) {
      world::SnapshotBatch::Job job;
      job.client = i;
      job.list = clients_[i].get();
      job.budget_bytes = i % 3 * 900;
      batch_.add(job);
      if (batch_.is_full()) send();
    }
    send();
  }

  std::vector<uint8_t> sent;  // all parts in their order, each behind its client
  uint64_t parts = 0;
  uint64_t snapshots() const { return batch_.snapshots(); }
  uint32_t long_states() const {
    uint32_t count = 0;
    for (const auto& client : clients_) count += client->longs().size();
    return count;
  }

 private:
  void deliver() {
    while (!in_flight_.empty() && authority_.tick - in_flight_.front().tick >= kAckTicks) {
      const InFlight& each = in_flight_.front();
      clients_[each.client]->on_receipt(each.receipt, random_.next_below(100) >= each.client % 10);
      in_flight_.pop_front();
    }
  }
  void change() {
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (i % 5 == 0 && authority_.tick % 7 != 0) continue;  // these rest most of the time
      const uint32_t slot = slots_[i];
      if (authority_.table.info(slot).type == &types_.lamp()) {
        authority_.state<Lamp>(slot).level = static_cast<uint8_t>((authority_.tick + slot) % 16);
      } else {
        authority_.state<Body>(slot).position[slot % 3] =
            static_cast<float>((authority_.tick * 7 + slot) % 90);
      }
    }
    for (const uint32_t slot : longs_) {
      if ((authority_.tick + slot) % 20 != 0) continue;
      Tome& tome = authority_.state<Tome>(slot);
      ++tome.reads;
      std::memset(tome.text, 'a' + static_cast<int>(authority_.tick % 26), 3000 + 100 * slot);
    }
    if (authority_.tick % 4 == 0) {
      authority_.despawn(slots_.front());
      slots_.erase(slots_.begin());
      slots_.push_back(authority_.spawn(types_.actor()));
    }
  }
  void send() {
    const auto take = [this](uint32_t client, std::span<const SnapshotPart> snapshot) {
      for (const SnapshotPart& part : snapshot) {
        sent.push_back(static_cast<uint8_t>(client));
        sent.insert(sent.end(), part.bytes.begin(), part.bytes.end());
        in_flight_.push_back({authority_.tick, client, part.receipt});
        ++parts;
      }
    };
    batch_.run(
        take, [](uint32_t) {}, [](uint32_t) {});
  }

  Types types_;
  Authority authority_;
  world::SnapshotBatch batch_;
  std::vector<std::unique_ptr<ReplicaList>> clients_;
  std::vector<uint32_t> slots_, longs_;
  std::deque<InFlight> in_flight_;
  base::Random random_{7};
};

TEST(SnapshotThreads, AnyNumberOfWorkersBuildsTheSameParts) {
  NoWorkers none;
  Session expected(none.tasks());
  uint32_t long_states = 0;
  for (int i = 0; i < kTicks; ++i) expected.step(), long_states += expected.long_states();
  EXPECT_EQ(expected.snapshots(), uint64_t{kTicks} * kClients / 2);
  EXPECT_GT(expected.parts, expected.snapshots());
  EXPECT_GT(long_states, 500u);
  PoolWorkers two(2), seven(7);
  CarelessWorkers careless;
  for (Workers* workers : std::vector<Workers*>{&two, &seven, &careless}) {
    Session actual(workers->tasks());
    for (int i = 0; i < kTicks; ++i) actual.step();
    EXPECT_EQ(actual.parts, expected.parts);
    EXPECT_TRUE(actual.sent == expected.sent);
    EXPECT_EQ(actual.snapshots(), expected.snapshots());
    EXPECT_GE(workers->batches, uint64_t{kTicks});
  }
}

}  // namespace
}  // namespace lattice::replication::test
