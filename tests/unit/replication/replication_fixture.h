// Small replicated types, an authority and a client, for the tests of this layer.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "lattice/schema.h"
#include "replication/client_view.h"
#include "replication/object_table.h"
#include "replication/snapshot_applier.h"
#include "replication/snapshot_builder.h"
#include "replication/version_history.h"
#include "serialization/layout.h"

namespace lattice::replication::test {

/// type 7: one behaviour, a bool and four bits.
struct Lamp {
  uint8_t lit = 0;
  uint8_t level = 0;  // 0..15
};

/// type 9: two behaviours; moves, has a name and points at another object.
struct Body {
  float position[3] = {};
  float velocity[3] = {};
};
struct Soul {
  int32_t health = 0;  // 0..100
  uint64_t target = 0;
  char name[13] = {};
  uint8_t alive = 0;
};

/// type 11: a state that cannot fit a small part.
struct Scroll {
  char text[1301] = {};
};

inline lattice_member_desc member(const char* name, lattice_wire_type type, size_t offset) {
  lattice_member_desc m;
  lattice_member_desc_init(&m);
  m.name = name;
  m.type = type;
  m.offset = static_cast<uint32_t>(offset);
  return m;
}

inline lattice_member_desc ranged(const char* name, lattice_wire_type type, size_t offset, int64_t min,
                                  int64_t max) {
  lattice_member_desc m = member(name, type, offset);
  m.encoding = LATTICE_ENCODING_RANGED;
  m.min_value = min;
  m.max_value = max;
  return m;
}

inline lattice_member_desc vector3(const char* name, size_t offset, double bound, double precision,
                                   uint32_t flags) {
  lattice_member_desc m = member(name, LATTICE_WIRE_VECTOR3, offset);
  m.quant[0] = lattice_quant{-bound, bound, precision};
  m.flags = flags;
  return m;
}

template <typename T>
lattice_struct_desc structure(const char* name, const std::vector<lattice_member_desc>& members) {
  lattice_struct_desc s;
  lattice_struct_desc_init(&s);
  s.name = name;
  s.host_bytes = sizeof(T);
  s.host_align = alignof(T);
  s.members = members.data();
  s.member_count = static_cast<uint32_t>(members.size());
  return s;
}

class Types {
 public:
  static constexpr uint32_t kLamp = 7;
  static constexpr uint32_t kActor = 9;
  static constexpr uint32_t kScroll = 11;

  Types() {
    const std::vector<lattice_member_desc> lamp = {
        member("lit", LATTICE_WIRE_BOOL, offsetof(Lamp, lit)),
        ranged("level", LATTICE_WIRE_UINT8, offsetof(Lamp, level), 0, 15)};
    add(kLamp, "Lamp", {structure<Lamp>("Lamp", lamp)});
    const std::vector<lattice_member_desc> body = {
        vector3("position", offsetof(Body, position), 100, 0.01, LATTICE_MEMBER_POSITION),
        vector3("velocity", offsetof(Body, velocity), 50, 0.01, LATTICE_MEMBER_VELOCITY)};
    std::vector<lattice_member_desc> soul = {
        ranged("health", LATTICE_WIRE_INT32, offsetof(Soul, health), 0, 100),
        member("target", LATTICE_WIRE_NETID, offsetof(Soul, target)),
        member("name", LATTICE_WIRE_STRING, offsetof(Soul, name)),
        member("alive", LATTICE_WIRE_BOOL, offsetof(Soul, alive))};
    soul[2].capacity = 12;
    add(kActor, "Actor", {structure<Body>("Body", body), structure<Soul>("Soul", soul)});
    std::vector<lattice_member_desc> scroll = {member("text", LATTICE_WIRE_STRING, offsetof(Scroll, text))};
    scroll[0].capacity = 1300;
    add(kScroll, "Scroll", {structure<Scroll>("Scroll", scroll)});
  }

  const ObjectType& lamp() const { return *table.find(kLamp); }
  const ObjectType& actor() const { return *table.find(kActor); }
  const ObjectType& scroll() const { return *table.find(kScroll); }

  TypeTable table;

