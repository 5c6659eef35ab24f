#include "schema.h"

namespace depot {

lattice_result register_schema(lattice::WorldRef world) {
  const lattice_result results[] = {
      world.add(kPawn, kPawnEffect, kPawnPickedUp),
      world.add(kProjectile),
      world.add(kDoor, kDoorUse),
      world.add(kPickup),
      world.add(kParcel),
      world.add_input<PawnInput>(),
  };
  for (const lattice_result result : results) {
    if (result != LATTICE_OK) return result;
  }
  return LATTICE_OK;
}

}  // namespace depot
