// Argument lists of Depot's RPCs (§16), as the host structures Lattice hands over.
#pragma once

#include "state.h"

namespace depot {

/// Door, client -> authority: says what is wanted, not "toggle", so that doing it twice does no harm.
struct DoorUse {
  LATTICE_NETSTRUCT(DoorUse, (open, bool))
};

/// Pawn, authority -> all: it was hit at `where`.
struct PawnEffect {
  LATTICE_NETSTRUCT(PawnEffect, (where, vec2, BOUNDS(0, 64, 1.0 / 64)))
};

/// Pawn, authority -> owner.
struct PawnPickedUp {
  LATTICE_NETSTRUCT(PawnPickedUp, (kind, ParcelKind))
};

}  // namespace depot
