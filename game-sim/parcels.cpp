#include "parcels.h"

#include "schema.h"

namespace depot {

lattice_netid Parcels::spawn_one(lattice::WorldRef world, Vec2 position, uint32_t kind_index) {
  const lattice_netid id = world.spawn(kParcel);
  if (ParcelState* parcel = world.state<ParcelState>(id)) {
    parcel->position = position;
    parcel->kind = parcel_kind(kind_index);
  }
  return id;
}

void Parcels::spawn(lattice::WorldRef world, uint32_t count, uint32_t tick) {
  for (uint64_t i = 0; i < count; ++i) {
    const auto place = static_cast<uint32_t>(i * kHallParcels / count);
    if (place >= kRestingParcels) {
      const uint32_t index = place - kRestingParcels;
      const Ride ride = ride_at(index, tick);
      trips_.push_back({index, ride.trip});
      riding_ids_.push_back(spawn_one(world, ride.position, place));
      continue;
    }
    const Vec2 position = resting_place(place);
    const lattice_netid id = spawn_one(world, position, place);
    resting_.push_back(id);
    const int vault = vault_at(position);
    if (vault != kNoVault) in_vault_[vault].push_back(id);
  }
}

void Parcels::step(lattice::WorldRef world, uint32_t tick) {
  for (size_t i = 0; i < trips_.size(); ++i) {
    Trip& trip = trips_[i];
    lattice_netid& id = riding_ids_[i];
    const Ride ride = ride_at(trip.index, tick);
    if (ride.trip != trip.trip) {
      trip.trip = ride.trip;
      world.despawn(id);
      id = spawn_one(world, ride.position, trip.index + trip.trip);
    } else if (ParcelState* parcel = world.state<ParcelState>(id)) {
      parcel->position = ride.position;
    }
  }
}

}  // namespace depot
