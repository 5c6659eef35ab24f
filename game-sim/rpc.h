// The arguments of Depot's RPCs (§16), as the host structures that Lattice hands over.
#pragma once

#include "state.h"

namespace depot {

/// Door, client -> authority. It names the wanted state instead of "toggle", so that a repeated call does no
/// harm.
struct DoorUse {
  LATTICE_NETSTRUCT(DoorUse, (open, bool))
};

/// Pawn, authority -> all: the pawn was hit at `where`.
struct PawnEffect {
  LATTICE_NETSTRUCT(PawnEffect, (where, vec2, BOUNDS(0, 256, 1.0 / 64)))
};

/// Pawn, authority -> owner: the pawn picked up a parcel.
struct PawnPickedUp {
  LATTICE_NETSTRUCT(PawnPickedUp, (kind, ParcelKind))
};

}  // namespace depot
