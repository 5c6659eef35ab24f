// What moves in the scenes of the replication bench, the same on servers and on clients: a type whose members
// take 45 bits, the input of a player, and the rules by which things move.
#pragma once

#include <cmath>
#include <cstdint>

#include "lattice/lattice.hpp"

namespace bench {

inline constexpr uint32_t kTickRateHz = 60;
inline constexpr uint32_t kSnapshotRateHz = 30;
inline constexpr double kRoundTripMs = 100;
// Of uneven crowds: the round trips of clients differ from the mean by up to so much, and datagrams are lost.
inline constexpr double kUnevenMs = 40, kUnevenLossPercent = 1;
inline constexpr double kStepM = 0.02;  // between neighbouring positions on the wire
inline constexpr uint32_t kPositionBits = 13 + 13 + 9, kYawBits = 8;
inline constexpr int kLastXY = 8191, kLastZ = 511, kYawCount = 256;

// 13 + 13 + 9 bits of position, 8 of yaw, one for each flag.
LATTICE_NETWORKED(Walker,
                  (position, vec3, BOUNDS(0, 163.82, 0.02), BOUNDS(0, 163.82, 0.02), BOUNDS(0, 10.22, 0.02),
                   POSITION),
                  (yaw, float, BOUNDS(0, 360, 1.40625), ANGLE), (crouched, bool), (armed, bool))
LATTICE_NETWORKED(Keys, (forward, int8), (right, int8), (buttons, uint8))

inline constexpr lattice::Type<Walker> kPlayer{.id = 1, .name = "Player", .flags = LATTICE_TYPE_PREDICTED};
inline constexpr lattice::Type<Walker> kThing{.id = 2, .name = "Thing"};

/// The same random number for the same object and tick, on every side.
inline uint64_t dice_of(lattice_netid object, uint32_t tick) {
  uint64_t x = object * 0x9e3779b97f4a7c15u + tick;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// `value` in metres moved by 1 to 4 steps of the wire, back from the walls.
inline float walk(float value, uint64_t dice, int last) {
  const int now = static_cast<int>(std::lround(value / kStepM));
  const int by = static_cast<int>(dice & 3) + 1;
  const bool up = (dice & 4) != 0 ? now + by <= last : now - by < 0;
  return static_cast<float>((up ? now + by : now - by) * kStepM);
}

/// One tick of a random walk: all of position and yaw change, and a flag in one tick of 32.
inline void step(Walker& walker, lattice_netid object, uint32_t tick) {
  const uint64_t dice = dice_of(object, tick);
  walker.position.x = walk(walker.position.x, dice, kLastXY);
  walker.position.y = walk(walker.position.y, dice >> 3, kLastXY);
  walker.position.z = walk(walker.position.z, dice >> 6, kLastZ);
  const int yaw = static_cast<int>(std::lround(walker.yaw * kYawCount / 360.0));
  walker.yaw =
      static_cast<float>((yaw + 1 + static_cast<int>(dice >> 9 & 7)) % kYawCount * 360.0 / kYawCount);
  if ((dice >> 12 & 63) == 0) walker.crouched = !walker.crouched;
  if ((dice >> 18 & 63) == 0) walker.armed = !walker.armed;
}

/// Where an object starts.
inline Walker start_of(lattice_netid object) {
  const uint64_t dice = dice_of(object, 0);
  Walker walker;
  walker.position.x = static_cast<float>(static_cast<double>(dice & kLastXY) * kStepM);
  walker.position.y = static_cast<float>(static_cast<double>(dice >> 13 & kLastXY) * kStepM);
  walker.position.z = static_cast<float>(static_cast<double>(dice >> 26 & kLastZ) * kStepM);
  return walker;
}

/// Registers types and input; the same order everywhere.
inline bool add_schema(const lattice::World& world) {
  return world.add(kPlayer) == LATTICE_OK && world.add(kThing) == LATTICE_OK &&
         world.add_input<Keys>() == LATTICE_OK;
}

}  // namespace bench
