#include "check.h"

#include <algorithm>
#include <map>
#include <set>

#include "alone.h"
#include "attributes.h"
#include "names.h"
#include "serialization/lone_structure.h"
#include "serialization/type_registry.h"

namespace latticec {
namespace {

using lattice::serialization::Layout;
using lattice::serialization::LayoutNode;
using lattice::serialization::LoneStructure;

struct HostShape {
  uint32_t bytes = 0, align = 1;
};

struct Primitive {
  const char* name;
  lattice_wire_type type;
  const char* cpp;  // inside a macro
  HostShape host;   // of text the alignment only
};
constexpr Primitive kPrimitives[] = {
    {"bool", LATTICE_WIRE_BOOL, "bool", {1, 1}},
    {"int8", LATTICE_WIRE_INT8, "int8", {1, 1}},
    {"uint8", LATTICE_WIRE_UINT8, "uint8", {1, 1}},
    {"int16", LATTICE_WIRE_INT16, "int16", {2, 2}},
    {"uint16", LATTICE_WIRE_UINT16, "uint16", {2, 2}},
    {"int32", LATTICE_WIRE_INT32, "int32", {4, 4}},
    {"uint32", LATTICE_WIRE_UINT32, "uint32", {4, 4}},
    {"int64", LATTICE_WIRE_INT64, "int64", {8, 8}},
    {"uint64", LATTICE_WIRE_UINT64, "uint64", {8, 8}},
    {"float", LATTICE_WIRE_FLOAT, "float", {4, 4}},
    {"double", LATTICE_WIRE_DOUBLE, "double", {8, 8}},
    {"vec2", LATTICE_WIRE_VECTOR2, "vec2", {8, 4}},
    {"vec3", LATTICE_WIRE_VECTOR3, "vec3", {12, 4}},
    {"vec4", LATTICE_WIRE_VECTOR4, "vec4", {16, 4}},
    {"dvec2", LATTICE_WIRE_DVECTOR2, "dvec2", {16, 8}},
    {"dvec3", LATTICE_WIRE_DVECTOR3, "dvec3", {24, 8}},
    {"dvec4", LATTICE_WIRE_DVECTOR4, "dvec4", {32, 8}},
    {"quat", LATTICE_WIRE_QUATERNION, "quat", {16, 4}},
    {"string", LATTICE_WIRE_STRING, "string", {0, 1}},
    {"fixed_string", LATTICE_WIRE_FIXED_STRING, "fixed_string", {0, 1}},
    {"bytes", LATTICE_WIRE_BYTES, "blob", {0, 2}},
    {"fixed64", LATTICE_WIRE_FIXED64, "fixed64", {8, 8}},
    {"netid", LATTICE_WIRE_NETID, "netid", {8, 8}},
    {"tick", LATTICE_WIRE_TICK, "nettick", {4, 4}},
};

// The channels of a world without a transfer_channel (docs/spec/data.md, D-34).
constexpr const char* kDefaultChannels =
    "channel 0 unreliable\nchannel 1 unreliable_sequenced\nchannel 2 reliable_unordered\n"
    "channel 3 reliable_ordered\nchannel 14 ack\nchannel 15 reliable_ordered\n";

uint32_t round_up(uint32_t bytes, uint32_t align) {
  return (bytes + align - 1) / align * align;
}

bool is_text(lattice_wire_type type) {
  return type >= LATTICE_WIRE_STRING && type <= LATTICE_WIRE_BYTES;
}
class Checker {
 public:
  Checker(const Schema& schema, Checked& out, Report& report) : schema_(schema), out_(out), report_(report) {}

  bool run() {
    out_.schema = &schema_;
    std::set<std::string> object_names;
    for (const Enum& e : schema_.enums) {
      const Report::Part own(report_);
      add_enum(e);
      if (!report_.ok()) broken_.insert(e.name);
      if (report_.is_full()) return false;
    }
    for (const Structure& s : schema_.structures) {
      const Report::Part own(report_);
      if (add_structure(s, s.name) == nullptr) broken_.insert(s.name);
      if (report_.is_full()) return false;
    }
    for (const Object& o : schema_.objects) {
      const Report::Part own(report_);
      if (!object_names.insert(o.name).second)
        report_.error(o.place, "there is an object '" + o.name + "' already");
      add_object(o);
      if (report_.is_full()) return false;
    }
    if (report_.ok()) register_all();
    return report_.ok();
  }

