// How the changed members of one mask lie on the wire, worked out once for the many entries that have it. A
// plan joins neighbouring members, so that a decoder asks the reader once for several and tests no forms.
// Made by Layout::plan(), used by Layout::decode_members(). It owns no memory, so that a mask that was never
// seen before allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "serialization/bit_window.h"
#include "serialization/word.h"

namespace lattice::serialization {

class Layout;

struct MemberPlan {
  static constexpr size_t kMaxBools = 16;
  static constexpr size_t kMaxFields = 48;  // even: see Read
  static constexpr size_t kMaxReads = 16;
  static constexpr size_t kMaxFlips = 32;

  /// One code. Its member's bit in the mask is `member`.
  struct Field {
    uint64_t member = 0;
    uint32_t word = 0;
    uint32_t max_code = 0;
    uint32_t bit_mask = 0;
    uint8_t shift = 0;                    ///< of its lowest bit within the read
    uint8_t rotation_component_bits = 0;  ///< 0: no rotation
  };
  /// Up to 64 bits that are read at once. `fields_end` is one past the last code in them. Their number is
  /// even: where it would not be, the last code stands there twice.
  struct Read {
    uint8_t bits = 0;
    uint8_t fields_end = 0;
  };

  const Layout* layout = nullptr;  ///< null: no plan
  uint64_t mask = 0;
  uint64_t bool_mask = 0;  ///< the bools in `mask`
  uint32_t word_count = 0;
  uint32_t bit_count = 0;   ///< of all reads
  bool whole = false;       ///< false: not all of the mask fits a plan, so its members are decoded one by one
  bool is_limited = false;  ///< there are codes that mean nothing
  uint8_t bool_count = 0;
  uint8_t read_count = 0;
  uint8_t field_count = 0;
  std::array<uint32_t, kMaxBools> bools{};
  std::array<Word, kMaxFlips> flips{};  ///< of a state of so many words: 1 where `bools` are, else 0
  std::array<Read, kMaxReads> reads{};
  std::array<Field, kMaxFields> fields{};

  /// Nothing joins the last read any more.
  void end_read();
  /// Reads the members of a whole plan: Layout::decode_members(). Inline, as it runs for each entry that a
  /// client decodes.
  bool decode(BitWindow& in, const Word* base, Word* out) const {
    copy_flipped(base, out);
    uint64_t changed = bool_mask;
    const Field* field = fields.data();
    for (size_t i = 0; i < read_count; ++i) {
      const uint64_t value = in.read(reads[i].bits);
      const Field* end = fields.data() + reads[i].fields_end;
      for (; field != end; field += 2) changed |= take_two(field, value, base, out);
    }
    return in.ok() && are_valid(changed, out);
  }

 private:
  // The baseline, with the bools flipped. Entries of one type differ in nothing but the masks, so it is the
  // same loop whatever the mask is: a processor that guesses its length wrong loses more than the loop costs.
  void copy_flipped(const Word* from, Word* to) const {
    if (word_count < 4 || word_count > kMaxFlips) {
      std::memcpy(to, from, word_count * sizeof(Word));
      for (size_t i = 0; i < bool_count; ++i) to[bools[i]] ^= 1u;
      return;
    }
    for (size_t i = 0; i + 4 < word_count; i += 4) flip_four(from, i, to);
    flip_four(from, word_count - 4, to);  // some of these once more
  }
  void flip_four(const Word* from, size_t first, Word* to) const {
    std::array<uint64_t, 2> words, flip;
    std::memcpy(words.data(), from + first, sizeof words);
    std::memcpy(flip.data(), flips.data() + first, sizeof flip);
    words[0] ^= flip[0], words[1] ^= flip[1];
    std::memcpy(to + first, words.data(), sizeof words);
  }
  // Takes two codes of what was read. Returns the members of which one differs from the baseline. By twos, as
  // masks differ in a number more often than in two, and a processor that guesses the end of the loop wrong
  // loses more than one number costs. All is read before anything is written: a code could be where a field
  // is, for all that a compiler knows.
  static uint64_t take_two(const Field* field, uint64_t value, const Word* base, Word* out) {
    const Field &one = field[0], &two = field[1];
    const uint32_t word_one = one.word, word_two = two.word;
    const Word code_one = static_cast<Word>(value >> one.shift) & one.bit_mask;
    const Word code_two = static_cast<Word>(value >> two.shift) & two.bit_mask;
    const uint64_t changed_one = code_one != base[word_one] ? one.member : 0;
    const uint64_t changed_two = code_two != base[word_two] ? two.member : 0;
    out[word_one] = code_one, out[word_two] = code_two;
    return changed_one | changed_two;
  }
  // No encoder marks an unchanged member as changed.
  bool are_valid(uint64_t changed, const Word* words) const {
    return changed == mask && (!is_limited || limits_hold(words));
  }
  bool limits_hold(const Word* words) const;
};

}  // namespace lattice::serialization
