/// @file
/// Frames: one moment for all that is drawn, and what happened since the frame before.
#ifndef LATTICE_FRAME_H
#define LATTICE_FRAME_H

#include "lattice/object.h"
#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Begins a frame. It reads the clock of the world once, and until the next call every lattice_object_view()
/// shows its object at that one moment. An object is posed at its first view in the frame, and keeps that
/// pose until the next frame, however often it is asked for and whatever is pumped in between. An object
/// first viewed after another pump is posed from what that pump brought, so draw the whole frame between two
/// pumps. What happened since the frame before is then in lattice_frame_get(). Call it once before drawing.
/// Allowed inside a callback.
///
///     lattice_frame_begin(world);
///     for (size_t i = 0; i < count; ++i) {
///       if (lattice_object_view(world, ids[i], 0, &pose, sizeof pose) != 0) draw_pawn(&pose);
///     }
LATTICE_API lattice_result lattice_frame_begin(lattice_world* world);

/// The highest bit of lattice_frame_object.members stands for its own member and for all that follow it.
#define LATTICE_FRAME_LAST_MEMBER 63u

/// One object in an array of a frame.
typedef struct lattice_frame_object {
  lattice_netid object;  ///< its id
  /// Which members changed: bit 0 is the first member of the first behaviour, and the members of the next
  /// behaviours follow. Bit LATTICE_FRAME_LAST_MEMBER stands for all members from that one on. A member that
  /// changed and changed back between two frames is one that changed. 0 in `left` and `spawned`.
  uint64_t members;
  uint32_t type_id;  ///< the type it was spawned with
  uint32_t reason;   ///< a lattice_despawn_reason; LATTICE_DESPAWN_NONE except in `left`
} lattice_frame_object;

/// What happened between two frames. Take the arrays in this order: what left, what appeared, what changed.
/// After that the game knows exactly the objects that are there. An object that appeared and disappeared
/// between the two frames is in no array. One that left and came back is in `left` and in `spawned`.
///
/// Placed objects (lattice_place()) are never in `spawned`: the game has them from its level. So the first
/// frame of a world has those that are gone in `left`, and those that are no longer as they were placed in
/// `changed`. A world that is not running, and a client without a session, has no objects to tell of. When a
/// session ends, all objects leave lattice_objects(): those that were spawned are in `left`, the placed ones
/// are in no array. Put the level back as it was placed before the next session; what differs then is told
/// again.
///
/// The order within an array is not specified.
typedef struct lattice_frame {
  uint32_t struct_size;      ///< set by lattice_frame_init()
  uint32_t number;           ///< counts the frames of this world from 1
  uint32_t tick;             ///< the tick that the simulation had run when the frame began
  uint32_t left_count;       ///< how many are in `left`
  uint32_t spawned_count;    ///< how many are in `spawned`
  uint32_t changed_count;    ///< how many are in `changed`
  uint32_t corrected_count;  ///< how many are in `corrected`
  /// Objects of others are drawn as they were this many 256ths of a tick after view_tick, 0..255.
  uint32_t view_fraction;
  /// Objects that are gone, or left this client's interest and came back. Their state can no longer be read.
  /// The first frame has the placed objects that are gone.
  const lattice_frame_object* left;
  /// Objects that appeared. The first frame of a world has every spawned object here that is there already.
  /// On the authority also one whose first tick has not run: it has no lattice_object_confirmed() yet, and
  /// its state is that of lattice_object_read().
  const lattice_frame_object* spawned;
  /// Objects whose authoritative state is another one, and which of their members. On a client: what arrived.
  /// On the authority: what its ticks recorded. The first frame has the placed objects that are no longer as
  /// they were placed. Objects in `spawned` are not repeated here. What is drawn of an object goes on moving
  /// in frames in which nothing arrived: draw it by lattice_object_view().
  const lattice_frame_object* changed;
  /// Client: predicted objects that a rollback moved in the present, and which of their members. Also those
  /// whose correction is eased in, and those of objects in `changed`.
  const lattice_frame_object* corrected;
  /// The moment at which this frame draws the objects of others; the inputs that follow say it to the
  /// authority (lattice_input_sight). On the authority the last tick. 0: a client without a session, or one
  /// whose session began less than the delay ago: it draws each object in the first state that it has.
  uint32_t view_tick;
  uint32_t reserved;  ///< 0
} lattice_frame;

/// All zero, with struct_size. Does nothing when `frame` is NULL. Does not set lattice_last_result().
static inline void lattice_frame_init(lattice_frame* frame) {
  if (frame == NULL) return;
  memset(frame, 0, sizeof *frame);
  frame->struct_size = (uint32_t)sizeof *frame;
}

/// Writes what happened between the last two calls of lattice_frame_begin(). Works alike in every role. The
/// world owns the arrays; they are valid until the next lattice_frame_begin() of this world, whatever is
/// pumped in between. An array has at most as many objects as the world can hold; an empty one is NULL. A
/// world that never begins a frame keeps no such record. `out` must have been initialised.
/// LATTICE_ERROR_OUT_OF_ORDER before the first lattice_frame_begin().
///
///     lattice_frame frame;
///     lattice_frame_init(&frame);
///     lattice_frame_begin(world);
///     lattice_frame_get(world, &frame);
///     for (uint32_t i = 0; i < frame.left_count; ++i) remove_sprite(frame.left[i].object);
///     for (uint32_t i = 0; i < frame.spawned_count; ++i) add_sprite(frame.spawned[i].object);
LATTICE_API lattice_result lattice_frame_get(lattice_world* world, lattice_frame* out);

#ifdef __cplusplus
}
#endif
#endif