 private:
  struct Named {
    const Enum* enumeration = nullptr;
    const CheckedStructure* structure = nullptr;
    HostShape host;
    const std::vector<int64_t>* values = nullptr;
  };

  bool declare(const std::string& name, const Place& place, Named named) {
    check_name(name, place, report_);
    if (report_.ok() && !names_.emplace(name, named).second)
      report_.error(place, "'" + name + "' is declared already");
    return report_.ok();
  }

  void add_enum(const Enum& e) {
    if (!report_.ok()) return;
    static constexpr struct {
      const char* name;
      uint32_t bytes;
    } kBases[] = {{"int8", 1},  {"uint8", 1},  {"int16", 2}, {"uint16", 2},
                  {"int32", 4}, {"uint32", 4}, {"int64", 8}, {"uint64", 8}};
    uint32_t bytes = 0;
    for (const auto& base : kBases) bytes = e.base == base.name ? base.bytes : bytes;
    if (bytes == 0)
      return report_.error(e.place, "'" + e.base + "' is no integer type, which an enum is made of");
    const bool is_signed = e.base[0] == 'i';
    std::vector<int64_t>& values = out_.enum_values.emplace_back();
    std::set<std::string> value_names;
    std::set<int64_t> numbers;
    for (const Enum::Value& value : e.values) {
      check_name(value.name, value.place, report_);
      if (!value_names.insert(value.name).second)
        return report_.error(value.place, "'" + value.name + "' is there already");
      if (!numbers.insert(value.value).second) {
        return report_.error(value.place, "another value is " + std::to_string(value.value) + " too");
      }
      const unsigned width = bytes * 8;
      const int64_t high = width == 64 ? INT64_MAX : (int64_t{1} << (is_signed ? width - 1 : width)) - 1;
      const int64_t low = !is_signed ? 0 : width == 64 ? INT64_MIN : -(int64_t{1} << (width - 1));
      if (value.value < low || value.value > high) {
        return report_.error(value.place, std::to_string(value.value) + " does not fit " + e.base);
      }
      // The library holds the bits as a signed number.
      int64_t bits = value.value;
      if (!is_signed && width < 64 && value.value > (int64_t{1} << (width - 1)) - 1)
        bits -= int64_t{1} << width;
      values.push_back(bits);
    }
    declare(e.name, e.place, {&e, nullptr, {bytes, bytes}, &values});
  }

  /// Null when it has an error, or is made of something that has one.
  const CheckedStructure* add_structure(const Structure& s, const std::string& name) {
    if (!report_.ok() || broken_.contains(s.variant_of)) return nullptr;
    CheckedStructure& out = out_.structures.emplace_back();
    out.source = &s;
    out.name = name;
    lattice_struct_desc_init(&out.desc);
    if (out.is_union()) out.desc.flags |= LATTICE_STRUCT_UNION;
    for (const Attribute& attribute : s.attributes) {
      if (attribute.name == "delta" && s.kind == Structure::Kind::kStruct && attribute.arguments.empty()) {
        out.desc.flags |= LATTICE_STRUCT_DELTA;
      } else {
        report_.error(attribute.place, "there is no attribute '" + attribute.name + "' here",
                      s.kind == Structure::Kind::kStruct ? did_you_mean(attribute.name, {"delta"}) : "");
        return nullptr;
      }
    }
    out.descs.reserve(s.members.size());
    std::set<std::string> member_names;
    HostShape host;
    uint32_t offset = 0;
    bool is_sound = true;
    for (const Member& member : s.members) {
      const Report::Part own(report_);
      check_name(member.name, member.place, report_);
      if (report_.ok() && (member.name == name || names_.contains(member.name))) {
        report_.error(member.place, "'" + member.name + "' is the name of a type", "give another name");
      }
      if (out.is_union() && member.name == "none")
        report_.error(member.place, "'none' is the union without an alternative");
      if (report_.ok() && !member_names.insert(member.name).second) {
        report_.error(member.place, "there is a member '" + member.name + "' already");
      }
      HostShape shape;
      if (!report_.ok() || !add_member(member, out, &shape)) {
        is_sound = false;
        if (report_.is_full()) break;
        continue;
      }
      offset = out.is_union() ? 0 : round_up(offset, shape.align);
      out.descs.back().offset = offset;
      host.align = std::max(host.align, shape.align);
      host.bytes = std::max(host.bytes, offset + shape.bytes);
      if (!out.is_union()) offset += shape.bytes;
      if (host.bytes > LATTICE_MAX_HOST_BYTES) {
        report_.error(member.place, "'" + name + "' takes more than 65536 bytes of memory");
        return nullptr;
      }
    }
    if (!is_sound) return nullptr;
    if (out.is_union()) {
      host.bytes = round_up(host.bytes, host.align);
      out.desc.tag_offset = host.bytes++;
    }
    host.bytes = round_up(host.bytes, host.align);
    out.desc.name = out.name.c_str();
    out.desc.members = out.descs.data();
    out.desc.member_count = static_cast<uint32_t>(out.descs.size());
    if (!s.variant_of.empty()) host = lie_in(*names_.at(s.variant_of).structure, out);
    out.desc.host_bytes = host.bytes;
    out.desc.host_align = host.align;
    if (!declare(name, s.place, {nullptr, &out, host, nullptr})) return nullptr;
    check_layout(out);
    if (report_.ok() && s.kind == Structure::Kind::kInput) {
      if (out_.input != nullptr) {
        report_.error(s.place, "there is one input, and '" + out_.input->name + "' is it");
      }
      out_.input = &out;
    }
    return report_.ok() ? &out : nullptr;
  }

