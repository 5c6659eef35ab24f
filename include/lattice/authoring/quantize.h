/// @file
/// Numbers to small integers (codes) and back, exactly as the wire has them. BitWriter, BitReader and the
/// library share it, so all of them give the same bits. A program rarely needs it by itself.
///
/// Everything is double arithmetic from left to right, without fused operations and without libm beyond sqrt:
/// the result is equal on every platform. The value of a code has that same code again; prediction relies on
/// it. No number costs a division: the factors come from the declaration. Source: docs/spec/data.md,
/// docs/decisions/0045-factors-in-place-of-divisions.md.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "lattice/authoring/math.h"

/// @cond internal
// LATTICE_SELDOM: what ordinary values never reach, so that it takes no room among the rest.
// LATTICE_STRAIGHT: what must be part of its caller, because a call for each number would cost more than the
// number.
#if defined(_MSC_VER) && !defined(__clang__)
#define LATTICE_SELDOM
#define LATTICE_STRAIGHT __forceinline
#else
#define LATTICE_SELDOM __attribute__((noinline, cold))
#define LATTICE_STRAIGHT inline __attribute__((always_inline))
#endif
/// @endcond

namespace lattice {

/// How many bits a field needs that holds 0..span.
constexpr unsigned bits_for_span(uint64_t span) {
  return static_cast<unsigned>(std::bit_width(span));
}
/// How many bits a field needs that holds one of `count` values, at least 1. One value needs none.
constexpr unsigned bits_for_count(uint64_t count) {
  return bits_for_span(count - 1);
}

/// Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ... so that small numbers of either sign are small.
constexpr uint32_t zig_zag(int32_t v) {
  return (static_cast<uint32_t>(v) << 1) ^ (v < 0 ? UINT32_MAX : 0u);
}
/// The same for 64 bits.
constexpr uint64_t zig_zag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ (v < 0 ? UINT64_MAX : uint64_t{0});
}
/// The number that zig_zag() maps to `v`.
constexpr int32_t un_zig_zag(uint32_t v) {
  return static_cast<int32_t>((v >> 1) ^ (0 - (v & 1)));
}
/// The same for 64 bits.
constexpr int64_t un_zig_zag(uint64_t v) {
  return static_cast<int64_t>((v >> 1) ^ (0 - (v & 1)));
}

/// max - min without overflow. `min` must not be above `max`.
constexpr uint64_t range_span(int64_t min, int64_t max) {
  return static_cast<uint64_t>(max) - static_cast<uint64_t>(min);
}
/// The distance of `v` from `min`. A value outside [min, max] is clamped.
constexpr uint64_t ranged_code(int64_t v, int64_t min, int64_t max) {
  return range_span(min, v < min ? min : v > max ? max : v);
}
/// The value with that distance from `min`.
constexpr int64_t ranged_value(uint64_t code, int64_t min) {
  return static_cast<int64_t>(static_cast<uint64_t>(min) + code);
}

/// Most steps of a compressed float, 2^48. With more, double arithmetic could miss its own codes.
inline constexpr double kMaxCompressedSteps = 281474976710656.0;

/// How one compressed float travels: as a code in 0..steps over [min, max], both ends exact.
///
/// Why a value keeps its code, with u = 2^-53: step, code * step, the difference, scale and the product round
/// by at most u each, so the code is off by at most 6 * u * steps, which is below 0.2. The sum with min is
/// off by at most u * max(|min|, |max|); a layout takes only bounds of which that is below 0.03 steps in a
/// double, and where the rounding to a float is below 0.45 steps, which leaves at most 2^25 of them. The sum
/// of all is below a half.
struct CompressedFloat {
  /// The value of code 0.
  double min = 0;
  /// The value of the last code.
  double max = 1;
  /// The last code.
  uint64_t steps = 1;
  /// How many bits a code takes.
  unsigned bits = 1;
  /// How many steps lie in 1: steps / (max - min).
  double scale = 1;
  /// How far two neighbouring codes lie apart: (max - min) / steps.
  double step = 1;

  /// [0, 1] in one step.
  constexpr CompressedFloat() = default;
  /// Takes bounds that the caller guarantees: finite, low < high, precision > 0, at most kMaxCompressedSteps
  /// steps, none of them below 2^-1022.
  constexpr CompressedFloat(double low, double high, double precision)
      : min(low),
        max(high),
        steps(step_count(low, high, precision)),
        bits(bits_for_span(steps)),
        scale(static_cast<double>(steps) / (high - low)),
        step((high - low) / static_cast<double>(steps)) {}

