// Eases the visible jump of a correction (§12.4, S-07). Each object that is shown has one.
//
// At a correction the object on screen must not move. So the smoother keeps an offset from the true pose to
// the shown pose, for every position, rotation and angle of the object. The offset decays as exp(−t/τ) with τ
// = 60 ms (95 % in 180 ms). A new correction adds to the rest of the old offset. An offset longer than
// `snap_distance`, or a teleport, drops the offset instead: easing across the map looks worse than a cut.
//
// Presentation only: offsets never enter simulated state, so libm is allowed here.
//
// Must stay true: without a new correction an offset only shrinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lattice/authoring/quantize.h"

namespace lattice::serialization {
class Layout;
}

namespace lattice::prediction {

inline constexpr uint64_t kSmootherTauNs = 60'000'000;  // S-07
inline constexpr double kDefaultSnapDistance = 5.0;

struct SmootherConfig {
  uint64_t tau_ns = kSmootherTauNs;             // > 0
  double snap_distance = kDefaultSnapDistance;  // in the members' own unit
};

class Smoother {
 public:
  /// Finds the position, rotation and angle members of `layout`; allocates one offset for each.
  Smoother(const serialization::Layout& layout, const SmootherConfig& config);

  /// The true pose changed from `before` to `after` at `now_ns`; both are host structures without any offset.
  /// The shown pose stays where it is, unless that needs an offset beyond the snap distance or `teleported`
  /// is set. Both arrays hold one pointer per behaviour of the layout.
  void correct(const void* const* before, const void* const* after, bool teleported, uint64_t now_ns);

  /// Adds the rest of the offsets at `now_ns` to the true pose in `host_behaviours`.
  void apply(void* const* host_behaviours, uint64_t now_ns);

  /// Drops all offsets.
  void snap();

  /// The length of the longest position offset at `now_ns`, and below: the largest rotation offset in
  /// radians.
  double offset_distance(uint64_t now_ns) const;
  double offset_angle_rad(uint64_t now_ns) const;
  bool idle() const { return !active_; }
  uint64_t snaps() const { return snaps_; }

 private:
  struct PositionOffset {
    uint32_t behaviour;
    uint32_t offset_bytes;
    uint8_t components;  // 1 to 4
    bool is_double;
    double value[4];
  };
  struct RotationOffset {
    uint32_t behaviour;
    uint32_t offset_bytes;
    bool is_double;
    double value[4];  // x, y, z, w
  };

  struct AngleOffset {
    uint32_t behaviour;
    uint32_t offset_bytes;
    bool is_double;
    AngleQuant angle;
    double value;  // at most half a turn
  };

  double decay_until(uint64_t now_ns) const;
  void settle(uint64_t now_ns);

  SmootherConfig config_;
  std::vector<PositionOffset> positions_;
  std::vector<RotationOffset> rotations_;
  std::vector<AngleOffset> angles_;
  uint64_t since_ns_ = 0;  // the time for which the values in the offsets hold
  bool active_ = false;
  uint64_t snaps_ = 0;
};

}  // namespace lattice::prediction
