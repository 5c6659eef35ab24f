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
      return 16;
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

bool power_of_two(uint32_t v) {
  return v != 0 && (v & (v - 1)) == 0;
}

}  // namespace

bool LayoutCompiler::refuse(const Scope& scope, const std::string& what) {
  error_ = scope.path + ": " + what;
  return false;
}

bool LayoutCompiler::compile_object(const lattice_type_desc& desc) {
  const Scope scope{0, 0, 0, true, "type '" + printable_name(desc.name) + "'"};
  if (!valid_name(desc.name)) return refuse(scope, "name must be 1..63 letters, digits, '_', '.' or ':'");
  if (desc.behaviour_count < 1 || desc.behaviour_count > LATTICE_MAX_BEHAVIOURS) {
    return refuse(scope, "behaviour_count is " + std::to_string(desc.behaviour_count) + "; must be 1..16");
  }
  if (!desc.behaviours) return refuse(scope, "behaviours is null");
  layout_.has_presence_bits_ = true;
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
  }
  finish();
  return true;
}

bool LayoutCompiler::compile_structure(const lattice_struct_desc& raw, bool allow_empty) {
  lattice_struct_desc desc;
  if (!read_desc(&raw, &desc))
    return refuse({0, 0, 0, true, "structure"}, "bad struct_size; call its init first");
  if (!add_behaviour(desc, desc.name, allow_empty)) return false;
  finish();
  return true;
}

