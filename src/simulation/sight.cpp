// See sight.h. In the newest input an age is a varint: 0 for none, else the age and 1. The codes of an older
// input:
//
//   view      00          the view of the newer input, or none like it
//             01 bits(5)  a tick before that view, and n - 16 256ths after this
//             10 bits(9)  the same with n - 256
//             11 varint   as in the newest input
//   snapshot  0           the snapshot of the newer input, or none like it
//             1 bits(3)   0 to 6: n + 1 ticks before it; 7: a varint follows, as in the newest input
//
// Each sight has one form: of those that fit, the first.
#include "simulation/sight.h"

#include <cmath>
#include <optional>

#include "base/assert.h"

namespace lattice::simulation {
namespace {

constexpr int kNearBits = 5;
constexpr int kFarBits = 9;
constexpr int32_t kNear = 1 << (kNearBits - 1);
constexpr int32_t kFar = 1 << (kFarBits - 1);
constexpr uint32_t kSnapshotSteps = 7;  // codes 0..6 are steps of 1..7 ticks

enum ViewCode : uint32_t { kSame = 0, kNearby = 1, kFurther = 2, kSaid = 3 };

/// 256ths from the view to the input's tick; nothing when nothing was drawn.
std::optional<int32_t> view_age(const Sight& sight, Tick tick) {
  if (sight.view_tick == 0) return std::nullopt;
  return base::tick_distance(tick, sight.view_tick) * kViewFractions -
         static_cast<int32_t>(sight.view_fraction);
}

std::optional<int32_t> snapshot_age(const Sight& sight, Tick tick) {
  if (sight.snapshot_tick == 0) return std::nullopt;
  return base::tick_distance(tick, sight.snapshot_tick);
}

bool set_view(std::optional<int32_t> age, Tick tick, Sight* out) {
  out->view_tick = 0;
  out->view_fraction = 0;
  if (!age) return true;
  if (*age < 0 || *age > kMaxSightTicks * kViewFractions) return false;
  const int32_t back = (*age + kViewFractions - 1) / kViewFractions;
  out->view_tick = tick - static_cast<Tick>(back);
  out->view_fraction = static_cast<uint32_t>(back * kViewFractions - *age);
  return out->view_tick != 0;
}

bool set_snapshot(std::optional<int32_t> age, Tick tick, Sight* out) {
  out->snapshot_tick = 0;
  if (!age) return true;
  if (*age < 0 || *age > kMaxSightTicks) return false;
  out->snapshot_tick = tick - static_cast<Tick>(*age);
  return out->snapshot_tick != 0;
}

/// 0: none.
void write_age(BitWriter& writer, std::optional<int32_t> age) {
  writer.WriteVarint(age ? static_cast<uint32_t>(*age) + 1 : 0);
}

/// An age that is too large stays too large.
std::optional<int32_t> read_age(BitReader& reader) {
  const uint32_t said = reader.ReadVarint32();
  if (said == 0) return std::nullopt;
  return static_cast<int32_t>(said - 1 > INT32_MAX ? INT32_MAX : said - 1);
}

/// How much later than a tick before the newer view the older one is, in 256ths; nothing without two views.
std::optional<int32_t> drift(std::optional<int32_t> newer_age, std::optional<int32_t> older_age) {
  if (!newer_age || !older_age) return std::nullopt;
  return *newer_age - *older_age;
}

bool is_within(int32_t value, int32_t bound) {
  return value >= -bound && value < bound;
}

ViewCode view_code(std::optional<int32_t> newer_age, std::optional<int32_t> older_age) {
  if (!newer_age && !older_age) return kSame;
  const std::optional<int32_t> moved = drift(newer_age, older_age);
  if (!moved) return kSaid;
  if (*moved == kViewFractions) return kSame;
  if (is_within(*moved, kNear)) return kNearby;
  return is_within(*moved, kFar) ? kFurther : kSaid;
}

/// The ticks from the older snapshot to the newer; nothing where only the long form says it.
std::optional<uint32_t> snapshot_step(std::optional<int32_t> newer_age, std::optional<int32_t> older_age) {
  if (!newer_age && !older_age) return 0;
  if (!newer_age || !older_age) return std::nullopt;
  const int32_t step = *older_age + 1 - *newer_age;
  if (step < 0 || step > static_cast<int32_t>(kSnapshotSteps)) return std::nullopt;
  return static_cast<uint32_t>(step);
}

SightFault read_older_view(BitReader& reader, std::optional<int32_t> newer_age, Tick tick, Sight* out) {
  const auto code = static_cast<ViewCode>(reader.ReadBits(2));
  std::optional<int32_t> age;
  if (code == kSaid) {
    age = read_age(reader);
  } else if (newer_age) {
    int32_t moved = kViewFractions;
    if (code == kNearby) moved = static_cast<int32_t>(reader.ReadBits(kNearBits)) - kNear;
    if (code == kFurther) moved = static_cast<int32_t>(reader.ReadBits(kFarBits)) - kFar;
    age = *newer_age - moved;
  } else if (code != kSame) {
    return SightFault::kBadSight;
  }
  if (!set_view(age, tick, out)) return SightFault::kBadSight;
  return view_code(newer_age, age) == code ? SightFault::kNone : SightFault::kNotCanonical;
}

SightFault read_older_snapshot(BitReader& reader, std::optional<int32_t> newer_age, Tick tick, Sight* out) {
  uint32_t step = 0;
  bool is_said = false;
  if (reader.ReadBool()) {
    step = static_cast<uint32_t>(reader.ReadBits(3)) + 1;
    is_said = step > kSnapshotSteps;
  }
  std::optional<int32_t> age;
  if (is_said) {
    age = read_age(reader);
  } else if (newer_age) {
    age = *newer_age - 1 + static_cast<int32_t>(step);
  } else if (step != 0) {
    return SightFault::kBadSight;
  }
  if (!set_snapshot(age, tick, out)) return SightFault::kBadSight;
  return is_said && snapshot_step(newer_age, age) ? SightFault::kNotCanonical : SightFault::kNone;
}

}  // namespace

TickTime round_view(TickTime time) {
  return moved(TickTime{time.tick, 0.0}, std::round(time.fraction * kViewFractions) / kViewFractions);
}

Sight sight_of(TickTime view, Tick snapshot_tick) {
  return {view.tick, static_cast<uint32_t>(view.fraction * kViewFractions), snapshot_tick};
}

Sight bounded_sight(const Sight& sight, Tick tick) {
  Sight bounded;
  // The distances are looked at first: in 256ths, a far one would not fit its number.
  const bool is_near = sight.view_tick != 0 && base::tick_distance(tick, sight.view_tick) >= 0 &&
                       base::tick_distance(tick, sight.view_tick) <= kMaxSightTicks;
  if (is_near && !set_view(view_age(sight, tick), tick, &bounded)) set_view(std::nullopt, tick, &bounded);
  if (!set_snapshot(snapshot_age(sight, tick), tick, &bounded)) bounded.snapshot_tick = 0;
  return bounded;
}

void encode_sight(BitWriter& writer, const Sight& sight, Tick tick) {
  LATTICE_ASSERT(bounded_sight(sight, tick) == sight);
  write_age(writer, view_age(sight, tick));
  write_age(writer, snapshot_age(sight, tick));
}

void encode_older_sight(BitWriter& writer, const Sight& newer, const Sight& older, Tick tick) {
  LATTICE_ASSERT(bounded_sight(older, tick) == older);
  const std::optional<int32_t> newer_view = view_age(newer, tick + 1);
  const std::optional<int32_t> view = view_age(older, tick);
  const ViewCode code = view_code(newer_view, view);
  writer.WriteBits(code, 2);
  if (code == kNearby) writer.WriteBits(static_cast<uint32_t>(*drift(newer_view, view) + kNear), kNearBits);
  if (code == kFurther) writer.WriteBits(static_cast<uint32_t>(*drift(newer_view, view) + kFar), kFarBits);
  if (code == kSaid) write_age(writer, view);

  const std::optional<int32_t> snapshot = snapshot_age(older, tick);
  const std::optional<uint32_t> step = snapshot_step(snapshot_age(newer, tick + 1), snapshot);
  writer.WriteBool(step != 0u);
  if (step == 0u) return;
  writer.WriteBits(step ? *step - 1 : kSnapshotSteps, 3);
  if (!step) write_age(writer, snapshot);
}

SightFault decode_sight(BitReader& reader, Tick tick, Sight* out) {
  const bool has_view = set_view(read_age(reader), tick, out);
  const bool has_snapshot = set_snapshot(read_age(reader), tick, out);
  return has_view && has_snapshot ? SightFault::kNone : SightFault::kBadSight;
}

SightFault decode_older_sight(BitReader& reader, const Sight& newer, Tick tick, Sight* out) {
  if (const SightFault fault = read_older_view(reader, view_age(newer, tick + 1), tick, out);
      fault != SightFault::kNone) {
    return fault;
  }
  return read_older_snapshot(reader, snapshot_age(newer, tick + 1), tick, out);
}

}  // namespace lattice::simulation
