// Layout: lists, maps and unions. Only what counts is read from host memory and travels; the words of what
// does not count are those of the zero baseline. One child node stands for all elements of a list or a map:
// pointers to words and to host memory are shifted by the elements that lie before.
//
// Changes against a baseline (D-62..D-64), behind the changed bit of the member:
//
//   list     1 bit length changed · [length]
//            for each element up to the new length: 1 bit changed · [its changes; a bool none]
//   map      for each entry of the baseline: 1 bit touched · [1 bit removed · [its changes without the key]]
//            while there is room: 1 bit another · [the new entry, whole], keys ascending
//   union    1 bit tag changed · [tag] · the alternative: whole behind a tag, else its changes
//
// Whole: the length and that many elements; a map's with keys ascending; the tag and the alternative.
#include <algorithm>
#include <cstring>

#include "serialization/layout.h"
#include "serialization/leaf_codec.h"
#include "serialization/leaf_host.h"

namespace lattice::serialization {
namespace {

using Kind = LayoutNode::Kind;

// What is sent whole does not know its baseline (§21.4): differences in it are taken against zero.
constexpr Word kNoBase[2] = {0, 0};

}  // namespace

void Layout::zero_node(const LayoutNode& node, Word* words) const {
  std::copy_n(zero_words_.data() + node.first_word, node.word_count, words + node.first_word);
}

// The elements from `first` on.
void Layout::zero_elements(const LayoutNode& node, size_t first, Word* words) const {
  const size_t at = node.first_word + 1 + first * node.element_words;
  std::copy_n(zero_words_.data() + at, (node.capacity - first) * node.element_words, words + at);
}

bool Layout::quantize_node(const LayoutNode& node, const uint8_t* host, Word* words) const {
  bool fits = true;
  if (!node.has_container) {
    for (uint32_t i = node.first_leaf; i < uint32_t{node.first_leaf} + node.leaf_count; ++i) {
      fits &= quantize_leaf(leaves_[i], extras_[i], host, words + leaves_[i].word);
    }
    return fits;
  }
  if (node.kind < Kind::kList) {
    for (const LayoutNode& child : children_of(node)) fits &= quantize_node(child, host, words);
    return fits;
  }
  fits = quantize_leaf(leaves_[node.first_leaf], extras_[node.first_leaf], host, words + node.first_word);
  const size_t count = words[node.first_word];
  if (node.kind == Kind::kUnion) {
    for (const LayoutNode& child : children_of(node)) zero_node(child, words);
    return count == 0 ? fits : fits & quantize_node(nodes_[node.first_child + count - 1], host, words);
  }
  const LayoutNode& element = nodes_[node.first_child];
  for (size_t i = 0; i < count; ++i) {
    fits &= quantize_node(element, host + i * node.element_bytes, words + i * node.element_words);
  }
  zero_elements(node, count, words);
  return node.kind == Kind::kMap ? sort_map(node, words) & fits : fits;
}

void Layout::dequantize_node(const LayoutNode& node, const Word* words, uint8_t* host) const {
  if (!node.has_container) {
    for (uint32_t i = node.first_leaf; i < uint32_t{node.first_leaf} + node.leaf_count; ++i) {
      dequantize_leaf(leaves_[i], extras_[i], words + leaves_[i].word, host);
    }
    return;
  }
  if (node.kind < Kind::kList) {
    for (const LayoutNode& child : children_of(node)) dequantize_node(child, words, host);
    return;
  }
  const size_t count = begin_container(node, words, host);
  if (node.kind == Kind::kUnion) {
    if (count != 0) dequantize_node(nodes_[node.first_child + count - 1], words, host);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    dequantize_node(nodes_[node.first_child], words + i * node.element_words, host + i * node.element_bytes);
  }
}

// Writes the length or the tag, and zeros where nothing will be written. Returns the length or the tag.
size_t Layout::begin_container(const LayoutNode& node, const Word* words, uint8_t* host) const {
  const size_t count = words[node.first_word];
  if (node.kind == Kind::kUnion) {
    for (const LayoutNode& child : children_of(node)) {
      std::memset(host + child.host_offset, 0, child.host_bytes);
    }
  } else {
    const size_t used = count * node.element_bytes;
    std::memset(host + node.host_offset + used, 0, size_t{node.capacity} * node.element_bytes - used);
  }
  dequantize_leaf(leaves_[node.first_leaf], extras_[node.first_leaf], words + node.first_word, host);
  return count;
}

void Layout::interpolate_node(const LayoutNode& node, const Word* a, const Word* b, double t,
                              uint8_t* host) const {
  if (node.kind == Kind::kMap || (node.kind == Kind::kUnion && a[node.first_word] != b[node.first_word])) {
    return dequantize_node(node, a, host);
  }
  if (!node.has_container) {
    for (uint32_t i = node.first_leaf; i < uint32_t{node.first_leaf} + node.leaf_count; ++i) {
      interpolate_leaf(i, a, b, t, host);
    }
    return;
  }
  if (node.kind < Kind::kList) {
    for (const LayoutNode& child : children_of(node)) interpolate_node(child, a, b, t, host);
    return;
  }
  const size_t count = begin_container(node, a, host);
  if (node.kind == Kind::kUnion) {
    if (count != 0) interpolate_node(nodes_[node.first_child + count - 1], a, b, t, host);
    return;
  }
  const LayoutNode& element = nodes_[node.first_child];
  const size_t in_both = std::min<size_t>(count, b[node.first_word]);
  for (size_t i = 0; i < count; ++i) {
    const size_t shift = i * node.element_words;
    uint8_t* out = host + i * node.element_bytes;
    if (i < in_both) {
      interpolate_node(element, a + shift, b + shift, t, out);
    } else {
      dequantize_node(element, a + shift, out);
    }
  }
}

bool Layout::close_node(const LayoutNode& node, const Word* a, const Word* b) const {
  if (!node.has_container) {
    for (uint32_t i = node.first_leaf; i < uint32_t{node.first_leaf} + node.leaf_count; ++i) {
      if (!leaf_close(leaves_[i], extras_[i], a + leaves_[i].word, b + leaves_[i].word)) return false;
    }
    return true;
  }
  if (node.kind >= Kind::kList && a[node.first_word] != b[node.first_word]) return false;
  if (node.kind <= Kind::kArray || node.kind == Kind::kUnion) {  // alternatives that do not count are equal
    for (const LayoutNode& child : children_of(node)) {
      if (!close_node(child, a, b)) return false;
    }
    return true;
  }
  for (size_t i = 0; i < a[node.first_word]; ++i) {
    const size_t shift = i * node.element_words;
    if (!close_node(nodes_[node.first_child], a + shift, b + shift)) return false;
  }
  return true;
}

// The number of a key, so that unsigned numbers compare as the keys do in host memory (lattice::Map).
uint64_t Layout::key_of(const LayoutNode& map, const Word* words) const {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const uint16_t index = nodes_[nodes_[map.first_child].first_child].first_leaf;
  const Leaf& key = leaves_[index];
  const uint64_t value = leaf_value(key, words + key.word);
  if (key.kind == LeafKind::kVarintSigned) return static_cast<uint64_t>(un_zig_zag(value)) ^ kSign;
  if (key.kind == LeafKind::kEnum && !extras_[index].enum_values.empty()) {
    return static_cast<uint64_t>(extras_[index].enum_values[static_cast<size_t>(value)]) ^ kSign;
  }
  const bool is_signed = key.host == HostKind::kI8 || key.host == HostKind::kI16 ||
                         key.host == HostKind::kI32 || key.host == HostKind::kI64;
  if (key.kind != LeafKind::kFixed || !is_signed) return value;
  const unsigned unused = 64u - key.bits;
  return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused) ^ kSign;
}

