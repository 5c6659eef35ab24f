#include "conformance/schema_json.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "serialization/word_bytes.h"

namespace lattice::test {
namespace {

constexpr const char* kTypes[] = {
    "bool",   "enum",    "int8",   "uint8",   "int16",   "uint16",  "int32",      "uint32",   "int64",
    "uint64", "float",   "double", "vector2", "vector3", "vector4", "quaternion", "string",   "fixed_string",
    "bytes",  "fixed64", "netid",  "struct",  "custom",  "tick",    "dvector2",   "dvector3", "dvector4"};
constexpr const char* kContainers[] = {"array", "list", "map"};
constexpr const char* kEncodings[] = {"default",    "fixed", "varint",         "ranged", "bits",
                                      "compressed", "full",  "smallest_three", "half"};

std::string number(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", v);
  return text;
}

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

std::string structure_json(const lattice_struct_desc& desc);

std::string quant_json(const lattice_member_desc& member) {
  const auto type = static_cast<size_t>(member.type);
  const size_t components = type >= LATTICE_WIRE_DVECTOR2 ? type - LATTICE_WIRE_DVECTOR2 + 2
                            : type >= LATTICE_WIRE_VECTOR2 && type <= LATTICE_WIRE_VECTOR4
                                ? type - LATTICE_WIRE_VECTOR2 + 2
                                : 1;
  std::string out;
  lattice_quant quant{};
  for (size_t i = 0; i < components; ++i) {
    const lattice_quant& given = member.quant[i];
    if (i == 0 || given.min != 0.0 || given.max != 0.0 || given.precision != 0.0) quant = given;
    out += std::string(i == 0 ? "" : ",") + "[" + number(quant.min) + "," + number(quant.max) + "," +
           number(quant.precision) + "]";
  }
  return "[" + out + "]";
}

/// Appends to a JSON list without its brackets.
void append_item(std::string& list, const std::string& item) {
  if (!list.empty()) list += ',';
  list += item;
}

std::string enum_json(const lattice_member_desc& member) {
  std::string out;
  for (uint32_t i = 0; i < member.enum_count; ++i) {
    append_item(out, std::to_string(member.enum_values ? member.enum_values[i] : int64_t{i}));
  }
  return "[" + out + "]";
}

// The only custom format recorded: a count of three bits, then so many fields of five (everything.h).
std::string custom_json(const lattice_custom_desc& custom) {
  return "{\"name\":" + quoted(custom.name) +
         ",\"fields\":[{\"name\":\"count\",\"bits\":3},{\"name\":\"values\",\"bits\":5,\"times\":\"count\"}]"
         "}";
}

std::string member_json(const lattice_member_desc& member) {
  std::string out =
      "{\"name\":" + quoted(member.name) + ",\"type\":" + quoted(kTypes[member.type]) +
      ",\"encoding\":" + quoted(kEncodings[member.encoding]) + ",\"flags\":" + std::to_string(member.flags) +
      ",\"bits\":" + std::to_string(member.bits) + ",\"capacity\":" + std::to_string(member.capacity) +
      ",\"array\":" + std::to_string(member.array_count) +
      ",\"container\":" + quoted(kContainers[member.container]) +
      ",\"min\":" + std::to_string(member.min_value) + ",\"max\":" + std::to_string(member.max_value);
  if (member.quant[0].precision > 0.0) out += ",\"quant\":" + quant_json(member);
  if (member.type == LATTICE_WIRE_ENUM) out += ",\"values\":" + enum_json(member);
  if (member.structure) out += ",\"structure\":" + structure_json(*member.structure);
  if (member.custom) out += ",\"custom\":" + custom_json(*member.custom);
  return out + "}";
}

std::string structure_json(const lattice_struct_desc& desc) {
  std::string members;
  for (uint32_t i = 0; i < desc.member_count; ++i) {
    append_item(members, member_json(desc.members[i]));
  }
  return "{\"name\":" + quoted(desc.name) +
         ",\"delta\":" + ((desc.flags & LATTICE_STRUCT_DELTA) != 0 ? "true" : "false") +
         ",\"union\":" + ((desc.flags & LATTICE_STRUCT_UNION) != 0 ? "true" : "false") + ",\"members\":[" +
         members + "]}";
}

std::string rpc_json(const lattice_rpc_desc& rpc) {
  return "{\"rpc_id\":" + std::to_string(rpc.rpc_id) + ",\"name\":" + quoted(rpc.name) +
         ",\"channel\":" + std::to_string(rpc.channel) + ",\"target\":" + std::to_string(rpc.target) +
         ",\"owner_only\":" + std::to_string(rpc.owner_only) +
         ",\"delivery\":" + std::to_string(rpc.delivery) +
         ",\"arguments\":" + (rpc.arguments ? structure_json(*rpc.arguments) : "null") + "}";
}

std::string type_json(const lattice_type_desc& type) {
  std::string behaviours;
  for (uint32_t i = 0; i < type.behaviour_count; ++i) {
    const lattice_behaviour_desc& behaviour = type.behaviours[i];
    behaviours += std::string(i == 0 ? "" : ",") +
                  "{\"name\":" + quoted(behaviour.name ? behaviour.name : behaviour.structure->name) +
                  ",\"structure\":" + structure_json(*behaviour.structure) + "}";
  }
  std::string rpcs;
  for (uint32_t i = 0; i < type.rpc_count; ++i) append_item(rpcs, rpc_json(type.rpcs[i]));
  return "{\"type_id\":" + std::to_string(type.type_id) + ",\"name\":" + quoted(type.name) +
         ",\"behaviours\":[" + behaviours + "],\"rpcs\":[" + rpcs + "]}";
}

std::string leaf_json(const serialization::Leaf& leaf, const serialization::Word* words) {
  using serialization::LeafKind;
  char text[48];
  const bool is_bits = leaf.kind == LeafKind::kCustom;
  switch (leaf.kind) {
    case LeafKind::kQuaternionFull:
      std::snprintf(text, sizeof text, "q:%08x%08x%08x%08x", words[3], words[2], words[1], words[0]);
      return text;
    case LeafKind::kString:
    case LeafKind::kFixedString:
    case LeafKind::kBytes:
    case LeafKind::kCustom: {
      const size_t bytes = is_bits ? (words[0] + 7) / 8 : words[0];
      std::vector<uint8_t> data(bytes);
      for (size_t i = 0; i < bytes; ++i) data[i] = serialization::word_byte(words, i);
      return (is_bits ? "b:" + std::to_string(words[0]) + ":" : std::string("x:")) + hex(data);
    }
    default:
      return std::to_string(serialization::leaf_value(leaf, words));
  }
}

// Every element that a list has room for, and every alternative.
void append_leaves(const serialization::Layout& layout, const serialization::LayoutNode& node,
                   const serialization::Word* words, std::string* out) {
  using Kind = serialization::LayoutNode::Kind;
  const auto append = [&](const serialization::Leaf& leaf) {
    append_item(*out, quoted(leaf_json(leaf, words + leaf.word)));
  };
  if (node.child_count == 0) {
    for (const auto& leaf : layout.leaves().subspan(node.first_leaf, node.leaf_count)) append(leaf);
    return;
  }
  if (node.kind >= Kind::kList) append(layout.leaves()[node.first_leaf]);
  for (const auto& child : layout.nodes().subspan(node.first_child, node.child_count)) {
    for (uint32_t i = 0; i < std::max<uint32_t>(node.capacity, 1); ++i) {
      append_leaves(layout, child, words + size_t{i} * node.element_words, out);
    }
  }
}

}  // namespace

std::string hex(std::span<const uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const uint8_t byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::string schema_json(std::span<const lattice_type_desc> types, const lattice_input_desc& input) {
  std::string out;
  for (const lattice_type_desc& type : types) append_item(out, type_json(type));
  return "{\"types\":[" + out +
         "],\"input\":{\"name\":" + quoted(input.name ? input.name : input.structure->name) +
         ",\"structure\":" + structure_json(*input.structure) + "}}";
}

std::string leaves_json(const serialization::Layout& layout, const serialization::Word* words) {
  std::string out;
  for (const serialization::LayoutBehaviour& behaviour : layout.behaviours()) {
    for (const auto& node : layout.nodes().subspan(behaviour.first_node, behaviour.node_count)) {
      append_leaves(layout, node, words, &out);
    }
  }
  return "[" + out + "]";
}

}  // namespace lattice::test
