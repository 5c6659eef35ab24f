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
#if defined(_MSC_VER) && !defined(__clang__)
#define LATTICE_STRAIGHT_LAMBDA
#else
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

#if defined(__SSE2__) && defined(__GNUC__)  // clang says so too
using FourWords = int32_t __attribute__((vector_size(16)));
using FourFloats = float __attribute__((vector_size(16)));
/// Four bits, the first word highest: 1 where two words are equal.
LATTICE_STRAIGHT uint64_t same_four(const uint32_t* a, const uint32_t* b) {
  FourWords x, y;
  std::memcpy(&x, a, sizeof x), std::memcpy(&y, b, sizeof y);
  const FourWords same = x == y;
#if defined(__clang__)
  const FourWords first_last = __builtin_shufflevector(same, same, 3, 2, 1, 0);
#else
  const FourWords first_last = __builtin_shuffle(same, FourWords{3, 2, 1, 0});
#endif
  return static_cast<uint64_t>(__builtin_ia32_movmskps(std::bit_cast<FourFloats>(first_last)));
}
#endif
/// One bit for each of up to 64 words, that of the last word lowest: 1 where they differ.
template <uint32_t kWords>
LATTICE_STRAIGHT uint64_t different_words(const uint32_t* a, const uint32_t* b) {
  uint64_t mask = 0;
#if defined(__SSE2__) && defined(__GNUC__)
  if constexpr (kWords >= 4) {
    constexpr unsigned kRest = kWords % 4;
    mask = [&]<uint32_t... I>(std::integer_sequence<uint32_t, I...>) LATTICE_STRAIGHT_LAMBDA {
      return ((same_four(a + 4 * I, b + 4 * I) << (kWords - kRest - 4 - 4 * I)) | ...);
    }
    (std::make_integer_sequence<uint32_t, kWords / 4>());
    if constexpr (kRest != 0) {  // four words that end with the last one
      const uint64_t last = same_four(a + kWords - 4, b + kWords - 4);
      mask = mask << kRest | (last & ((1u << kRest) - 1));
    }
    return ~mask & ~uint64_t{0} >> (64 - kWords);
  }
#endif
  for (uint32_t i = 0; i < kWords; ++i) mask = mask << 1 | (a[i] != b[i] ? 1u : 0u);
  return mask;
}

/// The `kBytes` low bytes of a number in the opposite order, as a field that is written highest bit first.
template <unsigned kBytes>
LATTICE_STRAIGHT uint64_t reversed(uint64_t v) {
  return detail::swapped(v) >> (64 - 8 * kBytes);
}

/// The 7 bits of each of 8 bytes, the lowest byte first, without the eighth bits; and the other way round.
LATTICE_STRAIGHT uint64_t joined_groups(uint64_t v) {
  v = (v & 0x007F007F007F007Fu) | (v & 0x7F007F007F007F00u) >> 1;
  v = (v & 0x00003FFF00003FFFu) | (v & 0x3FFF00003FFF0000u) >> 2;
  return (v & 0x0FFFFFFFu) | (v & 0x0FFFFFFF00000000u) >> 4;
}
LATTICE_STRAIGHT uint64_t split_groups(uint64_t v) {
  v = (v & 0x0FFFFFFFu) | (v << 4 & 0x0FFFFFFF00000000u);
  v = (v & 0x00003FFF00003FFFu) | (v << 2 & 0x3FFF00003FFF0000u);
  return (v & 0x007F007F007F007Fu) | (v << 1 & 0x7F007F007F007F00u);
}

/// lattice_bit_output in registers. Here the pending bits are the lowest ones, so that a field of a fixed
/// width moves them by a fixed number of places. What lies above them has been stored.
class Writer {
 public:
  LATTICE_STRAIGHT explicit Writer(const lattice_bit_output& out)
      : next_(out.next), pending_(out.pending >> 1 >> (63 - out.used)), used_(out.used) {}
  /// The low `kBits` bits of `v`; the others are zero.
  template <unsigned kBits>
  LATTICE_STRAIGHT void put(uint64_t v) {
    if constexpr (kBits == 64) {  // two halves, so that no move is by 64 places
      put(v >> 32, 32);
      put(v & UINT32_MAX, 32);
    } else if constexpr (kBits != 0) {
      put(v, kBits);
    }
  }
  /// The same, of 1 to 63 bits.
  LATTICE_STRAIGHT void put(uint64_t v, unsigned bits) {
    used_ += bits;
    if (used_ < 64) {
      pending_ = pending_ << bits | v;
      return;
    }
    used_ -= 64;
    const uint64_t full = detail::big_endian(pending_ << (bits - used_) | v >> used_);
    std::memcpy(next_, &full, sizeof full);
    next_ += sizeof full;
    pending_ = v;
  }
  LATTICE_STRAIGHT void put_varint(uint64_t v) {
    if (v >> 49 != 0) [[unlikely]] {
      *this = with_long_varint(*this, v);
      return;
    }
    const auto groups = (static_cast<unsigned>(std::bit_width(v | 1)) + 6) / 7;
    const uint64_t more = 0x0080808080808080u >> (8 * (7 - groups)) >> 8;  // of all but the last
    put(detail::swapped(split_groups(v) | more) >> (64 - 8 * groups), 8 * groups);
  }
  LATTICE_STRAIGHT void end(lattice_bit_output* out) const {
    out->next = next_, out->pending = used_ != 0 ? pending_ << (64 - used_) : 0, out->used = used_;
  }