// Puts the entries in the order of their keys. Of two with one key the first stays, and the result is false.
bool Layout::sort_map(const LayoutNode& map, Word* words) const {
  const size_t size = map.element_words;
  const size_t count = words[map.first_word];
  Word* entries = words + map.first_word + 1;
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t key = key_of(map, words + i * size);
    size_t low = 0, high = kept;
    if (kept != 0 && key_of(map, words + (kept - 1) * size) < key) low = kept;  // the usual case
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (key_of(map, words + middle * size) < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low < kept && key_of(map, words + low * size) == key) continue;
    std::rotate(entries + low * size, entries + i * size, entries + (i + 1) * size);
    ++kept;
  }
  if (kept == count) return true;
  words[map.first_word] = static_cast<Word>(kept);
  zero_elements(map, kept, words);
  return false;
}

// ---- Whole -----------------------------------------------------------------------------------------

void Layout::encode_whole_node(BitWriter& writer, const LayoutNode& node, const Word* words) const {
  if (!node.has_container) {
    for (const Leaf& leaf : leaves_of(node)) encode_leaf(writer, leaf, kNoBase, words + leaf.word);
    return;
  }
  if (node.kind < Kind::kList) {
    for (const LayoutNode& child : children_of(node)) encode_whole_node(writer, child, words);
    return;
  }
  const size_t count = words[node.first_word];
  writer.WriteBits(count, leaves_[node.first_leaf].bits);
  if (node.kind == Kind::kUnion) {
    if (count != 0) encode_whole_node(writer, nodes_[node.first_child + count - 1], words);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    encode_whole_node(writer, nodes_[node.first_child], words + i * node.element_words);
  }
}

