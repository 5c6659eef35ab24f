// Layout: converts host structures to words and back, compares and hashes words, and accesses members by
// property id.
#include <cmath>
#include <cstring>

#include "base/assert.h"
#include "serialization/layout.h"
#include "serialization/leaf_host.h"

namespace lattice::serialization {
namespace {

uint64_t mix(uint64_t v) {
  v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9u;
  v = (v ^ (v >> 27)) * 0x94D049BB133111EBu;
  return v ^ (v >> 31);
}

// One step in each of the three kept codes moves a rotation by at most sqrt(3 + 9) steps. The dropped
// component is the largest, so it changes by at most the sum of the changes of the other three.
bool rotations_close(const Leaf& leaf, uint64_t a, uint64_t b) {
  const unsigned n = (leaf.bits - 2u) / 3u;
  const Quaternion p = smallest_three_unpack(a, n);
  const Quaternion q = smallest_three_unpack(b, n);
  const double pc[4] = {p.x, p.y, p.z, p.w};
  const double qc[4] = {q.x, q.y, q.z, q.w};
  double dot = 0.0;
  for (int i = 0; i < 4; ++i) dot += pc[i] * qc[i];
  const double sign = dot < 0.0 ? -1.0 : 1.0;
  double chord2 = 0.0;
  for (int i = 0; i < 4; ++i) {
    const double d = pc[i] - sign * qc[i];
    chord2 += d * d;
  }
  const double step = kSqrt2 / static_cast<double>((uint64_t{1} << n) - 2);
  return chord2 <= 12.0 * step * step;
}

bool leaf_close(const Leaf& leaf, const LeafExtra& extra, const Word* a, const Word* b) {
  if (std::memcmp(a, b, leaf.word_count * sizeof(Word)) == 0) return true;
  if (leaf.kind > LeafKind::kLastCode) return false;
  const uint64_t p = leaf_value(leaf, a), q = leaf_value(leaf, b);
  if (leaf.kind == LeafKind::kCompressed) return (p > q ? p - q : q - p) <= 1;
  if (leaf.kind == LeafKind::kAngle) return extra.angle.distance(p, q) <= 1;
  if (leaf.kind == LeafKind::kSmallestThree) return rotations_close(leaf, p, q);
  return false;
}

}  // namespace

void Layout::zero_baseline(Word* words) const {
  if (word_count_ != 0) std::memcpy(words, zero_words_.data(), word_count_ * sizeof(Word));
}

bool Layout::quantize(const void* const* host, Word* words) const {
  bool fits = columns_.quantize(host, words);
  for (const uint16_t index : columns_.others()) {
    const Leaf& leaf = leaves_[index];
    const auto* from = static_cast<const uint8_t*>(host[leaf.behaviour]);
    fits &= quantize_leaf(leaf, extras_[index], from, words + leaf.word);
  }
  return fits;
}

bool Layout::quantize_member(const LayoutNode& member, const void* const* host, Word* words) const {
  bool fits = true;
  for (uint32_t i = member.first_leaf; i < uint32_t{member.first_leaf} + member.leaf_count; ++i) {
    const Leaf& leaf = leaves_[i];
    const auto* from = static_cast<const uint8_t*>(host[leaf.behaviour]);
    fits &= quantize_leaf(leaf, extras_[i], from, words + leaf.word);
  }
  return fits;
}

void Layout::dequantize(const Word* words, void* const* host) const {
  columns_.dequantize(words, host);
  dequantize_others(words, host);
}

bool Layout::round(void* const* host, Word* words) const {
  if (!quantize(host, words)) {  // a clamped value differs from its words, whatever its kind
    dequantize(words, host);
    return false;
  }
  columns_.dequantize_inexact(words, host);
  dequantize_others(words, host);
  return true;
}

void Layout::dequantize_others(const Word* words, void* const* host) const {
  for (const uint16_t index : columns_.others()) {
    const Leaf& leaf = leaves_[index];
    auto* to = static_cast<uint8_t*>(host[leaf.behaviour]);
    dequantize_leaf(leaf, extras_[index], words + leaf.word, to);
  }
}

bool Layout::equal(const Word* a, const Word* b) const {
  return word_count_ == 0 || std::memcmp(a, b, word_count_ * sizeof(Word)) == 0;
}

bool Layout::approx_equal(const Word* a, const Word* b) const {
  if (equal(a, b)) return true;
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    if (!leaf_close(leaf, extras_[i], a + leaf.word, b + leaf.word)) return false;
  }
  return true;
}

bool Layout::prediction_equal(const Word* a, const Word* b) const {
  if (equal(a, b)) return true;
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    if (leaf.predicted && !leaf_close(leaf, extras_[i], a + leaf.word, b + leaf.word)) return false;
  }
  return true;
}

