// The vector and rotation values of the type table: plain host structures, nothing more. Games
// convert to and from their engine's own at the edge.
#pragma once

namespace lattice {

struct Vector2 {
  float x = 0, y = 0;
  friend bool operator==(const Vector2&, const Vector2&) = default;
};

struct Vector3 {
  float x = 0, y = 0, z = 0;
  friend bool operator==(const Vector3&, const Vector3&) = default;
};

struct Vector4 {
  float x = 0, y = 0, z = 0, w = 0;
  friend bool operator==(const Vector4&, const Vector4&) = default;
};

/// A unit quaternion; the default is the identity.
struct Quaternion {
  float x = 0, y = 0, z = 0, w = 1;
  friend bool operator==(const Quaternion&, const Quaternion&) = default;
};

/// Bounds and resolution of one compressed float, in the value's own unit.
struct FloatQuant {
  float min = 0, max = 0, precision = 0;
};

}  // namespace lattice
