/// @file
/// What the compiler knows of the numbers of a declared structure: kind, bounds, place in host memory, words
/// and bits. Straight code (straight_codec.h) is made from it. Source: docs/spec/data.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lattice/authoring/quantize.h"
#include "lattice/schema.h"

/// @cond internal
namespace lattice::straight {

/// What a number is in words and on the wire. Up to kLastCode it is one field with a code 0..max_code.
enum class Kind : uint8_t {
  kBool,
  kEnum,
  kRanged,
  kBits,
  kCompressed,
  kHalf,
  kAngle,
  kRotation,
  kLastCode = kRotation,
  kFixed,              // bytes little-endian
  kFull,               // IEEE bits
  kVarint,             // unsigned
  kZigZag,             // signed
  kFixed64Difference,  // to the baseline
  kTickDifference,
  kFullRotation,  // four words
};

/// One number of a structure, of all that are nested within.
struct Number {
  Kind kind = Kind::kBool;
  bool is_signed = false;  // of integers
  bool is_inner = false;   // within a structure, which travels whole: a difference is against 0
  uint8_t host_bytes = 1;  // of the number in host memory
  uint8_t bits = 1;        // of its field; 0..64
  uint32_t host_offset = 0;
  uint32_t word = 0;
  uint64_t max_code = 1;
  int64_t min_value = 0;                 // kRanged
  const int64_t* enum_values = nullptr;  // kEnum; null: the ordinal is the value
  lattice_quant quant = {};              // kCompressed, kAngle

