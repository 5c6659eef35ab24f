#include "serialization/layout_compiler.h"

#include <algorithm>

#include "base/assert.h"
#include "serialization/leaf_host.h"

namespace lattice::serialization {
namespace {

uint32_t natural_bytes(const lattice_member_desc& m) {
  const uint32_t capacity = m.capacity != 0 ? m.capacity : LATTICE_DEFAULT_STRING_BYTES;
  switch (m.type) {
    case LATTICE_WIRE_BOOL:
    case LATTICE_WIRE_INT8:
    case LATTICE_WIRE_UINT8:
      return 1;
    case LATTICE_WIRE_INT16:
    case LATTICE_WIRE_UINT16:
      return 2;
    case LATTICE_WIRE_INT32:
    case LATTICE_WIRE_UINT32:
    case LATTICE_WIRE_FLOAT:
    case LATTICE_WIRE_TICK:
      return 4;
    case LATTICE_WIRE_INT64:
    case LATTICE_WIRE_UINT64:
    case LATTICE_WIRE_DOUBLE:
    case LATTICE_WIRE_VECTOR2:
    case LATTICE_WIRE_FIXED64:
    case LATTICE_WIRE_NETID:
      return 8;
    case LATTICE_WIRE_VECTOR3:
      return 12;
    case LATTICE_WIRE_VECTOR4:
    case LATTICE_WIRE_QUATERNION:
    case LATTICE_WIRE_DVECTOR2:
      return 16;
    case LATTICE_WIRE_DVECTOR3:
      return 24;
    case LATTICE_WIRE_DVECTOR4:
      return 32;
    case LATTICE_WIRE_STRING:
      return capacity + 1;
    case LATTICE_WIRE_FIXED_STRING:
      return capacity;
    case LATTICE_WIRE_BYTES:
      return capacity + 2 + (capacity & 1);  // the size in front is 2 bytes, so the whole is aligned to 2
    case LATTICE_WIRE_ENUM:
      return m.host_bytes != 0 ? m.host_bytes : 4;
    case LATTICE_WIRE_STRUCT:
      return m.structure ? m.structure->host_bytes : 0;
    case LATTICE_WIRE_CUSTOM:
      return m.custom ? m.custom->host_bytes : 0;
  }
  return 0;
}

constexpr const char* kTooManyNodes = "the type has more than 8192 members and elements in all";

bool power_of_two(uint32_t v) {
  return v != 0 && (v & (v - 1)) == 0;
}

bool is_container(const lattice_member_desc& member) {
  return member.container != LATTICE_CONTAINER_ARRAY;
}

// A map finds an entry by the code of its key.
bool is_key(const Leaf& leaf) {
  switch (leaf.kind) {
    case LeafKind::kEnum:
    case LeafKind::kRanged:
    case LeafKind::kBits:
    case LeafKind::kVarintUnsigned:
    case LeafKind::kVarintSigned:
      return true;
    case LeafKind::kFixed:
      return leaf.host != HostKind::kOther;
    default:
      return false;
  }
}

}  // namespace

bool LayoutCompiler::refuse(const Scope& scope, const std::string& what) {
  error_ = scope.path + ": " + what;
  return false;
}

bool LayoutCompiler::compile_object(const lattice_type_desc& desc) {
  const Scope scope{0, 0, 0, true, false, "type '" + printable_name(desc.name) + "'"};
  if (!valid_name(desc.name)) return refuse(scope, "name must be 1..63 letters, digits, '_', '.' or ':'");
  if (desc.behaviour_count < 1 || desc.behaviour_count > LATTICE_MAX_BEHAVIOURS) {
    return refuse(scope, "behaviour_count is " + std::to_string(desc.behaviour_count) + "; must be 1..16");
  }
  if (!desc.behaviours) return refuse(scope, "behaviours is null");
  layout_.has_presence_bits_ = true;
  is_predicted_type_ = (desc.flags & LATTICE_TYPE_PREDICTED) != 0;
  std::vector<lattice_codec_desc> codecs(desc.behaviour_count);
  const uint32_t stride = desc.behaviours->struct_size;
  for (uint32_t i = 0; i < desc.behaviour_count; ++i) {
    lattice_behaviour_desc behaviour;
    lattice_struct_desc structure;
    if (!read_desc(desc_at(desc.behaviours, stride, i), &behaviour) || behaviour.struct_size != stride) {
      return refuse(scope, "behaviour " + std::to_string(i) + " has a bad struct_size; call its init first");
    }
    if (!read_desc(behaviour.structure, &structure)) {
      return refuse(scope,
                    "behaviour " + std::to_string(i) + " has no structure, or one with a bad struct_size");
    }
    const char* name = behaviour.name ? behaviour.name : structure.name;
    if (!add_behaviour(structure, name, false)) {
      error_ = scope.path + ", " + error_;
      return false;
    }
    if (behaviour.codec && !read_desc(behaviour.codec, &codecs[i])) {
      return refuse(scope, "behaviour " + std::to_string(i) + " has a codec with a bad struct_size");
    }
  }
  finish();
  for (size_t i = 0; i < codecs.size(); ++i) {
    if (codecs[i].struct_size == 0 || layout_.take_codec(i, codecs[i], &error_)) continue;
    error_ = scope.path + ", " + error_;
    return false;
  }
  return true;
}

bool LayoutCompiler::compile_structure(const lattice_struct_desc& raw, bool allow_empty) {
  lattice_struct_desc desc;
  if (!read_desc(&raw, &desc))
    return refuse({0, 0, 0, true, false, "structure"}, "bad struct_size; call its init first");
  if (!add_behaviour(desc, desc.name, allow_empty)) return false;
  finish();
  return true;
}

bool LayoutCompiler::add_behaviour(const lattice_struct_desc& desc, const char* name, bool allow_empty) {
  const uint8_t index = static_cast<uint8_t>(layout_.behaviours_.size());
  const Scope scope{index, 0, 1, true, false, "structure '" + printable_name(name) + "'"};
  if (!valid_name(name)) return refuse(scope, "name must be 1..63 letters, digits, '_', '.' or ':'");
  for (const LayoutBehaviour& other : layout_.behaviours_) {
    if (other.name == name) return refuse(scope, "two behaviours of one type have this name");
  }
  if (desc.member_count > LATTICE_MAX_MEMBERS || (desc.member_count == 0 && !allow_empty)) {
    return refuse(scope, "member_count is " + std::to_string(desc.member_count) + "; must be 1..256");
  }
  if ((desc.flags & LATTICE_STRUCT_UNION) != 0) {
    return refuse(scope, "a union is a member of a structure, and no behaviour, input or arguments");
  }
  LayoutBehaviour behaviour;
  behaviour.name = name;
  behaviour.first_node = static_cast<uint16_t>(layout_.nodes_.size());
  behaviour.node_count = static_cast<uint16_t>(desc.member_count);
  behaviour.first_leaf = static_cast<uint16_t>(layout_.leaves_.size());
  behaviour.first_word = static_cast<uint32_t>(layout_.word_count_);
  behaviour.host_bytes = desc.host_bytes;
  behaviour.host_align = desc.host_align;
  layout_.nodes_.resize(layout_.nodes_.size() + desc.member_count);
  line(0, "behaviour " + behaviour.name);
  if (!add_members(desc, scope, behaviour.first_node)) return false;
  behaviour.leaf_count = static_cast<uint16_t>(layout_.leaves_.size() - behaviour.first_leaf);
  behaviour.word_count = static_cast<uint32_t>(layout_.word_count_) - behaviour.first_word;
  layout_.behaviours_.push_back(std::move(behaviour));
  return true;
}

bool LayoutCompiler::add_members(const lattice_struct_desc& desc, const Scope& scope, uint16_t first_node) {
  if (desc.host_bytes < 1 || desc.host_bytes > LATTICE_MAX_HOST_BYTES) {
    return refuse(scope, "host_bytes is " + std::to_string(desc.host_bytes) + "; must be 1..65536");
  }
  if (!power_of_two(desc.host_align) || desc.host_align > 64) {
    return refuse(scope,
                  "host_align is " + std::to_string(desc.host_align) + "; must be a power of two, 1..64");
  }
  if (desc.member_count == 0) return true;
  if (!desc.members) return refuse(scope, "members is null");
  const bool is_union = (desc.flags & LATTICE_STRUCT_UNION) != 0;
  const uint32_t stride = desc.members->struct_size;
  for (uint32_t i = 0; i < desc.member_count; ++i) {
    lattice_member_desc member;
    if (!read_desc(desc_at(desc.members, stride, i), &member) || member.struct_size != stride) {
      return refuse(scope, "member " + std::to_string(i) + " has a bad struct_size; call its init first");
    }
    const uint16_t index = static_cast<uint16_t>(first_node + i);
    if (!add_member(member, desc.host_bytes, scope, index)) return false;
    const LayoutNode& added = layout_.nodes_[index];
    for (uint16_t k = first_node; k < index; ++k) {
      const LayoutNode& other = layout_.nodes_[k];
      if (other.name == added.name) return refuse(scope, "two members are named '" + added.name + "'");
      if (!is_union && added.host_offset < other.host_offset + other.host_bytes &&
          other.host_offset < added.host_offset + added.host_bytes) {
        return refuse(scope, "members '" + other.name + "' and '" + added.name + "' overlap in host memory");
      }
    }
  }
  return true;
}

bool LayoutCompiler::add_member(const lattice_member_desc& member, uint32_t struct_bytes, const Scope& outer,
                                uint16_t index) {
  Scope scope = outer;
  scope.path += ", member '" + printable_name(member.name) + "'";
  scope.host_offset += member.offset;
  if (!valid_name(member.name)) return refuse(scope, "name must be 1..63 letters, digits, '_', '.' or ':'");
  const uint32_t element_bytes = natural_bytes(member);
  if (element_bytes == 0 || element_bytes > LATTICE_MAX_HOST_BYTES) {
    return refuse(scope, "has no host size: type " + std::to_string(member.type) + " unknown or undescribed");
  }
  if (member.host_bytes != 0 && member.host_bytes != element_bytes) {
    return refuse(scope, "host_bytes is " + std::to_string(member.host_bytes) + "; its type takes " +
                             std::to_string(element_bytes));
  }
  if (!is_container(member) && member.array_count > LATTICE_MAX_ARRAY_ELEMENTS) {
    return refuse(scope, "array_count is " + std::to_string(member.array_count) + "; must be at most 256");
  }
  uint32_t bytes = element_bytes * std::max(member.array_count, 1u);  // at most 2^24
  if (is_container(member) && !place_container(member, element_bytes, &bytes, scope)) return false;
  if (member.offset > struct_bytes || bytes > struct_bytes - member.offset) {
    return refuse(scope, "offset " + std::to_string(member.offset) + " plus " + std::to_string(bytes) +
                             " bytes passes the structure's " + std::to_string(struct_bytes));
  }
  if (!check_flags(member, scope)) return false;
  constexpr uint32_t kNotPredicted = LATTICE_MEMBER_NOT_PREDICTED | LATTICE_MEMBER_INITIAL_ONLY;
  scope.predicted = scope.predicted && (member.flags & kNotPredicted) == 0;
  layout_.nodes_[index] = begin_node(member, scope, member.name, bytes);
  if (outer.depth == 1) scope.conditions = static_cast<uint16_t>(member.flags & kSendConditions);
  if (outer.depth == 1) priorities_.push_back(member.priority == 0.0f ? 1.0f : member.priority);
  layout_.nodes_[index].conditions = static_cast<uint16_t>(member.flags & kSendConditions);
  if ((member.flags & kSendConditions) != 0) layout_.conditional_.push_back(index);
  const bool added = is_container(member)     ? add_elements(member, scope, index)
                     : member.array_count > 1 ? add_array(member, scope, index)
                                              : add_value(member, scope, index);
  if (!added) return false;
  end_node(index, outer);
  return true;
}

LayoutNode LayoutCompiler::begin_node(const lattice_member_desc& member, const Scope& scope,
                                      const std::string& name, uint32_t host_bytes) const {
  LayoutNode node;
  node.name = name;
  node.behaviour = scope.behaviour;
  node.predicted = scope.predicted;
  node.first_leaf = static_cast<uint16_t>(layout_.leaves_.size());
  node.first_word = static_cast<uint32_t>(layout_.word_count_);
  node.host_offset = scope.host_offset;
  node.host_bytes = host_bytes;
  node.kind = member.type == LATTICE_WIRE_BOOL ? LayoutNode::Kind::kBool : LayoutNode::Kind::kPlain;
  return node;
}

// To be called when everything within the node was added.
void LayoutCompiler::end_node(uint16_t index, const Scope& outer) {
  LayoutNode& node = layout_.nodes_[index];
  node.leaf_count = static_cast<uint16_t>(layout_.leaves_.size() - node.first_leaf);
  node.word_count = static_cast<uint32_t>(layout_.word_count_) - node.first_word;
  node.has_container = node.kind >= LayoutNode::Kind::kList;
  if (node.has_container && !outer.in_container) layout_.containers_.push_back(index);
  for (const LayoutNode& child : layout_.children_of(node)) node.has_container |= child.has_container;
}

// The bytes of a list or a map in host memory.
bool LayoutCompiler::place_container(const lattice_member_desc& member, uint32_t element_bytes,
                                     uint32_t* bytes, const Scope& scope) {
  if (member.container != LATTICE_CONTAINER_LIST && member.container != LATTICE_CONTAINER_MAP) {
    return refuse(scope, "container is " + std::to_string(member.container) + "; must be 0..2");
  }
  if (member.array_count < 1 || member.array_count > LATTICE_MAX_LIST_ELEMENTS) {
    return refuse(scope, "array_count is " + std::to_string(member.array_count) +
                             "; must be 1..1024 for a list or a map");
  }
  const uint32_t elements = element_bytes * member.array_count;  // at most 2^26
  const uint32_t count_at = member.count_offset != 0 ? member.count_offset : elements + (elements & 1);
  if (count_at < elements || count_at > LATTICE_MAX_HOST_BYTES) {
    return refuse(scope, "count_offset is " + std::to_string(count_at) + "; the elements take " +
                             std::to_string(elements) + " bytes, of at most 65536");
  }
  *bytes = member.container_bytes != 0 ? member.container_bytes : count_at + 2;
  if (*bytes < count_at + 2) {
    return refuse(scope, "container_bytes is " + std::to_string(*bytes) +
                             "; the number of elements ends at " + std::to_string(count_at + 2));
  }
  return true;
}

bool LayoutCompiler::add_value(const lattice_member_desc& member, const Scope& scope, uint16_t index) {
  if (member.type == LATTICE_WIRE_STRUCT) return add_nested(member, scope, index);
  const auto first_leaf = static_cast<uint16_t>(layout_.leaves_.size());
  if (!add_leaves(member, scope)) return false;
  if ((member.flags & LATTICE_MEMBER_EXTRAPOLATE) != 0) {
    for (size_t i = first_leaf; i < layout_.leaves_.size(); ++i) {
      Leaf& leaf = layout_.leaves_[i];
      if (!leaf.interpolates) return refuse(scope, "flag EXTRAPOLATE needs a member that is interpolated");
      leaf.extrapolates = true;
    }
  }
  describe(member, scope, first_leaf);
  add_motion(member, first_leaf, scope);
  return true;
}

// An array is a node whose children are its elements. Each element is compiled like the member without the
// array. The canonical text holds only the first element.
bool LayoutCompiler::add_array(const lattice_member_desc& member, const Scope& outer, uint16_t index) {
  const size_t first = layout_.nodes_.size();
  if (first + member.array_count > kMaxNodes) return refuse(outer, kTooManyNodes);
  layout_.nodes_.resize(first + member.array_count);
  layout_.nodes_[index].kind = LayoutNode::Kind::kArray;
  layout_.nodes_[index].first_child = static_cast<uint16_t>(first);
  layout_.nodes_[index].child_count = static_cast<uint16_t>(member.array_count);
  const uint32_t element_bytes = natural_bytes(member);
  for (uint32_t i = 0; i < member.array_count; ++i) {
    Scope scope = outer;
    const std::string name = std::string("[").append(std::to_string(i)).append("]");
    scope.path += name;
    scope.host_offset += i * element_bytes;
    const auto at = static_cast<uint16_t>(first + i);
    layout_.nodes_[at] = begin_node(member, scope, name, element_bytes);
    if (i == 1) ++silent_;
    if (!add_value(member, scope, at)) return false;
    end_node(at, outer);
  }
  --silent_;
  return true;
}

// A list or a map: its length, and one child that stands for all elements. Those behind it have the same
// leaves, `element_words` and `element_bytes` further on.
bool LayoutCompiler::add_elements(const lattice_member_desc& member, const Scope& outer, uint16_t index) {
  const bool is_map = member.container == LATTICE_CONTAINER_MAP;
  const uint32_t element_bytes = natural_bytes(member);
  const uint32_t elements = element_bytes * member.array_count;
  Scope scope = outer;
  scope.in_container = true;
  scope.host_offset += member.count_offset != 0 ? member.count_offset : elements + (elements & 1);
  Leaf count;
  count.kind = LeafKind::kCount;
  count.host = HostKind::kU16;
  count.host_offset = scope.host_offset;
  count.max_code = member.array_count;
  count.bits = static_cast<uint8_t>(bits_for_span(count.max_code));
  if (!push_leaf(count, {}, scope)) return false;
  scope.host_offset = outer.host_offset;
  scope.path += "[]";
  const size_t child = layout_.nodes_.size();
  if (child >= kMaxNodes) return refuse(outer, kTooManyNodes);
  layout_.nodes_.push_back(begin_node(member, scope, "[]", element_bytes));
  if (!add_value(member, scope, static_cast<uint16_t>(child))) return false;
  end_node(static_cast<uint16_t>(child), scope);
  LayoutNode& node = layout_.nodes_[index];
  node.kind = is_map ? LayoutNode::Kind::kMap : LayoutNode::Kind::kList;
  node.first_child = static_cast<uint16_t>(child);
  node.child_count = 1;
  node.capacity = static_cast<uint16_t>(member.array_count);
  node.element_words = layout_.nodes_[child].word_count;
  node.element_bytes = element_bytes;
  if (is_map && !check_key(node, outer)) return false;
  return reserve_words(size_t{node.element_words} * (member.array_count - 1), outer);
}

bool LayoutCompiler::check_key(const LayoutNode& map, const Scope& scope) {
  const LayoutNode& entry = layout_.nodes_[map.first_child];
  const bool is_structure =
      entry.kind == LayoutNode::Kind::kStructWhole || entry.kind == LayoutNode::Kind::kStructDelta;
  if (!is_structure || entry.child_count < 2) {
    return refuse(scope, "an entry of a map is a structure of a key and at least one other member");
  }
  const LayoutNode& key = layout_.nodes_[entry.first_child];
  if (key.kind != LayoutNode::Kind::kPlain || key.leaf_count != 1 ||
      !is_key(layout_.leaves_[key.first_leaf])) {
    return refuse(scope,
                  "the key of a map, member '" + key.name + "', must be an enum, an integer or a netid");
  }
  return true;
}

bool LayoutCompiler::reserve_words(size_t count, const Scope& scope) {
  layout_.word_count_ += count;
  return layout_.word_count_ <= kMaxWords || refuse(scope, "the type's state takes more than 256 KiB");
}

bool LayoutCompiler::add_nested(const lattice_member_desc& member, const Scope& outer, uint16_t index) {
  lattice_struct_desc desc;
  if (!read_desc(member.structure, &desc)) return refuse(outer, "its structure has a bad struct_size");
  Scope scope = outer;
  if (++scope.depth > LATTICE_MAX_NESTING) return refuse(scope, "nested deeper than 8 structures");
  if (!valid_name(desc.name)) return refuse(scope, "its structure has no valid name");
  if (desc.member_count < 1 || desc.member_count > LATTICE_MAX_MEMBERS) {
    return refuse(
        scope, "its structure's member_count is " + std::to_string(desc.member_count) + "; must be 1..256");
  }
  const bool delta = (desc.flags & LATTICE_STRUCT_DELTA) != 0;
  const bool is_union = (desc.flags & LATTICE_STRUCT_UNION) != 0;
  if ((desc.flags & ~uint32_t{LATTICE_STRUCT_DELTA | LATTICE_STRUCT_UNION}) != 0 || (delta && is_union)) {
    return refuse(scope, "its structure's flags is " + std::to_string(desc.flags) + "; must be 0, 1 or 2");
  }
  if (is_union && !add_tag(desc, outer)) return false;
  scope.in_container = scope.in_container || is_union;
  const size_t first = layout_.nodes_.size();
  if (first + desc.member_count > kMaxNodes) return refuse(scope, kTooManyNodes);
  layout_.nodes_.resize(first + desc.member_count);
  LayoutNode& node = layout_.nodes_[index];
  node.kind = is_union ? LayoutNode::Kind::kUnion
              : delta  ? LayoutNode::Kind::kStructDelta
                       : LayoutNode::Kind::kStructWhole;
  node.first_child = static_cast<uint16_t>(first);
  node.child_count = static_cast<uint16_t>(desc.member_count);
  line(outer.depth, member_text(member) + " struct " + desc.name +
                        (is_union ? " union"
                         : delta  ? " delta"
                                  : " whole"));
  return add_members(desc, scope, static_cast<uint16_t>(first));
}

bool LayoutCompiler::add_tag(const lattice_struct_desc& desc, const Scope& outer) {
  if (desc.member_count > UINT8_MAX) {
    return refuse(outer, "a union of " + std::to_string(desc.member_count) + " alternatives; must be 1..255");
  }
  if (desc.tag_offset >= desc.host_bytes) {
    return refuse(outer, "tag_offset " + std::to_string(desc.tag_offset) + " passes the union's " +
                             std::to_string(desc.host_bytes) + " bytes");
  }
  for (uint32_t i = 0; i < desc.member_count; ++i) {  // the members themselves are checked later
    lattice_member_desc member;
    if (!desc.members || !read_desc(desc_at(desc.members, desc.members->struct_size, i), &member)) continue;
    const uint32_t bytes = natural_bytes(member) * std::max(member.array_count, 1u);
    if (desc.tag_offset >= member.offset && desc.tag_offset - member.offset < bytes) {
      return refuse(outer, "tag_offset " + std::to_string(desc.tag_offset) + " lies in alternative '" +
                               printable_name(member.name) + "'");
    }
  }
  Leaf tag;
  tag.kind = LeafKind::kTag;
  tag.host = HostKind::kU8;
  tag.host_offset = outer.host_offset + desc.tag_offset;
  tag.max_code = desc.member_count;
  tag.bits = static_cast<uint8_t>(bits_for_span(tag.max_code));
  Scope scope = outer;
  scope.in_container = true;
  return push_leaf(tag, {}, scope);
}

bool LayoutCompiler::check_flags(const lattice_member_desc& member, const Scope& scope) {
  constexpr uint32_t kMotion = LATTICE_MEMBER_POSITION | LATTICE_MEMBER_VELOCITY |
                               LATTICE_MEMBER_ACCELERATION | LATTICE_MEMBER_ROTATION |
                               LATTICE_MEMBER_ANGULAR_VELOCITY | LATTICE_MEMBER_ANGLE;
  constexpr uint32_t kKnown = kMotion | LATTICE_MEMBER_TELEPORT | LATTICE_MEMBER_SNAP |
                              LATTICE_MEMBER_NOT_PREDICTED | LATTICE_MEMBER_EXTRAPOLATE | kSendConditions;
  if ((member.flags & ~kKnown) != 0) {
    return refuse(scope, "flags is " + std::to_string(member.flags) + "; has bits that are not defined");
  }
  const uint32_t motion = member.flags & kMotion;
  if (motion != 0 && !power_of_two(motion)) return refuse(scope, "flags name two kinds of motion");
  const bool is_vector = (member.type >= LATTICE_WIRE_FLOAT && member.type <= LATTICE_WIRE_VECTOR4) ||
                         (member.type >= LATTICE_WIRE_DVECTOR2 && member.type <= LATTICE_WIRE_DVECTOR4);
  if (motion == LATTICE_MEMBER_ROTATION && member.type != LATTICE_WIRE_QUATERNION) {
    return refuse(scope, "flag ROTATION needs a quaternion");
  }
  const bool is_scalar = member.type == LATTICE_WIRE_FLOAT || member.type == LATTICE_WIRE_DOUBLE;
  if (motion == LATTICE_MEMBER_ANGLE && !is_scalar)
    return refuse(scope, "flag ANGLE needs a float or a double");
  if (motion == LATTICE_MEMBER_ANGULAR_VELOCITY && member.type != LATTICE_WIRE_VECTOR3 &&
      member.type != LATTICE_WIRE_DVECTOR3 && !is_scalar) {
    return refuse(scope, "flag ANGULAR_VELOCITY needs a vector3, a dvector3, a float or a double");
  }
  // The motion of an object is that of members it always has, and an angle interpolates wherever it is.
  const bool in_container = scope.in_container || is_container(member);
  if (in_container &&
      ((motion & ~uint32_t{LATTICE_MEMBER_ANGLE}) != 0 || (member.flags & LATTICE_MEMBER_TELEPORT) != 0)) {
    return refuse(scope, "a motion flag or TELEPORT cannot be inside a list, a map or a union");
  }
  if (scope.in_container && (member.flags & LATTICE_MEMBER_NOT_PREDICTED) != 0) {
    return refuse(scope, "flag NOT_PREDICTED belongs to the whole list, map or union");
  }
  if (motion != 0 && motion != LATTICE_MEMBER_ROTATION && !is_vector) {
    return refuse(scope, "a motion flag needs a float, a double or a vector");
  }
  if ((member.flags & LATTICE_MEMBER_TELEPORT) != 0 &&
      (member.type < LATTICE_WIRE_INT8 || member.type > LATTICE_WIRE_UINT64)) {
    return refuse(scope, "flag TELEPORT needs an integer counter");
  }
  return check_extrapolation(member, scope) && check_priority(member, scope) &&
         check_conditions(member, scope);
}

bool LayoutCompiler::check_priority(const lattice_member_desc& member, const Scope& scope) {
  if (member.priority == 0.0f) return true;
  if (!(member.priority > 0.0f) || !(member.priority <= 1000.0f)) {
    return refuse(scope, "priority is " + shortest_decimal(static_cast<double>(member.priority)) +
                             "; must be above 0 and at most 1000");
  }
  if (!layout_.has_presence_bits_ || scope.depth != 1) {
    return refuse(scope, "a priority belongs to a member of a behaviour itself");
  }
  return true;
}

bool LayoutCompiler::check_extrapolation(const lattice_member_desc& member, const Scope& scope) {
  if ((member.flags & LATTICE_MEMBER_EXTRAPOLATE) == 0) return true;
  if ((member.flags & LATTICE_MEMBER_SNAP) != 0) {
    return refuse(scope, "flags EXTRAPOLATE and SNAP exclude each other");
  }
  if (member.type == LATTICE_WIRE_STRUCT) {
    return refuse(scope, "flag EXTRAPOLATE belongs to the members of the structure");
  }
  if (scope.in_container || is_container(member)) {
    return refuse(scope, "flag EXTRAPOLATE cannot be inside a list, a map or a union");
  }
  return true;
}

bool LayoutCompiler::check_conditions(const lattice_member_desc& member, const Scope& scope) {
  if ((member.flags & kSendConditions) == 0) return true;
  if (!layout_.has_presence_bits_ || scope.depth != 1) {
    return refuse(
        scope,
        "a send condition (OWNER_ONLY, SKIP_OWNER, PREDICTED_ONLY, INITIAL_ONLY) belongs to a member "
        "of a behaviour itself");
  }
  const uint32_t whom = member.flags & kSendConditions & ~uint32_t{LATTICE_MEMBER_INITIAL_ONLY};
  if (whom != 0 && !power_of_two(whom)) {
    return refuse(scope, "flags name two of OWNER_ONLY, SKIP_OWNER and PREDICTED_ONLY");
  }
  if (whom == LATTICE_MEMBER_PREDICTED_ONLY && !is_predicted_type_) {
    return refuse(scope,
                  "flag PREDICTED_ONLY needs a type with LATTICE_TYPE_PREDICTED: no client predicts others");
  }
  if (whom == LATTICE_MEMBER_SKIP_OWNER && (member.flags & LATTICE_MEMBER_NOT_PREDICTED) != 0) {
    return refuse(scope,
                  "flags SKIP_OWNER and NOT_PREDICTED exclude each other: the owner never gets the member");
  }
  return true;
}

bool LayoutCompiler::push_leaf(Leaf leaf, LeafExtra extra, const Scope& scope) {
  if (layout_.leaves_.size() >= LATTICE_MAX_LEAVES)
    return refuse(scope, "the type has more than " + std::to_string(LATTICE_MAX_LEAVES) + " components");
  leaf.behaviour = scope.behaviour;
  leaf.predicted = scope.predicted;
  leaf.in_container = scope.in_container;
  leaf.conditions = scope.conditions;
  layout_.predicts_all_ = layout_.predicts_all_ && leaf.predicted;
  if (!leaf.predicted && !leaf.in_container) {
    layout_.not_predicted_leaves_.push_back(static_cast<uint16_t>(layout_.leaves_.size()));
  }
  if (leaf.kind <= LeafKind::kTickDifference) leaf.word_count = words_for_bits(leaf.bits);
  leaf.word = static_cast<uint32_t>(layout_.word_count_);
  if (!reserve_words(leaf.word_count, scope)) return false;
  layout_.leaves_.push_back(leaf);
  layout_.extras_.push_back(std::move(extra));
  return true;
}

void LayoutCompiler::add_motion(const lattice_member_desc& member, uint16_t first_leaf, const Scope& scope) {
  if (scope.in_container) return;
  if ((member.flags & LATTICE_MEMBER_TELEPORT) != 0) layout_.teleport_leaves_.push_back(first_leaf);
  MotionMember motion;
  if ((member.flags & LATTICE_MEMBER_POSITION) != 0) {
    motion.role = MotionMember::Role::kPosition;
  } else if ((member.flags & LATTICE_MEMBER_VELOCITY) != 0) {
    motion.role = MotionMember::Role::kVelocity;
  } else if ((member.flags & LATTICE_MEMBER_ACCELERATION) != 0) {
    motion.role = MotionMember::Role::kAcceleration;
  } else if ((member.flags & LATTICE_MEMBER_ROTATION) != 0) {
    motion.role = MotionMember::Role::kRotation;
  } else if ((member.flags & LATTICE_MEMBER_ANGULAR_VELOCITY) != 0) {
    motion.role = MotionMember::Role::kAngularVelocity;
  } else if ((member.flags & LATTICE_MEMBER_ANGLE) != 0 && (member.flags & LATTICE_MEMBER_SNAP) == 0) {
    motion.role = MotionMember::Role::kAngle;
    motion.angle = layout_.extras_[first_leaf].angle;
  } else {
    return;
  }
  const bool rotation = motion.role == MotionMember::Role::kRotation;
  motion.component_count = rotation ? uint8_t{4} : static_cast<uint8_t>(layout_.leaves_.size() - first_leaf);
  motion.is_double = layout_.leaves_[first_leaf].host == HostKind::kF64;
  motion.behaviour = scope.behaviour;
  motion.first_leaf = first_leaf;
  motion.host_offset = scope.host_offset;
  layout_.motion_.push_back(motion);
}

bool Layout::compile_object(const lattice_type_desc& desc, Layout* out, std::string* error) {
  Layout layout;
  if (!LayoutCompiler(&layout, error).compile_object(desc)) return false;
  *out = std::move(layout);
  return true;
}

bool Layout::compile_structure(const lattice_struct_desc& desc, bool allow_empty, Layout* out,
                               std::string* error) {
  Layout layout;
  if (!LayoutCompiler(&layout, error).compile_structure(desc, allow_empty)) return false;
  *out = std::move(layout);
  return true;
}

}  // namespace lattice::serialization