  // A variant lies in memory as its state does.
  static HostShape lie_in(const CheckedStructure& state, CheckedStructure& variant) {
    size_t at = 0;
    for (size_t i = 0; i < variant.members.size(); ++i) {
      while (state.members[at].source->name != variant.members[i].source->name) ++at;
      variant.descs[i].offset = state.descs[at].offset;
    }
    return {state.desc.host_bytes, state.desc.host_align};
  }

  bool add_member(const Member& member, CheckedStructure& to, HostShape* shape) {
    CheckedMember& out = to.members.emplace_back();
    lattice_member_desc& desc = to.descs.emplace_back();
    lattice_member_desc_init(&desc);
    out.source = &member;
    desc.name = member.name.c_str();
    if (!find_type(member, out, desc, shape)) return false;
    desc.host_bytes = shape->bytes;
    if (is_text(desc.type)) {
      out.annotations = std::string(desc.type == LATTICE_WIRE_BYTES ? "BYTES(" : "STRING(") +
                        std::to_string(desc.capacity) + ")";
    }
    apply_attributes(member, desc, out.annotations, report_);
    if (!report_.ok()) return false;
    if (member.shape == Member::Shape::kOne) return true;
    const char* const kShapes[] = {"", "ARRAY(", "LIST(", "MAP("};
    out.annotations += (out.annotations.empty() ? "" : ", ") +
                       std::string(kShapes[static_cast<int>(member.shape)]) + std::to_string(member.count) +
                       ")";
    desc.array_count = member.count;
    const uint32_t elements = shape->bytes * member.count;  // at most 2^26
    if (member.shape == Member::Shape::kArray) {
      shape->bytes = elements;
      return true;
    }
    desc.container = member.shape == Member::Shape::kMap ? LATTICE_CONTAINER_MAP : LATTICE_CONTAINER_LIST;
    desc.count_offset = round_up(elements, 2);
    shape->align = std::max(shape->align, 2u);
    shape->bytes = round_up(desc.count_offset + 2, shape->align);
    desc.container_bytes = shape->bytes;
    return true;
  }

