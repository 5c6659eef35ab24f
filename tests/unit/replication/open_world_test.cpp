// A world most of which rests, and clients that each see a small part of it: what the server holds for one of
// them, and that it allocates nothing for them once they have what they see.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "allocation_counter.h"
#include "replication/interest/interest.h"
#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {
namespace {

using lattice::test::allocation_count;
using lattice::test::live_bytes;

constexpr uint32_t kObjects = 2000;
constexpr double kEdge = 1000;
constexpr Tick kInterval = 3;
constexpr Tick kRoundTrip = 7;

Interest::Config interest_config(uint32_t in_set) {
  Interest::Config config;
  config.objects.cell = 50;
  config.set.enter_radius = kEdge * std::sqrt(in_set / (kObjects * std::numbers::pi));
  config.set.leave_radius = 1.1 * config.set.enter_radius;
  return config;
}

class OpenWorld {
 public:
  explicit OpenWorld(uint32_t in_set)
      : authority_(types_, config(), kObjects + 16), interest_(interest_config(in_set)) {
    places_.resize(kObjects);
    for (uint32_t i = 0; i < kObjects; ++i) {
      const uint32_t slot = authority_.spawn(types_.lamp());
      interest_.objects().add(slot, {}, 0);
      places_[slot] = {random_.next_unit() * kEdge, random_.next_unit() * kEdge, 0};
      interest_.objects().set_place(slot, places_[slot]);
    }
  }

  void add_clients(uint32_t count) {
    for (; count != 0; --count) {
      const auto number = static_cast<uint32_t>(clients_.size());
      auto client = std::make_unique<Client>();
      client->viewer.placed = true;
      client->viewer.place = {kEdge * (0.3 + 0.4 * random_.next_unit()),
                              kEdge * (0.3 + 0.4 * random_.next_unit()), 0};
      clients_.push_back(std::move(client));
      interest_.add_client(number);
    }
  }
  void run(Tick ticks) {
    for (; ticks != 0; --ticks) tick();
  }
  double mean_set() const {
    double sum = 0;
    for (const auto& client : clients_) sum += client->list.size();
    return sum / static_cast<double>(clients_.size());
  }

  uint64_t changes = 0;  // that entered or left a set

 private:
  struct Client {
    ReplicaList list{ReplicaList::Config{}};
    Viewer viewer;
    bool looked = false;
    struct Sent {
      Tick tick = 0;
      uint32_t receipt = 0;
    };
    std::array<Sent, 64> sent{};  // a ring
    uint32_t first = 0, end = 0;
  };

  static SnapshotBuilder::Config config() {
    SnapshotBuilder::Config config;
    config.send_interval_ticks = kInterval;
    return config;
  }
  void tick() {
    const Tick tick = authority_.tick;
    for (uint32_t slot = 0; slot < kObjects; slot += 10) {
      authority_.state<Lamp>(slot).level = static_cast<uint8_t>(random_.next_below(16));
      places_[slot].x += 8 * random_.next_unit() - 4;
      places_[slot].y += 8 * random_.next_unit() - 4;
      interest_.objects().set_place(slot, places_[slot]);
    }
    authority_.record();
    for (uint32_t i = 0; i < clients_.size(); ++i) {
      receive(*clients_[i]);
      if (i % kInterval == tick % kInterval) send(i);
    }
    ++authority_.tick;
  }
  void receive(Client& client) {
    while (client.first != client.end) {
      const Client::Sent& sent = client.sent[client.first % client.sent.size()];
      if (authority_.tick - sent.tick < kRoundTrip) return;
      client.list.on_receipt(sent.receipt, !random_.chance(0.02));
      ++client.first;
    }
  }
  void send(uint32_t number) {
    Client& client = *clients_[number];
    const InterestSet::Changes news = interest_.evaluate(number, client.viewer, authority_.tick, nullptr);
    for (const uint32_t slot : news.left) client.list.leave(slot, authority_.table.network_id(slot));
    for (const uint32_t slot : news.entered) {
      client.list.enter(slot, authority_.table.network_id(slot));
      if (!client.looked) client.list.owe(slot);
    }
    client.looked = true;
    changes += news.left.size() + news.entered.size();
    for (const SnapshotPart& part : authority_.send(client.list)) {
      client.sent[client.end++ % client.sent.size()] = {authority_.tick, part.receipt};
    }
  }

  Types types_;
  Authority authority_;
  Interest interest_;
  std::vector<Place> places_;
  std::vector<std::unique_ptr<Client>> clients_;
  base::Random random_{11};
};

TEST(OpenWorld, a_client_takes_44_bytes_an_object_and_4_kb) {
  OpenWorld world(180);
  world.add_clients(6);
  world.run(120);  // what all clients share has its size
  const int64_t before = live_bytes();
  constexpr uint32_t kMore = 24;
  world.add_clients(kMore);
  world.run(240);
  const double each = static_cast<double>(live_bytes() - before) / kMore / 1024;
  EXPECT_NEAR(world.mean_set(), 200, 40);
  RecordProperty("kb_per_client", std::to_string(each));
  EXPECT_LE(each, 44 * world.mean_set() / 1024 + 4);
}

TEST(OpenWorld, nothing_is_allocated_once_clients_have_what_they_see) {
  OpenWorld world(60);
  world.add_clients(12);
  world.run(900);
  const uint64_t before = allocation_count();
  const uint64_t changes = world.changes;
  world.run(600);
  EXPECT_EQ(allocation_count(), before);
  EXPECT_GT(world.changes, changes + 100) << "objects come and go meanwhile";
}

// A viewer that moves on: objects come near, and those behind it are not yet far enough to leave.
TEST(OpenWorld, a_set_that_grows_by_a_third_allocates_nothing) {
  Interest::Config config;
  config.objects.cell = 50;
  config.set.enter_radius = 100;
  config.set.leave_radius = 200;
  config.set.stay_ticks = 10;
  Interest interest(config);
  for (uint32_t slot = 0; slot < 400; ++slot) {
    interest.objects().add(slot, {}, 0);
    interest.objects().set_place(slot, {static_cast<double>(slot), 0, 0});
  }
  uint64_t allocations = 0;
  for (const uint32_t client : {0u, 1u}) {  // the first gives what all clients share its size
    interest.add_client(client);
    ReplicaList list{ReplicaList::Config{}};
    Viewer viewer;
    viewer.placed = true;
    const auto see = [&](Tick tick) {
      for (const uint32_t slot : interest.evaluate(client, viewer, tick, nullptr).entered) {
        list.enter(slot, slot + 1);
      }
    };
    see(1);
    ASSERT_EQ(interest.set(client).size(), 101u);
    list.reserve(room_for(interest.set(client).size()));
    const uint64_t before = allocation_count();
    for (Tick step = 1; step <= 5; ++step) {
      viewer.place.x = 6.6 * step;
      see(1 + 10 * step);
    }
    allocations = allocation_count() - before;
    ASSERT_EQ(interest.set(client).size(), 134u);
    ASSERT_EQ(list.size(), 134u);
  }
  EXPECT_EQ(allocations, 0u);
}

}  // namespace
}  // namespace lattice::replication::test
