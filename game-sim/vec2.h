// Two-component arithmetic with +, -, *, / and sqrt only: the operations IEEE 754 rounds identically
// everywhere (§18.2).
#pragma once

#include <cmath>

#include "lattice/authoring/math.h"

namespace depot {

using Vec2 = lattice::Vector2;

inline Vec2 operator+(Vec2 a, Vec2 b) {
  return {a.x + b.x, a.y + b.y};
}
inline Vec2 operator-(Vec2 a, Vec2 b) {
  return {a.x - b.x, a.y - b.y};
}
inline Vec2 operator*(Vec2 a, float s) {
  return {a.x * s, a.y * s};
}

inline float dot(Vec2 a, Vec2 b) {
  return a.x * b.x + a.y * b.y;
}
inline float length_squared(Vec2 a) {
  return dot(a, a);
}
inline float length(Vec2 a) {
  return std::sqrt(length_squared(a));
}
inline bool is_zero(Vec2 a) {
  return a.x == 0.0f && a.y == 0.0f;
}

/// The unit vector along `a`, or `fallback` when `a` is too short to have a direction.
inline Vec2 direction_or(Vec2 a, Vec2 fallback) {
  const float size = length(a);
  return size > 1e-4f ? Vec2{a.x / size, a.y / size} : fallback;
}

/// `a` shortened to at most `limit`.
inline Vec2 limited(Vec2 a, float limit) {
  const float size = length(a);
  return size > limit ? a * (limit / size) : a;
}

}  // namespace depot