  bool find_type(const Member& member, CheckedMember& out, lattice_member_desc& desc, HostShape* shape) {
    for (const Primitive& primitive : kPrimitives) {
      if (member.type != primitive.name) continue;
      desc.type = primitive.type;
      out.type = primitive.cpp;
      *shape = primitive.host;
      if (is_text(desc.type)) {
        if (!member.capacity) {
          report_.error(member.type_place, "how many bytes at most? " + member.type + "(16)");
          return false;
        }
        desc.capacity = *member.capacity;
        shape->bytes = desc.type == LATTICE_WIRE_STRING  ? *member.capacity + 1
                       : desc.type == LATTICE_WIRE_BYTES ? round_up(*member.capacity + 2, 2)
                                                         : *member.capacity;
      } else if (member.capacity) {
        report_.error(member.type_place, "'" + member.type + "' has no length");
        return false;
      }
      return true;
    }
    if (broken_.contains(member.type)) return false;  // which says enough
    const auto found = names_.find(member.type);
    if (found == names_.end()) {
      std::vector<std::string> known;
      for (const Primitive& primitive : kPrimitives) known.emplace_back(primitive.name);
      for (const auto& [name, named] : names_) known.push_back(name);
      for (const Structure& later : schema_.structures) {
        if (later.name != member.type) continue;
        report_.error(member.type_place, "'" + member.type + "' is declared later",
                      "what is used stands before its use");
        return false;
      }
      report_.error(member.type_place, "there is no type '" + member.type + "'",
                    did_you_mean(member.type, known));
      return false;
    }
    const Named& named = found->second;
    if (member.capacity) {
      report_.error(member.type_place, "'" + member.type + "' has no length");
      return false;
    }
    out.type = member.type;
    *shape = named.host;
    if (named.enumeration != nullptr) {
      desc.type = LATTICE_WIRE_ENUM;
      desc.enum_values = named.values->data();
      desc.enum_count = static_cast<uint32_t>(named.values->size());
    } else {
      if (named.structure->source->kind == Structure::Kind::kState ||
          named.structure->source->kind == Structure::Kind::kInput) {
        report_.error(member.type_place,
                      "'" + member.type + "' is a state or an input, and no part of another structure",
                      "declare it as a struct");
        return false;
      }
      desc.type = LATTICE_WIRE_STRUCT;
      desc.structure = &named.structure->desc;
    }
    return true;
  }

  // The library's own checks, with their place: its text names members from the outside in.
  void check_layout(const CheckedStructure& structure) {
    Layout layout;
    std::string error;
    if (structure.source->kind == Structure::Kind::kState && structure.desc.member_count != 0) {
      lattice_behaviour_desc behaviour;
      lattice_behaviour_desc_init(&behaviour);
      behaviour.structure = &structure.desc;
      lattice_type_desc type;
      lattice_type_desc_init(&type);
      type.name = structure.desc.name, type.behaviours = &behaviour, type.behaviour_count = 1;
      type.flags = LATTICE_TYPE_PREDICTED;  // whether its objects are is checked with them
      if (!Layout::compile_object(type, &layout, &error)) place_error(structure, error);
      return;
    }
    if (compile_alone(structure, &layout, &error)) return;
    place_error(structure, error, structure.is_union() ? error.find("member 'u'") + 1 : 0);
  }
  void place_error(const CheckedStructure& structure, const std::string& error, size_t from = 0) {
    const CheckedStructure* at = &structure;
    Place place = structure.source->place;
    for (size_t found; (found = error.find("member '", from)) != std::string::npos;) {
      const size_t begin = found + 8;
      const std::string name = error.substr(begin, error.find('\'', begin) - begin);
      const auto member =
          std::ranges::find_if(at->members, [&](const CheckedMember& m) { return m.source->name == name; });
      if (member == at->members.end()) break;
      place = member->source->place;
      from = begin;
      const auto inner = names_.find(member->source->type);
      if (inner == names_.end() || inner->second.structure == nullptr) break;
      at = inner->second.structure;
    }
    const size_t colon = error.rfind(": ");
    report_.error(place, colon == std::string::npos ? error : error.substr(colon + 2));
  }

