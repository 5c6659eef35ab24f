// Layout: interpolation between two states, and extrapolation past the last one. The results serve drawing
// and rewinding only and never reach simulated state, so libm trigonometry is allowed. Source: §12.1, §12.2,
// §21.7, S-05..S-07.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "base/assert.h"
#include "serialization/layout.h"
#include "serialization/leaf_host.h"

namespace lattice::serialization {
namespace {

struct Rotation {
  double x, y, z, w;
};

Rotation normalized(Rotation q) {
  const double norm = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  if (!(norm > 0.0)) return {0, 0, 0, 1};
  return {q.x / norm, q.y / norm, q.z / norm, q.w / norm};
}

Rotation from_leaf(const Leaf& leaf, const Word* words) {
  const Quaternion q = leaf_rotation(leaf, words + leaf.word);
  return normalized({q.x, q.y, q.z, q.w});
}

void store_rotation(const Leaf& leaf, Rotation q, uint8_t* host) {
  const Quaternion value{static_cast<float>(q.x), static_cast<float>(q.y), static_cast<float>(q.z),
                         static_cast<float>(q.w)};
  std::memcpy(host + leaf.host_offset, &value, sizeof value);
}

Rotation slerp(Rotation a, Rotation b, double t) {
  double dot = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  if (dot < 0.0) b = {-b.x, -b.y, -b.z, -b.w}, dot = -dot;  // take the short arc
  double wa = 1.0 - t, wb = t;
  if (dot <
      0.9995) {  // below about two degrees the chord is as good, and dividing by sin(angle) loses precision
    const double angle = std::acos(dot);
    wa = std::sin((1.0 - t) * angle) / std::sin(angle);
    wb = std::sin(t * angle) / std::sin(angle);
  }
  return normalized({wa * a.x + wb * b.x, wa * a.y + wb * b.y, wa * a.z + wb * b.z, wa * a.w + wb * b.w});
}

// The rotation after turning by `omega` for `seconds`. `omega` is in rad/s, in the frame to which the
// rotation maps.
Rotation integrate(Rotation q, const double (&omega)[3], double seconds) {
  const double speed = std::sqrt(omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2]);
  if (!(speed > 0.0) || !std::isfinite(speed)) return q;
  const double half = 0.5 * speed * seconds;
  const double s = std::sin(half) / speed;
  const Rotation d{omega[0] * s, omega[1] * s, omega[2] * s, std::cos(half)};
  return normalized({d.w * q.x + d.x * q.w + d.y * q.z - d.z * q.y,  //
                     d.w * q.y - d.x * q.z + d.y * q.w + d.z * q.x,  //
                     d.w * q.z + d.x * q.y - d.y * q.x + d.z * q.w,  //
                     d.w * q.w - d.x * q.x - d.y * q.y - d.z * q.z});
}

// A rate of change. The code nearest to zero counts as zero: in a range with an odd number of steps no code
// is exactly zero, and an object at rest would creep.
double rate(const Leaf& leaf, const LeafExtra& extra, const Word* words) {
  if (leaf.kind == LeafKind::kCompressed && leaf_value(leaf, words + leaf.word) == extra.quant.code(0.0))
    return 0.0;
  return leaf_number(leaf, extra, words + leaf.word);
}

bool is_rotation(const Leaf& leaf) {
  return leaf.kind == LeafKind::kSmallestThree || leaf.kind == LeafKind::kQuaternionFull;
}

// The nearest number that the leaf can hold, apart from the bounds of its host type.
double bounded(const Leaf& leaf, const LeafExtra& extra, double value) {
  switch (leaf.kind) {
    case LeafKind::kCompressed:
      return std::clamp(value, extra.quant.min, extra.quant.max);
    case LeafKind::kAngle:
      return extra.angle.wrapped(value);
    case LeafKind::kHalf:
      return std::clamp(value, -kMaxHalf, kMaxHalf);
    case LeafKind::kFloatFull:
      if (leaf.host != HostKind::kF32 || !std::isfinite(value)) return value;
      return std::clamp(value, -double{FLT_MAX}, double{FLT_MAX});
    case LeafKind::kRanged:
      return std::clamp(value, static_cast<double>(extra.min_value),
                        static_cast<double>(ranged_value(leaf.max_code, extra.min_value)));
    case LeafKind::kBits:
      return std::clamp(value, 0.0, static_cast<double>(leaf.max_code));
    default:
      return value;
  }
}

}  // namespace