  /// How many steps a precision needs, at least 1. With r = (high - low) / precision: the nearest integer if
  /// it is within r * 2^-22 of r, else r rounded up. So a precision written as float or as double gives the
  /// same number.
  static constexpr uint64_t step_count(double low, double high, double precision) {
    const double r = (high - low) / precision;
    if (!(r >= 1.0)) return 1;
    if (r >= kMaxCompressedSteps) return static_cast<uint64_t>(kMaxCompressedSteps);
    const uint64_t floor = static_cast<uint64_t>(r);
    const double fraction = r - static_cast<double>(floor);
    const double tolerance = r * 0x1.0p-22;
    if (fraction <= tolerance && fraction < 0.5) return floor;
    return floor + (fraction > 0.0 ? 1 : 0);
  }
  /// False for a value that code() clamps.
  constexpr bool holds(double v) const { return v >= min && v <= max; }
  /// The nearest code. A value outside the bounds is clamped. NaN counts as 0 if that is in range, else as
  /// min.
  constexpr uint64_t code(double v) const {
    if (holds(v)) [[likely]]
      return inside_code(v);
    return outside_code(v);
  }
  /// The code of a value that holds() is true for. It is 0 at min, and at max the last one. Conversions by
  /// way of signed numbers are one instruction of the processor.
  constexpr uint64_t inside_code(double v) const {
    return static_cast<uint64_t>(static_cast<int64_t>((v - min) * scale + 0.5));
  }
  /// The code of any other value.
  LATTICE_SELDOM constexpr uint64_t outside_code(double v) const {
    if (v != v) return min <= 0.0 && max >= 0.0 ? inside_code(0.0) : 0;
    return v < min ? 0 : steps;
  }
  /// The value of a code.
  constexpr double value(uint64_t c) const {
    if (c == steps) return max;  // the formula may miss it by a rounding
    return min + static_cast<double>(static_cast<int64_t>(c)) * step;
  }
};

/// The largest finite number of 16 bits.
inline constexpr double kMaxHalf = 65504.0;
/// False for a finite number that is too large for 16 bits. Takes the IEEE bits of a float.
constexpr bool fits_half(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  return magnitude < 0x477FF000u || magnitude >= 0x7F800000u;
}
/// The IEEE bits of the nearest number of 16 bits, to even at a tie; a finite one that is too large becomes
/// the largest. Takes and keeps infinity, NaN and the sign of zero. Takes the IEEE bits of a float.
constexpr uint16_t half_of_float(uint32_t bits) {
  const uint32_t sign = bits >> 16 & 0x8000u;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) {  // NaN: some bit of its content must stay
    const uint32_t content = magnitude >> 13 & 0x3FFu;
    return static_cast<uint16_t>(sign | 0x7C00u | (content != 0 ? content : 0x200u));
  }
  if (magnitude == 0x7F800000u) return static_cast<uint16_t>(sign | 0x7C00u);
  if (!fits_half(bits)) return static_cast<uint16_t>(sign | 0x7BFFu);
  uint32_t shift = 13, whole = magnitude;
  if (magnitude < 0x38800000u) {  // below 2^-14: no leading 1 is implied
    shift = 126 - (magnitude >> 23);
    if (shift > 24) return static_cast<uint16_t>(sign);
    whole = (magnitude & 0x7FFFFFu) | 0x800000u;
  } else {
    whole -= 0x38000000u;  // the exponents differ by 112
  }
  const uint32_t kept = whole >> shift;
  const uint32_t rest = whole & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  const bool up = rest > half || (rest == half && (kept & 1u) != 0);
  return static_cast<uint16_t>(sign | (kept + (up ? 1u : 0u)));
}
/// The IEEE bits of the float that equals a number of 16 bits.
constexpr uint32_t float_of_half(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = half >> 10 & 0x1Fu;
  uint32_t content = half & 0x3FFu;
  if (exponent == 0x1F) return sign | 0x7F800000u | content << 13;
  if (exponent != 0) return sign | (exponent + 112) << 23 | content << 13;
  if (content == 0) return sign;
  uint32_t scale = 113;  // below 2^-14: find the leading 1
  for (; (content & 0x400u) == 0; content <<= 1) --scale;
  return sign | scale << 23 | (content & 0x3FFu) << 13;
}

