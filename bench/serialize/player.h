// The state that the serialize bench packs: a player of an ordinary shooter, 20 members, 27 numbers.
#pragma once

#include <vector>

#include "lattice/cpp/types.h"

namespace bench::serialize {

enum class Stance : std::uint8_t { standing, crouching, prone, swimming, dead };
LATTICE_ENUM(Stance, standing, crouching, prone, swimming, dead)

LATTICE_NETWORKED(Player, (position, vec3, BOUNDS(-4096, 4096, 0.01), POSITION),
                  (velocity, vec3, BOUNDS(-64, 64, 0.01), VELOCITY),
                  (rotation, quat, SMALLEST_THREE(10), ROTATION), (yaw, float, ANGLE),
                  (pitch, float, BOUNDS(-1.6, 1.6, 0.001)), (health, uint16, BITS(10)),
                  (armour, uint16, BITS(10)), (stamina, float, BOUNDS(0, 1, 0.01)),
                  (weapon, uint8, RANGED(0, 31)), (ammunition, uint16, BITS(9)),
                  (magazines, uint8, RANGED(0, 15)), (team, uint8, RANGED(0, 3)), (score, int32),
                  (deaths, uint16), (stance, Stance), (grounded, bool), (sprinting, bool), (firing, bool),
                  (aiming, bool), (target, netid))

inline constexpr size_t kMembers = 20;

/// Players in which no member has its zero value, the same in each run.
std::vector<Player> some_players(size_t count);
/// The player with one member changed.
Player with_one_changed(Player player, size_t member);

}  // namespace bench::serialize
