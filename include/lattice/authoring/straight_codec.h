/// @file
/// Straight code for the numbers of a declared structure. The compiler knows every offset, width and bound,
/// so there is no table to walk. The library calls it in place of its own interpreter, with the same results
/// bit for bit. Source: docs/spec/data.md, docs/decisions/0041-straight-codecs.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "lattice/authoring/straight_bits.h"
#include "lattice/authoring/straight_number.h"
#include "lattice/authoring/straight_plan.h"
#include "lattice/schema.h"

/// @cond internal
namespace lattice::straight {

/// Code for member `kIndex` of a plan.
template <class P, size_t kIndex>
struct MemberCode {
  static constexpr Member m = P::kLists.members[kIndex];
  static constexpr uint64_t kBit = P::bit(kIndex);
  static constexpr auto kNumbers = std::make_index_sequence<m.number_count>();
  static constexpr bool kIsBool = P::is_bool(kIndex);
  static constexpr bool kHasBits = !P::is_without_bits(kIndex);

  LATTICE_STRAIGHT static bool quantize(const uint8_t* host, uint32_t* words) {
    if constexpr (m.state) {
      return [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
        bool fits = true;
        ((fits &= NumberCode<P, m.first_number + I>::quantize(host, words)), ...);
        return fits;
      }
      (kNumbers);
    }
    return true;
  }
  LATTICE_STRAIGHT static void dequantize(const uint32_t* words, uint8_t* host) {
    if constexpr (m.state) {
      [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
        (NumberCode<P, m.first_number + I>::dequantize(words, host), ...);
      }
      (kNumbers);
    }
  }
  LATTICE_STRAIGHT static uint64_t changed(const uint32_t* base, const uint32_t* current) {
    return difference(base, current) != 0 ? kBit : 0;
  }
  /// Not 0 when the words differ.
  LATTICE_STRAIGHT static uint32_t difference(const uint32_t* base, const uint32_t* current) {
    if constexpr (m.word_count > 8) {
      return std::memcmp(base + m.first_word, current + m.first_word, m.word_count * 4) != 0;
    } else {
      return [&]<uint32_t... I>(std::integer_sequence<uint32_t, I...>) LATTICE_STRAIGHT_LAMBDA {
        return ((base[m.first_word + I] ^ current[m.first_word + I]) | ...);
      }
      (std::make_integer_sequence<uint32_t, m.word_count>());
    }
  }
  /// `joined`, and behind it the fields of a member that is_joined.
  LATTICE_STRAIGHT static uint64_t join(uint64_t joined, const uint32_t* words) {
    return [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
      ((joined = joined << P::kLists.numbers[m.first_number + I].bits |
                 NumberCode<P, m.first_number + I>::field(words)),
       ...);
      return joined;
    }
    (kNumbers);
  }
  /// Takes the fields back, which are the low bits of `joined`. The highest bit of the result is set for bits
  /// that no encoder writes.
  LATTICE_STRAIGHT static uint64_t part(uint64_t joined, uint32_t* out) {
    return [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
      unsigned left = m.bits;
      uint64_t faults = 0;
      ((left -= P::kLists.numbers[m.first_number + I].bits,
        faults |= NumberCode<P, m.first_number + I>::take_field(
            joined >> left & low_bits(P::kLists.numbers[m.first_number + I].bits), out)),
       ...);
      return faults;
    }
    (kNumbers);
  }
  /// Writes the member, which travels.
  LATTICE_STRAIGHT static void encode(Writer& w, const uint32_t* base, const uint32_t* current) {
    if constexpr (m.is_joined) {
      w.put<m.bits>(join(0, current));
    } else {
      [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
        (NumberCode<P, m.first_number + I>::encode(w, base, current), ...);
      }
      (kNumbers);
    }
  }
  /// As part().
  LATTICE_STRAIGHT static uint64_t decode(Reader& r, const uint32_t* base, uint32_t* out) {
    if constexpr (m.is_joined) {
      return part(r.take<m.bits>(), out);
    } else {
      return [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
        uint64_t faults = 0;
        ((faults |= NumberCode<P, m.first_number + I>::decode(r, base, out)), ...);
        return faults;
      }
      (kNumbers);
    }
  }
  /// The same for words that no encoder marks, because they are those of the baseline.
  LATTICE_STRAIGHT static uint64_t same(const uint32_t* base, const uint32_t* out) {
    return uint64_t{difference(base, out)} - 1;
  }

