/// @file
/// Straight code for the numbers of a declared structure. The compiler knows every offset, width and bound,
/// so there is no table to walk. The library calls it in place of its own interpreter, with the same results
/// bit for bit. Source: docs/spec/data.md, docs/decisions/0041-straight-codecs.md.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "lattice/authoring/byte_order.h"
#include "lattice/authoring/quantize.h"
#include "lattice/authoring/straight_plan.h"
#include "lattice/schema.h"

/// @cond internal
// Functions that must be part of their caller: a call for each number would cost more than the number.
#if defined(_MSC_VER) && !defined(__clang__)
#define LATTICE_STRAIGHT __forceinline
#define LATTICE_STRAIGHT_LAMBDA
#else
#define LATTICE_STRAIGHT inline __attribute__((always_inline))
#define LATTICE_STRAIGHT_LAMBDA __attribute__((always_inline))
#endif

namespace lattice::straight {

template <typename T>
LATTICE_STRAIGHT T load(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <typename T>
LATTICE_STRAIGHT void store(uint8_t* p, T v) {
  std::memcpy(p, &v, sizeof v);
}
/// An integer of the host, sign-extended or zero-extended.
template <unsigned kBytes, bool kSigned>
LATTICE_STRAIGHT uint64_t load_integer(const uint8_t* p) {
  if constexpr (kBytes == 1) {
    return kSigned ? static_cast<uint64_t>(static_cast<int64_t>(load<int8_t>(p))) : load<uint8_t>(p);
  } else if constexpr (kBytes == 2) {
    return kSigned ? static_cast<uint64_t>(static_cast<int64_t>(load<int16_t>(p))) : load<uint16_t>(p);
  } else if constexpr (kBytes == 4) {
    return kSigned ? static_cast<uint64_t>(static_cast<int64_t>(load<int32_t>(p))) : load<uint32_t>(p);
  } else {
    return load<uint64_t>(p);
  }
}
template <unsigned kBytes>
LATTICE_STRAIGHT void store_integer(uint8_t* p, uint64_t v) {
  if constexpr (kBytes == 1) {
    store(p, static_cast<uint8_t>(v));
  } else if constexpr (kBytes == 2) {
    store(p, static_cast<uint16_t>(v));
  } else if constexpr (kBytes == 4) {
    store(p, static_cast<uint32_t>(v));
  } else {
    store(p, v);
  }
}
template <unsigned kBytes>
LATTICE_STRAIGHT double load_float(const uint8_t* p) {
  if constexpr (kBytes == 8) {
    return load<double>(p);
  } else {
    return static_cast<double>(load<float>(p));
  }
}
template <unsigned kBytes>
LATTICE_STRAIGHT void store_float(uint8_t* p, double v) {
  if constexpr (kBytes == 8) {
    store(p, v);
  } else {
    store(p, static_cast<float>(v));
  }
}

/// The `kBytes` low bytes of a number in the opposite order, as a field that is written highest bit first.
template <unsigned kBytes>
LATTICE_STRAIGHT uint64_t reversed(uint64_t v) {
  return detail::swapped(v) >> (64 - 8 * kBytes);
}

/// lattice_bit_output in registers.
class Writer {
 public:
  LATTICE_STRAIGHT explicit Writer(const lattice_bit_output& out)
      : next_(out.next), pending_(out.pending), used_(out.used) {}
  /// The low `kBits` bits of `v`; the others are zero.
  template <unsigned kBits>
  LATTICE_STRAIGHT void put(uint64_t v) {
    if constexpr (kBits != 0) put(v, kBits);
  }
  LATTICE_STRAIGHT void put(uint64_t v, unsigned bits) {
    const unsigned room = 64 - used_;
    if (bits < room) {
      pending_ |= v << (room - bits);
      used_ += bits;
      return;
    }
    const unsigned rest = bits - room;
    const uint64_t full = detail::big_endian(pending_ | v >> rest);
    std::memcpy(next_, &full, sizeof full);
    next_ += sizeof full;
    pending_ = rest != 0 ? v << (64 - rest) : 0;
    used_ = rest;
  }
  LATTICE_STRAIGHT void put_varint(uint64_t v) {
    unsigned groups = 1;
    for (; groups < 9 && v >= 0x80; ++groups, v >>= 7) put((v & 0x7F) | 0x80, 8);
    put(v, 8);
  }
  LATTICE_STRAIGHT void end(lattice_bit_output* out) const {
    out->next = next_, out->pending = pending_, out->used = used_;
  }

 private:
  uint8_t* next_;
  uint64_t pending_;
  unsigned used_;
};

/// lattice_bit_input in registers. It reads past the end: the caller leaves room.
class Reader {
 public:
  LATTICE_STRAIGHT explicit Reader(const lattice_bit_input& in)
      : data_(in.data), position_(in.position_bits) {}
  template <unsigned kBits>
  LATTICE_STRAIGHT uint64_t take() {
    if constexpr (kBits == 0) {
      return 0;
    } else {
      const uint8_t* from = data_ + position_ / 8;
      const auto skip = static_cast<unsigned>(position_ % 8);
      uint64_t head = detail::big_endian(load<uint64_t>(from)) << skip;
      if constexpr (kBits > 57) head |= static_cast<uint64_t>(from[8]) >> (8 - skip);
      position_ += kBits;
      return head >> (64 - kBits);
    }
  }
  /// A varint of a number of `kBytes` bytes. Clears `ok` for one that is longer than it need be, or than the
  /// number is wide. Takes at most the 5 or 9 bytes that Number::max_bits() counts, whatever they are.
  template <unsigned kBytes>
  LATTICE_STRAIGHT uint64_t take_varint(bool& ok) {
    constexpr unsigned kGroups = kBytes == 4 ? 5 : 8;
    uint64_t value = 0;
    for (unsigned group = 0; group < kGroups; ++group) {
      const uint64_t byte = take<8>();
      value |= (byte & 0x7F) << (7 * group);
      if ((byte & 0x80) == 0) {
        ok &= (group == 0 || byte != 0) && (kBytes == 8 || value <= UINT32_MAX);
        return value;
      }
    }
    if constexpr (kBytes == 4) {
      ok = false;
      return 0;
    } else {
      const uint64_t last = take<8>();
      ok &= last != 0;
      return value | last << 56;
    }
  }
  LATTICE_STRAIGHT size_t position() const { return position_; }

 private:
  const uint8_t* data_;
  size_t position_;
};

/// Code for number `kIndex` of a plan.
template <class P, size_t kIndex>
struct NumberCode {
  static constexpr Number n = P::kLists.numbers[kIndex];
  static constexpr CompressedFloat kQuant = n.kind == Kind::kCompressed
                                                ? CompressedFloat(n.quant.min, n.quant.max, n.quant.precision)
                                                : CompressedFloat();
  static constexpr AngleQuant kAngle =
      n.kind == Kind::kAngle ? AngleQuant(n.quant.min, n.quant.max, n.quant.precision) : AngleQuant();
  static constexpr unsigned kRotationBits = n.kind == Kind::kRotation ? (n.bits - 2u) / 3u : 10;

  LATTICE_STRAIGHT static uint64_t value(const uint32_t* words) {
    if constexpr (n.words() == 1) {
      return words[n.word];
    } else {
      return words[n.word] | static_cast<uint64_t>(words[n.word + 1]) << 32;
    }
  }
  /// What a difference is taken against.
  LATTICE_STRAIGHT static uint64_t baseline(const uint32_t* base) { return n.is_inner ? 0 : value(base); }
  LATTICE_STRAIGHT static void set(uint32_t* words, uint64_t v) {
    words[n.word] = static_cast<uint32_t>(v);
    if constexpr (n.words() != 1) words[n.word + 1] = static_cast<uint32_t>(v >> 32);
  }

  LATTICE_STRAIGHT static bool quantize(const uint8_t* host, uint32_t* words) {
    const uint8_t* p = host + n.host_offset;
    if constexpr (n.kind == Kind::kBool) {
      set(words, *p != 0 ? 1 : 0);
    } else if constexpr (n.kind == Kind::kEnum) {
      const auto v = static_cast<int64_t>(load_integer<n.host_bytes, true>(p));
      uint64_t ordinal = n.max_code + 1;
      if constexpr (n.enum_values == nullptr) {
        if (v >= 0 && static_cast<uint64_t>(v) <= n.max_code) ordinal = static_cast<uint64_t>(v);
      } else {
        for (uint64_t i = 0; i <= n.max_code && ordinal > n.max_code; ++i) {
          if (n.enum_values[i] == v) ordinal = i;
        }
      }
      const bool known = ordinal <= n.max_code;
      set(words, known ? ordinal : 0);
      return known;
    } else if constexpr (n.kind == Kind::kRanged) {
      const uint64_t raw = load_integer<n.host_bytes, n.is_signed>(p);
      constexpr int64_t kMax = ranged_value(n.max_code, n.min_value);
      if constexpr (!n.is_signed && n.host_bytes == 8) {
        if (raw > static_cast<uint64_t>(INT64_MAX)) {
          set(words, n.max_code);
          return false;
        }
      }
      const auto v = static_cast<int64_t>(raw);
      set(words, ranged_code(v, n.min_value, kMax));
      return v >= n.min_value && v <= kMax;
    } else if constexpr (n.kind == Kind::kBits) {
      const uint64_t v = load_integer<n.host_bytes, false>(p);
      set(words, v < n.max_code ? v : n.max_code);
      return v <= n.max_code;
    } else if constexpr (n.kind == Kind::kCompressed) {
      const double v = load_float<n.host_bytes>(p);
      set(words, kQuant.code(v));
      return v >= kQuant.min && v <= kQuant.max;
    } else if constexpr (n.kind == Kind::kHalf) {
      const auto v = load<uint32_t>(p);
      set(words, half_of_float(v));
      return fits_half(v);
    } else if constexpr (n.kind == Kind::kAngle) {
      const double v = load_float<n.host_bytes>(p);
      set(words, kAngle.code(v));
      return v - v == 0.0;
    } else if constexpr (n.kind == Kind::kRotation) {
      const auto v = load<Quaternion>(p);
      const double x = v.x, y = v.y, z = v.z, w = v.w;
      set(words, smallest_three_pack(v, kRotationBits));
      return std::isfinite(x * x + y * y + z * z + w * w);
    } else if constexpr (n.kind == Kind::kFixed) {
      set(words, load_integer<n.host_bytes, false>(p));
    } else if constexpr (n.kind == Kind::kZigZag) {
      set(words, zig_zag(static_cast<int64_t>(load_integer<n.host_bytes, true>(p))));
    } else if constexpr (n.kind == Kind::kFullRotation) {
      uint32_t c[4];
      std::memcpy(c, p, sizeof c);
      double length = 0.0;
      for (const uint32_t bits : c) {
        const double v = static_cast<double>(std::bit_cast<float>(bits));
        length += v * v;
      }
      if (!(length > 0.0) || !std::isfinite(length)) {
        c[0] = c[1] = c[2] = 0, c[3] = std::bit_cast<uint32_t>(1.0f);
      }
      std::memcpy(words + n.word, c, sizeof c);
      return std::isfinite(length);
    } else {  // kFull, kVarint, the differences
      set(words, load_integer<n.host_bytes, false>(p));
    }
    return true;
  }

  LATTICE_STRAIGHT static void dequantize(const uint32_t* words, uint8_t* host) {
    uint8_t* p = host + n.host_offset;
    if constexpr (n.kind == Kind::kEnum && n.enum_values != nullptr) {
      store_integer<n.host_bytes>(p, static_cast<uint64_t>(n.enum_values[value(words)]));
    } else if constexpr (n.kind == Kind::kRanged) {
      store_integer<n.host_bytes>(p, static_cast<uint64_t>(n.min_value) + value(words));
    } else if constexpr (n.kind == Kind::kCompressed) {
      store_float<n.host_bytes>(p, kQuant.value(value(words)));
    } else if constexpr (n.kind == Kind::kAngle) {
      store_float<n.host_bytes>(p, kAngle.value(value(words)));
    } else if constexpr (n.kind == Kind::kHalf) {
      store(p, float_of_half(static_cast<uint16_t>(words[n.word])));
    } else if constexpr (n.kind == Kind::kRotation) {
      store(p, smallest_three_unpack(value(words), kRotationBits));
    } else if constexpr (n.kind == Kind::kFullRotation) {
      std::memcpy(p, words + n.word, 16);
    } else if constexpr (n.kind == Kind::kZigZag) {
      store_integer<n.host_bytes>(p, static_cast<uint64_t>(un_zig_zag(value(words))));
    } else {
      store_integer<n.host_bytes>(p, value(words));
    }
  }

  LATTICE_STRAIGHT static void encode(Writer& w, const uint32_t* base, const uint32_t* words) {
    if constexpr (n.kind <= Kind::kLastCode) {
      w.put<n.bits>(value(words));
    } else if constexpr (n.kind == Kind::kFixed || n.kind == Kind::kFull) {
      w.put<n.bits>(reversed<n.host_bytes>(value(words)));
    } else if constexpr (n.kind == Kind::kFixed64Difference) {
      w.put_varint(zig_zag(static_cast<int64_t>(value(words) - baseline(base))));
    } else if constexpr (n.kind == Kind::kTickDifference) {
      w.put_varint(zig_zag(static_cast<int32_t>(words[n.word] - static_cast<uint32_t>(baseline(base)))));
    } else if constexpr (n.kind == Kind::kFullRotation) {
      for (unsigned i = 0; i < 4; ++i) w.put<32>(reversed<4>(words[n.word + i]));
    } else {
      w.put_varint(value(words));
    }
  }

  /// Writes the words; false for bits that no encoder writes.
  LATTICE_STRAIGHT static bool decode(Reader& r, const uint32_t* base, uint32_t* out) {
    bool ok = true;
    if constexpr (n.kind <= Kind::kLastCode) {
      return take_code(r.take<n.bits>(), out);
    } else if constexpr (n.kind == Kind::kFixed || n.kind == Kind::kFull) {
      set(out, reversed<n.host_bytes>(r.take<n.bits>()));
    } else if constexpr (n.kind == Kind::kFixed64Difference) {
      set(out, baseline(base) + static_cast<uint64_t>(un_zig_zag(r.take_varint<8>(ok))));
    } else if constexpr (n.kind == Kind::kTickDifference) {
      const uint64_t v = r.take_varint<4>(ok);
      out[n.word] =
          static_cast<uint32_t>(baseline(base)) + static_cast<uint32_t>(un_zig_zag(static_cast<uint32_t>(v)));
    } else if constexpr (n.kind == Kind::kFullRotation) {
      double length = 0.0;
      for (unsigned i = 0; i < 4; ++i) {
        out[n.word + i] = static_cast<uint32_t>(reversed<4>(r.take<32>()));
        const double v = static_cast<double>(std::bit_cast<float>(out[n.word + i]));
        length += v * v;
      }
      return length > 0.0 && std::isfinite(length);
    } else {
      set(out, r.take_varint<n.host_bytes>(ok));
    }
    return ok;
  }
  LATTICE_STRAIGHT static bool take_code(uint64_t code, uint32_t* out) {
    set(out, code);
    if constexpr (n.kind == Kind::kRotation) {
      return smallest_three_valid(code, kRotationBits);
    } else {
      return code <= n.max_code;
    }
  }
};

/// Code for member `kIndex` of a plan.
template <class P, size_t kIndex>
struct MemberCode {
  static constexpr Member m = P::kLists.members[kIndex];
  static constexpr uint64_t kBit = P::bit(kIndex);
  static constexpr auto kNumbers = std::make_index_sequence<m.number_count>();
  static constexpr bool kIsBool = m.wire && m.number_count == 1 &&
                                  P::kLists.numbers[m.first_number].kind == Kind::kBool &&
                                  P::kDesc.members[kIndex].type == LATTICE_WIRE_BOOL;

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
    if constexpr (m.word_count > 8) {
      return std::memcmp(base + m.first_word, current + m.first_word, m.word_count * 4) != 0 ? kBit : 0;
    } else {
      uint32_t difference = 0;
      for (uint32_t i = m.first_word; i < m.first_word + m.word_count; ++i)
        difference |= base[i] ^ current[i];
      return difference != 0 ? kBit : 0;
    }
  }
  LATTICE_STRAIGHT static void encode(Writer& w, uint64_t mask, const uint32_t* base,
                                      const uint32_t* current) {
    if constexpr (m.wire && !kIsBool) {
      if ((mask & kBit) == 0) return;
      [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
        if constexpr (m.is_codes) {
          uint64_t joined = 0;
          ((joined = joined << P::kLists.numbers[m.first_number + I].bits |
                     NumberCode<P, m.first_number + I>::value(current)),
           ...);
          w.put<m.bits>(joined);
        } else {
          (NumberCode<P, m.first_number + I>::encode(w, base, current), ...);
        }
      }
      (kNumbers);
    }
  }
  /// False for bits that no encoder writes, and for a marked member that equals its baseline.
  LATTICE_STRAIGHT static bool decode(Reader& r, uint64_t mask, const uint32_t* base, uint32_t* out) {
    if constexpr (kIsBool) {
      out[m.first_word] ^= (mask & kBit) != 0 ? 1u : 0u;  // where it was as in `base`
    } else if constexpr (m.wire) {
      if ((mask & kBit) == 0) return true;
      const bool ok = [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
        if constexpr (m.is_codes) {
          const uint64_t joined = r.take<m.bits>();
          unsigned left = m.bits;
          bool all = true;
          ((left -= P::kLists.numbers[m.first_number + I].bits,
            all &= NumberCode<P, m.first_number + I>::take_code(
                joined >> left & low_bits(P::kLists.numbers[m.first_number + I].bits), out)),
           ...);
          return all;
        } else {
          bool all = true;
          ((all &= NumberCode<P, m.first_number + I>::decode(r, base, out)), ...);
          return all;
        }
      }
      (kNumbers);
      return changed(base, out) != 0 && ok;
    }
    return true;
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
    return [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
      return (MemberCode<P, I>::changed(base, current) | ... | uint64_t{0});
    }
    (kMembers);
  }
  static void encode(lattice_bit_output* out, uint64_t mask, const uint32_t* base, const uint32_t* current) {
    Writer w(*out);
    [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
      (MemberCode<P, I>::encode(w, mask, base, current), ...);
    }
    (kMembers);
    w.end(out);
  }
  static uint32_t decode(lattice_bit_input* in, uint64_t mask, const uint32_t* base, uint32_t* out) {
    Reader r(*in);
    const bool ok = [&]<size_t... I>(std::index_sequence<I...>) LATTICE_STRAIGHT_LAMBDA {
      bool all = true;
      ((all &= MemberCode<P, I>::decode(r, mask, base, out)), ...);
      return all;
    }
    (kMembers);
    in->position_bits = r.position();
    return ok ? 1 : 0;
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
      P::members_that(&Member::wire),
      &quantize,
      &dequantize,
      &changed,
      &encode,
      &decode,
  };
};

}  // namespace lattice::straight
/// @endcond
