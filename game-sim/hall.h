// The hall around the dock: 256 x 160 m in 8 x 8 cells of 32 x 20 m. The four cells of the lower left corner
// are the dock (arena.h). Every other cell has a belt and a walkway along its lower edge, a walkway along its
// left edge, and on the rest of its floor either two racks or a vault. Constants only, in metres.
//
//     | r r r r |  r  rack, 70 parcels at rest     A vault is a room with one door. While the door is shut,
//     | r r r r |                                  nobody sees what is on its other side (game_server.h).
//     +---------+  -  walkway
//     >>>>>>>>>>>  >  belt, parcels on their way
#pragma once

#include <cstddef>
#include <cstdint>

#include "arena.h"
#include "state.h"

namespace depot {

inline constexpr int kHallColumns = 8;
inline constexpr int kHallRows = 8;
inline constexpr float kCellWidth = kArenaWidth / kHallColumns;
inline constexpr float kCellHeight = kArenaHeight / kHallRows;

/// The vault whose floor `point` is on, 0..kVaultCount - 1, or kNoVault.
inline constexpr int kNoVault = -1;
int vault_at(Vec2 point);
/// The door of a vault, as a place in arena_doors().
inline constexpr int vault_door(int vault) {
  return kDockDoorCount + vault;
}

/// Where two walkways of the hall cross, by cell, row by row from the bottom; the cells of the dock have
/// none.
std::span<const Vec2> hall_crossings();

/// How far a player sees, in metres: what comes nearer appears, and what goes farther away than the second
/// disappears.
inline constexpr float kSightRadius = 20.0f;
inline constexpr float kSightLeaveRadius = 24.0f;

// ---- Parcels --------------------------------------------------------------------------------------------

inline constexpr uint32_t kRestingParcels = 9000;
inline constexpr uint32_t kRidingParcels = 1000;
inline constexpr uint32_t kHallParcels = kRestingParcels + kRidingParcels;

/// Where the parcel `index` < kRestingParcels lies.
Vec2 resting_place(uint32_t index);
/// Its kind.
ParcelKind parcel_kind(uint32_t index);

/// Where a parcel on a belt is. Each belt carries its parcels from its start to its end at equal distances.
/// At the end a parcel leaves the hall, and at the start another comes in: `trip` counts them.
struct Ride {
  Vec2 position;
  uint32_t trip = 0;
};
/// `index` < kRidingParcels. The same index and tick give the same ride everywhere.
Ride ride_at(uint32_t index, uint32_t tick);

}  // namespace depot
