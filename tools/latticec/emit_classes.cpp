#include "emit_classes.h"

#include <algorithm>

#include "names.h"

namespace latticec {
namespace {

using lattice::serialization::HostKind;
using lattice::serialization::Leaf;
using lattice::serialization::LeafKind;

unsigned host_bits(HostKind host) {
  switch (host) {
    case HostKind::kI8:
    case HostKind::kU8:
      return 8;
    case HostKind::kI16:
    case HostKind::kU16:
      return 16;
    case HostKind::kI64:
    case HostKind::kU64:
      return 64;
    default:
      return 32;
  }
}

bool is_signed(HostKind host) {
  return host == HostKind::kI8 || host == HostKind::kI16 || host == HostKind::kI32 || host == HostKind::kI64;
}

}  // namespace

std::string ClassEmitter::declarations() {
  check_names();
  std::string out;
  for (const Enum& e : checked_.schema->enums) out += enumeration(e);
  for (const PlannedStructure& s : plans_) out += structure(s);
  for (const CheckedObject& o : checked_.objects) out += object(o);
  return out;
}

std::string ClassEmitter::codec_class(const PlannedMember& m) {
  switch (m.source->source->shape) {
    case Member::Shape::kArray:
      return "ArrayCodec";
    case Member::Shape::kList:
      return "ListCodec";
    case Member::Shape::kMap:
      return "MapCodec";
    case Member::Shape::kOne:
      break;
  }
  return element_class(m);
}

std::string ClassEmitter::element_class(const PlannedMember& m) {
  if (m.structure != nullptr) return m.structure->is_union() ? "UnionCodec" : "StructureCodec";
  if (m.leaves.size() > 1) return "Vector";
  switch (m.leaves[0].kind) {
    case LeafKind::kBool:
      return "Bool";
    case LeafKind::kEnum:
      return "Ordinal";
    case LeafKind::kCompressed:
    case LeafKind::kAngle:
    case LeafKind::kHalf:
    case LeafKind::kFloatFull:
      return "Real";
    case LeafKind::kSmallestThree:
    case LeafKind::kQuaternionFull:
      return "Rotation";
    case LeafKind::kString:
      return "Text";
    case LeafKind::kFixedString:
    case LeafKind::kBytes:
      return "Blob";
    default:
      return "Integer";
  }
}

std::string ClassEmitter::codec(const PlannedMember& m) {
  const std::string one = element_codec(m);
  if (m.is_one()) return one;
  const bool is_map = m.source->source->shape == Member::Shape::kMap;
  return make(codec_class(m), is_map ? "" : element_class(m), {one, std::to_string(m.source->source->count)});
}

std::string ClassEmitter::element_codec(const PlannedMember& m) {
  if (m.structure != nullptr) return codec_of(*m.structure);
  if (m.leaves.size() == 1) return leaf_codec(m, 0);
  Strings parts;
  for (size_t i = 0; i < m.leaves.size(); ++i) parts.push_back(leaf_codec(m, i));
  return make("Vector", "", parts);
}

std::string ClassEmitter::leaf_codec(const PlannedMember& m, size_t i) {
  const Leaf& leaf = m.leaves[i];
  const unsigned width = host_bits(leaf.host);
  const bool is_float = leaf.host == HostKind::kF32;
  const std::string sign = is_signed(leaf.host) ? "true" : "false";
  switch (leaf.kind) {
    case LeafKind::kBool:
      return make("Bool", "", {});
    case LeafKind::kEnum:
      return enum_codec(m);
    case LeafKind::kRanged: {
      const int64_t low = m.extras[i].min_value;
      const int64_t high = lattice::ranged_value(leaf.max_code, low);
      return integer("Ranged", width, {number(low, width), number(high, width)});
    }
    case LeafKind::kBits:
      return integer("Bits", width, {std::to_string(leaf.bits)});
    case LeafKind::kFixed:
      return integer("Fixed", width, {sign});
    case LeafKind::kVarintUnsigned:
    case LeafKind::kVarintSigned:
      return integer("Varint", width, {sign});
    case LeafKind::kFixed64Difference:
    case LeafKind::kTickDifference:
      return integer("Difference", width, {});
    case LeafKind::kCompressed: {
      const lattice::CompressedFloat& q = m.extras[i].quant;
      return real("Bounds", is_float, {decimal(q.min), decimal(q.max), std::to_string(q.steps)});
    }
    case LeafKind::kAngle: {
      const lattice::AngleQuant& q = m.extras[i].angle;
      return real("Angle", is_float, {decimal(q.min), decimal(q.max), std::to_string(q.steps)});
    }
    case LeafKind::kHalf:
      return call("Real", "Half", {});
    case LeafKind::kFloatFull:
      return call("Real", leaf.bits == 32 ? "Float" : "Double", {});
    case LeafKind::kSmallestThree:
      return call("Rotation", "SmallestThree", {std::to_string((leaf.bits - 2) / 3)});
    case LeafKind::kQuaternionFull:
      return call("Rotation", "Full", {});
    case LeafKind::kString:
      return make("Text", "", {std::to_string(leaf.capacity)});
    case LeafKind::kFixedString:
      return call("Blob", "WithoutZeros", {std::to_string(leaf.capacity)});
    case LeafKind::kBytes:
      return call("Blob", "Of", {std::to_string(leaf.capacity)});
    case LeafKind::kCount:
    case LeafKind::kTag:
    case LeafKind::kCustom:  // a schema file has none
      break;
  }
  return "";
}

std::string ClassEmitter::enum_codec(const PlannedMember& m) {
  const std::vector<Enum::Value>& values = m.enumeration->values;
  if (m.extras[0].enum_values.empty()) return call("Ordinal", "Plain", {std::to_string(values.size())});
  Strings arguments = {std::to_string(host_bits(m.leaves[0].host) / 8)};
  for (const Enum::Value& value : values) arguments.push_back(number(value.value, 32));
  return call("Ordinal", "Of", arguments);
}

std::string ClassEmitter::pack(const PlannedStructure& s, const PlannedMember& m, const std::string& indent) {
  const Value v = value(s, m);
  if (m.is_one()) return indent + pack_one(v) + ";\n";
  std::string out = indent + pack_loop(v) + "\n" + indent + "    " + pack_one(element(v)) + ";\n";
  if (m.source->source->shape == Member::Shape::kMap) out += indent + sort(v) + ";\n";
  return out;
}

std::string ClassEmitter::unpack(const PlannedStructure& s, const PlannedMember& m,
                                 const std::string& indent) {
  const Value v = value(s, m);
  if (m.is_one()) return indent + unpack_one(v) + ";\n";
  return unpack_loop(v, indent) + "\n" + indent + "    " + unpack_one(element(v)) + ";\n";
}

const Enum::Value& ClassEmitter::first_value(const Enum& e) {
  const auto zero = std::ranges::find_if(e.values, [](const Enum::Value& v) { return v.value == 0; });
  return zero == e.values.end() ? e.values.front() : *zero;
}

std::string ClassEmitter::lines(const std::string& doc, const std::string& head) {
  std::string out;
  for (size_t begin = 0; begin < doc.size();) {
    const size_t end = doc.find('\n', begin);
    const std::string line = doc.substr(begin, end - begin);
    out += head + (line.empty() ? "" : " ") + line + "\n";
    begin = end + 1;
  }
  return out;
}

uint32_t ClassEmitter::words_of(const CheckedStructure& structure) const {
  for (const PlannedStructure& plan : plans_) {
    if (plan.source == &structure) return plan.words;
  }
  return 0;
}

std::string ClassEmitter::rpc_doc(const CheckedRpc& rpc) {
  static constexpr const char* kTargets[] = {"To the server", "To the owner", "To all clients",
                                             "To one client"};
  return rpc.source->doc + kTargets[rpc.desc.target] + ", on channel " + std::to_string(rpc.desc.channel) +
         (rpc.arguments != nullptr ? ", with " + rpc.arguments->name : ", without arguments") + ".\n";
}

void ClassEmitter::refuse(const std::string& name, const Place& place, const Strings& taken,
                          const std::string& why) {
  if (std::ranges::find(taken, name) != taken.end()) report_.error(place, "'" + name + "' " + why);
}

ClassEmitter::Strings ClassEmitter::check_types(const std::vector<Declared>& extra) {
  Strings names;
  for (const Enum& e : checked_.schema->enums) names.push_back(e.name);
  for (const CheckedStructure& s : checked_.structures) names.push_back(s.name);
  const size_t own = names.size();
  for (const Declared& other : extra) {
    refuse(other.name, other.place, names, "is the name of a type, and of what is made for another one");
    names.push_back(other.name);
  }
  names.resize(own);
  return names;
}

}  // namespace latticec
