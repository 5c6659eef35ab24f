// Many objects that change all the time, and clients that see all of them.
#pragma once

#include <memory>
#include <vector>

#include "unit/replication/replication_fixture.h"

namespace lattice::replication::test {

/// A world of lamps and actors that all change in each tick, and clients that join it and ack at once.
struct Crowd {
  explicit Crowd(uint32_t objects, uint32_t client_count, uint32_t budget = 0)
      : authority(types), budget_bytes(budget) {
    for (uint32_t i = 0; i < client_count; ++i) {
      clients.push_back(std::make_unique<ReplicaList>(ReplicaList::Config{}));
      authority.recipients.push_back(clients.back().get());
    }
    for (uint32_t i = 0; i < objects; ++i)
      slots.push_back(authority.spawn(i % 3 == 0 ? types.lamp() : types.actor()));
    for (const auto& client : clients) {
      for (const uint32_t slot : slots) client->owe(slot);
    }
  }
  void change(uint32_t slot) {
    if (authority.table.info(slot).type == &types.lamp()) {
      authority.state<Lamp>(slot).level = static_cast<uint8_t>((authority.tick + slot) % 16);
    } else {
      authority.state<Body>(slot).position[slot % 3] = static_cast<float>((authority.tick * 7 + slot) % 90);
    }
  }
  void change_all() {
    authority.tick += 2;
    for (const uint32_t slot : slots) change(slot);
    authority.record();
  }
  std::vector<std::vector<uint8_t>> send(ReplicaList& client) {
    std::vector<std::vector<uint8_t>> bodies;
    for (const SnapshotPart& part : authority.builder.build(client, SnapshotHeader{}, budget_bytes)) {
      bodies.push_back(copy(part.bytes));
      client.on_receipt(part.receipt, true);
    }
    return bodies;
  }
  void run(int snapshots) {
    for (int i = 0; i < snapshots; ++i) {
      change_all();
      authority.builder.begin_send(authority.tick);
      for (const auto& client : clients) send(*client);
    }
  }

  Types types;
  Authority authority;
  uint32_t budget_bytes;
  std::vector<std::unique_ptr<ReplicaList>> clients;
  std::vector<uint32_t> slots;
};

}  // namespace lattice::replication::test