inline constexpr double kPi = 3.141592653589793;  ///< half a turn in radians

/// How one angle travels: as a code in 0..steps - 1 over [min, max), where max is min again. Any finite value
/// has a code, because it wraps.
struct AngleQuant {
  /// The value of code 0.
  double min = -kPi;
  /// One turn later: the same direction.
  double max = kPi;
  /// How many codes there are.
  uint64_t steps = 65536;
  /// How many bits a code takes.
  unsigned bits = 16;
  /// How many steps lie in 1: steps / turn().
  double scale = 65536 / (kPi - -kPi);
  /// How far two neighbouring codes lie apart: turn() / steps.
  double step = (kPi - -kPi) / 65536;

  /// [-pi, pi) in 65,536 steps.
  constexpr AngleQuant() = default;
  /// Takes bounds as CompressedFloat does, and a precision of at most half a turn.
  constexpr AngleQuant(double low, double high, double precision)
      : min(low),
        max(high),
        steps(CompressedFloat::step_count(low, high, precision)),
        bits(bits_for_count(steps)),
        scale(static_cast<double>(steps) / (high - low)),
        step((high - low) / static_cast<double>(steps)) {}

  /// The length of a turn, in the unit of the angle.
  constexpr double turn() const { return max - min; }
  /// What is left of a number of turns without the whole ones, in [0, 1). 0 for what is not finite, or so
  /// large that it has no fraction.
  static constexpr double fraction(double turns) {
    if (!(turns > -0x1.0p52 && turns < 0x1.0p52)) return 0.0;
    const double whole = static_cast<double>(static_cast<int64_t>(turns));
    const double rest = turns - (whole > turns ? whole - 1.0 : whole);
    return rest < 1.0 ? rest : 0.0;  // a tiny negative number of turns rounds up to a whole one
  }
  /// The same direction in [min, max).
  constexpr double wrapped(double v) const {
    if (v >= min && v < max) return v;
    const double inside = min + fraction((v - min) / turn()) * turn();
    return inside < max ? inside : min;
  }
  /// The short way from 0 to `difference`, in [-turn / 2, turn / 2].
  constexpr double short_way(double difference) const {
    const double turns = fraction(difference / turn());
    return (turns > 0.5 ? turns - 1.0 : turns) * turn();
  }
  /// The nearest code. NaN and infinity count as 0.
  constexpr uint64_t code(double v) const {
    if (v >= min && v < max) [[likely]] {
      const auto nearest = static_cast<uint64_t>(static_cast<int64_t>((v - min) * scale + 0.5));
      return nearest < steps ? nearest : 0;
    }
    return outside_code(v);
  }
  /// The code of any value: the steps from min, rounded, without whole turns. 0 for what is so many steps
  /// away that it has no fraction.
  LATTICE_SELDOM constexpr uint64_t outside_code(double v) const {
    if (!(v - v == 0.0)) v = 0.0;
    const double distance = (v - min) * scale;
    if (!(distance > -0x1.0p52 && distance < 0x1.0p52)) return 0;
    const auto count = static_cast<int64_t>(steps);
    auto nearest = static_cast<int64_t>(distance + 0.5);
    if (static_cast<double>(nearest) > distance + 0.5) --nearest;  // the conversion rounds towards zero
    nearest %= count;
    return static_cast<uint64_t>(nearest < 0 ? nearest + count : nearest);
  }
  /// The value of a code, in [min, max).
  constexpr double value(uint64_t c) const {
    return min + static_cast<double>(static_cast<int64_t>(c)) * step;
  }
  /// How many steps lie between two codes, the short way round.
  constexpr uint64_t distance(uint64_t a, uint64_t b) const {
    const uint64_t way = a > b ? a - b : b - a;
    return way < steps - way ? way : steps - way;
  }
};

/// Fewest bits per component of a rotation. Fewer could round to more than a unit quaternion.
inline constexpr unsigned kMinRotationBits = 4;
inline constexpr unsigned kMaxRotationBits = 20;      ///< most bits per component of a rotation
inline constexpr double kSqrt2 = 1.4142135623730951;  ///< the square root of 2

