// How far a member was predicted wrong (§11.2, S-02).
#include <algorithm>
#include <cmath>

#include "serialization/layout.h"
#include "serialization/leaf_host.h"

namespace lattice::serialization {
namespace {

using Kind = LayoutNode::Kind;

bool has_number(const Leaf& leaf, const LeafExtra& extra) {
  if (extra.measure == Measure::kNone) return false;
  switch (leaf.kind) {
    case LeafKind::kRanged:
    case LeafKind::kBits:
    case LeafKind::kCompressed:
    case LeafKind::kHalf:
    case LeafKind::kFixed:
    case LeafKind::kFloatFull:
    case LeafKind::kVarintUnsigned:
    case LeafKind::kVarintSigned:
    case LeafKind::kFixed64Difference:
    case LeafKind::kTickDifference:
      return true;
    default:
      return false;
  }
}

/// The angle of the turn from one rotation to the other, in radians.
double turn_between(const Leaf& leaf, const Word* a, const Word* b) {
  const Quaternion p = leaf_rotation(leaf, a), q = leaf_rotation(leaf, b);
  const double dot = std::abs(p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w);
  return 2 * std::acos(std::min(dot, 1.0));
}

/// In the unit of the leaf; 1 for two contents between which there is no distance.
double leaf_error(const Leaf& leaf, const LeafExtra& extra, const Word* a, const Word* b) {
  if (leaf_close(leaf, extra, a, b)) return 0;
  const uint64_t p = leaf_value(leaf, a), q = leaf_value(leaf, b);
  switch (leaf.kind) {
    case LeafKind::kAngle:
      return static_cast<double>(extra.angle.distance(p, q)) * (extra.angle.max - extra.angle.min) /
             static_cast<double>(extra.angle.steps);
    case LeafKind::kSmallestThree:
    case LeafKind::kQuaternionFull:
      return turn_between(leaf, a, b);
    case LeafKind::kCustom:
      return custom_distance(leaf, extra, a, b);
    default:
      break;
  }
  if (!has_number(leaf, extra)) return 1;
  if (extra.measure == Measure::kTick) {
    return std::abs(static_cast<double>(static_cast<int32_t>(static_cast<uint32_t>(p - q))));
  }
  const double error = std::abs(leaf_number(leaf, extra, a) - leaf_number(leaf, extra, b));
  return extra.measure == Measure::kFixed64 ? error / 4294967296.0 : error;
}

/// The larger one. What is not a number, such as the distance of an infinity to itself, is infinitely large.
double worse(double a, double b) {
  return std::isnan(b) ? HUGE_VAL : std::max(a, b);
}

}  // namespace

double Layout::prediction_error(const LayoutNode& member, const Word* predicted, const Word* truth) const {
  if (!member.predicted || close_node(member, predicted, truth)) return 0;
  if (member.kind >= Kind::kList) return 1;
  double error = 0;
  if (member.kind > Kind::kPlain) {
    for (const LayoutNode& child : children_of(member)) {
      error = worse(error, prediction_error(child, predicted, truth));
    }
    return error;
  }
  double sum = 0;  // one number, or the components of a vector
  for (uint32_t i = member.first_leaf; i < uint32_t{member.first_leaf} + member.leaf_count; ++i) {
    const Leaf& leaf = leaves_[i];
    error = leaf_error(leaf, extras_[i], predicted + leaf.word, truth + leaf.word);
    sum += error * error;
  }
  return worse(0, member.leaf_count == 1 ? error : std::sqrt(sum));
}

}  // namespace lattice::serialization
