// Small replicated types for the tests and fuzz targets of this layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/assert.h"
#include "lattice/schema.h"
#include "replication/object_type.h"
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

/// type 12: many times as long as a part.
struct Tome {
  int32_t reads = 0;
  char text[60001] = {};
};

/// types 13 to 16: 1, 3, 7 and 16 behaviours of five ranged members. The largest has 80 members, more than a
/// flat mask holds.
struct Dials {
  int32_t values[5] = {};
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

/// A type of one behaviour with these members.
template <typename T>
serialization::Layout layout_of_members(const char* name, const std::vector<lattice_member_desc>& members) {
  const lattice_struct_desc of = structure<T>(name, members);
  lattice_behaviour_desc behaviour;
  lattice_behaviour_desc_init(&behaviour);
  behaviour.structure = &of;
  lattice_type_desc type;
  lattice_type_desc_init(&type);
  type.name = name;
  type.behaviours = &behaviour;
  type.behaviour_count = 1;
  serialization::Layout layout;
  std::string error;
  LATTICE_CHECK(serialization::Layout::compile_object(type, &layout, &error));
  return layout;
}

class Types {
 public:
  static constexpr uint32_t kLamp = 7;
  static constexpr uint32_t kActor = 9;
  static constexpr uint32_t kScroll = 11;
  static constexpr uint32_t kTome = 12;
  static constexpr uint32_t kFirstPanel = 13;
  static constexpr uint32_t kPanels = 4;
  static constexpr uint32_t kPanelBehaviours[kPanels] = {1, 3, 7, 16};

  /// With `conditions`, some members have send conditions: also a text that is longer than a part, and
  /// members of a type that has no flat mask.
  explicit Types(bool conditions = false) : conditions_(conditions) {
    const std::vector<lattice_member_desc> lamp = {
        member("lit", LATTICE_WIRE_BOOL, offsetof(Lamp, lit)),
        when(LATTICE_MEMBER_OWNER_ONLY, ranged("level", LATTICE_WIRE_UINT8, offsetof(Lamp, level), 0, 15))};
    add(kLamp, "Lamp", {structure<Lamp>("Lamp", lamp)});
    const std::vector<lattice_member_desc> body = {
        vector3("position", offsetof(Body, position), 100, 0.01, LATTICE_MEMBER_POSITION),
        vector3("velocity", offsetof(Body, velocity), 50, 0.01, LATTICE_MEMBER_VELOCITY)};
    std::vector<lattice_member_desc> soul = {
        ranged("health", LATTICE_WIRE_INT32, offsetof(Soul, health), 0, 100),
        when(LATTICE_MEMBER_OWNER_ONLY, member("target", LATTICE_WIRE_NETID, offsetof(Soul, target))),
        when(LATTICE_MEMBER_INITIAL_ONLY, member("name", LATTICE_WIRE_STRING, offsetof(Soul, name))),
        when(LATTICE_MEMBER_SKIP_OWNER, member("alive", LATTICE_WIRE_BOOL, offsetof(Soul, alive)))};
    soul[2].capacity = 12;
    add(kActor, "Actor", {structure<Body>("Body", body), structure<Soul>("Soul", soul)});
    std::vector<lattice_member_desc> scroll = {
        when(LATTICE_MEMBER_OWNER_ONLY, member("text", LATTICE_WIRE_STRING, offsetof(Scroll, text)))};
    scroll[0].capacity = 1300;
    add(kScroll, "Scroll", {structure<Scroll>("Scroll", scroll)}, false);
    std::vector<lattice_member_desc> tome = {member("reads", LATTICE_WIRE_INT32, offsetof(Tome, reads)),
                                             member("text", LATTICE_WIRE_STRING, offsetof(Tome, text))};
    tome[1].capacity = 60000;
    add(kTome, "Tome", {structure<Tome>("Tome", tome)}, false);
    std::vector<lattice_member_desc> dials;
    for (size_t i = 0; i < 5; ++i) {
      static constexpr const char* kNames[] = {"a", "b", "c", "d", "e"};
      static constexpr uint32_t kFlags[] = {0, LATTICE_MEMBER_OWNER_ONLY, LATTICE_MEMBER_SKIP_OWNER, 0,
                                            LATTICE_MEMBER_OWNER_ONLY | LATTICE_MEMBER_INITIAL_ONLY};
      dials.push_back(when(kFlags[i], ranged(kNames[i], LATTICE_WIRE_INT32, i * sizeof(int32_t), 0, 1000)));
    }
    static constexpr const char* kDials[] = {"D0", "D1", "D2",  "D3",  "D4",  "D5",  "D6",  "D7",
                                             "D8", "D9", "D10", "D11", "D12", "D13", "D14", "D15"};
    static constexpr const char* kPanelNames[] = {"Panel1", "Panel3", "Panel7", "Panel16"};
    for (uint32_t i = 0; i < kPanels; ++i) {
      std::vector<lattice_struct_desc> behaviours;
      for (uint32_t b = 0; b < kPanelBehaviours[i]; ++b) {
        behaviours.push_back(structure<Dials>(kDials[b], dials));
      }
      add(kFirstPanel + i, kPanelNames[i], behaviours);
    }
  }

  const ObjectType& lamp() const { return *table.find(kLamp); }
  const ObjectType& actor() const { return *table.find(kActor); }
  const ObjectType& scroll() const { return *table.find(kScroll); }
  const ObjectType& tome() const { return *table.find(kTome); }
  const ObjectType& panel(uint32_t index) const { return *table.find(kFirstPanel + index); }

  TypeTable table;

 private:
  lattice_member_desc when(uint32_t conditions, lattice_member_desc member) const {
    if (conditions_) member.flags |= conditions;
    return member;
  }
  void add(uint32_t id, const char* name, const std::vector<lattice_struct_desc>& structures,
           bool predicted = true) {
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
    LATTICE_CHECK(compiled);
    layouts_.push_back(std::move(layout));
    table.add(id, *layouts_.back(), {.predicted = predicted});
  }
  bool conditions_;
  std::vector<std::unique_ptr<serialization::Layout>> layouts_;
};

}  // namespace lattice::replication::test
