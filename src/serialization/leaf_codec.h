// One leaf between words and bits. decode_leaf accepts exactly the bits that encode_leaf can write for words
// that quantize_leaf can produce (for rotations: any unit rotation). So a decoded state has one encoding.
// `base` is the leaf's baseline words; only the differences read it. Source: §21.1, Y-01, Y-02,
// Y-05..Y-14.
#pragma once

#include <cstdint>

#include "lattice/authoring/bit_reader.h"
#include "lattice/authoring/bit_writer.h"
#include "serialization/leaf.h"

namespace lattice::serialization {

void encode_leaf_slow(BitWriter& writer, const Leaf& leaf, const Word* base, const Word* words);
bool decode_leaf_slow(BitReader& reader, const Leaf& leaf, const LeafExtra& extra, const Word* base,
                      Word* words);

inline void encode_leaf(BitWriter& writer, const Leaf& leaf, const Word* base, const Word* words) {
  if (leaf.kind <= LeafKind::kLastCode) {
    writer.WriteBits(leaf_value(leaf, words), leaf.bits);
  } else {
    encode_leaf_slow(writer, leaf, base, words);
  }
}

/// Writes all words of the leaf, or returns false.
inline bool decode_leaf(BitReader& reader, const Leaf& leaf, const LeafExtra& extra, const Word* base,
                        Word* words) {
  if (leaf.kind < LeafKind::kSmallestThree) {
    set_leaf_value(leaf, words, reader.ReadCode(leaf.bits, leaf.max_code));
    return reader.ok();
  }
  const bool is_byte = leaf.kind == LeafKind::kFixed && leaf.bits == 8;
  if (is_byte) {  // inputs are made of them
    words[0] = reader.ReadByte();
    return reader.ok();
  }
  return decode_leaf_slow(reader, leaf, extra, base, words);
}

}  // namespace lattice::serialization
