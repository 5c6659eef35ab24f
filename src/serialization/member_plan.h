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
    if (read_count <= 1) [[likely]] {
      const uint64_t value = in.read(reads[0].bits);
      return take(value, base, out) && in.ok();
    }
    BitWindow copy = in;  // only the copy has an address, so `in` stays in registers
    const bool ok = decode_long(copy, base, out);
    in = copy;
    return ok;
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
  // The only read of the plan was `value`. A function of its own: the loop needs all registers, and so does
  // the one that calls it.
  bool take(uint64_t value, const Word* base, Word* out) const;
  bool decode_long(BitWindow& in, const Word* base, Word* out) const;
  // Takes the codes in a read, up to `end`. Returns the members of which one differs from the baseline.
  static uint64_t take_codes(uint64_t value, const Field* first, const Field* end, const Word* base,
                             Word* out);
  // No encoder marks an unchanged member as changed.
  bool are_valid(uint64_t changed, const Word* words) const {
    return changed == mask && (!is_limited || limits_hold(words));
  }
  bool limits_hold(const Word* words) const;
};

}  // namespace lattice::serialization