  // The same if the member is marked.
  LATTICE_STRAIGHT static void encode_marked(Writer& w, uint64_t mask, const uint32_t* base,
                                             const uint32_t* current) {
    if constexpr (m.wire && kHasBits) {
      if ((mask & kBit) != 0) encode(w, base, current);
    }
  }
  LATTICE_STRAIGHT static uint64_t decode_marked(Reader& r, uint64_t mask, const uint32_t* base,
                                                 uint32_t* out) {
    if constexpr (kIsBool) {
      out[m.first_word] ^= (mask & kBit) != 0 ? 1u : 0u;  // where it was as in `base`
    } else if constexpr (m.wire) {
      if ((mask & kBit) == 0) return 0;
      const uint64_t faults = decode(r, base, out);
      return faults | same(base, out);
    }
    return 0;
  }

  // The same where all members with bits of their own are marked. `kJoined` bits of neighbours are one field:
  // it is written behind the last of them, and read before the first; `kBehind` of the bits follow behind
  // this member.
  template <unsigned kJoined, unsigned kBehind>
  LATTICE_STRAIGHT static void encode_all(Writer& w, uint64_t& joined, const uint32_t* base,
                                          const uint32_t* current) {
    if constexpr (m.is_joined && kHasBits) {
      joined = join(joined, current);
      if constexpr (kBehind == 0) w.put<kJoined>(joined), joined = 0;
    } else if constexpr (m.wire && kHasBits) {
      encode(w, base, current);
    }
  }
  template <unsigned kJoined, unsigned kBehind>
  LATTICE_STRAIGHT static uint64_t decode_all(Reader& r, uint64_t& joined, uint64_t mask,
                                              const uint32_t* base, uint32_t* out) {
    if constexpr (!kHasBits) {
      return decode_marked(r, mask, base, out);
    } else if constexpr (m.is_joined) {
      if constexpr (kBehind + m.bits == kJoined) joined = r.take<kJoined>();
      const uint64_t faults = part(joined >> kBehind, out);
      return faults | same(base, out);
    } else if constexpr (m.wire) {
      const uint64_t faults = decode(r, base, out);
      return faults | same(base, out);
    }
    return 0;
  }
  static constexpr uint64_t low_bits(unsigned bits) { return (uint64_t{1} << bits) - 1; }  // of up to 57
};

/// The functions of lattice_codec_desc for one structure.
template <class Holder>
struct Code {
  using P = Plan<Holder>;
  static constexpr auto kMembers = std::make_index_sequence<P::kMembers>();

  static uint32_t quantize(const void* host, uint32_t* words) {
    const auto* from = static_cast<const uint8_t*>(host);
    return [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
      bool fits = true;
      ((fits &= MemberCode<P, I>::quantize(from, words)), ...);
      return fits ? 1u : 0u;
    }
    (kMembers);
  }
  static void dequantize(const uint32_t* words, void* host) {
    auto* to = static_cast<uint8_t*>(host);
    [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
      (MemberCode<P, I>::dequantize(words, to), ...);
    }
    (kMembers);
  }
  static uint64_t changed(const uint32_t* base, const uint32_t* current) {
    if constexpr (P::kWords <= 64) {
      return members_of(different_words<P::kWords>(base, current), std::make_index_sequence<kWide.count>(),
                        std::make_index_sequence<kRuns.count>());
    } else {
      return [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
        return (MemberCode<P, I>::changed(base, current) | ... | uint64_t{0});
      }
      (kMembers);
    }
  }
  static void encode(lattice_bit_output* out, uint64_t mask, const uint32_t* base, const uint32_t* current) {
    Writer w(*out);
    [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
      if ((mask | kWithoutBits) == kWire) {  // as a first state often is
        uint64_t joined = 0;
        (MemberCode<P, I>::template encode_all<kJoins.bits[I], kJoins.behind[I]>(w, joined, base, current),
         ...);
      } else {
        (MemberCode<P, I>::encode_marked(w, mask, base, current), ...);
      }
    }
    (kMembers);
    w.end(out);
  }
  static uint32_t decode(lattice_bit_input* in, uint64_t mask, const uint32_t* base, uint32_t* out) {
    Reader r(*in);
    uint64_t faults = 0;
    [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
      if ((mask | kWithoutBits) == kWire) {
        uint64_t joined = 0;
        ((faults |= MemberCode<P, I>::template decode_all<kJoins.bits[I], kJoins.behind[I]>(r, joined, mask,
                                                                                            base, out)),
         ...);
      } else {
        ((faults |= MemberCode<P, I>::decode_marked(r, mask, base, out)), ...);
      }
    }
    (kMembers);
    in->position_bits = r.position();
    return faults >> 63 == 0 ? 1 : 0;
  }