  void add_object(const Object& o) {
    if (!report_.ok()) return;
    check_name(o.name, o.place, report_);
    CheckedObject& out = out_.objects.emplace_back();
    out.source = &o;
    lattice_type_desc_init(&out.desc);
    out.desc.name = o.name.c_str();
    for (const Attribute& attribute : o.attributes) object_attribute(attribute, out.desc);
    bool is_sound = true;
    for (const Object::State& state : o.states) {
      if (broken_.contains(state.structure)) {
        is_sound = false;
        continue;
      }
      const auto found = names_.find(state.structure);
      const bool is_state = found != names_.end() && found->second.structure != nullptr &&
                            found->second.structure->source->kind == Structure::Kind::kState;
      if (!is_state) {
        std::vector<std::string> known;
        for (const Structure& s : schema_.structures) {
          if (s.kind == Structure::Kind::kState) known.push_back(s.name);
        }
        return report_.error(state.place, "there is no state '" + state.structure + "'",
                             did_you_mean(state.structure, known));
      }
      out.states.push_back({found->second.structure, state.name});
    }
    uint16_t next_id = 1;
    out.rpcs.reserve(o.rpcs.size());
    for (const Rpc& rpc : o.rpcs) {
      const Report::Part own(report_);
      add_rpc(o, rpc, out, &next_id);
      if (report_.is_full()) return;
    }
    if (!report_.ok() || !is_sound) return;
    for (const CheckedObject::State& state : out.states) {
      out.behaviour_descs.push_back(
          {sizeof(lattice_behaviour_desc), 0, state.name.c_str(), &state.structure->desc, nullptr});
    }
    for (const CheckedRpc& rpc : out.rpcs) out.rpc_descs.push_back(rpc.desc);
    out.desc.behaviours = out.behaviour_descs.data();
    out.desc.behaviour_count = static_cast<uint32_t>(out.behaviour_descs.size());
    out.desc.rpcs = out.rpc_descs.empty() ? nullptr : out.rpc_descs.data();
    out.desc.rpc_count = static_cast<uint32_t>(out.rpc_descs.size());
  }

  bool whole(const Attribute& attribute, int64_t low, int64_t high, int64_t* out) {
    if (attribute.arguments.size() == 1 && attribute.arguments[0].is_whole &&
        attribute.arguments[0].whole >= low && attribute.arguments[0].whole <= high) {
      *out = attribute.arguments[0].whole;
      return true;
    }
    report_.error(attribute.place, "@" + attribute.name + " takes a whole number from " +
                                       std::to_string(low) + " to " + std::to_string(high));
    return false;
  }

  void object_attribute(const Attribute& attribute, lattice_type_desc& desc) {
    static constexpr struct {
      const char* name;
      uint32_t flag;
    } kFlags[] = {{"predicted", LATTICE_TYPE_PREDICTED},
                  {"always_relevant", LATTICE_TYPE_ALWAYS_RELEVANT},
                  {"quantize_simulation", LATTICE_TYPE_QUANTIZE_SIMULATION},
                  {"compare_always", LATTICE_TYPE_COMPARE_ALWAYS},
                  {"exact_simulation", LATTICE_TYPE_EXACT_SIMULATION}};
    for (const auto& flag : kFlags) {
      if (attribute.name != flag.name) continue;
      if (!attribute.arguments.empty())
        report_.error(attribute.place, "@" + attribute.name + " takes no value");
      desc.flags |= flag.flag;
      return;
    }
    int64_t id = 0;
    if (attribute.name == "id") {
      if (whole(attribute, 1, UINT32_MAX, &id)) desc.type_id = static_cast<uint32_t>(id);
    } else if (attribute.name == "priority") {
      const bool is_one = attribute.arguments.size() == 1 && attribute.arguments[0].is_number;
      const double value = is_one ? attribute.arguments[0].number : 0;
      if (!(value > 0) || value > 1000)
        report_.error(attribute.place, "@priority takes a number above 0 and up to 1000");
      desc.base_priority = value;
    } else {
      report_.error(attribute.place, "there is no attribute '" + attribute.name + "' of an object",
                    did_you_mean(attribute.name, {"predicted", "always_relevant", "quantize_simulation",
                                                  "compare_always", "exact_simulation", "id", "priority"}));
    }
  }

  void add_rpc(const Object& object, const Rpc& rpc, CheckedObject& to, uint16_t* next_id) {
    check_name(rpc.name, rpc.place, report_);
    CheckedRpc& out = to.rpcs.emplace_back();
    out.source = &rpc;
    lattice_rpc_desc_init(&out.desc);
    out.desc.name = rpc.name.c_str();
    out.desc.rpc_id = *next_id;
    out.desc.target = rpc.target == "server"  ? LATTICE_RPC_TO_SERVER
                      : rpc.target == "owner" ? LATTICE_RPC_TO_OWNER
                      : rpc.target == "all"   ? LATTICE_RPC_TO_ALL
                                              : LATTICE_RPC_TO_PEER;
    for (const Attribute& attribute : rpc.attributes) rpc_attribute(attribute, out.desc);
    *next_id = static_cast<uint16_t>(out.desc.rpc_id + 1);
    if (rpc.arguments.members.empty() || !report_.ok()) return;
    const std::string suffix = camel(rpc.name);
    out.arguments = add_structure(rpc.arguments, object.name + suffix);
    if (out.arguments != nullptr) out.desc.arguments = &out.arguments->desc;
  }