bool LayoutCompiler::add_behaviour(const lattice_struct_desc& desc, const char* name, bool allow_empty) {
  const uint8_t index = static_cast<uint8_t>(layout_.behaviours_.size());
  const Scope scope{index, 0, 1, true, "structure '" + printable_name(name) + "'"};
  if (!valid_name(name)) return refuse(scope, "name must be 1..63 letters, digits, '_', '.' or ':'");
  for (const LayoutBehaviour& other : layout_.behaviours_) {
    if (other.name == name) return refuse(scope, "two behaviours of one type have this name");
  }
  if (desc.member_count > LATTICE_MAX_MEMBERS || (desc.member_count == 0 && !allow_empty)) {
    return refuse(scope, "member_count is " + std::to_string(desc.member_count) + "; must be 1..32");
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
      if (added.host_offset < other.host_offset + other.host_bytes &&
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
  if (member.array_count > LATTICE_MAX_ARRAY_ELEMENTS) {
    return refuse(scope, "array_count is " + std::to_string(member.array_count) + "; must be at most 256");
  }
  const uint32_t bytes = element_bytes * std::max(member.array_count, 1u);  // at most 2^24
  if (member.offset > struct_bytes || bytes > struct_bytes - member.offset) {
    return refuse(scope, "offset " + std::to_string(member.offset) + " plus " + std::to_string(bytes) +
                             " bytes passes the structure's " + std::to_string(struct_bytes));
  }
  if (!check_flags(member, scope)) return false;
  scope.predicted = scope.predicted && (member.flags & LATTICE_MEMBER_NOT_PREDICTED) == 0;
  LayoutNode node;
  node.name = member.name;
  node.behaviour = scope.behaviour;
  node.first_leaf = static_cast<uint16_t>(layout_.leaves_.size());
  node.first_word = static_cast<uint32_t>(layout_.word_count_);
  node.host_offset = scope.host_offset;
  node.host_bytes = bytes;
  node.kind = member.type == LATTICE_WIRE_BOOL ? LayoutNode::Kind::kBool : LayoutNode::Kind::kPlain;
  layout_.nodes_[index] = node;
  const bool added =
      member.array_count > 1 ? add_array(member, scope, index) : add_value(member, scope, index);
  if (!added) return false;
  LayoutNode& done = layout_.nodes_[index];
  done.leaf_count = static_cast<uint16_t>(layout_.leaves_.size() - done.first_leaf);
  done.word_count = static_cast<uint32_t>(layout_.word_count_) - done.first_word;
  return true;
}

bool LayoutCompiler::add_value(const lattice_member_desc& member, const Scope& scope, uint16_t index) {
  if (member.type == LATTICE_WIRE_STRUCT) return add_nested(member, scope, index);
  const auto first_leaf = static_cast<uint16_t>(layout_.leaves_.size());
  if (!add_leaves(member, scope)) return false;
  describe(member, scope, first_leaf);
  add_motion(member, first_leaf, scope);
  return true;
}

// An array is a node whose children are its elements. Each element is compiled like the member without the
// array. The canonical text holds only the first element.
bool LayoutCompiler::add_array(const lattice_member_desc& member, const Scope& outer, uint16_t index) {
  const size_t first = layout_.nodes_.size();
  if (first + member.array_count > kMaxNodes)
    return refuse(outer, "the type has more than 1024 members and elements in all");
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
    LayoutNode node;
    node.name = name;
    node.behaviour = scope.behaviour;
    node.first_leaf = static_cast<uint16_t>(layout_.leaves_.size());
    node.first_word = static_cast<uint32_t>(layout_.word_count_);
    node.host_offset = scope.host_offset;
    node.host_bytes = element_bytes;
    node.kind = member.type == LATTICE_WIRE_BOOL ? LayoutNode::Kind::kBool : LayoutNode::Kind::kPlain;
    layout_.nodes_[first + i] = node;
    if (i == 1) ++silent_;
    if (!add_value(member, scope, static_cast<uint16_t>(first + i))) return false;
    LayoutNode& done = layout_.nodes_[first + i];
    done.leaf_count = static_cast<uint16_t>(layout_.leaves_.size() - done.first_leaf);
    done.word_count = static_cast<uint32_t>(layout_.word_count_) - done.first_word;
  }
  --silent_;
  return true;
}

bool LayoutCompiler::add_nested(const lattice_member_desc& member, const Scope& outer, uint16_t index) {
  lattice_struct_desc desc;
  if (!read_desc(member.structure, &desc)) return refuse(outer, "its structure has a bad struct_size");
  Scope scope = outer;
  if (++scope.depth > LATTICE_MAX_NESTING) return refuse(scope, "nested deeper than 8 structures");
  if (!valid_name(desc.name)) return refuse(scope, "its structure has no valid name");
  if (desc.member_count < 1 || desc.member_count > LATTICE_MAX_MEMBERS) {
    return refuse(scope,
                  "its structure's member_count is " + std::to_string(desc.member_count) + "; must be 1..32");
  }
  const bool delta = (desc.flags & LATTICE_STRUCT_DELTA) != 0;
  const size_t first = layout_.nodes_.size();
  if (first + desc.member_count > kMaxNodes)
    return refuse(scope, "the type has more than 1024 members in all");
  layout_.nodes_.resize(first + desc.member_count);
  LayoutNode& node = layout_.nodes_[index];
  node.kind = delta ? LayoutNode::Kind::kStructDelta : LayoutNode::Kind::kStructWhole;
  node.first_child = static_cast<uint16_t>(first);
  node.child_count = static_cast<uint16_t>(desc.member_count);
  line(outer.depth, member_text(member) + " struct " + desc.name + (delta ? " delta" : " whole"));
  return add_members(desc, scope, static_cast<uint16_t>(first));
}

bool LayoutCompiler::check_flags(const lattice_member_desc& member, const Scope& scope) {
  constexpr uint32_t kMotion = LATTICE_MEMBER_POSITION | LATTICE_MEMBER_VELOCITY |
                               LATTICE_MEMBER_ACCELERATION | LATTICE_MEMBER_ROTATION |
                               LATTICE_MEMBER_ANGULAR_VELOCITY | LATTICE_MEMBER_ANGLE;
  constexpr uint32_t kKnown =
      kMotion | LATTICE_MEMBER_TELEPORT | LATTICE_MEMBER_SNAP | LATTICE_MEMBER_NOT_PREDICTED;
  if ((member.flags & ~kKnown) != 0) {
    return refuse(scope, "flags is " + std::to_string(member.flags) + "; has bits that are not defined");
  }
  const uint32_t motion = member.flags & kMotion;
  if (motion != 0 && !power_of_two(motion)) return refuse(scope, "flags name two kinds of motion");
  const bool is_vector = member.type >= LATTICE_WIRE_FLOAT && member.type <= LATTICE_WIRE_VECTOR4;
  if (motion == LATTICE_MEMBER_ROTATION && member.type != LATTICE_WIRE_QUATERNION) {
    return refuse(scope, "flag ROTATION needs a quaternion");
  }
  const bool is_scalar = member.type == LATTICE_WIRE_FLOAT || member.type == LATTICE_WIRE_DOUBLE;
  if (motion == LATTICE_MEMBER_ANGLE && !is_scalar)
    return refuse(scope, "flag ANGLE needs a float or a double");
  if (motion == LATTICE_MEMBER_ANGULAR_VELOCITY && member.type != LATTICE_WIRE_VECTOR3 && !is_scalar) {
    return refuse(scope, "flag ANGULAR_VELOCITY needs a vector3, a float or a double");
  }
  if (motion != 0 && motion != LATTICE_MEMBER_ROTATION && !is_vector) {
    return refuse(scope, "a motion flag needs a float, a double or a vector");
  }
  if ((member.flags & LATTICE_MEMBER_TELEPORT) != 0 &&
      (member.type < LATTICE_WIRE_INT8 || member.type > LATTICE_WIRE_UINT64)) {
    return refuse(scope, "flag TELEPORT needs an integer counter");
  }
  return true;
}

bool LayoutCompiler::push_leaf(Leaf leaf, LeafExtra extra, const Scope& scope) {
  if (layout_.leaves_.size() >= LATTICE_MAX_LEAVES)
    return refuse(scope, "the type has more than 512 components");
  leaf.behaviour = scope.behaviour;
  leaf.predicted = scope.predicted;
  if (!leaf.predicted) layout_.not_predicted_leaves_.push_back(static_cast<uint16_t>(layout_.leaves_.size()));
  if (leaf.kind <= LeafKind::kFixed64Difference) leaf.word_count = words_for_bits(leaf.bits);
  leaf.word = static_cast<uint32_t>(layout_.word_count_);
  layout_.word_count_ += leaf.word_count;
  if (layout_.word_count_ > kMaxWords) return refuse(scope, "the type's state takes more than 256 KiB");
  layout_.leaves_.push_back(leaf);
  layout_.extras_.push_back(std::move(extra));
  return true;
}

void LayoutCompiler::add_motion(const lattice_member_desc& member, uint16_t first_leaf, const Scope& scope) {
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

// Pairs motion members by rank: the k-th position of a behaviour moves by the behaviour's k-th velocity with
// the same number of components, and so on.
void LayoutCompiler::pair_motion() {
  using Role = MotionMember::Role;
  std::vector<MotionMember>& motion = layout_.motion_;
  const auto partner = [&](size_t of, Role role) -> int16_t {
    const MotionMember& m = motion[of];
    const uint8_t components = m.role == Role::kRotation ? uint8_t{3} : m.component_count;
    size_t rank = 0;
    for (size_t i = 0; i < of; ++i) {
      rank += motion[i].role == m.role && motion[i].behaviour == m.behaviour &&
              motion[i].component_count == m.component_count;
    }
    for (size_t i = 0; i < motion.size(); ++i) {
      if (motion[i].role != role || motion[i].behaviour != m.behaviour) continue;
      if (motion[i].component_count == components && rank-- == 0) return static_cast<int16_t>(i);
    }
    return -1;
  };
  for (size_t i = 0; i < motion.size(); ++i) {
    if (motion[i].role == Role::kPosition) {
      motion[i].velocity = partner(i, Role::kVelocity);
      motion[i].acceleration = partner(i, Role::kAcceleration);
    } else if (motion[i].role == Role::kRotation || motion[i].role == Role::kAngle) {
      motion[i].velocity = partner(i, Role::kAngularVelocity);
    }
  }
}

void LayoutCompiler::measure() {
  for (const Leaf& leaf : layout_.leaves_) layout_.max_whole_bits_ += max_leaf_bits(leaf);
  for (const LayoutBehaviour& behaviour : layout_.behaviours_) {
    layout_.max_delta_bits_ += layout_.has_presence_bits_ ? 1u : 0u;
    layout_.max_delta_bits_ += max_members_bits(behaviour.first_node, behaviour.node_count);
  }
}

size_t LayoutCompiler::max_members_bits(uint16_t first, uint16_t count) const {
  size_t bits = count;  // one mask bit per member
  for (uint16_t i = first; i < first + count; ++i) {
    const LayoutNode& node = layout_.nodes_[i];
    if (node.kind == LayoutNode::Kind::kBool) continue;
    if (node.kind == LayoutNode::Kind::kStructDelta || node.kind == LayoutNode::Kind::kArray) {
      bits += max_members_bits(node.first_child, node.child_count);
      continue;
    }
    for (uint16_t k = node.first_leaf; k < node.first_leaf + node.leaf_count; ++k) {
      bits += max_leaf_bits(layout_.leaves_[k]);
    }
  }
  return bits;
}

void LayoutCompiler::plan_members() {
  const size_t behaviours = layout_.behaviours_.size();
  if (behaviours > 1) layout_.mask_bits_max_ = behaviours;
  for (const LayoutBehaviour& behaviour : layout_.behaviours_) {
    layout_.mask_bits_max_ += behaviour.node_count;
    for (const LayoutNode& node : layout_.members_of(behaviour)) {
      FlatMember member;
      member.node = static_cast<uint16_t>(&node - layout_.nodes_.data());
      member.first_word = node.first_word;
      member.word_count = node.word_count;
      if (node.kind == LayoutNode::Kind::kBool) {
        member.form = FlatMember::Form::kBool;
      } else if (plan_packed(node, &member)) {
        member.form = FlatMember::Form::kPacked;
      }
      layout_.members_.push_back(member);
    }
  }
}

// Text makes a state of thousands of words, whose members are compared with less work one by one.
void LayoutCompiler::plan_word_masks() {
  constexpr size_t kMaxMaskedWords = 64;
  if (!layout_.has_flat_mask() || layout_.word_count_ > kMaxMaskedWords || layout_.members_.empty()) {
    return;
  }
  layout_.word_masks_.resize(layout_.word_count_);
  uint64_t bit = uint64_t{1} << 63 >> (64 - layout_.members_.size());
  for (const FlatMember& member : layout_.members_) {
    for (uint32_t i = 0; i < member.word_count; ++i) layout_.word_masks_[member.first_word + i] = bit;
    bit >>= 1;
  }
}

// A value or a whole structure of codes, each of at most 32 bits, that fit one number together.
bool LayoutCompiler::plan_packed(const LayoutNode& node, FlatMember* member) {
  if (node.kind != LayoutNode::Kind::kPlain && node.kind != LayoutNode::Kind::kStructWhole) return false;
  unsigned bits = 0;
  for (const Leaf& leaf : layout_.leaves_of(node)) {
    if (leaf.kind > LeafKind::kLastCode || leaf.word_count != 1) return false;
    bits += leaf.bits;
    if (bits > 64) return false;
  }
  member->bits = static_cast<uint8_t>(bits);
  member->first_field = static_cast<uint16_t>(layout_.fields_.size());
  member->field_count = static_cast<uint8_t>(node.leaf_count);
  for (const Leaf& leaf : layout_.leaves_of(node)) {
    const bool rotation = leaf.kind == LeafKind::kSmallestThree;
    layout_.fields_.push_back({.word = leaf.word,
                               .max_code = static_cast<uint32_t>(rotation ? UINT32_MAX : leaf.max_code),
                               .bit_mask = static_cast<uint32_t>((uint64_t{1} << leaf.bits) - 1),
                               .bits = leaf.bits,
                               .is_rotation = rotation});
  }
  return true;
}

void LayoutCompiler::finish() {
  pair_motion();
  measure();
  plan_members();
  plan_word_masks();
  layout_.columns_.compile(layout_.leaves_, layout_.extras_);
  uint32_t largest = 1;
  for (const LayoutBehaviour& behaviour : layout_.behaviours_)
    largest = std::max(largest, behaviour.host_bytes);
  // Aligned to the largest host_align, because custom serializers read the memory as their own type.
  std::vector<uint8_t> zeros(largest + 64u, 0);
  const uint8_t* zero_host = zeros.data() + (64 - reinterpret_cast<uintptr_t>(zeros.data()) % 64) % 64;
  layout_.zero_words_.resize(layout_.word_count_);
  for (size_t i = 0; i < layout_.leaves_.size(); ++i) {
    const Leaf& leaf = layout_.leaves_[i];
    quantize_leaf(leaf, layout_.extras_[i], zero_host, layout_.zero_words_.data() + leaf.word);
  }
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