void Layout::interpolate(const Word* a, const Word* b, double t, void* const* host) const {
  t = t > 0.0 ? (t < 1.0 ? t : 1.0) : 0.0;  // for NaN, t is 0: hold
  const Word* held = t >= 1.0 ? b : a;
  if (t == 0.0 || t == 1.0 || teleported(a, b)) return dequantize(held, host);
  for (size_t i = 0; i < leaves_.size(); ++i) {
    const Leaf& leaf = leaves_[i];
    if (!leaf.in_container) interpolate_leaf(i, a, b, t, static_cast<uint8_t*>(host[leaf.behaviour]));
  }
  for (const uint16_t index : containers_) {
    const LayoutNode& node = nodes_[index];
    interpolate_node(node, a, b, t, static_cast<uint8_t*>(host[node.behaviour]));
  }
}

// `t` is above 0 and below 1.
void Layout::interpolate_leaf(size_t index, const Word* a, const Word* b, double t, uint8_t* out) const {
  const Leaf& leaf = leaves_[index];
  const LeafExtra& extra = extras_[index];
  const bool same = std::memcmp(a + leaf.word, b + leaf.word, leaf.word_count * sizeof(Word)) == 0;
  if (same || !leaf.interpolates) {
    dequantize_leaf(leaf, extra, a + leaf.word, out);
  } else if (leaf.kind == LeafKind::kCustom) {
    interpolate_custom(leaf, extra, a + leaf.word, b + leaf.word, t, out);
  } else if (is_rotation(leaf)) {
    store_rotation(leaf, slerp(from_leaf(leaf, a), from_leaf(leaf, b), t), out);
  } else if (leaf.kind == LeafKind::kAngle) {
    const double from = extra.angle.value(leaf_value(leaf, a + leaf.word));
    const double way = extra.angle.short_way(extra.angle.value(leaf_value(leaf, b + leaf.word)) - from);
    store_host_number(leaf, extra.angle.wrapped(from + way * t), out);
  } else if (leaf.kind == LeafKind::kFixed64Difference || leaf.bits == 64) {
    // A double cannot hold every 64-bit integer: scale the difference, not the values.
    interpolate_wide(index, a, b, t, out);
  } else {
    const double from = leaf_number(leaf, extra, a + leaf.word);
    const double to = leaf_number(leaf, extra, b + leaf.word);
    store_host_number(leaf, from + (to - from) * t, out);
  }
}

void Layout::interpolate_wide(size_t index, const Word* a, const Word* b, double t, uint8_t* out) const {
  const Leaf& leaf = leaves_[index];
  if (leaf.host == HostKind::kF64) {
    const double from = leaf_number(leaf, extras_[index], a + leaf.word);
    const double to = leaf_number(leaf, extras_[index], b + leaf.word);
    return store_host_number(leaf, from + (to - from) * t, out);
  }
  uint64_t from = 0, to = 0;
  dequantize_leaf(leaf, extras_[index], a + leaf.word, out);
  std::memcpy(&from, out + leaf.host_offset, sizeof from);
  dequantize_leaf(leaf, extras_[index], b + leaf.word, out);
  std::memcpy(&to, out + leaf.host_offset, sizeof to);
  const bool rises =
      leaf.host == HostKind::kU64 ? from < to : static_cast<int64_t>(from) < static_cast<int64_t>(to);
  const uint64_t distance = rises ? to - from : from - to;
  const double part = static_cast<double>(distance) * t;
  const uint64_t step = part >= 0x1.0p64 ? distance : static_cast<uint64_t>(part);
  const uint64_t value = rises ? from + step : from - step;
  std::memcpy(out + leaf.host_offset, &value, sizeof value);
}

