/// @file
/// The vector and rotation values of networked members: plain structures, nothing more. A game converts them
/// to and from those of its engine.
#pragma once

namespace lattice {

/// Two floats, for a member of type vec2.
struct Vector2 {
  float x = 0,  ///< the first component
      y = 0;    ///< the second component
  /// Equal when every component is.
  friend bool operator==(const Vector2&, const Vector2&) = default;
};

/// Three floats, for a member of type vec3.
struct Vector3 {
  float x = 0,  ///< the first component
      y = 0,    ///< the second component
      z = 0;    ///< the third component
  /// Equal when every component is.
  friend bool operator==(const Vector3&, const Vector3&) = default;
};

/// Four floats, for a member of type vec4.
struct Vector4 {
  float x = 0,  ///< the first component
      y = 0,    ///< the second component
      z = 0,    ///< the third component
      w = 0;    ///< the fourth component
  /// Equal when every component is.
  friend bool operator==(const Vector4&, const Vector4&) = default;
};

/// Two doubles, for a member of type dvec2.
struct DVector2 {
  double x = 0,  ///< the first component
      y = 0;     ///< the second component
  /// Equal when every component is.
  friend bool operator==(const DVector2&, const DVector2&) = default;
};

/// Three doubles, for a member of type dvec3: places in a world that is too large for floats.
struct DVector3 {
  double x = 0,  ///< the first component
      y = 0,     ///< the second component
      z = 0;     ///< the third component
  /// Equal when every component is.
  friend bool operator==(const DVector3&, const DVector3&) = default;
};

/// Four doubles, for a member of type dvec4.
struct DVector4 {
  double x = 0,  ///< the first component
      y = 0,     ///< the second component
      z = 0,     ///< the third component
      w = 0;     ///< the fourth component
  /// Equal when every component is.
  friend bool operator==(const DVector4&, const DVector4&) = default;
};

/// A rotation as a unit quaternion, for a member of type quat. The default is the identity.
struct Quaternion {
  float x = 0,  ///< the first imaginary component
      y = 0,    ///< the second imaginary component
      z = 0,    ///< the third imaginary component
      w = 1;    ///< the real component
  /// Equal when every component is.
  friend bool operator==(const Quaternion&, const Quaternion&) = default;
};

/// Bounds and resolution of one compressed float: min below max, and precision above 0 when it is used.
struct FloatQuant {
  float min = 0,      ///< smallest value
      max = 0,        ///< largest value
      precision = 0;  ///< largest distance of neighbouring values on the wire
};

}  // namespace lattice
