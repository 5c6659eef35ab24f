/// @file
/// Numbers to small integers (codes) and back, exactly as the wire has them. BitWriter, BitReader and the
/// library share it, so all of them give the same bits. A program rarely needs it by itself.
///
/// Everything is double arithmetic from left to right, without fused operations and without libm beyond sqrt:
/// the result is equal on every platform. The value of a code has that same code again; prediction relies on
/// it. Source: docs/spec/data.md.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "lattice/authoring/math.h"

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
struct CompressedFloat {
  /// The value of code 0.
  double min = 0;
  /// The value of the last code.
  double max = 1;
  /// The last code.
  uint64_t steps = 1;
  /// How many bits a code takes.
  unsigned bits = 1;

  /// [0, 1] in one step.
  constexpr CompressedFloat() = default;
  /// Takes bounds that the caller guarantees: finite, low < high, precision > 0, at most kMaxCompressedSteps
  /// steps.
  constexpr CompressedFloat(double low, double high, double precision)
      : min(low), max(high), steps(step_count(low, high, precision)), bits(bits_for_span(steps)) {}

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
  /// The nearest code. A value outside the bounds is clamped. NaN counts as 0 if that is in range, else as
  /// min.
  constexpr uint64_t code(double v) const {
    if (v != v) v = min <= 0.0 && max >= 0.0 ? 0.0 : min;
    if (v <= min) return 0;
    if (v >= max) return steps;
    return static_cast<uint64_t>((v - min) / (max - min) * static_cast<double>(steps) + 0.5);
  }
  /// The value of a code.
  constexpr double value(uint64_t c) const {
    return min + static_cast<double>(c) * (max - min) / static_cast<double>(steps);
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

  /// [-pi, pi) in 65,536 steps.
  constexpr AngleQuant() = default;
  /// Takes bounds as CompressedFloat does, and a precision of at most half a turn.
  constexpr AngleQuant(double low, double high, double precision)
      : min(low),
        max(high),
        steps(CompressedFloat::step_count(low, high, precision)),
        bits(bits_for_count(steps)) {}

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
    if (!(v - v == 0.0)) v = 0.0;
    const uint64_t nearest =
        static_cast<uint64_t>(fraction((v - min) / turn()) * static_cast<double>(steps) + 0.5);
    return nearest < steps ? nearest : 0;
  }
  /// The value of a code, in [min, max).
  constexpr double value(uint64_t c) const {
    return min + static_cast<double>(c) * turn() / static_cast<double>(steps);
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

/// The component with a code, in [-1 / sqrt 2, 1 / sqrt 2].
inline double rotation_component(uint32_t code, unsigned n) {
  const double top = static_cast<double>((uint64_t{1} << n) - 2);
  return (static_cast<double>(code) / top * 2.0 - 1.0) / kSqrt2;
}
/// The nearest code of a component.
inline uint32_t rotation_code(double c, unsigned n) {
  const double top = static_cast<double>((uint64_t{1} << n) - 2);
  const double scaled = (c * kSqrt2 + 1.0) / 2.0 * top + 0.5;
  if (scaled <= 0.0) return 0;
  return scaled >= top + 1.0 ? static_cast<uint32_t>(top) : static_cast<uint32_t>(scaled);
}
/// The index of the component with the largest magnitude; the first of equal ones. Without branches: which
/// one it is, no processor can guess.
inline unsigned largest_component(const double (&q)[4]) {
  const double m[4] = {std::fabs(q[0]), std::fabs(q[1]), std::fabs(q[2]), std::fabs(q[3])};
  const unsigned low = m[1] > m[0], high = 2u + (m[3] > m[2]);
  return m[high] > m[low] ? high : low;
}
/// The index of the k-th component that is kept.
constexpr unsigned kept_component(unsigned k, unsigned dropped) {
  return k + (k >= dropped ? 1u : 0u);
}
/// Writes the components as host floats. The dropped one is what is left of unit length.
inline void rotation_decode(const SmallestThree& s, unsigned n, double (&q)[4]) {
  double rest = 1.0;
  for (unsigned k = 0; k < 3; ++k) {
    const double c = rotation_component(s.code[k], n);
    rest -= c * c;
    q[kept_component(k, s.dropped)] = static_cast<double>(static_cast<float>(c));
  }
  q[s.dropped] = static_cast<double>(static_cast<float>(std::sqrt(rest > 0.0 ? rest : 0.0)));
}

/// True when no rounding of the kept components can make one of them as large as the dropped one. Let h be
/// half a step, 1 / (sqrt 2 * top). A kept component grows by at most h, so its square by at most sqrt 2 * h
/// + h^2. The square of the dropped one shrinks by at most 2 * h * 1.5 + 3 * h^2: the magnitudes of the
/// others sum up to at most 1.5, because it is at least a half. Together that is below 4.5 * h + 4 * h^2, and
/// 6 / top is above 8.4 * h; the rest of it covers the rounding to float at every width.
inline bool is_far_from_tie(const double (&q)[4], unsigned dropped, unsigned n) {
  double kept = 0.0;
  for (unsigned k = 0; k < 3; ++k) {
    const double c = q[kept_component(k, dropped)];
    kept = c * c > kept ? c * c : kept;
  }
  return (q[dropped] * q[dropped] - kept) * static_cast<double>((uint64_t{1} << n) - 2) > 6.0;
}

}  // namespace detail
/// @endcond

/// Packs a rotation by its three smallest components (docs/spec/data.md, rule D-5), of `n` bits each. `v`
/// need not be of unit length; one without a direction counts as the identity.
///
/// One rule is for near-ties. Rounding up a kept component may make it larger than the dropped one will be
/// when rebuilt, and the rotation would then have another code the next time. Such a code moves one step
/// towards zero, so the value of a code has that same code again.
inline detail::SmallestThree smallest_three(Quaternion v, unsigned n) {
  double q[4] = {v.x, v.y, v.z, v.w};
  const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!(norm > 0.0) || !std::isfinite(norm))
    q[0] = q[1] = q[2] = 0.0, q[3] = 1.0;
  else
    for (double& c : q) c /= norm;
  detail::SmallestThree s;
  s.dropped = detail::largest_component(q);
  const double sign = std::copysign(1.0, q[s.dropped]);
  for (unsigned k = 0; k < 3; ++k) {
    s.code[k] = detail::rotation_code(q[detail::kept_component(k, s.dropped)] * sign, n);
  }
  if (detail::is_far_from_tie(q, s.dropped, n)) return s;
  const uint32_t zero = (uint32_t{1} << (n - 1)) - 1;
  for (int pass = 0; pass < 4; ++pass) {  // each pass settles one component; three can need it
    double rebuilt[4];
    detail::rotation_decode(s, n, rebuilt);
    const unsigned largest = detail::largest_component(rebuilt);
    if (largest == s.dropped) break;
    uint32_t& code = s.code[largest < s.dropped ? largest : largest - 1];
    code = code > zero ? code - 1 : code + 1;
  }
  return s;
}