  constexpr uint32_t words() const {
    return kind == Kind::kFullRotation ? 4 : bits > 32 || (kind > Kind::kLastCode && host_bytes == 8) ? 2 : 1;
  }
  constexpr uint32_t max_bits() const {
    if (kind == Kind::kFullRotation) return 128;
    if (kind < Kind::kVarint) return bits;
    return host_bytes == 4 ? 40 : 72;
  }
};

/// One member of the structure itself: its numbers and words.
struct Member {
  uint32_t first_number = 0, number_count = 0;
  uint32_t first_word = 0, word_count = 0;
  uint32_t bits = 0;       // on the wire, when all its numbers are fields of a fixed width
  bool state = false;      // made of numbers only
  bool wire = false;       // and a changed one travels whole
  bool is_joined = false;  // its numbers are such fields, of at most 57 bits together
};

constexpr bool is_numeric(const lattice_struct_desc& s);

constexpr bool is_numeric(const lattice_member_desc& m) {
  if (m.container != LATTICE_CONTAINER_ARRAY) return false;
  if (m.type == LATTICE_WIRE_STRUCT) return is_numeric(*m.structure);
  return m.type != LATTICE_WIRE_STRING && m.type != LATTICE_WIRE_FIXED_STRING &&
         m.type != LATTICE_WIRE_BYTES && m.type != LATTICE_WIRE_CUSTOM;
}
constexpr bool is_numeric(const lattice_struct_desc& s) {
  if ((s.flags & LATTICE_STRUCT_UNION) != 0) return false;
  for (uint32_t i = 0; i < s.member_count; ++i) {
    if (!is_numeric(s.members[i])) return false;
  }
  return true;
}

constexpr uint32_t elements(const lattice_member_desc& m) {
  return m.array_count > 1 ? m.array_count : 1;
}
constexpr uint32_t components(lattice_wire_type type) {
  if (type >= LATTICE_WIRE_VECTOR2 && type <= LATTICE_WIRE_VECTOR4) {
    return 2u + static_cast<uint32_t>(type - LATTICE_WIRE_VECTOR2);
  }
  if (type >= LATTICE_WIRE_DVECTOR2) return 2u + static_cast<uint32_t>(type - LATTICE_WIRE_DVECTOR2);
  return 1;
}

/// How a number of the member lies in words and on the wire; without its places.
constexpr Number number_of(const lattice_member_desc& m, uint32_t component) {
  Number n;
  const auto code = [&n](Kind kind, uint64_t max_code, unsigned bits) {
    n.kind = kind, n.max_code = max_code, n.bits = static_cast<uint8_t>(bits);
  };
  const bool angle = (m.flags & LATTICE_MEMBER_ANGLE) != 0;
  switch (m.type) {
    case LATTICE_WIRE_BOOL:
      return n;
    case LATTICE_WIRE_ENUM: {
      n.host_bytes = static_cast<uint8_t>(m.host_bytes);
      n.is_signed = true;
      code(Kind::kEnum, m.enum_count - 1, bits_for_count(m.enum_count));
      for (uint32_t i = 0; i < m.enum_count; ++i) {
        if (m.enum_values[i] != static_cast<int64_t>(i)) n.enum_values = m.enum_values;
      }
      return n;
    }
    case LATTICE_WIRE_QUATERNION: {
      n.host_bytes = 16;
      if (m.encoding == LATTICE_ENCODING_FULL) {
        n.kind = Kind::kFullRotation;
        return n;
      }
      const unsigned bits = 2 + 3 * (m.bits != 0 ? m.bits : 10);
      code(Kind::kRotation, (uint64_t{1} << bits) - 1, bits);
      return n;
    }
    case LATTICE_WIRE_FLOAT:
    case LATTICE_WIRE_VECTOR2:
    case LATTICE_WIRE_VECTOR3:
    case LATTICE_WIRE_VECTOR4:
    case LATTICE_WIRE_DOUBLE:
    case LATTICE_WIRE_DVECTOR2:
    case LATTICE_WIRE_DVECTOR3:
    case LATTICE_WIRE_DVECTOR4: {
      n.host_bytes = m.type == LATTICE_WIRE_DOUBLE || m.type >= LATTICE_WIRE_DVECTOR2 ? 8 : 4;
      n.quant = m.quant[component];
      if (angle) {
        const AngleQuant q(n.quant.min, n.quant.max, n.quant.precision);
        code(Kind::kAngle, q.steps - 1, q.bits);
      } else if (m.encoding == LATTICE_ENCODING_COMPRESSED) {
        const CompressedFloat q(n.quant.min, n.quant.max, n.quant.precision);
        code(Kind::kCompressed, q.steps, q.bits);
      } else if (m.encoding == LATTICE_ENCODING_HALF) {
        code(Kind::kHalf, UINT16_MAX, 16);
      } else {
        n.kind = Kind::kFull;
        n.bits = static_cast<uint8_t>(n.host_bytes * 8);
      }
      return n;
    }
    default:
      break;
  }
  n.host_bytes = static_cast<uint8_t>(m.host_bytes);
  n.bits = static_cast<uint8_t>(m.host_bytes * 8);
  n.is_signed = m.type == LATTICE_WIRE_INT8 || m.type == LATTICE_WIRE_INT16 || m.type == LATTICE_WIRE_INT32 ||
                m.type == LATTICE_WIRE_INT64 || m.type == LATTICE_WIRE_FIXED64;
  n.kind = Kind::kFixed;
  const bool varint =
      m.encoding == LATTICE_ENCODING_VARINT ||
      (m.encoding == LATTICE_ENCODING_DEFAULT && m.host_bytes >= 4 && m.type != LATTICE_WIRE_FIXED64);
  if (m.encoding == LATTICE_ENCODING_RANGED) {
    n.min_value = m.min_value;
    const uint64_t span = range_span(m.min_value, m.max_value);
    code(Kind::kRanged, span, bits_for_span(span));
  } else if (m.encoding == LATTICE_ENCODING_BITS) {
    code(Kind::kBits, m.bits >= 64 ? UINT64_MAX : (uint64_t{1} << m.bits) - 1, m.bits);
  } else if (varint) {
    n.kind = m.type == LATTICE_WIRE_FIXED64 ? Kind::kFixed64Difference
             : m.type == LATTICE_WIRE_TICK  ? Kind::kTickDifference
             : n.is_signed                  ? Kind::kZigZag
                                            : Kind::kVarint;
  }
  return n;
}

constexpr uint32_t number_count(const lattice_struct_desc& s);
constexpr uint32_t number_count(const lattice_member_desc& m) {
  const uint32_t one = m.type == LATTICE_WIRE_STRUCT ? number_count(*m.structure) : components(m.type);
  return elements(m) * one;
}
constexpr uint32_t number_count(const lattice_struct_desc& s) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < s.member_count; ++i) count += number_count(s.members[i]);
  return count;
}

