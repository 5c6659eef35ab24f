/// @file
/// A fixed-point number that adds, multiplies and divides to the same bits on every platform.
#pragma once

#include <compare>
#include <cstdint>

namespace lattice {

/// A number with 32 bits before and 32 bits after the point, for a member of type fixed64. Values lie in
/// [-2^31, 2^31). Overflow wraps around.
struct Fixed64 {
  int64_t raw = 0;  ///< value * 2^32

  /// The number raw / 2^32.
  static constexpr Fixed64 from_raw(int64_t raw) { return Fixed64{raw}; }
  /// The number `v`, exactly.
  static constexpr Fixed64 from_int(int32_t v) {
    return Fixed64{static_cast<int64_t>(v) * (int64_t{1} << 32)};
  }
  /// The nearest number to `v`, which must lie in (-2^31, 2^31).
  static constexpr Fixed64 from_double(double v) {
    const double scaled = v * 4294967296.0;
    return Fixed64{static_cast<int64_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5)};
  }
  /// The nearest double.
  constexpr double to_double() const { return static_cast<double>(raw) / 4294967296.0; }
  /// The largest integer that is not above the number.
  constexpr int32_t floor() const { return static_cast<int32_t>(raw >> 32); }

  /// Equal when the bits are.
  friend constexpr bool operator==(Fixed64, Fixed64) = default;
  /// Ordered as the numbers are.
  friend constexpr std::strong_ordering operator<=>(Fixed64, Fixed64) = default;
  /// The exact sum, wrapped.
  friend constexpr Fixed64 operator+(Fixed64 a, Fixed64 b) { return wrap(bits(a.raw) + bits(b.raw)); }
  /// The exact difference, wrapped.
  friend constexpr Fixed64 operator-(Fixed64 a, Fixed64 b) { return wrap(bits(a.raw) - bits(b.raw)); }
  /// The negative, wrapped.
  friend constexpr Fixed64 operator-(Fixed64 a) { return wrap(0 - bits(a.raw)); }
  /// The exact product, rounded towards zero and wrapped.
  friend constexpr Fixed64 operator*(Fixed64 a, Fixed64 b) {
    const uint64_t x = magnitude(a.raw), y = magnitude(b.raw);
    const uint64_t xh = x >> 32, xl = x & 0xFFFFFFFFu, yh = y >> 32, yl = y & 0xFFFFFFFFu;
    const uint64_t product = ((xh * yh) << 32) + xh * yl + xl * yh + ((xl * yl) >> 32);
    return wrap((a.raw < 0) != (b.raw < 0) ? 0 - product : product);
  }
  /// The exact quotient, rounded towards zero and wrapped. Division by zero gives the largest number, or the
  /// smallest one for a negative `a`.
  friend constexpr Fixed64 operator/(Fixed64 a, Fixed64 b) {
    if (b.raw == 0) return Fixed64{a.raw < 0 ? INT64_MIN : INT64_MAX};
    const uint64_t x = magnitude(a.raw), y = magnitude(b.raw);
    uint64_t rest = x % y;
    uint64_t quotient = x / y;
    for (int i = 0; i < 32; ++i) {  // long division of the 32 fractional bits
      const bool carry = (rest >> 63) != 0;
      rest <<= 1;
      quotient <<= 1;
      if (carry || rest >= y) rest -= y, quotient |= 1;
    }
    return wrap((a.raw < 0) != (b.raw < 0) ? 0 - quotient : quotient);
  }
  /// Adds `b`.
  constexpr Fixed64& operator+=(Fixed64 b) { return *this = *this + b; }
  /// Subtracts `b`.
  constexpr Fixed64& operator-=(Fixed64 b) { return *this = *this - b; }
  /// Multiplies by `b`.
  constexpr Fixed64& operator*=(Fixed64 b) { return *this = *this * b; }
  /// Divides by `b`.
  constexpr Fixed64& operator/=(Fixed64 b) { return *this = *this / b; }

 private:
  static constexpr uint64_t bits(int64_t v) { return static_cast<uint64_t>(v); }
  static constexpr uint64_t magnitude(int64_t v) { return v < 0 ? 0 - bits(v) : bits(v); }
  static constexpr Fixed64 wrap(uint64_t v) { return Fixed64{static_cast<int64_t>(v)}; }
};

}  // namespace lattice