/// The same as one field of 2 + 3 * n bits: the index of the dropped component, then the codes of the others
/// in the order x, y, z, w.
inline uint64_t smallest_three_pack(Quaternion v, unsigned n) {
  const detail::SmallestThree s = smallest_three(v, n);
  uint64_t packed = s.dropped;
  for (uint32_t code : s.code) packed = packed << n | code;
  return packed;
}
/// The parts of such a field.
inline detail::SmallestThree smallest_three_split(uint64_t packed, unsigned n) {
  const uint64_t mask = (uint64_t{1} << n) - 1;
  detail::SmallestThree s;
  s.dropped = static_cast<unsigned>(packed >> (3 * n)) & 3u;
  for (unsigned k = 0; k < 3; ++k) s.code[k] = static_cast<uint32_t>(packed >> ((2 - k) * n) & mask);
  return s;
}
/// False for a field with a code past 2^n - 2, or with components longer than a unit quaternion.
inline bool smallest_three_valid(uint64_t packed, unsigned n) {
  const detail::SmallestThree s = smallest_three_split(packed, n);
  double length = 0.0;
  for (uint32_t code : s.code) {
    if (code > (uint32_t{1} << n) - 2) return false;
    const double c = detail::rotation_component(code, n);
    length += c * c;
  }
  return length <= 1.0;
}
/// The rotation of a valid field.
inline Quaternion smallest_three_unpack(uint64_t packed, unsigned n) {
  double q[4];
  detail::rotation_decode(smallest_three_split(packed, n), n, q);
  return {static_cast<float>(q[0]), static_cast<float>(q[1]), static_cast<float>(q[2]),
          static_cast<float>(q[3])};
}

}  // namespace lattice
