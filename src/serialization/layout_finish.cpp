// What follows from the members of a layout, once all are known: which members move which, the most bits that
// a state takes, the plans of the flat codec, the zero baseline.
#include <algorithm>
#include <vector>

#include "serialization/layout_compiler.h"
#include "serialization/leaf_host.h"

namespace lattice::serialization {
namespace {

using Kind = LayoutNode::Kind;

// `leaf` has a code of at most 32 bits, or is a byte.
PackedField packed(const Leaf& leaf) {
  const auto bit_mask = static_cast<uint32_t>((uint64_t{1} << leaf.bits) - 1);
  const bool is_rotation = leaf.kind == LeafKind::kSmallestThree;
  const bool has_bound = leaf.kind < LeafKind::kSmallestThree;
  return {.word = leaf.word,
          .max_code = has_bound ? static_cast<uint32_t>(leaf.max_code) : UINT32_MAX,
          .bit_mask = bit_mask,
          .bits = leaf.bits,
          .is_rotation = is_rotation};
}

}  // namespace

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

// What a velocity moves follows the velocity.
void LayoutCompiler::collect_lines() {
  std::vector<bool> has_velocity(layout_.leaves_.size());
  for (const MotionMember& member : layout_.motion_) {
    if (member.velocity < 0) continue;
    const size_t count = member.role == MotionMember::Role::kRotation ? 1 : member.component_count;
    for (size_t k = 0; k < count; ++k) has_velocity[member.first_leaf + k] = true;
  }
  for (size_t i = 0; i < layout_.leaves_.size(); ++i) {
    if (layout_.leaves_[i].extrapolates && !has_velocity[i]) {
      layout_.line_leaves_.push_back(static_cast<uint16_t>(i));
    }
  }
}

void LayoutCompiler::order_priorities() {
  if (std::all_of(priorities_.begin(), priorities_.end(), [](float p) { return p == 1.0f; })) return;
  for (size_t i = 0; i < priorities_.size(); ++i) {
    layout_.by_priority_.push_back(static_cast<uint16_t>(i));
  }
  std::stable_sort(layout_.by_priority_.begin(), layout_.by_priority_.end(),
                   [this](uint16_t a, uint16_t b) { return priorities_[a] > priorities_[b]; });
  layout_.priorities_ = priorities_;
}

void LayoutCompiler::measure() {
  for (const LayoutBehaviour& behaviour : layout_.behaviours_) {
    for (const LayoutNode& node : layout_.members_of(behaviour))
      layout_.max_whole_bits_ += max_value_bits(node);
    layout_.max_delta_bits_ += layout_.has_presence_bits_ ? 1u : 0u;
    layout_.max_delta_bits_ += max_members_bits(behaviour.first_node, behaviour.node_count);
  }
}

size_t LayoutCompiler::max_members_bits(uint16_t first, uint16_t count) const {
  size_t bits = count;  // one mask bit per member
  for (uint16_t i = first; i < first + count; ++i) {
    bits += max_changed_bits(layout_.nodes_[i]);
  }
  return bits;
}

// The most bits of a node behind a set bit of a changed mask.
size_t LayoutCompiler::max_changed_bits(const LayoutNode& node) const {
  const auto child = [&](uint16_t i) -> const LayoutNode& { return layout_.nodes_[node.first_child + i]; };
  switch (node.kind) {
    case Kind::kBool:
      return 0;
    case Kind::kPlain:
    case Kind::kStructWhole:
      return max_value_bits(node);
    case Kind::kStructDelta:
    case Kind::kArray:
      return max_members_bits(node.first_child, node.child_count);
    case Kind::kList:
      return 1 + layout_.leaves_[node.first_leaf].bits + node.capacity * (1 + max_changed_bits(child(0)));
    case Kind::kMap: {  // two bits for each entry of the baseline; new entries as many as there is room for
      const LayoutNode& entry = child(0);
      size_t value = 0;
      if (entry.kind == Kind::kStructDelta) {
        value = max_members_bits(entry.first_child, entry.child_count);
      }
      return node.capacity * (2 + 1 + std::max(value, max_value_bits(entry)));
    }
    case Kind::kUnion: {
      size_t most = 0;
      for (uint16_t i = 0; i < node.child_count; ++i) {
        most = std::max({most, max_changed_bits(child(i)), max_value_bits(child(i))});
      }
      return 1 + layout_.leaves_[node.first_leaf].bits + most;
    }
  }
  return 0;
}

// The most bits of a node that is written whole.
size_t LayoutCompiler::max_value_bits(const LayoutNode& node) const {
  size_t sum = 0, most = 0;
  for (const LayoutNode& child : layout_.children_of(node)) {
    const size_t bits = max_value_bits(child);
    sum += bits;
    most = std::max(most, bits);
  }
  if (node.kind == Kind::kUnion) return layout_.leaves_[node.first_leaf].bits + most;
  if (node.kind == Kind::kList || node.kind == Kind::kMap) {
    return layout_.leaves_[node.first_leaf].bits + node.capacity * sum;
  }
  if (node.child_count != 0) return sum;
  for (const Leaf& leaf : layout_.leaves_of(node)) sum += max_leaf_bits(leaf);
  return sum;
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
  if (node.has_container) return false;
  unsigned bits = 0;
  for (const Leaf& leaf : layout_.leaves_of(node)) {
    if (leaf.kind > LeafKind::kLastCode || leaf.word_count != 1) return false;
    bits += leaf.bits;
    if (bits > 64) return false;
  }
  member->bits = static_cast<uint8_t>(bits);
  member->first_field = static_cast<uint16_t>(layout_.fields_.size());
  member->field_count = static_cast<uint8_t>(node.leaf_count);
  for (const Leaf& leaf : layout_.leaves_of(node)) layout_.fields_.push_back(packed(leaf));
  return true;
}

// Short commands, as most inputs are: numbers that fit one number together.
void LayoutCompiler::plan_whole() {
  unsigned bits = 0;
  std::vector<PackedField> fields;
  for (const Leaf& leaf : layout_.leaves_) {
    const bool is_byte = leaf.kind == LeafKind::kFixed && leaf.bits == 8;
    if ((leaf.kind > LeafKind::kLastCode && !is_byte) || leaf.word_count != 1 || leaf.in_container) return;
    bits += leaf.bits;
    if (bits > 64) return;
    fields.push_back(packed(leaf));
  }
  if (std::ranges::any_of(layout_.nodes_, &LayoutNode::has_container)) return;
  layout_.whole_bits_ = bits;
  layout_.whole_fields_ = std::move(fields);
}

void LayoutCompiler::finish() {
  pair_motion();
  collect_lines();
  measure();
  plan_members();
  plan_whole();
  order_priorities();
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
  fill_zero_elements();
}

// The elements of a list and the entries of a map all have the zero baseline of the first. What is within a
// node comes behind it, so the innermost comes first.
void LayoutCompiler::fill_zero_elements() {
  for (size_t i = layout_.nodes_.size(); i > 0; --i) {
    const LayoutNode& node = layout_.nodes_[i - 1];
    if (node.capacity == 0) continue;
    Word* first = layout_.zero_words_.data() + layout_.nodes_[node.first_child].first_word;
    for (uint32_t k = 1; k < node.capacity; ++k) {
      std::copy_n(first, node.element_words, first + size_t{k} * node.element_words);
    }
  }
}

}  // namespace lattice::serialization
