// The parcels of the hall, on the authority. Most rest and are never touched again. Those on belts move in
// every tick; one that reaches the end of its belt is despawned, and another is spawned at the start.
#pragma once

#include <cstdint>
#include <vector>

#include "hall.h"
#include "lattice/lattice.hpp"

namespace depot {

class Parcels {
 public:
  /// Of the kHallParcels of a full hall, spawns `count`, spread evenly. `count` is at most kHallParcels.
  void spawn(lattice::WorldRef world, uint32_t count, uint32_t tick);
  /// Moves those on belts to where they are at `tick`.
  void step(lattice::WorldRef world, uint32_t tick);
  /// Those that never move.
  const std::vector<lattice_netid>& resting() const { return resting_; }
  /// Those on belts.
  const std::vector<lattice_netid>& riding() const { return riding_ids_; }
  /// Of resting(), those that lie in a vault.
  const std::vector<lattice_netid>& in_vault(int vault) const {
    return in_vault_[static_cast<size_t>(vault)];
  }

 private:
  struct Trip {
    uint32_t index;  // of ride_at()
    uint32_t trip;
  };
  static lattice_netid spawn_one(lattice::WorldRef world, Vec2 position, uint32_t kind_index);

  std::vector<lattice_netid> resting_;
  std::vector<lattice_netid> riding_ids_;
  std::vector<Trip> trips_;  // of riding_ids_, in the same order
  std::vector<lattice_netid> in_vault_[kVaultCount];
};

}  // namespace depot
