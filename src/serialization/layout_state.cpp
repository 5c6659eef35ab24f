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

// `pointer`, `bytes` further on. An integer does the sum, because what is in between may be outside of the
// caller's memory.
template <typename Byte>
Byte* moved(Byte* pointer, int64_t bytes) {
  return reinterpret_cast<Byte*>(reinterpret_cast<uintptr_t>(pointer) + static_cast<uintptr_t>(bytes));
}

}  // namespace

void Layout::zero_baseline(Word* words) const {
  if (word_count_ != 0) std::memcpy(words, zero_words_.data(), word_count_ * sizeof(Word));
}

bool Layout::quantize(const void* const* host, Word* words) const {
  if (is_straight_) return quantize_straight(host, words);
  bool fits = columns_.quantize(host, words);
  for (const uint16_t index : columns_.others()) {
    const Leaf& leaf = leaves_[index];
    const auto* from = static_cast<const uint8_t*>(host[leaf.behaviour]);
    fits &= quantize_leaf(leaf, extras_[index], from, words + leaf.word);
  }
  for (const uint16_t index : containers_) {
    const LayoutNode& node = nodes_[index];
    fits &= quantize_node(node, static_cast<const uint8_t*>(host[node.behaviour]), words);
  }
  return fits;
}

bool Layout::quantize_member(const LayoutNode& member, const void* const* host, Word* words) const {
  return quantize_node(member, static_cast<const uint8_t*>(host[member.behaviour]), words);
}

void Layout::dequantize(const Word* words, void* const* host) const {
  if (is_straight_) return dequantize_straight(words, host);
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
  for (const uint16_t index : containers_) {
    const LayoutNode& node = nodes_[index];
    dequantize_node(node, words, static_cast<uint8_t*>(host[node.behaviour]));
  }
}

bool Layout::equal(const Word* a, const Word* b) const {
  return word_count_ == 0 || std::memcmp(a, b, word_count_ * sizeof(Word)) == 0;
}

bool Layout::approx_equal(const Word* a, const Word* b) const {
  return equal(a, b) || all_close(a, b, true);
}

bool Layout::prediction_equal(const Word* a, const Word* b) const {
  return equal(a, b) || all_close(a, b, false);
}

bool Layout::all_close(const Word* a, const Word* b, bool not_predicted_too) const {
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    if (leaf.in_container || !(leaf.predicted || not_predicted_too)) continue;
    if (!leaf_close(leaf, extras_[i], a + leaf.word, b + leaf.word)) return false;
  }
  for (const uint16_t index : containers_) {
    const LayoutNode& node = nodes_[index];
    if ((node.predicted || not_predicted_too) && !close_node(node, a, b)) return false;
  }
  return true;
}

void Layout::dequantize_not_predicted(const Word* words, void* const* host) const {
  for (const uint16_t index : not_predicted_leaves_) {
    const Leaf& leaf = leaves_[index];
    dequantize_leaf(leaf, extras_[index], words + leaf.word, static_cast<uint8_t*>(host[leaf.behaviour]));
  }
  for (const uint16_t index : containers_) {
    const LayoutNode& node = nodes_[index];
    if (!node.predicted) dequantize_node(node, words, static_cast<uint8_t*>(host[node.behaviour]));
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
  // Offsets count from the behaviour, but `data` starts at the member.
  quantize_node(*node, moved(static_cast<const uint8_t*>(data), -int64_t{node->host_offset}), words);
  return true;
}

size_t Layout::get_prop(const Word* words, uint16_t prop_id, void* out, size_t cap) const {
  const LayoutNode* node = member(prop_id);
  if (!node || !out || cap < node->host_bytes) return 0;
  std::memset(out, 0, node->host_bytes);
  dequantize_node(*node, words, moved(static_cast<uint8_t*>(out), -int64_t{node->host_offset}));
  return node->host_bytes;
}

// What find_first() found, and how far the elements of lists moved it.
struct Layout::Found {
  const LayoutNode* node = nullptr;
  size_t words = 0;
  size_t bytes = 0;
};

// Looks for the first member that `is_it` says yes to, then within it; within a map it stops. Null when there
// is none. `words` is a state, for the lengths of lists.
template <class IsIt>
Layout::Found Layout::find_first(const Word* words, const IsIt& is_it, std::string* path) const {
  for (const LayoutBehaviour& behaviour : behaviours_) {
    for (const LayoutNode& node : members_of(behaviour)) {
      Found found{&node, 0, 0};
      if (!is_it(found)) continue;
      *path = behaviour.name + "." + node.name;
      Found next;
      do {  // at most LATTICE_MAX_NESTING deep
        next = {};
        const LayoutNode& at = *found.node;
        const bool is_list = at.kind == LayoutNode::Kind::kList;
        const size_t count = is_list ? words[at.first_word + found.words] : at.child_count;
        for (size_t i = 0; i < count && !next.node && at.kind != LayoutNode::Kind::kMap; ++i) {
          Found child{&nodes_[at.first_child + (is_list ? 0 : i)], found.words, found.bytes};
          if (is_list) child.words += i * at.element_words, child.bytes += i * at.element_bytes;
          if (at.kind == LayoutNode::Kind::kUnion && words[at.first_word + found.words] != i + 1) continue;
          if (!is_it(child)) continue;
          next = child;
          if (is_list) {
            path->append("[").append(std::to_string(i)).append("]");
          } else {
            path->append(at.kind == LayoutNode::Kind::kArray ? "" : ".").append(child.node->name);
          }
        }
        if (next.node) found = next;
      } while (next.node);
      return found;
    }
  }
  return {};
}

std::string Layout::first_difference(const Word* a, const Word* b) const {
  std::string path;
  const auto differs = [a, b](const Found& at) {
    const size_t first = at.node->first_word + at.words;
    return std::memcmp(a + first, b + first, at.node->word_count * sizeof(Word)) != 0;
  };
  find_first(b, differs, &path);
  return path;
}

std::string Layout::first_misfit(const void* const* host) const {
  std::vector<Word> words(word_count_);
  std::string text;
  quantize(host, words.data());
  const auto is_misfit = [&](const Found& at) {
    const auto* from = static_cast<const uint8_t*>(host[at.node->behaviour]);
    return !quantize_node(*at.node, moved(from, static_cast<int64_t>(at.bytes)), words.data() + at.words);
  };
  const Found found = find_first(words.data(), is_misfit, &text);
  if (!found.node) return text;
  const LayoutNode& node = *found.node;
  if (node.kind == LayoutNode::Kind::kMap) {
    return text + " has too many entries, two with one key, or a value that does not fit";
  }
  const size_t leaf_count = node.has_container ? 1 : node.leaf_count;
  for (uint32_t i = 0; i < leaf_count; ++i) {
    const size_t index = size_t{node.first_leaf} + i;
    const Leaf& leaf = leaves_[index];
    const uint8_t* from =
        moved(static_cast<const uint8_t*>(host[leaf.behaviour]), static_cast<int64_t>(found.bytes));
    if (quantize_leaf(leaf, extras_[index], from, words.data() + leaf.word + found.words)) continue;
    if (leaf_count > 1) text += std::string(".") + "xyzw"[i];  // a vector
    return text + leaf_misfit(leaf, extras_[index], from);
  }
  return text;
}

}  // namespace lattice::serialization
