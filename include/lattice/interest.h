/// @file
/// Interest: which objects each client gets. lattice_world_config.interest_kind turns it on; without it,
/// every client gets every object. All functions here belong to the authority.
///
/// A client gets an object when nothing of this hides it, in this order:
/// - What a client owns it always gets.
/// - An object of LATTICE_RELEVANCE_OWNER is for its owner only.
/// - An object with teams is for clients that share one of them.
/// - An object is for the clients of its room, and one of LATTICE_ROOM_ALL for all.
/// - An object of LATTICE_RELEVANCE_DISTANCE is for clients whose viewer is near.
/// - on_relevant may refuse an object with is_filtered.
///
/// An object comes within interest_radius and goes beyond interest_leave_radius, and it stays for
/// interest_stay_ms at least. What a rule hides goes with the next snapshot, as far as a quarter of the
/// client's budget holds it. The borders are exact to an eighth of interest_cell. With interest_far_rate_hz,
/// states of what is far come less often. On the client an object that goes is gone: on_despawn tells of it,
/// with LATTICE_DESPAWN_LEFT as lattice_object_despawn_reason(), and on_spawn when it comes back. RPCs to all
/// reach the clients that have the object.
#ifndef LATTICE_INTEREST_H
#define LATTICE_INTEREST_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LATTICE_ROOM_ALL 65535u        ///< the room of an object that is in all rooms
#define LATTICE_MAX_ATTACHED_DEPTH 8u  ///< most parents above an attached object

/// From where an object is seen.
typedef enum lattice_relevance {
  LATTICE_RELEVANCE_DISTANCE = 0,  ///< from near; an object that has no place is seen from everywhere
  LATTICE_RELEVANCE_ALWAYS = 1,    ///< from everywhere in its room
  LATTICE_RELEVANCE_OWNER = 2      ///< by its owner only
} lattice_relevance;

/// Who may see an object.
typedef struct lattice_object_interest {
  uint32_t struct_size;   ///< set by lattice_object_interest_init()
  uint32_t relevance;     ///< a lattice_relevance
  uint32_t room;          ///< 0..65534, or LATTICE_ROOM_ALL
  uint32_t team_mask;     ///< one bit for each team that may see it; 0: everybody may
  uint32_t is_filtered;   ///< 1: on_relevant is asked about each client that may have the object; 0 or 1.
                          ///< 0 for an attached object
  uint32_t is_full_rate;  ///< 1: the distance slows neither its states nor those of what is attached to it
} lattice_object_interest;

/// All zero, with struct_size: everybody of room 0 who is near. Does nothing when `interest` is NULL. Does
/// not set lattice_last_result().
static inline void lattice_object_interest_init(lattice_object_interest* interest) {
  if (interest == NULL) return;
  memset(interest, 0, sizeof *interest);
  interest->struct_size = (uint32_t)sizeof *interest;
}

/// Says who may see an object. It is copied. A new object has the defaults of lattice_object_interest_init(),
/// and LATTICE_RELEVANCE_ALWAYS when its type has LATTICE_TYPE_ALWAYS_RELEVANT.
///
/// LATTICE_ERROR_NOT_FOUND when there is no such object, LATTICE_ERROR_INVALID_ARGUMENT for a member out of
/// its range, LATTICE_ERROR_NOT_ALLOWED for is_filtered of an object that is attached, on a client, and in a
/// world without interest_kind.
///
///     lattice_object_interest interest;
///     lattice_object_interest_init(&interest);
///     interest.team_mask = 1u << RED_TEAM;
///     lattice_object_set_interest(world, flag, &interest);
LATTICE_API lattice_result lattice_object_set_interest(lattice_world* world, lattice_netid object,
                                                       const lattice_object_interest* interest);

/// Writes what lattice_object_set_interest() last said, or the default. `out` must have been initialised.
/// LATTICE_ERROR_NOT_FOUND and LATTICE_ERROR_NOT_ALLOWED as lattice_object_set_interest().
LATTICE_API lattice_result lattice_object_get_interest(lattice_world* world, lattice_netid object,
                                                       lattice_object_interest* out);

/// Says where an object is, in the unit of the game. From then on its state no longer says it. Without this
/// call an object is where its first member with LATTICE_MEMBER_POSITION says, after every tick. A place
/// farther than 32767 cells from the origin counts as one at that border.
///
/// LATTICE_ERROR_INVALID_ARGUMENT when a coordinate is not a number, LATTICE_ERROR_NOT_FOUND when there is no
/// such object, LATTICE_ERROR_NOT_ALLOWED on a client and in a world without interest_kind.
LATTICE_API lattice_result lattice_object_set_position(lattice_world* world, lattice_netid object, double x,
                                                       double y, double z);