/// @cond internal
/// Parts of smallest_three(). Not for programs: names here may change.
namespace detail {

/// A rotation as its dropped component (0 = x .. 3 = w) and the codes of the others, in 0..2^n - 2.
struct SmallestThree {
  unsigned dropped = 3;
  uint32_t code[3] = {0, 0, 0};
};

/// What a width of `n` bits means. A code is an odd or even number of half steps away from zero, from -top to
/// top, where top is 1 / sqrt 2. In half steps, sums of squares are whole numbers and exact.
struct RotationQuant {
  /// The largest code.
  int64_t top = 0;
  /// From a component of a unit quaternion to steps.
  double scale = 0;
  /// The value of half a step.
  double half_step = 0;
  /// The code of zero.
  uint32_t zero = 0;

  constexpr RotationQuant() = default;
  constexpr explicit RotationQuant(unsigned n)
      : top((int64_t{1} << n) - 2),
        scale(kSqrt2 * static_cast<double>(top) / 2.0),
        half_step(1.0 / (kSqrt2 * static_cast<double>(top))),
        zero(static_cast<uint32_t>(top / 2)) {}
  /// How far a code lies from zero, in half steps.
  constexpr int64_t distance(uint32_t code) const { return 2 * static_cast<int64_t>(code) - top; }
  /// The square of the dropped component, in half steps. Negative when the others are longer than 1.
  constexpr int64_t rest(const SmallestThree& s) const {
    const int64_t a = distance(s.code[0]), b = distance(s.code[1]), c = distance(s.code[2]);
    return 2 * top * top - a * a - b * b - c * c;
  }
};
/// By width.
struct RotationQuants {
  RotationQuant of[kMaxRotationBits + 1];
  constexpr RotationQuants() {
    for (unsigned n = kMinRotationBits; n <= kMaxRotationBits; ++n) of[n] = RotationQuant(n);
  }
};
inline constexpr RotationQuants kRotationQuants;

/// The index of the component with the largest magnitude; the first of equal ones. Without its sign, a float
/// is ordered as its bits are. Without branches: which one it is, no processor can guess.
LATTICE_STRAIGHT unsigned largest_component(const float (&q)[4]) {
  const auto key = [&q](unsigned i) { return uint64_t{std::bit_cast<uint32_t>(q[i]) << 1} << 2 | (3 - i); };
  const uint64_t x = key(0), y = key(1), z = key(2), w = key(3);
  const uint64_t low = x > y ? x : y, high = z > w ? z : w;
  return 3 - static_cast<unsigned>((low > high ? low : high) & 3);
}
/// The index of the k-th component that is kept.
constexpr unsigned kept_component(unsigned k, unsigned dropped) {
  return k + (k >= dropped ? 1u : 0u);
}
/// Writes the components as host floats. The dropped one is what is left of unit length.
LATTICE_STRAIGHT void rotation_decode(const SmallestThree& s, const RotationQuant& quant, float (&q)[4]) {
  const auto component = [&](uint32_t code) {
    return static_cast<float>(static_cast<double>(quant.distance(code)) * quant.half_step);
  };
  const int64_t rest = quant.rest(s);
  const double square = static_cast<double>(rest > 0 ? rest : 0);
  q[kept_component(0, s.dropped)] = component(s.code[0]);
  q[kept_component(1, s.dropped)] = component(s.code[1]);
  q[kept_component(2, s.dropped)] = component(s.code[2]);
  q[s.dropped] = static_cast<float>(std::sqrt(square) * quant.half_step);
}

/// The highest bit is set for a code past the largest, and for components longer than a unit quaternion.
LATTICE_STRAIGHT uint64_t rotation_fault(const SmallestThree& s, const RotationQuant& quant) {
  const auto top = static_cast<uint64_t>(quant.top);
  return (top - s.code[0]) | (top - s.code[1]) | (top - s.code[2]) | static_cast<uint64_t>(quant.rest(s));
}
/// True when the dropped component is rebuilt as a larger float than any other. Its square, in half steps, is
/// larger by 2^-21 of itself, so the component is by 2^-22. It is 1/2 or more, where floats lie 2^-24 apart.
LATTICE_STRAIGHT bool is_far_from_tie(const SmallestThree& s, const RotationQuant& quant) {
  const int64_t a = quant.distance(s.code[0]), b = quant.distance(s.code[1]), c = quant.distance(s.code[2]);
  const int64_t aa = a * a, bb = b * b, cc = c * c;
  const int64_t ab = aa > bb ? aa : bb, most = ab > cc ? ab : cc;
  return (2 * quant.top * quant.top - aa - bb - cc - most) * (int64_t{1} << 21) >= most;
}
/// Moves codes towards zero until no rebuilt component is larger than the dropped one. See smallest_three().
LATTICE_SELDOM inline SmallestThree without_tie(SmallestThree s, const RotationQuant& quant) {
  for (int pass = 0; pass < 4; ++pass) {  // each pass settles one component; three can need it
    float rebuilt[4];
    rotation_decode(s, quant, rebuilt);
    const unsigned largest = largest_component(rebuilt);
    if (largest == s.dropped) break;
    uint32_t& code = s.code[largest < s.dropped ? largest : largest - 1];
    code = code > quant.zero ? code - 1 : code + 1;
  }
  return s;
}

/// smallest_three(). The components are in memory, where an index that is not known before finds them.
LATTICE_STRAIGHT SmallestThree smallest_three_of(const float (&q)[4], const RotationQuant& quant) {
  const double x = q[0], y = q[1], z = q[2], w = q[3];
  const double square = x * x + y * y + z * z + w * w;
  if (!(square > 0.0) || !std::isfinite(square)) [[unlikely]] {
    return {3, {quant.zero, quant.zero, quant.zero}};
  }
  const unsigned dropped = largest_component(q);
  const double scale = std::copysign(quant.scale / std::sqrt(square), static_cast<double>(q[dropped]));
  const auto code = [&](unsigned k) {
    const double steps = static_cast<double>(q[kept_component(k, dropped)]) * scale;
    return static_cast<uint32_t>(static_cast<int32_t>(steps + (static_cast<double>(quant.zero) + 0.5)));
  };
  const SmallestThree s = {dropped, {code(0), code(1), code(2)}};
  return is_far_from_tie(s, quant) ? s : without_tie(s, quant);
}

}  // namespace detail
/// @endcond