 private:
  void add(uint32_t id, const char* name, const std::vector<lattice_struct_desc>& structures) {
    std::vector<lattice_behaviour_desc> behaviours;
    for (const lattice_struct_desc& s : structures) {
      lattice_behaviour_desc b;
      lattice_behaviour_desc_init(&b);
      b.structure = &s;
      behaviours.push_back(b);
    }
    lattice_type_desc type;
    lattice_type_desc_init(&type);
    type.type_id = id;
    type.name = name;
    type.behaviours = behaviours.data();
    type.behaviour_count = static_cast<uint32_t>(behaviours.size());
    auto layout = std::make_unique<serialization::Layout>();
    std::string error;
    const bool compiled = serialization::Layout::compile_object(type, layout.get(), &error);
    if (!compiled) ADD_FAILURE() << error;
    layouts_.push_back(std::move(layout));
    table.add(id, *layouts_.back());
  }
  std::vector<std::unique_ptr<serialization::Layout>> layouts_;
};

/// The authority's half: objects, history, a builder; views are the test's own.
struct Authority {
  explicit Authority(const Types& t, SnapshotBuilder::Config config = {}, uint32_t max_objects = 4096)
      : types(t), table(max_objects), builder(config, table, history) {}

  uint32_t spawn(const ObjectType& type, uint64_t owner = 0) {
    const uint32_t slot = table.spawn(type, owner, LATTICE_AUTHORITY_SERVER, 0, tick);
    EXPECT_NE(slot, kNoSlot);
    history.begin(slot, type);
    for (ClientView* view : views) view->object_added(slot);
    return slot;
  }
  void despawn(uint32_t slot) {
    for (ClientView* view : views) view->object_removed(slot, table.network_id(slot));
    history.end(slot);
    table.despawn(slot);
  }
  template <typename T>
  T& state(uint32_t slot, uint32_t behaviour = 0) {
    table.mark_written(slot);
    return *static_cast<T*>(table.host(slot)[behaviour]);
  }
  /// Ends the current tick and starts the next.
  void record() { history.record(table, tick); }
  std::span<const SnapshotPart> send(ClientView& view, uint32_t budget = 0) {
    builder.begin_send(tick);
    return builder.build(view, SnapshotHeader{}, budget);
  }
  std::vector<uint64_t> words(uint32_t slot) const {
    const uint64_t* w = history.current(slot);
    return std::vector<uint64_t>(w, w + table.info(slot).type->word_count);
  }

  const Types& types;
  ObjectTable table;
  VersionHistory history;
  SnapshotBuilder builder;
  std::vector<ClientView*> views;
  Tick tick = 1;
};

/// Notes every event as a line of text such as "spawn 3", "state 3@17", "despawn 3".
class EventLog : public SnapshotListener {
 public:
  explicit EventLog(const ObjectTable& mirror) : mirror_(mirror) {}
  void on_spawn(uint32_t slot, Tick) override { note("spawn ", slot); }
  void on_despawn(uint32_t slot, Tick) override { note("despawn ", slot); }
  void on_state(uint32_t slot, Tick tick, const uint64_t*, EntryKind kind) override {
    note(kind == EntryKind::kFull ? "full " : "delta ", slot, tick);
  }
  void on_late_state(uint32_t slot, Tick tick, const uint64_t*) override { note("late ", slot, tick); }
  void on_unchanged(uint32_t slot, Tick tick) override { note("unchanged ", slot, tick); }
  void on_authority(uint32_t slot, Tick tick) override { note("authority ", slot, tick); }

  std::vector<std::string> take() {
    std::vector<std::string> taken;
    taken.swap(lines_);
    return taken;
  }

 private:
  void note(const char* what, uint32_t slot, Tick tick = 0) {
    lines_.push_back(what + std::to_string(mirror_.network_id(slot)) +
                     (tick != 0 ? "@" + std::to_string(tick) : ""));
  }
  const ObjectTable& mirror_;
  std::vector<std::string> lines_;
};

struct Client {
  explicit Client(const Types& types, uint32_t max_objects = 8192)
      : mirror(max_objects), log(mirror), applier(types.table, mirror, log) {}

  SnapshotApplier::Result apply(std::span<const uint8_t> bytes) { return applier.apply(bytes); }
  std::vector<uint64_t> words(uint64_t network_id) const {
    const uint32_t slot = mirror.find(network_id);
    if (slot == kNoSlot) return {};
    const uint64_t* w = applier.confirmed(slot, nullptr);
    return std::vector<uint64_t>(w, w + mirror.info(slot).type->word_count);
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