bool Layout::decode_whole_node(BitReader& reader, const LayoutNode& node, Word* out) const {
  if (!node.has_container) {
    for (uint32_t i = node.first_leaf; i < uint32_t{node.first_leaf} + node.leaf_count; ++i) {
      if (!decode_leaf(reader, leaves_[i], extras_[i], kNoBase, out + leaves_[i].word)) return false;
    }
    return true;
  }
  if (node.kind < Kind::kList) {
    for (const LayoutNode& child : children_of(node)) {
      if (!decode_whole_node(reader, child, out)) return false;
    }
    return true;
  }
  zero_node(node, out);
  const Leaf& head = leaves_[node.first_leaf];
  const uint64_t count = reader.ReadCode(head.bits, head.max_code);
  if (!reader.ok()) return false;
  out[node.first_word] = static_cast<Word>(count);
  if (node.kind == Kind::kUnion) {
    return count == 0 ||
           decode_whole_node(reader, nodes_[node.first_child + static_cast<size_t>(count) - 1], out);
  }
  for (size_t i = 0; i < count; ++i) {
    Word* at = out + i * node.element_words;
    if (!decode_whole_node(reader, nodes_[node.first_child], at)) return false;
    if (node.kind == Kind::kMap && i != 0 && key_of(node, at - node.element_words) >= key_of(node, at)) {
      return false;  // keys ascend, so no two are equal
    }
  }
  return true;
}

// ---- Changes ---------------------------------------------------------------------------------------

void Layout::encode_container(BitWriter& writer, const LayoutNode& node, const Word* base,
                              const Word* current) const {
  if (node.kind == Kind::kList) return encode_list(writer, node, base, current);
  if (node.kind == Kind::kMap) return encode_map(writer, node, base, current);
  encode_union(writer, node, base, current);
}

bool Layout::decode_container(BitReader& reader, const LayoutNode& node, const Word* base, Word* out) const {
  if (node.kind == Kind::kList) return decode_list(reader, node, base, out);
  if (node.kind == Kind::kMap) return decode_map(reader, node, base, out);
  return decode_union(reader, node, base, out);
}

void Layout::encode_list(BitWriter& writer, const LayoutNode& node, const Word* base,
                         const Word* current) const {
  const Word count = current[node.first_word];
  const bool resized = base[node.first_word] != count;
  writer.WriteBool(resized);
  if (resized) writer.WriteBits(count, leaves_[node.first_leaf].bits);
  const LayoutNode& element = nodes_[node.first_child];
  for (size_t i = 0; i < count; ++i) {
    const size_t shift = i * node.element_words;
    const bool changed = !same_words(base + shift, current + shift, element);
    writer.WriteBool(changed);
    if (changed) encode_changed(writer, element, base + shift, current + shift);
  }
}

bool Layout::decode_list(BitReader& reader, const LayoutNode& node, const Word* base, Word* out) const {
  Word count = base[node.first_word];
  if (reader.ReadBool()) {
    const Leaf& head = leaves_[node.first_leaf];
    count = static_cast<Word>(reader.ReadCode(head.bits, head.max_code));
    if (!reader.ok() || count == base[node.first_word]) return false;
    out[node.first_word] = count;
    if (count < base[node.first_word]) zero_elements(node, count, out);
  }
  const LayoutNode& element = nodes_[node.first_child];
  for (size_t i = 0; i < count; ++i) {
    const size_t shift = i * node.element_words;
    if (!reader.ReadBool()) continue;
    if (!decode_changed(reader, element, base + shift, out + shift)) return false;
    if (same_words(base + shift, out + shift, element)) return false;
  }
  return reader.ok();
}

// The changes of an entry that keeps its key.
void Layout::encode_value(BitWriter& writer, const LayoutNode& entry, const Word* base,
                          const Word* current) const {
  const std::span<const LayoutNode> values = children_of(entry).subspan(1);
  if (entry.kind == Kind::kStructDelta) return encode_nodes(writer, values, base, current);
  for (const LayoutNode& value : values) encode_whole_node(writer, value, current);
}