/// Attaches an object to another: it comes and goes with the object at the top of the chain, wherever it is
/// itself. Its own team_mask and LATTICE_RELEVANCE_OWNER still hide it, as do those of its parents. The owner
/// of an object gets all that hangs on it, wherever the root is: in another room, or below a parent whose
/// team_mask would hide it. Only what hangs below the owned object may still hide by its own rule. Objects
/// that are attached to each other reach a client as one: they appear and disappear at the same moment, and
/// what changed of them in a tick arrives together, as long as that fits one datagram and the client's
/// budget. One that its own rule hides goes alone, and one that leaves while reliable calls on it are on their
/// way goes behind the last of them. `parent` 0 detaches the object. When a parent despawns, what was attached
/// to it stays and is judged by itself again. on_relevant is asked about the object at the top alone, so an
/// object with is_filtered cannot be attached.
///
/// LATTICE_ERROR_INVALID_ARGUMENT when the object would hang on itself, LATTICE_ERROR_LIMIT when a chain
/// would be longer than LATTICE_MAX_ATTACHED_DEPTH, LATTICE_ERROR_NOT_FOUND when one of the two does not
/// exist, LATTICE_ERROR_NOT_ALLOWED when `object` has is_filtered, on a client, and in a world without
/// interest_kind.
LATTICE_API lattice_result lattice_object_attach(lattice_world* world, lattice_netid object,
                                                 lattice_netid parent);

/// What a client looks from.
typedef enum lattice_viewer_kind {
  LATTICE_VIEWER_OWNED = 0,   ///< the object with the lowest id that it owns and that has a place
  LATTICE_VIEWER_OBJECT = 1,  ///< the object of lattice_viewer.object, or what that hangs on in the end
  LATTICE_VIEWER_POINT = 2    ///< the point x, y, z
} lattice_viewer_kind;

/// Where a client looks from, and what it belongs to. When the object that it looks from is gone, or it owns
/// none any more, it looks from where it looked last. A client that never had a place gets no object that is
/// seen from near only.
typedef struct lattice_viewer {
  uint32_t struct_size;  ///< set by lattice_viewer_init()
  uint32_t kind;         ///< a lattice_viewer_kind
  uint32_t room;         ///< the room it is in, 0..65534
  uint32_t team_mask;    ///< one bit for each team that it is of
  lattice_netid object;  ///< for LATTICE_VIEWER_OBJECT; it may belong to somebody else
  double x;              ///< for LATTICE_VIEWER_POINT
  double y;              ///< for LATTICE_VIEWER_POINT
  double z;              ///< for LATTICE_VIEWER_POINT
} lattice_viewer;

/// All zero, with struct_size: from its own object, in room 0, of no team. Does nothing when `viewer` is
/// NULL. Does not set lattice_last_result().
static inline void lattice_viewer_init(lattice_viewer* viewer) {
  if (viewer == NULL) return;
  memset(viewer, 0, sizeof *viewer);
  viewer->struct_size = (uint32_t)sizeof *viewer;
}

/// Says where a client looks from. It is copied, and holds from the next snapshot on. A client that just
/// connected has the defaults of lattice_viewer_init().
///
/// LATTICE_ERROR_INVALID_ARGUMENT for a member out of its range, LATTICE_ERROR_NOT_FOUND when `object` does
/// not exist, LATTICE_ERROR_NOT_CONNECTED before the connection is established, LATTICE_ERROR_NOT_ALLOWED on
/// a client and in a world without interest_kind.
///
///     lattice_viewer viewer;
///     lattice_viewer_init(&viewer);
///     viewer.room = match;
///     viewer.team_mask = 1u << RED_TEAM;
///     lattice_conn_set_viewer(conn, &viewer);
LATTICE_API lattice_result lattice_conn_set_viewer(lattice_conn* conn, const lattice_viewer* viewer);

/// Returns 1 when the client has the object, or will have it with its next snapshots, else 0. 0 too for an
/// object that came after the client's set was made last: calls on it wait until that is known. A room, a
/// team or an owner hides an object at once, also when the client hears of that later. In a world without
/// interest_kind every connected client has every object. 0 with LATTICE_ERROR_NOT_FOUND when there is no
/// such object, with LATTICE_ERROR_NOT_ALLOWED on a client.
LATTICE_API int lattice_conn_has_object(lattice_conn* conn, lattice_netid object);

#ifdef __cplusplus
}
#endif
#endif
