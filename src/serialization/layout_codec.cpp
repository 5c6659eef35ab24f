// Layout: packing states, whole and as deltas. The wire diagram is in layout.h.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.h"
#include "serialization/layout.h"
#include "serialization/leaf_codec.h"

namespace lattice::serialization {
namespace {

bool same_behaviour(const Word* a, const Word* b, const LayoutBehaviour& behaviour) {
  const uint32_t first = behaviour.first_word;
  return std::memcmp(a + first, b + first, behaviour.word_count * sizeof(Word)) == 0;
}

// The changed mask of a structure or an array, in groups of 64 bits. The first member of a group has the
// highest bit.
constexpr size_t kMaskBits = 64;
using ChangedMask = std::array<uint64_t, LATTICE_MAX_ARRAY_ELEMENTS / kMaskBits>;
static_assert(LATTICE_MAX_MEMBERS <= LATTICE_MAX_ARRAY_ELEMENTS &&
              LATTICE_MAX_ARRAY_ELEMENTS % kMaskBits == 0);

bool is_marked(const ChangedMask& masks, size_t index) {
  return (masks[index / kMaskBits] >> (kMaskBits - 1 - index % kMaskBits) & 1u) != 0;
}

}  // namespace

std::span<const LayoutNode> Layout::members_of(const LayoutBehaviour& behaviour) const {
  return std::span<const LayoutNode>(nodes_).subspan(behaviour.first_node, behaviour.node_count);
}

std::span<const LayoutNode> Layout::children_of(const LayoutNode& node) const {
  return std::span<const LayoutNode>(nodes_).subspan(node.first_child, node.child_count);
}

std::span<const Leaf> Layout::leaves_of(const LayoutNode& node) const {
  return std::span<const Leaf>(leaves_).subspan(node.first_leaf, node.leaf_count);
}

void Layout::encode_delta(BitWriter& writer, const Word* base, const Word* current) const {
  if (has_only_straight()) return encode_only_behaviour(writer, base, current);
  if (has_flat_mask()) return encode_flat(writer, base, current);
  if (!has_presence_bits_) return encode_nodes(writer, members_of(behaviours_[0]), base, current);
  uint32_t present = 0;
  for (size_t i = 0; i < behaviours_.size(); ++i) {
    const LayoutBehaviour& behaviour = behaviours_[i];
    const bool differs = !same_behaviour(base, current, behaviour);
    present |= static_cast<uint32_t>(differs) << i;
    writer.WriteBool(differs);
  }
  for (size_t i = 0; i < behaviours_.size(); ++i) {
    if ((present >> i & 1u) != 0) encode_nodes(writer, members_of(behaviours_[i]), base, current);
  }
}

void Layout::encode_nodes(BitWriter& writer, std::span<const LayoutNode> nodes, const Word* base,
                          const Word* current) const {
  ChangedMask masks{};
  bool any = false;
  for (size_t first = 0; first < nodes.size(); first += kMaskBits) {
    const std::span<const LayoutNode> group = nodes.subspan(first, std::min(kMaskBits, nodes.size() - first));
    uint64_t mask = 0;  // member 0 is in the highest of group.size() bits, so that its bit goes first
    for (const LayoutNode& node : group) {
      mask = mask << 1 | (same_words(base, current, node) ? 0u : 1u);
    }
    writer.WriteBits(mask, static_cast<int>(group.size()));
    masks[first / kMaskBits] = mask << (kMaskBits - group.size());
    any = any || mask != 0;
  }
  if (!any) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (is_marked(masks, i)) encode_changed(writer, nodes[i], base, current);
  }
}

void Layout::encode_changed(BitWriter& writer, const LayoutNode& node, const Word* base,
                            const Word* current) const {
  switch (node.kind) {
    case LayoutNode::Kind::kBool:
      return;  // the mask bit holds the whole change (Y-07)
    case LayoutNode::Kind::kPlain:
      for (const Leaf& leaf : leaves_of(node))
        encode_leaf(writer, leaf, base + leaf.word, current + leaf.word);
      return;
    case LayoutNode::Kind::kStructWhole:
      return encode_whole_node(writer, node, current);
    case LayoutNode::Kind::kStructDelta:
    case LayoutNode::Kind::kArray:
      return encode_nodes(writer, children_of(node), base, current);
    case LayoutNode::Kind::kList:
    case LayoutNode::Kind::kMap:
    case LayoutNode::Kind::kUnion:
      return encode_container(writer, node, base, current);
  }
}