bool Layout::decode_value(BitReader& reader, const LayoutNode& entry, const Word* base, Word* out) const {
  const std::span<const LayoutNode> values = children_of(entry).subspan(1);
  if (entry.kind == Kind::kStructDelta) return decode_nodes(reader, values, base, out);
  for (const LayoutNode& value : values) {
    if (!decode_whole_node(reader, value, out)) return false;
  }
  return true;
}

void Layout::encode_map(BitWriter& writer, const LayoutNode& node, const Word* base,
                        const Word* current) const {
  const LayoutNode& entry = nodes_[node.first_child];
  const size_t size = node.element_words;
  const size_t before = base[node.first_word], after = current[node.first_word];
  size_t kept = 0;
  for (size_t i = 0, k = 0; i < before; ++i) {
    const Word* was = base + i * size;
    const uint64_t key = key_of(node, was);
    while (k < after && key_of(node, current + k * size) < key) ++k;
    const Word* is = current + k * size;
    if (k == after || key_of(node, is) != key) {
      writer.WriteBits(3, 2);  // touched, removed
      continue;
    }
    ++kept;
    const bool touched = !same_words(was, is, entry);
    writer.WriteBits(touched ? 2 : 0, touched ? 2 : 1);
    if (touched) encode_value(writer, entry, was, is);
  }
  for (size_t i = 0, k = 0; k < after; ++k) {
    const Word* is = current + k * size;
    const uint64_t key = key_of(node, is);
    while (i < before && key_of(node, base + i * size) < key) ++i;
    if (i < before && key_of(node, base + i * size) == key) continue;
    writer.WriteBool(true);
    encode_whole_node(writer, entry, is);
    ++kept;
  }
  if (kept < node.capacity) writer.WriteBool(false);
}

bool Layout::decode_map(BitReader& reader, const LayoutNode& node, const Word* base, Word* out) const {
  const LayoutNode& entry = nodes_[node.first_child];
  const size_t size = node.element_words;
  const size_t before = base[node.first_word];
  size_t kept = 0;
  for (size_t i = 0; i < before; ++i) {
    const Word* was = base + i * size;
    const bool touched = reader.ReadBool();
    if (touched && reader.ReadBool()) continue;  // removed
    Word* is = out + kept++ * size;
    std::copy_n(was + entry.first_word, size, is + entry.first_word);
    if (!touched) continue;
    if (!decode_value(reader, entry, was, is)) return false;
    if (same_words(was, is, entry)) return false;
  }
  const size_t stayed = kept;
  size_t old = 0;
  while (kept < node.capacity && reader.ReadBool()) {
    Word* is = out + kept * size;
    zero_node(entry, is);
    if (!decode_whole_node(reader, entry, is)) return false;
    const uint64_t key = key_of(node, is);
    if (kept != stayed && key_of(node, is - size) >= key) return false;
    while (old < before && key_of(node, base + old * size) < key) ++old;
    if (old < before && key_of(node, base + old * size) == key) return false;  // it changed, and is not new
    ++kept;
  }
  if (!reader.ok()) return false;
  out[node.first_word] = static_cast<Word>(kept);
  zero_elements(node, kept, out);
  return sort_map(node, out);
}

void Layout::encode_union(BitWriter& writer, const LayoutNode& node, const Word* base,
                          const Word* current) const {
  const Word tag = current[node.first_word];
  const bool other = base[node.first_word] != tag;
  writer.WriteBool(other);
  if (other) writer.WriteBits(tag, leaves_[node.first_leaf].bits);
  if (tag == 0) return;
  const LayoutNode& active = nodes_[node.first_child + tag - 1];
  if (other) return encode_whole_node(writer, active, current);
  encode_changed(writer, active, base, current);
}

bool Layout::decode_union(BitReader& reader, const LayoutNode& node, const Word* base, Word* out) const {
  const Word before = base[node.first_word];
  if (!reader.ReadBool()) {
    return before != 0 && decode_changed(reader, nodes_[node.first_child + before - 1], base, out);
  }
  const Leaf& head = leaves_[node.first_leaf];
  const auto tag = static_cast<Word>(reader.ReadCode(head.bits, head.max_code));
  if (!reader.ok() || tag == before) return false;
  zero_node(node, out);
  out[node.first_word] = tag;
  return tag == 0 || decode_whole_node(reader, nodes_[node.first_child + tag - 1], out);
}

}  // namespace lattice::serialization