 private:
  // Of 8 or 9 groups. A copy, so that the writer of the caller stays in registers.
  LATTICE_SELDOM static Writer with_long_varint(Writer w, uint64_t v) {
    for (unsigned group = 0; group < 7; ++group, v >>= 7) w.put((v & 0x7F) | 0x80, 8);
    if (v >= 0x80) w.put((v & 0x7F) | 0x80, 8), v >>= 7;
    w.put(v, 8);
    return w;
  }

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
    const uint64_t head = take<64>();
    const auto groups = static_cast<unsigned>(std::countl_zero(~head & 0x8080808080808080u)) / 8 + 1;
    if (groups > (kBytes == 4 ? 5 : 8)) [[unlikely]] {
      if constexpr (kBytes == 4) {
        position_ -= 64 - 40;
        ok = false;
        return 0;
      } else {
        const uint64_t last = take<8>();
        ok &= last != 0;
        return joined_groups(detail::swapped(head)) | last << 56;
      }
    }
    position_ -= 64 - 8 * groups;
    const uint64_t bytes = head >> (64 - 8 * groups);  // the last one lowest
    const uint64_t value = joined_groups(detail::swapped(bytes << (64 - 8 * groups)));
    ok &= (groups == 1 || (bytes & 0xFF) != 0) && (kBytes == 8 || value <= UINT32_MAX);
    return value;
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
      const uint64_t distance = raw - static_cast<uint64_t>(n.min_value);
      if (distance <= n.max_code) [[likely]] {
        set(words, distance);
        return true;
      }
      set(words, ranged_code(static_cast<int64_t>(raw), n.min_value, kMax));
      return false;
    } else if constexpr (n.kind == Kind::kBits) {
      const uint64_t v = load_integer<n.host_bytes, false>(p);
      if (v <= n.max_code) [[likely]] {
        set(words, v);
        return true;
      }
      set(words, n.max_code);
      return false;
    } else if constexpr (n.kind == Kind::kCompressed) {
      const double v = load_float<n.host_bytes>(p);
      if (kQuant.holds(v)) [[likely]] {
        set(words, kQuant.inside_code(v));
        return true;
      }
      set(words, kQuant.outside_code(v));
      return false;
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

  /// The field of a number that has one of a fixed width.
  LATTICE_STRAIGHT static uint64_t field(const uint32_t* words) {
    if constexpr (n.kind <= Kind::kLastCode) {
      return value(words);
    } else {
      return reversed<n.host_bytes>(value(words));
    }
  }
  LATTICE_STRAIGHT static void encode(Writer& w, const uint32_t* base, const uint32_t* words) {
    if constexpr (n.kind < Kind::kVarint) {
      w.put<n.bits>(field(words));
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

  /// Writes the words. Gives a number with the highest bit set for bits that no encoder writes: such numbers
  /// are joined, and looked at once.
  LATTICE_STRAIGHT static uint64_t decode(Reader& r, const uint32_t* base, uint32_t* out) {
    bool ok = true;
    if constexpr (n.kind < Kind::kVarint) {
      return take_field(r.take<n.bits>(), out);
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
      ok = length > 0.0 && std::isfinite(length);
    } else {
      set(out, r.take_varint<n.host_bytes>(ok));
    }
    return fault_unless(ok);
  }
  /// What field() gave.
  LATTICE_STRAIGHT static uint64_t take_field(uint64_t field, uint32_t* out) {
    if constexpr (n.kind > Kind::kLastCode) {
      set(out, reversed<n.host_bytes>(field));
      return 0;
    } else {
      set(out, field);
      if constexpr (n.kind == Kind::kRotation) {
        return detail::rotation_fault(smallest_three_split(field, kRotationBits),
                                      detail::kRotationQuants.of[kRotationBits]);
      } else if constexpr (n.bits < 63) {
        return n.max_code - field;
      } else {
        return fault_unless(field <= n.max_code);
      }
    }
  }
  LATTICE_STRAIGHT static uint64_t fault_unless(bool ok) { return uint64_t{!ok} << 63; }
};

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