constexpr uint32_t word_count(const lattice_struct_desc& s);
constexpr uint32_t word_count(const lattice_member_desc& m) {
  uint32_t one = 0;
  if (m.type == LATTICE_WIRE_STRUCT) {
    one = word_count(*m.structure);
  } else if (m.type == LATTICE_WIRE_STRING || m.type == LATTICE_WIRE_FIXED_STRING ||
             m.type == LATTICE_WIRE_BYTES || m.type == LATTICE_WIRE_CUSTOM) {
    one = 1 + (m.capacity + 3) / 4;
  } else {
    for (uint32_t i = 0; i < components(m.type); ++i) one += number_of(m, i).words();
  }
  return elements(m) * one + (m.container != LATTICE_CONTAINER_ARRAY ? 1 : 0);
}
constexpr uint32_t word_count(const lattice_struct_desc& s) {
  uint32_t count = (s.flags & LATTICE_STRUCT_UNION) != 0 ? 1 : 0;
  for (uint32_t i = 0; i < s.member_count; ++i) count += word_count(s.members[i]);
  return count;
}

/// Appends the numbers of a member to `out`, from `at` and `word` on.
constexpr void list_numbers(const lattice_member_desc& m, uint32_t host_offset, bool is_inner, Number* out,
                            uint32_t& at, uint32_t& word) {
  for (uint32_t element = 0; element < elements(m); ++element) {
    const uint32_t offset = host_offset + m.offset + element * m.host_bytes;
    if (m.type == LATTICE_WIRE_STRUCT) {
      for (uint32_t i = 0; i < m.structure->member_count; ++i) {
        list_numbers(m.structure->members[i], offset, true, out, at, word);
      }
      continue;
    }
    for (uint32_t i = 0; i < components(m.type); ++i) {
      Number n = number_of(m, i);
      n.host_offset = offset + i * n.host_bytes;
      n.word = word;
      n.is_inner = is_inner;
      word += n.words();
      out[at++] = n;
    }
  }
}

/// Everything about the structure that `Holder` describes (authoring::DescHolder).
template <class Holder>
struct Plan {
  static constexpr const lattice_struct_desc& kDesc = Holder::kDesc;
  static constexpr uint32_t kMembers = kDesc.member_count;
  static constexpr uint32_t kNumberCount = [] {
    uint32_t count = 0;
    for (uint32_t i = 0; i < kMembers; ++i) {
      if (is_numeric(kDesc.members[i])) count += number_count(kDesc.members[i]);
    }
    return count;
  }();
  static constexpr uint32_t kWords = word_count(kDesc);
  struct Lists {
    std::array<Number, kNumberCount + 1> numbers{};
    std::array<Member, kMembers + 1> members{};
  };
  static constexpr Lists kLists = [] {
    Lists lists;
    uint32_t at = 0, word = 0;
    for (uint32_t i = 0; i < kMembers; ++i) {
      const lattice_member_desc& m = kDesc.members[i];
      Member& member = lists.members[i];
      member.first_word = word;
      member.word_count = word_count(m);
      member.first_number = at;
      if (is_numeric(m)) {
        member.state = true;
        const bool delta = m.type == LATTICE_WIRE_STRUCT && (m.structure->flags & LATTICE_STRUCT_DELTA) != 0;
        member.wire = m.array_count <= 1 && !delta;
        uint32_t to = word;
        list_numbers(m, 0, false, lists.numbers.data(), at, to);
        member.is_joined = member.wire;
        for (uint32_t k = member.first_number; k < at; ++k) {
          member.is_joined = member.is_joined && lists.numbers[k].kind < Kind::kVarint;
          member.bits += lists.numbers[k].bits;
        }
        member.is_joined = member.is_joined && member.bits <= 57;
      }
      member.number_count = at - member.first_number;
      word += member.word_count;
    }
    return lists;
  }();
  /// Whether the mask bit of a member is all that travels of it.
  static constexpr bool is_bool(uint32_t member) {
    return kLists.members[member].wire && kDesc.members[member].type == LATTICE_WIRE_BOOL;
  }
  /// Whether nothing is written for a marked member: a bool, or a number with one value only.
  static constexpr bool is_without_bits(uint32_t member) {
    return is_bool(member) || (kLists.members[member].is_joined && kLists.members[member].bits == 0);
  }
  static constexpr uint64_t bit(uint32_t member) { return uint64_t{1} << (kMembers - 1 - member); }
  static constexpr uint64_t members_that(bool Member::*what) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < kMembers; ++i) mask |= kLists.members[i].*what ? bit(i) : 0;
    return mask;
  }
  static constexpr uint32_t kMaxBits = [] {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < kMembers; ++i) {
      const Member& m = kLists.members[i];
      if (!m.wire) continue;
      for (uint32_t k = 0; k < m.number_count; ++k) bits += kLists.numbers[m.first_number + k].max_bits();
    }
    return bits;
  }();
};

}  // namespace lattice::straight
/// @endcond
