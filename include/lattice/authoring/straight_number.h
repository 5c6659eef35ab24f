/// @file
/// Straight code for one number of a declared structure: host memory to words, words to bits, and back.
/// Source: docs/spec/data.md.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lattice/authoring/quantize.h"
#include "lattice/authoring/straight_bits.h"
#include "lattice/authoring/straight_plan.h"

/// @cond internal
namespace lattice::straight {

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

}  // namespace lattice::straight
/// @endcond
