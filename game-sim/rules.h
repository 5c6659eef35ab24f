// The rules of one tick of each kind of object, on plain structures. Nothing here calls Lattice, allocates,
// or keeps anything between ticks, so a rollback that restores the structures restores the game (§11, §18.2).
//
// The same functions run on the authority, which steps every object, and on a client, which steps its own
// pawn against the newest known state of the other objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lattice/types.h"
#include "state.h"

namespace depot {

// How the game feels.
inline constexpr float kPawnRadius = 0.4f;
inline constexpr float kWalkSpeed = 5.0f;          // m/s
inline constexpr float kWalkAcceleration = 40.0f;  // m/s^2
inline constexpr float kDashSpeed = 13.0f;
inline constexpr uint32_t kDashTicks = 9;
inline constexpr uint32_t kDashCooldownTicks = 60;
inline constexpr uint32_t kFireCooldownTicks = 24;
inline constexpr float kProjectileSpeed = 9.0f;
inline constexpr float kProjectileRadius = 0.15f;
inline constexpr uint32_t kProjectileLifeTicks = 150;
inline constexpr float kKnockbackSpeed = 7.0f;
inline constexpr uint32_t kStunTicks = 20;
inline constexpr float kPickupRadius = 0.3f;
inline constexpr uint32_t kPickupRespawnTicks = 300;
inline constexpr float kUseReach = 2.5f;  // from a pawn's centre to the door's box

// A door moves a quarter of a second after its use. By then every client on an ordinary link has received the
// change, and predicts the very tick at which the door opens or shuts.
inline constexpr uint32_t kDoorNoticeTicks = 15;
inline constexpr uint32_t kDoorOpenTicks = 240;

/// One object of the scene: its id and its networked structure, which the rules write in place.
template <class State>
struct Actor {
  lattice_netid id = 0;
  State* state = nullptr;
};

/// The pawns and doors of this tick, each list in ascending id.
struct Scene {
  std::span<const Actor<PawnState>> pawns;
  std::span<const Actor<DoorState>> doors;
};

/// The effects of a tick beyond writing the stepped object. The authority acts on them. A client may neither
/// spawn nor despawn: it only notes which pawns were disturbed.
class SceneEvents {
 public:
  virtual void fired(lattice_netid pawn, Vec2 position, Vec2 velocity) = 0;
  virtual void projectile_ended(lattice_netid projectile, Vec2 position) = 0;
  virtual void pawn_hit(lattice_netid pawn, lattice_netid shooter, Vec2 position) = 0;
  virtual void picked_up(lattice_netid pawn, ParcelKind kind) = 0;
  /// Another pawn pushed this pawn. No client can foresee that exactly.
  virtual void pushed(lattice_netid pawn) = 0;

 protected:
  ~SceneEvents() = default;
};

/// A tick: its number and its length in seconds.
struct TickTime {
  uint32_t tick;
  float dt_s;
};

bool door_is_open(const DoorState& door, uint32_t tick);
/// Schedules a change of the door, which takes effect kDoorNoticeTicks later. Opening an open door keeps it
/// open for longer; shutting a shut door does nothing.
void use_door(DoorState& door, bool want_open, uint32_t tick);

bool pawn_is_stunned(const PawnState& pawn, uint32_t tick);
bool pawn_is_dashing(const PawnState& pawn, uint32_t tick);
bool pawn_can_dash(const PawnState& pawn, uint32_t tick);

void step_pawn(const Scene& scene, const Actor<PawnState>& pawn, const PawnInput& input, TickTime time,
               SceneEvents& events);
void step_projectile(const Scene& scene, const Actor<ProjectileState>& projectile, TickTime time,
                     SceneEvents& events);
void step_pickup(const Scene& scene, const Actor<PickupState>& pickup, TickTime time, SceneEvents& events);

}  // namespace depot
