#include "class_plan.h"

#include <map>

namespace latticec {
namespace {

using lattice::serialization::HostKind;
using lattice::serialization::Layout;
using lattice::serialization::LayoutNode;
using lattice::serialization::Leaf;
using lattice::serialization::LeafKind;

uint32_t words_of(const Leaf& leaf) {
  switch (leaf.kind) {
    case LeafKind::kSmallestThree:
    case LeafKind::kQuaternionFull:
      return 4;
    case LeafKind::kString:
    case LeafKind::kFixedString:
    case LeafKind::kBytes:
      return 1 + (leaf.capacity + 3) / 4;
    case LeafKind::kCompressed:
    case LeafKind::kAngle:
    case LeafKind::kFloatFull:
      return leaf.bits > 32 ? 2 : 1;
    case LeafKind::kRanged:
    case LeafKind::kBits:
    case LeafKind::kFixed:
    case LeafKind::kVarintUnsigned:
    case LeafKind::kVarintSigned:
    case LeafKind::kFixed64Difference:
    case LeafKind::kTickDifference:
      return leaf.host == HostKind::kI64 || leaf.host == HostKind::kU64 ? 2 : 1;
    default:
      return 1;
  }
}

class Planner {
 public:
  explicit Planner(const Checked& checked) : checked_(checked) {
    for (const CheckedStructure& s : checked.structures) structures_[&s.desc] = &s;
  }

  PlannedStructure plan(const CheckedStructure& s) {
    PlannedStructure out;
    out.source = &s;
    out.words = s.is_union() ? 1 : 0;
    Layout layout;
    std::string error;
    if (!compile_alone(s, &layout, &error)) return out;  // check() compiled it before
    const std::span<const LayoutNode> nodes = members_of(s, layout);
    for (size_t i = 0; i < s.members.size(); ++i) {
      PlannedMember& member = out.members.emplace_back();
      member.source = &s.members[i];
      add(s.descs[i], nodes[i], layout, member);
      member.place = out.words;
      out.words += member.words;
    }
    words_[&s] = out.words;
    return out;
  }

 private:
  void add(const lattice_member_desc& desc, const LayoutNode& node, const Layout& layout,
           PlannedMember& member) {
    member.type = desc.type;
    uint32_t words = 0;
    if (desc.type == LATTICE_WIRE_STRUCT) {
      member.structure = structures_.at(desc.structure);
      words = words_.at(member.structure);
    } else {
      const LayoutNode& element = member.is_one() ? node : layout.nodes()[node.first_child];
      for (size_t i = element.first_leaf; i < size_t{element.first_leaf} + element.leaf_count; ++i) {
        member.leaves.push_back(layout.leaves()[i]);
        member.extras.push_back(layout.extras()[i]);
        words += words_of(member.leaves.back());
      }
    }
    for (const Enum& e : checked_.schema->enums) {
      if (desc.type == LATTICE_WIRE_ENUM && e.name == member.source->source->type) member.enumeration = &e;
    }
    const bool has_length = desc.container != LATTICE_CONTAINER_ARRAY;
    member.words = (has_length ? 1 : 0) + words * (member.is_one() ? 1 : member.source->source->count);
  }

  const Checked& checked_;
  std::map<const lattice_struct_desc*, const CheckedStructure*> structures_;
  std::map<const CheckedStructure*, uint32_t> words_;
};

}  // namespace

std::vector<PlannedStructure> plan_classes(const Checked& checked) {
  Planner planner(checked);
  std::vector<PlannedStructure> out;
  for (const CheckedStructure& s : checked.structures) out.push_back(planner.plan(s));
  return out;
}

}  // namespace latticec
