#include "prediction/smoother.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/assert.h"
#include "serialization/layout.h"

namespace lattice::prediction {

namespace {

// An offset below this share of its original value, after about 9 τ, counts as gone.
constexpr double kNegligible = 1e-4;

struct Quat {
  double x, y, z, w;
};

constexpr Quat kIdentity{0.0, 0.0, 0.0, 1.0};

Quat multiply(Quat a, Quat b) {
  return Quat{a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
              a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

Quat conjugate(Quat q) {
  return Quat{-q.x, -q.y, -q.z, q.w};
}

/// `q` with unit length and w >= 0, so that scaling its angle takes the short way. The identity when `q` has
/// no direction.
Quat normalized_short(Quat q) {
  const double length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  if (!(length > 1e-12) || !std::isfinite(length)) return kIdentity;
  const double scale = (q.w < 0.0 ? -1.0 : 1.0) / length;
  return Quat{q.x * scale, q.y * scale, q.z * scale, q.w * scale};
}

double angle_rad(Quat q) {
  return 2.0 * std::atan2(std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z), q.w);
}

/// The rotation about the same axis by `share` (0 to 1) of the angle. `q` is a result of normalized_short().
Quat scaled(Quat q, double share) {
  const double sine = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
  if (sine < 1e-12) return kIdentity;
  const double half = std::atan2(sine, q.w) * share;
  const double s = std::sin(half) / sine;
  return Quat{q.x * s, q.y * s, q.z * s, std::cos(half)};
}

Quat as_quat(const double (&v)[4]) {
  return Quat{v[0], v[1], v[2], v[3]};
}

void set(double (&v)[4], Quat q) {
  v[0] = q.x;
  v[1] = q.y;
  v[2] = q.z;
  v[3] = q.w;
}

void load(const void* host, uint32_t offset, bool is_double, size_t count, double* out) {
  const auto* bytes = static_cast<const uint8_t*>(host) + offset;
  for (size_t i = 0; i < count; ++i) {
    if (is_double) {
      std::memcpy(&out[i], bytes + i * sizeof(double), sizeof(double));
    } else {
      float value = 0.0f;
      std::memcpy(&value, bytes + i * sizeof(float), sizeof(float));
      out[i] = static_cast<double>(value);
    }
  }
}

void store(void* host, uint32_t offset, bool is_double, size_t count, const double* in) {
  auto* bytes = static_cast<uint8_t*>(host) + offset;
  for (size_t i = 0; i < count; ++i) {
    if (is_double) {
      std::memcpy(bytes + i * sizeof(double), &in[i], sizeof(double));
    } else {
      const auto value = static_cast<float>(in[i]);
      std::memcpy(bytes + i * sizeof(float), &value, sizeof(float));
    }
  }
}

double length(const double (&v)[4]) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
}

}  // namespace

Smoother::Smoother(const serialization::Layout& layout, const SmootherConfig& config) : config_(config) {
  LATTICE_CHECK(config.tau_ns > 0);
  using Role = serialization::MotionMember::Role;
  for (const serialization::MotionMember& member : layout.motion()) {
    if (member.role == Role::kPosition) {
      positions_.push_back(PositionOffset{
          member.behaviour, member.host_offset, member.component_count, member.is_double, {0, 0, 0, 0}});
    } else if (member.role == Role::kRotation) {
      rotations_.push_back(
          RotationOffset{member.behaviour, member.host_offset, member.is_double, {0, 0, 0, 1}});
    } else if (member.role == Role::kAngle) {
      angles_.push_back(
          AngleOffset{member.behaviour, member.host_offset, member.is_double, member.angle, 0.0});
    }
  }
}

double Smoother::decay_until(uint64_t now_ns) const {
  if (!active_) return 0.0;
  const uint64_t elapsed_ns = now_ns > since_ns_ ? now_ns - since_ns_ : 0;
  return std::exp(-static_cast<double>(elapsed_ns) / static_cast<double>(config_.tau_ns));
}

void Smoother::settle(uint64_t now_ns) {
  const double share = decay_until(now_ns);
  for (PositionOffset& p : positions_) {
    for (double& v : p.value) v *= share;
  }
  for (RotationOffset& r : rotations_) set(r.value, scaled(as_quat(r.value), share));
  for (AngleOffset& a : angles_) a.value *= share;
  since_ns_ = std::max(since_ns_, now_ns);
}

void Smoother::correct(const void* const* before, const void* const* after, bool teleported,
                       uint64_t now_ns) {
  if (teleported) {
    snap();
    return;
  }
  settle(now_ns);
  for (PositionOffset& p : positions_) {
    double was[4] = {0, 0, 0, 0};
    double is[4] = {0, 0, 0, 0};
    load(before[p.behaviour], p.offset_bytes, p.is_double, p.components, was);
    load(after[p.behaviour], p.offset_bytes, p.is_double, p.components, is);
    for (size_t i = 0; i < p.components; ++i) p.value[i] += was[i] - is[i];
    if (!(length(p.value) <= config_.snap_distance)) {  // true also for NaN, which a game can cause
      snap();
      return;
    }
  }
  for (RotationOffset& r : rotations_) {
    double was[4];
    double is[4];
    load(before[r.behaviour], r.offset_bytes, r.is_double, 4, was);
    load(after[r.behaviour], r.offset_bytes, r.is_double, 4, is);
    const Quat shown = multiply(as_quat(r.value), normalized_short(as_quat(was)));
    set(r.value, normalized_short(multiply(shown, conjugate(normalized_short(as_quat(is))))));
  }
  for (AngleOffset& a : angles_) {
    double was = 0.0;
    double is = 0.0;
    load(before[a.behaviour], a.offset_bytes, a.is_double, 1, &was);
    load(after[a.behaviour], a.offset_bytes, a.is_double, 1, &is);
    a.value = a.angle.short_way(a.value + was - is);
  }
  active_ = true;
}

void Smoother::apply(void* const* host_behaviours, uint64_t now_ns) {
  if (!active_) return;
  const double share = decay_until(now_ns);
  if (share < kNegligible) {
    settle(now_ns);
    active_ = false;
    return;
  }
  for (const PositionOffset& p : positions_) {
    double v[4];
    load(host_behaviours[p.behaviour], p.offset_bytes, p.is_double, p.components, v);
    for (size_t i = 0; i < p.components; ++i) v[i] += p.value[i] * share;
    store(host_behaviours[p.behaviour], p.offset_bytes, p.is_double, p.components, v);
  }
  for (const RotationOffset& r : rotations_) {
    double v[4];
    load(host_behaviours[r.behaviour], r.offset_bytes, r.is_double, 4, v);
    set(v, multiply(scaled(as_quat(r.value), share), normalized_short(as_quat(v))));
    store(host_behaviours[r.behaviour], r.offset_bytes, r.is_double, 4, v);
  }
  for (const AngleOffset& a : angles_) {
    double v = 0.0;
    load(host_behaviours[a.behaviour], a.offset_bytes, a.is_double, 1, &v);
    v = a.angle.wrapped(v + a.value * share);
    store(host_behaviours[a.behaviour], a.offset_bytes, a.is_double, 1, &v);
  }
}

void Smoother::snap() {
  for (PositionOffset& p : positions_) std::fill(std::begin(p.value), std::end(p.value), 0.0);
  for (RotationOffset& r : rotations_) set(r.value, kIdentity);
  for (AngleOffset& a : angles_) a.value = 0.0;
  active_ = false;
  ++snaps_;
}

double Smoother::offset_distance(uint64_t now_ns) const {
  double longest = 0.0;
  for (const PositionOffset& p : positions_) longest = std::max(longest, length(p.value));
  return longest * decay_until(now_ns);
}

double Smoother::offset_angle_rad(uint64_t now_ns) const {
  double largest = 0.0;
  for (const RotationOffset& r : rotations_) largest = std::max(largest, angle_rad(as_quat(r.value)));
  for (const AngleOffset& a : angles_)
    largest = std::max(largest, std::fabs(a.value) / a.angle.turn() * 2 * kPi);
  return largest * decay_until(now_ns);
}

}  // namespace lattice::prediction
