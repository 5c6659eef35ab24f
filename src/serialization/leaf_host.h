// One leaf between host memory and words. `host` is the start of the leaf's behaviour structure. Memory is
// read and written bytewise, so host structures need no alignment. Invariant:
// quantize_leaf(dequantize_leaf(w)) == w for every w that quantize_leaf or a decoder produced. The exception
// is a rotation from another implementation that lies within a step of a tie (Y-08,
// lattice/authoring/quantize.h). Source: §21.1, Y-05..Y-14.
#pragma once

#include <cstdint>
#include <string>

#include "serialization/leaf.h"

namespace lattice::serialization {

/// Writes leaf.word_count words. A value that does not fit its leaf is replaced, and the result is false:
/// numbers out of range are clamped; NaN, unknown enum values, rotations without a finite length and custom
/// values that are too long count as what schema.h says; text is cut at the first byte that is not UTF-8. A
/// rotation of length zero fits: it is what an object starts with, and stands for no rotation.
bool quantize_leaf(const Leaf& leaf, const LeafExtra& extra, const uint8_t* host, Word* words);

/// Says of a value that quantize_leaf() replaces which one it is and what fits: " is VALUE and takes BOUNDS".
std::string leaf_misfit(const Leaf& leaf, const LeafExtra& extra, const uint8_t* host);

/// Writes the leaf's host bytes. Unused bytes of strings and blobs become zero.
void dequantize_leaf(const Leaf& leaf, const LeafExtra& extra, const Word* words, uint8_t* host);

/// The number of a leaf of a kind from kRanged to kVarintSigned, rotations excepted, as a double. Exact below
/// 2^53. For interpolation.
double leaf_number(const Leaf& leaf, const LeafExtra& extra, const Word* words);

/// Stores a double as the leaf's host number. For integers it is rounded to nearest and clamped to the host
/// type.
void store_host_number(const Leaf& leaf, double value, uint8_t* host);

/// True when two contents are equal, or when both are quantized and lie within one step of each other (S-02).
bool leaf_close(const Leaf& leaf, const LeafExtra& extra, const Word* a, const Word* b);

/// How far apart two contents of a kCustom leaf are by its own measure; 1 when it has none and they differ.
double custom_distance(const Leaf& leaf, const LeafExtra& extra, const Word* a, const Word* b);

/// Writes the host value of a kCustom leaf with a rule for it: at `t` of the way from `a` to `b`.
void interpolate_custom(const Leaf& leaf, const LeafExtra& extra, const Word* a, const Word* b, double t,
                        uint8_t* host);

/// The rotation of a kSmallestThree or kQuaternionFull leaf.
Quaternion leaf_rotation(const Leaf& leaf, const Word* words);

}  // namespace lattice::serialization
