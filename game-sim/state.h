// The networked structures of Depot and the input command: all the state the simulation has (§18, §21).
//
// Positions have a resolution of 1/512 m and velocities of 1/256 m/s: on the wire, and also in memory,
// because the simulation is rounded after each tick (S-03). A time is the tick at which something happened,
// not a counter, so that waiting costs no bandwidth. Tick 0 means "never".
#pragma once

#include <cstdint>

#include "lattice/authoring/networked.h"
#include "vec2.h"

namespace depot {

inline constexpr int32_t kMaxScore = 4095;
inline constexpr int kDockDoorCount = 4;
inline constexpr int kVaultCount = 8;
inline constexpr int kDoorCount = kDockDoorCount + kVaultCount;

enum class ParcelKind : uint8_t { kNone, kBox, kCrate, kBarrel };
LATTICE_ENUM(ParcelKind, kNone, kBox, kCrate, kBarrel)

// One member per line:
// clang-format off

/// A player's character: its owner predicts it.
struct PawnState {
  LATTICE_NETSTRUCT(PawnState,
    (position, vec2, BOUNDS(0, 256, 1.0 / 512), POSITION),
    (velocity, vec2, BOUNDS(-32, 32, 1.0 / 256), VELOCITY),
    (facing, vec2, BOUNDS(-1, 1, 1.0 / 64)),     // a unit vector
    (dash_tick, uint32, SNAP),                   // tick at which the last dash began
    (fire_tick, uint32, SNAP),                   // tick of the last shot
    (hit_tick, uint32, SNAP),                    // tick at which the last projectile struck
    (score, int32, RANGED(0, kMaxScore), SNAP, NOT_PREDICTED),  // parcels delivered
    (carried, ParcelKind),
    (is_bot, bool))
};

struct ProjectileState {
  LATTICE_NETSTRUCT(ProjectileState,
    (position, vec2, BOUNDS(0, 256, 1.0 / 512), POSITION),
    (velocity, vec2, BOUNDS(-32, 32, 1.0 / 256), VELOCITY),
    (fired_tick, uint32, SNAP),
    (shooter, netid))  // the pawn that fired it, which it cannot hit
};

/// The door is open in [open_from_tick, open_until_tick). Both ticks are usually in the future when they are set,
/// so every client can simulate the change at its very tick.
struct DoorState {
  LATTICE_NETSTRUCT(DoorState,
    (index, int32, RANGED(0, kDoorCount - 1), SNAP),  // place in arena_doors()
    (open_from_tick, uint32, SNAP),
    (open_until_tick, uint32, SNAP))
};

struct PickupState {
  LATTICE_NETSTRUCT(PickupState,
    (position, vec2, BOUNDS(0, 64, 1.0 / 512), POSITION),
    (kind, ParcelKind),
    (taken, bool),
    (taken_tick, uint32, SNAP))
};

/// Goods of the hall. Most lie in a rack for ever; those on a belt move a little in every tick.
struct ParcelState {
  LATTICE_NETSTRUCT(ParcelState,
    (position, vec2, BOUNDS(0, 256, 1.0 / 64), POSITION),
    (kind, ParcelKind))
};

/// What a player does in one tick. The use of a door is an RPC instead: it must arrive, and it happens once.
struct PawnInput {
  LATTICE_NETSTRUCT(PawnInput,
    (move, vec2, BOUNDS(-1, 1, 1.0 / 64)),  // longer than 1 counts as 1
    (aim, vec2, BOUNDS(-1, 1, 1.0 / 64)),   // zero: aim where you walk
    (dash, bool),
    (fire, bool))
};

// clang-format on

}  // namespace depot