/// Packs a rotation by its three smallest components (docs/spec/data.md, rule D-5), of `n` bits each. `v`
/// need not be of unit length; one without a direction counts as the identity.
///
/// No code leaves 0..2^n - 2: a kept component is at most 1 / sqrt 2 of the length, up to a rounding, and the
/// half that is added keeps that away from the next code.
///
/// One rule is for near-ties. Rounding up a kept component may make it larger than the dropped one will be
/// when rebuilt, and the rotation would then have another code the next time. Such a code moves one step
/// towards zero, so the value of a code has that same code again.
LATTICE_STRAIGHT detail::SmallestThree smallest_three(const Quaternion& v, unsigned n) {
  const float q[4] = {v.x, v.y, v.z, v.w};
  return detail::smallest_three_of(q, detail::kRotationQuants.of[n]);
}

/// The same as one field of 2 + 3 * n bits: the index of the dropped component, then the codes of the others
/// in the order x, y, z, w.
LATTICE_STRAIGHT uint64_t smallest_three_pack(const Quaternion& v, unsigned n) {
  const detail::SmallestThree s = smallest_three(v, n);
  return ((uint64_t{s.dropped} << n | s.code[0]) << n | s.code[1]) << n | s.code[2];
}
/// The parts of such a field.
LATTICE_STRAIGHT detail::SmallestThree smallest_three_split(uint64_t packed, unsigned n) {
  const uint64_t mask = (uint64_t{1} << n) - 1;
  const auto code = [&](unsigned behind) { return static_cast<uint32_t>(packed >> (behind * n) & mask); };
  return {static_cast<unsigned>(packed >> (3 * n)) & 3u, {code(2), code(1), code(0)}};
}
/// False for a field with a code past 2^n - 2, or with components longer than a unit quaternion.
LATTICE_STRAIGHT bool smallest_three_valid(uint64_t packed, unsigned n) {
  const detail::SmallestThree s = smallest_three_split(packed, n);
  return detail::rotation_fault(s, detail::kRotationQuants.of[n]) >> 63 == 0;
}
/// The rotation of a valid field.
LATTICE_STRAIGHT Quaternion smallest_three_unpack(uint64_t packed, unsigned n) {
  float q[4];
  detail::rotation_decode(smallest_three_split(packed, n), detail::kRotationQuants.of[n], q);
  return {q[0], q[1], q[2], q[3]};
}

}  // namespace lattice
