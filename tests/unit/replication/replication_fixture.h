// An authority, a client and an event log for the tests of this layer.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "replication/object_table.h"
#include "replication/replica_list.h"
#include "replication/snapshot_applier.h"
#include "replication/snapshot_builder.h"
#include "replication/state_store.h"
#include "serialization/layout.h"
#include "unit/replication/replication_types.h"

namespace lattice::replication::test {

/// The authority's half: objects, history, a builder; recipients are the test's own.
struct Authority {
  explicit Authority(const Types& t, SnapshotBuilder::Config config = {}, uint32_t max_objects = 4096,
                     int32_t history_ticks = kHistoryTicks, uint32_t resting_slots = 1024)
      : types(t),
        table(max_objects, resting_slots),
        store(history_ticks, KeepTicks(config.tick_rate_hz, config.send_interval_ticks)),
        builder(config, table, store) {}

  uint32_t spawn(const ObjectType& type, uint64_t owner = 0) {
    const uint32_t slot = table.spawn(type, owner, LATTICE_AUTHORITY_SERVER, 0, tick);
    EXPECT_NE(slot, kNoSlot);
    store.begin(slot, type);
    for (ReplicaList* recipient : recipients) recipient->enter(slot, table.network_id(slot));
    return slot;
  }
  void despawn(uint32_t slot) {
    for (ReplicaList* recipient : recipients) recipient->destroyed(slot, table.network_id(slot));
    store.end(slot);
    table.despawn(slot);
  }
  template <typename T>
  T& state(uint32_t slot, uint32_t behaviour = 0) {
    store.mark(slot);
    return *static_cast<T*>(table.host(slot)[behaviour]);
  }
  /// Ends the current tick and starts the next.
  void record() { store.record(table, tick); }
  std::span<const SnapshotPart> send(ReplicaList& recipient, uint32_t budget = 0) {
    builder.begin_send(tick);
    return builder.build(recipient, SnapshotHeader{}, budget);
  }
  std::vector<serialization::Word> words(uint32_t slot) const {
    const serialization::Word* w = store.current(slot);
    return std::vector<serialization::Word>(w, w + table.info(slot).type->word_count);
  }

  const Types& types;
  ObjectTable table;
  StateStore store;
  SnapshotBuilder builder;
  std::vector<ReplicaList*> recipients;
  Tick tick = 1;
};

/// Rules that say what goes together, and nothing else.
class Groups : public SendRules {
 public:
  void terms(uint32_t slot, bool, SendTerms* out) const override {
    const auto at = of.find(slot);
    if (at != of.end()) out->group = at->second;
  }
  bool common_terms(SendTerms*) const override { return of.empty(); }
  bool slows() const override { return false; }
  uint32_t groups_version() const override { return version; }
  void add_members(uint32_t group, std::vector<uint32_t>* out) const override {
    for (const auto& [slot, its] : of) {
      if (its == group) out->push_back(slot);
    }
  }

  std::map<uint32_t, uint32_t> of;
  uint32_t version = 0;
};

/// Notes every event as a line of text such as "spawn 3", "state 3@17", "despawn 3",
/// "left 3".
class EventLog : public SnapshotListener {
 public:
  explicit EventLog(const ObjectTable& mirror) : mirror_(mirror) {}
  void on_spawn(uint32_t slot, Tick) override { note("spawn ", slot); }
  void on_despawn(uint32_t slot, Tick, DespawnReason reason) override {
    note(reason == DespawnReason::kLeft ? "left " : "despawn ", slot);
  }
  bool may_despawn(uint32_t slot, uint32_t rpc_count) override {
    return rpcs_arrived[mirror_.network_id(slot)] >= rpc_count;
  }
  void on_stays(uint32_t slot) override { note("stays ", slot); }
  void on_state(uint32_t slot, Tick tick, const serialization::Word*, EntryKind kind) override {
    note(kind == EntryKind::kFull ? "full " : "delta ", slot, tick);
  }
  void on_late_state(uint32_t slot, Tick tick, const serialization::Word*) override {
    note("late ", slot, tick);
  }
  void on_rested(uint32_t slot, Tick tick) override { note("rested ", slot, tick); }
  void on_authority(uint32_t slot, Tick tick) override { note("authority ", slot, tick); }

  std::vector<std::string> take() {
    std::vector<std::string> taken;
    taken.swap(lines_);
    return taken;
  }

  std::map<uint64_t, uint32_t> rpcs_arrived;

 private:
  void note(const char* what, uint32_t slot, Tick tick = 0) {
    std::string line = what;
    line += std::to_string(mirror_.network_id(slot));
    if (tick != 0) line.append("@").append(std::to_string(tick));
    lines_.push_back(std::move(line));
  }
  const ObjectTable& mirror_;
  std::vector<std::string> lines_;
};

struct Client {
  explicit Client(const Types& types, uint32_t max_objects = 8192)
      : mirror(max_objects), log(mirror), applier(types.table, mirror, log, slot_bound(max_objects)) {}

  SnapshotApplier::Result apply(std::span<const uint8_t> bytes) { return applier.apply(bytes); }
  std::vector<serialization::Word> words(uint64_t network_id) const {
    const uint32_t slot = mirror.find(network_id);
    if (slot == kNoSlot) return {};
    const serialization::Word* w = applier.confirmed(slot, nullptr);
    return std::vector<serialization::Word>(w, w + mirror.info(slot).type->word_count);
  }

  ObjectTable mirror;
  EventLog log;
  SnapshotApplier applier;
};

inline std::vector<uint8_t> copy(std::span<const uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

using Lines = std::vector<std::string>;

}  // namespace lattice::replication::test