  static constexpr uint64_t kWire = P::members_that(&Member::wire);
  static constexpr uint64_t kWithoutBits = [] {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < P::kMembers; ++i) mask |= P::is_without_bits(i) ? P::bit(i) : 0;
    return mask;
  }();
  // Which neighbours are one field of up to 63 bits when all members are marked: by member, the bits of the
  // whole field, and those behind the member. Members without bits of their own lie in none.
  struct Joins {
    uint32_t bits[P::kMembers + 1] = {};
    uint32_t behind[P::kMembers + 1] = {};
  };
  static constexpr Joins kJoins = [] {
    Joins joins;
    const auto& members = P::kLists.members;
    const auto skips = [](uint32_t i) { return P::is_without_bits(i) || !P::kLists.members[i].wire; };
    for (uint32_t first = 0; first < P::kMembers;) {
      uint32_t end = first, bits = 0;
      for (; end < P::kMembers; ++end) {
        if (skips(end)) continue;
        if (!members[end].is_joined || bits + members[end].bits > 63) break;
        bits += members[end].bits;
      }
      uint32_t behind = bits;
      for (uint32_t i = first; i < end; ++i) {
        if (skips(i)) continue;
        behind -= members[i].bits;
        joins.bits[i] = bits, joins.behind[i] = behind;
      }
      first = end > first ? end : first + 1;
    }
    return joins;
  }();

  // From the words that differ to the members, by masks of words in which the last word is lowest. First the
  // last word of each member speaks for all of its words. Between two members of several words, the bits of
  // members lie as those of their last words do, a number of places higher.
  struct Masks {
    uint64_t words[65] = {};
    uint32_t shift[65] = {};
    size_t count = 0;
    constexpr void add(uint64_t mask, uint32_t places) { words[count] = mask, shift[count++] = places; }
  };
  static constexpr uint32_t last_word(const Member& m) {  // its bit
    return P::kWords - m.first_word - m.word_count;
  }
  static constexpr Masks kWide = [] {
    Masks wide;
    for (uint32_t i = 0; i < P::kMembers && P::kWords <= 64; ++i) {
      const Member& m = P::kLists.members[i];
      if (m.word_count > 1) wide.add((~uint64_t{0} >> (64 - m.word_count)) << last_word(m), last_word(m));
    }
    return wide;
  }();
  static constexpr Masks kRuns = [] {
    Masks runs;
    for (uint32_t i = 0; i < P::kMembers && P::kWords <= 64; ++i) {
      const uint32_t last = last_word(P::kLists.members[i]), places = last - (P::kMembers - 1 - i);
      if (runs.count == 0 || runs.shift[runs.count - 1] != places) runs.add(0, places);
      runs.words[runs.count - 1] |= uint64_t{1} << last;
    }
    return runs;
  }();
  template <size_t... kWideOnes, size_t... kRun>
  LATTICE_STRAIGHT static uint64_t members_of(uint64_t words, std::index_sequence<kWideOnes...>,
                                              std::index_sequence<kRun...>) {
    const uint64_t all =
        (words | ... | (uint64_t{(words & kWide.words[kWideOnes]) != 0} << kWide.shift[kWideOnes]));
    return (((all & kRuns.words[kRun]) >> kRuns.shift[kRun]) | ...);
  }

  /// Whether straight code fits the structure: one mask of up to 64 bits, and something to do.
  static constexpr bool kFits =
      P::kMembers <= 64 && P::members_that(&Member::state) != 0 && P::kMaxBits <= LATTICE_MAX_CODEC_BITS;
  static constexpr lattice_codec_desc kDesc = {
      sizeof(lattice_codec_desc),
      P::kWords,
      P::kMaxBits,
      P::kMembers,
      P::members_that(&Member::state),
      kWire,
      &quantize,
      &dequantize,
      &changed,
      &encode,
      &decode,
  };
};

}  // namespace lattice::straight
/// @endcond