bool Layout::decode_delta(BitReader& reader, const Word* base, Word* out) const {
  std::memcpy(out, base, word_count_ * sizeof(Word));
  bool ok = true;
  if (has_only_straight()) {
    ok = decode_only_behaviour(reader, base, out);
  } else if (has_flat_mask()) {
    ok = decode_flat(reader, base, out);
  } else if (!has_presence_bits_) {
    ok = decode_nodes(reader, members_of(behaviours_[0]), base, out);
  } else {
    const uint64_t present = reader.ReadBits(static_cast<int>(behaviours_.size()));
    for (size_t i = 0; i < behaviours_.size() && ok; ++i) {
      if ((present >> (behaviours_.size() - 1 - i) & 1u) == 0) continue;
      const LayoutBehaviour& behaviour = behaviours_[i];
      ok = decode_nodes(reader, members_of(behaviour), base, out) && !same_behaviour(base, out, behaviour);
    }
  }
  ok = ok && reader.ok();
  if (!ok) {
    reader.fail();
    std::memcpy(out, base, word_count_ * sizeof(Word));
  }
  return ok;
}

bool Layout::decode_nodes(BitReader& reader, std::span<const LayoutNode> nodes, const Word* base,
                          Word* out) const {
  ChangedMask masks{};
  uint64_t any = 0;
  for (size_t first = 0; first < nodes.size(); first += kMaskBits) {
    const size_t count = std::min(kMaskBits, nodes.size() - first);
    const uint64_t mask = reader.ReadBits(static_cast<int>(count));
    masks[first / kMaskBits] = mask << (kMaskBits - count);
    any |= mask;
  }
  for (size_t i = 0; i < nodes.size() && any != 0; ++i) {
    if (!is_marked(masks, i)) continue;
    if (!decode_marked_node(reader, nodes[i], base, out)) return false;
  }
  return reader.ok();
}

// No encoder marks an unchanged member as changed.
bool Layout::decode_marked_node(BitReader& reader, const LayoutNode& node, const Word* base,
                                Word* out) const {
  return decode_changed(reader, node, base, out) && !same_words(base, out, node);
}

bool Layout::decode_changed(BitReader& reader, const LayoutNode& node, const Word* base, Word* out) const {
  switch (node.kind) {
    case LayoutNode::Kind::kBool:
      out[node.first_word] = base[node.first_word] ^ 1u;
      return true;
    case LayoutNode::Kind::kPlain:
      for (uint32_t i = node.first_leaf; i < uint32_t{node.first_leaf} + node.leaf_count; ++i) {
        const Leaf& leaf = leaves_[i];
        if (!decode_leaf(reader, leaf, extras_[i], base + leaf.word, out + leaf.word)) return false;
      }
      return true;
    case LayoutNode::Kind::kStructWhole:
      return decode_whole_node(reader, node, out);
    case LayoutNode::Kind::kStructDelta:
    case LayoutNode::Kind::kArray:
      return decode_nodes(reader, children_of(node), base, out);
    case LayoutNode::Kind::kList:
    case LayoutNode::Kind::kMap:
    case LayoutNode::Kind::kUnion:
      return decode_container(reader, node, base, out);
  }
  return false;
}

void Layout::encode_whole(BitWriter& writer, const Word* words) const {
  for (const LayoutBehaviour& behaviour : behaviours_) {
    for (const LayoutNode& node : members_of(behaviour)) encode_whole_node(writer, node, words);
  }
}

bool Layout::decode_whole(BitReader& reader, Word* out) const {
  bool ok = true;
  if (!whole_fields_.empty()) {
    ok = decode_whole_fields(reader, out);
  } else {
    for (const LayoutBehaviour& behaviour : behaviours_) {
      for (const LayoutNode& node : members_of(behaviour)) ok = ok && decode_whole_node(reader, node, out);
    }
  }
  ok = ok && reader.ok();
  if (!ok) {
    reader.fail();
    zero_baseline(out);
  }
  return ok;
}

}  // namespace lattice::serialization