void Layout::dequantize_not_predicted(const Word* words, void* const* host) const {
  for (const uint16_t index : not_predicted_leaves_) {
    const Leaf& leaf = leaves_[index];
    dequantize_leaf(leaf, extras_[index], words + leaf.word, static_cast<uint8_t*>(host[leaf.behaviour]));
  }
}

uint64_t Layout::state_hash(const Word* words) const {
  uint64_t hash = 0x9E3779B97F4A7C15u ^ word_count_;
  for (size_t i = 0; i < word_count_; ++i) hash = mix(hash ^ words[i]) + 0x9E3779B97F4A7C15u;
  return mix(hash);
}

bool Layout::teleported(const Word* a, const Word* b) const {
  for (uint16_t index : teleport_leaves_) {
    const Leaf& leaf = leaves_[index];
    if (leaf_value(leaf, a + leaf.word) != leaf_value(leaf, b + leaf.word)) return true;
  }
  return false;
}

const LayoutNode* Layout::member(uint16_t prop_id) const {
  const size_t behaviour = prop_id >> 8;
  const size_t index = prop_id & 0xFFu;
  if (behaviour >= behaviours_.size() || index >= behaviours_[behaviour].node_count) return nullptr;
  return &nodes_[behaviours_[behaviour].first_node + index];
}

std::string Layout::member_name(uint16_t prop_id) const {
  const LayoutNode* node = member(prop_id);
  LATTICE_ASSERT(node);
  return behaviours_[node->behaviour].name + "." + node->name;
}

bool Layout::set_prop(Word* words, uint16_t prop_id, const void* data, size_t len) const {
  const LayoutNode* node = member(prop_id);
  if (!node || !data || len != node->host_bytes) return false;
  for (uint32_t i = node->first_leaf; i < uint32_t{node->first_leaf} + node->leaf_count; ++i) {
    Leaf leaf = leaves_[i];  // leaf offsets count from the behaviour, but `data` starts at the member
    leaf.host_offset -= node->host_offset;
    quantize_leaf(leaf, extras_[i], static_cast<const uint8_t*>(data), words + leaf.word);
  }
  return true;
}

size_t Layout::get_prop(const Word* words, uint16_t prop_id, void* out, size_t cap) const {
  const LayoutNode* node = member(prop_id);
  if (!node || !out || cap < node->host_bytes) return 0;
  std::memset(out, 0, node->host_bytes);
  for (uint32_t i = node->first_leaf; i < uint32_t{node->first_leaf} + node->leaf_count; ++i) {
    Leaf leaf = leaves_[i];
    leaf.host_offset -= node->host_offset;
    dequantize_leaf(leaf, extras_[i], words + leaf.word, static_cast<uint8_t*>(out));
  }
  return node->host_bytes;
}

// Looks for the first member that `is_it` says yes to, then within it. Null when there is none.
template <class IsIt>
const LayoutNode* Layout::find_first(const IsIt& is_it, std::string* path) const {
  for (const LayoutBehaviour& behaviour : behaviours_) {
    for (const LayoutNode& node : members_of(behaviour)) {
      const LayoutNode* at = &node;
      if (!is_it(*at)) continue;
      *path = behaviour.name + "." + at->name;
      while (at->child_count != 0) {  // at most LATTICE_MAX_NESTING deep
        const LayoutNode* next = nullptr;
        for (const LayoutNode& child : children_of(*at)) {
          if (!next && is_it(child)) next = &child;
        }
        LATTICE_ASSERT(next);
        *path += (at->kind == LayoutNode::Kind::kArray ? "" : ".") + next->name;
        at = next;
      }
      return at;
    }
  }
  return nullptr;
}

std::string Layout::first_difference(const Word* a, const Word* b) const {
  std::string path;
  const auto differs = [a, b](const LayoutNode& n) {
    return std::memcmp(a + n.first_word, b + n.first_word, n.word_count * sizeof(Word)) != 0;
  };
  find_first(differs, &path);
  return path;
}

std::string Layout::first_misfit(const void* const* host) const {
  std::vector<Word> words(word_count_);
  std::string text;
  const LayoutNode* node = find_first(
      [&](const LayoutNode& member) { return !quantize_member(member, host, words.data()); }, &text);
  for (uint32_t i = 0; node != nullptr && i < node->leaf_count; ++i) {
    const size_t index = size_t{node->first_leaf} + i;
    const Leaf& leaf = leaves_[index];
    const auto* from = static_cast<const uint8_t*>(host[leaf.behaviour]);
    if (quantize_leaf(leaf, extras_[index], from, words.data() + leaf.word)) continue;
    if (node->leaf_count > 1) text += std::string(".") + "xyzw"[i];  // a vector
    return text + leaf_misfit(leaf, extras_[index], from);
  }
  return text;
}

}  // namespace lattice::serialization
