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
/// of lattice_register_input() and `bytes` its exact size; it is copied. Fixes the schema. On a client a
/// value that does not fit its member is clamped when the tick takes it; the log says so, and values_clamped
/// counts.
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

/// What a player saw when an input was made. A client says it with each input; a server judges by it what the
/// player aimed at.
typedef struct lattice_input_sight {
  uint32_t struct_size;  ///< set by lattice_input_sight_init()
  uint32_t input_tick;  ///< the tick for which the input was made; before the present one when it is repeated
  /// The objects of others were drawn as they were at this tick and view_fraction. 0: the client has drawn
  /// nothing yet. Own predicted objects were drawn in the present.
  uint32_t view_tick;
  uint32_t view_fraction;  ///< 0..255: so many 256ths of a tick after view_tick
  uint32_t snapshot_tick;  ///< tick of the newest snapshot that had arrived; 0: none
  /// How early the client means its inputs to arrive, in quarter ticks. 255 stands for all that is more.
  uint32_t lead_quarter_ticks;
  /// Authority: 1 when the client named a moment that no honest client sees, or one older than
  /// lattice_world_config.history_ticks. The nearest that can be is here instead.
  uint32_t is_clamped;
  uint32_t reserved;  ///< 0
} lattice_input_sight;

/// All zero, with struct_size. Does nothing when `sight` is NULL. Does not set lattice_last_result().
static inline void lattice_input_sight_init(lattice_input_sight* sight) {
  if (sight == NULL) return;
  memset(sight, 0, sizeof *sight);
  sight->struct_size = (uint32_t)sizeof *sight;
}

/// Inside on_tick: writes what `peer` saw when it made the input that lattice_get_input() gives. A client
/// rounds the moment before it draws, so view_tick and view_fraction are exactly the moment that was drawn:
/// the objects of others as they were then, but for what a client without news extrapolated and then eased in.
/// What a client says is not proof: on the authority it is held between the oldest state of
/// lattice_world_config.history_ticks and the tick before this one, and a moment outside counts in
/// lattice_world_refusal() as input_sight_future or input_sight_old. The player of a host sees the tick
/// before. `out` must have been initialised. LATTICE_ERROR_NOT_FOUND when lattice_get_input() has nothing
/// either.
///
///     lattice_input_sight seen;
///     lattice_input_sight_init(&seen);
///     if (lattice_get_input_sight(world, shooter, &seen) == LATTICE_OK && seen.view_tick != 0)
///       judge_shot(shooter, seen.view_tick, seen.view_fraction / 256.0);
LATTICE_API lattice_result lattice_get_input_sight(lattice_world* world, lattice_peer_id peer,
                                                   lattice_input_sight* out);

#ifdef __cplusplus
}
#endif
#endif