  void rpc_attribute(const Attribute& attribute, lattice_rpc_desc& desc) {
    int64_t id = 0;
    const std::string word = attribute.arguments.size() == 1 ? attribute.arguments[0].word : "";
    if (attribute.name == "id") {
      if (whole(attribute, 0, UINT16_MAX, &id)) desc.rpc_id = static_cast<uint16_t>(id);
    } else if (attribute.name == "owner_only" && attribute.arguments.empty()) {
      desc.owner_only = 1;
    } else if (attribute.name == "tick_aligned" && attribute.arguments.empty()) {
      desc.delivery = LATTICE_RPC_TICK_ALIGNED;
    } else if (attribute.name == "channel") {
      static constexpr const char* kChannels[] = {"unreliable", "sequenced", "reliable", "ordered"};
      const auto at = std::ranges::find(kChannels, word);
      if (at == std::end(kChannels)) {
        return report_.error(attribute.place, "@channel takes unreliable, sequenced, reliable or ordered");
      }
      desc.channel = static_cast<lattice_channel>(at - std::begin(kChannels));
    } else {
      report_.error(attribute.place, "there is no attribute '" + attribute.name + "' of an rpc like this",
                    did_you_mean(attribute.name, {"id", "owner_only", "tick_aligned", "channel"}));
    }
  }

  void register_all() {
    lattice::serialization::TypeRegistry registry;
    std::string error;
    for (const CheckedObject& object : out_.objects) {
      if (registry.add_type(object.desc, &error)) continue;
      const size_t colon = error.find(": ");
      return report_.error(object.source->place,
                           colon == std::string::npos ? error : error.substr(colon + 2));
    }
    if (out_.input != nullptr) {
      const lattice_input_desc input = {sizeof(lattice_input_desc), 0, nullptr, &out_.input->desc};
      if (!registry.set_input(input, &error)) return place_error(*out_.input, error);
    }
    out_.schema_id = registry.schema_hash(kDefaultChannels);
    const std::string text = registry.canonical_text("");
    const size_t types = std::min(text.find("\ntype "), text.find("\ninput "));
    out_.canonical = types == std::string::npos ? "" : text.substr(types + 1);
  }

  const Schema& schema_;
  Checked& out_;
  Report& report_;
  std::map<std::string, Named> names_;
  std::set<std::string> broken_;  // names of what has an error
};

}  // namespace

bool compile_alone(const CheckedStructure& structure, Layout* out, std::string* error) {
  if (structure.source->kind == Structure::Kind::kState) {
    return Layout::compile_structure(LoneStructure(structure.desc).desc(), true, out, error);
  }
  if (!structure.is_union()) return Layout::compile_structure(structure.desc, true, out, error);
  lattice_member_desc member;  // a union is always a member
  lattice_member_desc_init(&member);
  member.name = "u", member.type = LATTICE_WIRE_STRUCT, member.structure = &structure.desc;
  lattice_struct_desc outer = structure.desc;
  outer.flags = 0, outer.tag_offset = 0, outer.members = &member, outer.member_count = 1;
  return Layout::compile_structure(outer, true, out, error);
}

std::span<const LayoutNode> members_of(const CheckedStructure& structure, const Layout& layout) {
  if (!structure.is_union()) return layout.nodes().first(structure.members.size());
  return layout.nodes().subspan(layout.nodes()[0].first_child, structure.members.size());
}

uint32_t CheckedObject::type_id() const {
  return desc.type_id != 0 ? desc.type_id : lattice::serialization::type_id_of_name(source->name);
}

bool check(const Schema& schema, Checked& out, Report& report) {
  return report.ok() && Checker(schema, out, report).run();
}

}  // namespace latticec
