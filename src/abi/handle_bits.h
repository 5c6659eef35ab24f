// How a handle packs kind, slots and generations into the bits of a pointer. With pointers of 32 bits, fewer
// worlds and connections can live, and a generation comes round sooner.
//
//            kind | world: slot | generation | connection: slot | generation
//   64 bits     2 |          12 |         14 |               14 |         22
//   32 bits     2 |           4 |          6 |               11 |          9
#pragma once

#include <cstdint>

namespace lattice::abi {

enum class HandleKind : uint8_t { kNone, kWorld, kConnection, kNetsim };

template <class Word>
struct HandleBits {
  static constexpr bool kWide = sizeof(Word) == 8;
  static_assert(kWide || sizeof(Word) == 4);
  static constexpr unsigned kSlotBits = kWide ? 12 : 4;
  static constexpr unsigned kGenerationBits = kWide ? 14 : 6;
  static constexpr unsigned kConnectionSlotBits = kWide ? 14 : 11;
  static constexpr unsigned kConnectionGenerationBits = kWide ? 22 : 9;
  static_assert(2 + kSlotBits + kGenerationBits + kConnectionSlotBits + kConnectionGenerationBits ==
                8 * sizeof(Word));

  HandleKind kind = HandleKind::kNone;
  uint32_t slot = 0;
  uint32_t generation = 0;
  uint32_t connection_slot = 0;
  uint32_t connection_generation = 0;

  /// A world or a network, and with nothing where a connection would stand: else the number was damaged.
  constexpr bool is_of(HandleKind wanted) const {
    return kind == wanted && connection_slot == 0 && connection_generation == 0;
  }
  /// The low bits of each field.
  constexpr Word pack() const {
    Word word = static_cast<Word>(kind);
    word = word << kSlotBits | (slot & low(kSlotBits));
    word = word << kGenerationBits | (generation & low(kGenerationBits));
    word = word << kConnectionSlotBits | (connection_slot & low(kConnectionSlotBits));
    return word << kConnectionGenerationBits | (connection_generation & low(kConnectionGenerationBits));
  }
  static constexpr HandleBits unpack(Word word) {
    HandleBits bits;
    bits.connection_generation = take(word, kConnectionGenerationBits);
    bits.connection_slot = take(word, kConnectionSlotBits);
    bits.generation = take(word, kGenerationBits);
    bits.slot = take(word, kSlotBits);
    bits.kind = static_cast<HandleKind>(word);
    return bits;
  }
  /// Whether two generations of a world or network are one to a handle, and likewise of a connection.
  static constexpr bool same_generation(uint32_t a, uint32_t b) {
    return ((a ^ b) & low(kGenerationBits)) == 0;
  }
  static constexpr bool same_connection_generation(uint32_t a, uint32_t b) {
    return ((a ^ b) & low(kConnectionGenerationBits)) == 0;
  }

 private:
  static constexpr uint32_t low(unsigned bits) { return (uint32_t{1} << bits) - 1; }
  static constexpr uint32_t take(Word& word, unsigned bits) {
    const uint32_t field = static_cast<uint32_t>(word) & low(bits);
    word >>= bits;
    return field;
  }
};

using Handle = HandleBits<uintptr_t>;

}  // namespace lattice::abi
