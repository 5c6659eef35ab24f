// What a player saw when an input was made: the moment at which objects of others were drawn, and the newest
// snapshot that had arrived. Spec: D-45 to D-47. With it a server can judge a shot by what its player aimed
// at.
//
// A view time is a tick and 256ths of one. The client rounds it before it draws (round_view), so the server
// gets the very moment that was drawn, not one nearby.
//
// Both are coded as ages against the tick of their input, and those of older inputs against the next newer:
// between two frames of equal length a view moves by a tick, give or take a few 256ths.
#pragma once

#include <cstdint>

#include "lattice/authoring/bit_reader.h"
#include "lattice/authoring/bit_writer.h"
#include "simulation/tick_time.h"

namespace lattice::simulation {

inline constexpr int32_t kViewFractions = 256;
/// What lies further back than so many ticks is not said.
inline constexpr int32_t kMaxSightTicks = 4096;

struct Sight {
  Tick view_tick = 0;          // 0: nothing was drawn
  uint32_t view_fraction = 0;  // 0..255, in 256ths of a tick after view_tick
  Tick snapshot_tick = 0;      // 0: none had arrived
  bool operator==(const Sight&) const = default;
};

/// The point on the server's time line; `sight` has a view.
inline TickTime view_time(const Sight& sight) {
  return {sight.view_tick, sight.view_fraction / static_cast<double>(kViewFractions)};
}
/// The nearest 256th of a tick.
TickTime round_view(TickTime time);
/// The sight of a client that drew at `view`, which round_view() has rounded.
Sight sight_of(TickTime view, Tick snapshot_tick);

/// `sight` without what an input of `tick` cannot say: the future, tick 0, more than kMaxSightTicks ago.
Sight bounded_sight(const Sight& sight, Tick tick);

/// `sight` is bounded_sight() of `tick`.
void encode_sight(BitWriter& writer, const Sight& sight, Tick tick);
/// The sight of the input of `tick` against that of the next newer input.
void encode_older_sight(BitWriter& writer, const Sight& newer, const Sight& older, Tick tick);

enum class SightFault : uint8_t {
  kNone,
  kBadSight,      // a moment that an input of this tick cannot name
  kNotCanonical,  // the long form where a short one does
};
/// Reads what the encoders wrote. A reader that ran out of bits has failed, and the result means nothing.
SightFault decode_sight(BitReader& reader, Tick tick, Sight* out);
SightFault decode_older_sight(BitReader& reader, const Sight& newer, Tick tick, Sight* out);

}  // namespace lattice::simulation