void Layout::extrapolate(const Word* last, const Reckoning& after, void* const* host) const {
  dequantize(last, host);
  const double seconds = after.seconds;
  if (!(seconds > 0.0)) return;
  if (after.before != nullptr && !teleported(after.before, last)) {
    for (const uint16_t index : line_leaves_) {
      auto* out = static_cast<uint8_t*>(host[leaves_[index].behaviour]);
      extrapolate_leaf(index, after.before, last, after.steps, out);
    }
  }
  for (const MotionMember& member : motion_) {
    if (member.velocity < 0) continue;
    const MotionMember& velocity = motion_[static_cast<size_t>(member.velocity)];
    const auto rate_of = [&](const MotionMember& m, size_t k) {
      const size_t index = m.first_leaf + k;
      return rate(leaves_[index], extras_[index], last);
    };
    uint8_t* out = static_cast<uint8_t*>(host[member.behaviour]);
    if (member.role == MotionMember::Role::kRotation) {
      const double omega[3] = {rate_of(velocity, 0), rate_of(velocity, 1), rate_of(velocity, 2)};
      const Leaf& leaf = leaves_[member.first_leaf];
      store_rotation(leaf, integrate(from_leaf(leaf, last), omega, seconds), out);
      continue;
    }
    for (size_t k = 0; k < member.component_count; ++k) {
      const size_t index = member.first_leaf + k;
      const Leaf& leaf = leaves_[index];
      double value = leaf_number(leaf, extras_[index], last + leaf.word) + rate_of(velocity, k) * seconds;
      if (member.acceleration >= 0) {
        value += 0.5 * rate_of(motion_[static_cast<size_t>(member.acceleration)], k) * seconds * seconds;
      }
      store_host_number(leaf, bounded(leaf, extras_[index], value), out);
    }
  }
}

// `out` holds `last`.
void Layout::extrapolate_leaf(size_t index, const Word* before, const Word* last, double steps,
                              uint8_t* out) const {
  const Leaf& leaf = leaves_[index];
  const LeafExtra& extra = extras_[index];
  if (std::memcmp(before + leaf.word, last + leaf.word, leaf.word_count * sizeof(Word)) == 0) return;
  if (leaf.kind == LeafKind::kCustom) {
    interpolate_custom(leaf, extra, before + leaf.word, last + leaf.word, 1.0 + steps, out);
  } else if (is_rotation(leaf)) {
    store_rotation(leaf, slerp(from_leaf(leaf, before), from_leaf(leaf, last), 1.0 + steps), out);
  } else if (leaf.kind == LeafKind::kFixed64Difference || (leaf.bits == 64 && leaf.host != HostKind::kF64)) {
    extrapolate_wide(index, before, last, steps, out);
  } else {
    const double to = leaf_number(leaf, extra, last + leaf.word);
    double way = to - leaf_number(leaf, extra, before + leaf.word);
    if (leaf.kind == LeafKind::kAngle) way = extra.angle.short_way(way);
    store_host_number(leaf, bounded(leaf, extra, to + way * steps), out);
  }
}

// As interpolate_wide(): the difference is scaled. The end of the type is where the line ends.
void Layout::extrapolate_wide(size_t index, const Word* before, const Word* last, double steps,
                              uint8_t* out) const {
  const Leaf& leaf = leaves_[index];
  uint64_t from = 0, to = 0;
  dequantize_leaf(leaf, extras_[index], before + leaf.word, out);
  std::memcpy(&from, out + leaf.host_offset, sizeof from);
  dequantize_leaf(leaf, extras_[index], last + leaf.word, out);
  std::memcpy(&to, out + leaf.host_offset, sizeof to);
  const bool is_signed = leaf.host != HostKind::kU64;
  const bool rises = is_signed ? static_cast<int64_t>(from) < static_cast<int64_t>(to) : from < to;
  const uint64_t least = is_signed ? static_cast<uint64_t>(INT64_MIN) : 0;
  const uint64_t most = is_signed ? static_cast<uint64_t>(INT64_MAX) : UINT64_MAX;
  const uint64_t room = rises ? most - to : to - least;
  const double part = static_cast<double>(rises ? to - from : from - to) * steps;
  const uint64_t step = part >= static_cast<double>(room) ? room : static_cast<uint64_t>(part);
  const uint64_t value = rises ? to + step : to - step;
  std::memcpy(out + leaf.host_offset, &value, sizeof value);
}

bool Layout::moving(const Word* words, const Word* before, Sight sight) const {
  if (before != nullptr) {
    for (const uint16_t index : line_leaves_) {
      const Leaf& leaf = leaves_[index];
      if (leaf.conditions != 0 && hides(leaf.conditions, sight)) continue;
      if (std::memcmp(before + leaf.word, words + leaf.word, leaf.word_count * sizeof(Word)) != 0)
        return true;
    }
  }
  for (const MotionMember& member : motion_) {
    if (member.velocity < 0) continue;
    const MotionMember& velocity = motion_[static_cast<size_t>(member.velocity)];
    for (size_t k = 0; k < velocity.component_count; ++k) {
      const size_t index = velocity.first_leaf + k;
      if (leaves_[index].conditions != 0 && hides(leaves_[index].conditions, sight)) continue;
      if (rate(leaves_[index], extras_[index], words) != 0.0) return true;
    }
  }
  return false;
}

}  // namespace lattice::serialization
