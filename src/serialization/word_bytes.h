// Byte strings in state words. Word 0 is the length. The bytes follow, the first byte lowest, and unused
// bytes are zero. So equal strings are equal words on any host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "serialization/word.h"

namespace lattice::serialization {

/// The number of words for a string or blob of up to `capacity` bytes.
constexpr size_t byte_string_words(size_t capacity) {
  return 1 + (capacity + sizeof(Word) - 1) / sizeof(Word);
}

/// Sets a byte that is zero.
inline void set_word_byte(Word* words, size_t index, uint8_t byte) {
  words[1 + index / sizeof(Word)] |= static_cast<Word>(byte) << (8 * (index % sizeof(Word)));
}

inline void pack_word_bytes(Word* words, size_t word_count, size_t length, const uint8_t* bytes,
                            size_t byte_count) {
  words[0] = static_cast<Word>(length);
  std::memset(words + 1, 0, (word_count - 1) * sizeof(Word));
  for (size_t i = 0; i < byte_count; ++i) set_word_byte(words, i, bytes[i]);
}

inline uint8_t word_byte(const Word* words, size_t index) {
  return static_cast<uint8_t>(words[1 + index / sizeof(Word)] >> (8 * (index % sizeof(Word))));
}

inline void unpack_word_bytes(const Word* words, size_t byte_count, uint8_t* out) {
  for (size_t i = 0; i < byte_count; ++i) out[i] = word_byte(words, i);
}

}  // namespace lattice::serialization
