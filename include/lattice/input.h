/// @file
/// The input command: what the player wants in one tick.
#ifndef LATTICE_INPUT_H
#define LATTICE_INPUT_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Sets the local player's input for the ticks to come, until it is set again. `input` is the host structure
/// of lattice_register_input() and `bytes` its exact size; it is copied. Fixes the schema.
/// LATTICE_ERROR_NOT_FOUND when no input is registered, LATTICE_ERROR_INVALID_ARGUMENT for another size,
/// LATTICE_ERROR_NOT_ALLOWED on a dedicated server, which has no player.
///
///     my_input input = {.right = key_down(KEY_RIGHT), .jump = key_down(KEY_SPACE)};
///     lattice_set_input(world, &input, sizeof input);
LATTICE_API lattice_result lattice_set_input(lattice_world* world, const void* input, size_t bytes);

/// Inside on_tick: copies the input of `peer` for this tick into `out`; `bytes` is its exact size. Returns 1
/// for an input that was made for this tick, 2 for an earlier one that is repeated because this one is late.
/// 0 and LATTICE_ERROR_NOT_FOUND when there is none: `out` is the default input then (each member zero, or
/// the nearest value it may have) for a connected client, and all zero for any other peer. On a client only
/// the local player's input is known.
///
/// `out` is not written when no input is registered (LATTICE_ERROR_NOT_FOUND) or its size is another
/// (LATTICE_ERROR_INVALID_ARGUMENT).
///
///     my_input input;
///     lattice_get_input(world, info.owner, &input, sizeof input);
///     step_pawn(pawn, &input, tick->dt_s);
LATTICE_API int lattice_get_input(lattice_world* world, lattice_peer_id peer, void* out, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
