/// @file
/// Objects: how to spawn them, read and write their state, and what to draw.
#ifndef LATTICE_OBJECT_H
#define LATTICE_OBJECT_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Creates an object that nobody owns, and returns its id. Its state is all zero. Authority only. Fixes the
/// schema. `mode` must be LATTICE_AUTHORITY_SERVER in this version.
///
/// 0 on failure, and the schema stays open: LATTICE_ERROR_NOT_FOUND for a type that is not registered,
/// LATTICE_ERROR_NOT_ALLOWED on a client, LATTICE_ERROR_UNSUPPORTED for another mode, LATTICE_ERROR_LIMIT
/// when the world is full (lattice_world_config.max_objects): what a callback despawned counts until its phase
/// ends.
///
///     lattice_netid crate = lattice_spawn(world, CRATE_TYPE, LATTICE_AUTHORITY_SERVER);
///     crate_state* state = lattice_object_state(world, crate, 0);
///     if (state != NULL) state->x = 10.0f;
LATTICE_API lattice_netid lattice_spawn(lattice_world* world, uint32_t type_id, lattice_authority_mode mode);

/// As lattice_spawn(), with an owner, who predicts the object when its type has LATTICE_TYPE_PREDICTED.
/// `owner` is the peer id of a connected client, 1 on a host for its own player, or 0 for nobody.
/// LATTICE_ERROR_NOT_FOUND for anybody else. The object stays when its owner leaves.
///
///     lattice_conn_info info;
///     lattice_conn_info_init(&info);
///     lattice_conn_get_info(conn, &info); /* in on_connected of the authority */
///     lattice_netid pawn = lattice_spawn_for(world, PAWN_TYPE, LATTICE_AUTHORITY_SERVER, info.peer_id);
LATTICE_API lattice_netid lattice_spawn_for(lattice_world* world, uint32_t type_id,
                                            lattice_authority_mode mode, lattice_peer_id owner);

/// Places an object of the level: both sides place the same objects, and so none of them is ever sent. What
/// differs from its placed state later is sent, to clients that join late too; an object that never changed
/// costs nothing. Nobody owns it. The order of the calls does not matter.
///
/// On the authority, call it before the first pump and before the first lattice_spawn(): with that, or with
/// lattice_placed(), the objects are here. On a client, call it while there is no connection. The objects are
/// here from on_connected to on_disconnected, each time as they were placed, without on_spawn and in no
/// lattice_frame.spawned. They stay when interest management takes them out of the client's set: then they do
/// not change here any more. One that the authority despawns goes with on_despawn, but the end of a session
/// calls no on_despawn for the others. The handshake compares both sides: where they differ, the connection
/// ends with LATTICE_DISCONNECT_PLACED_MISMATCH.
///
/// `key` is the level's own number for the object, or a hash of its name: any but 0, of no other placed
/// object. `states` has the host structure of each of its `state_count` behaviours, as it is at the start;
/// they are copied. `states` may be NULL when `state_count` is 0: all zero. Fixes the schema: call
/// lattice_register_type() and lattice_register_input() before.
///
/// LATTICE_ERROR_OUT_OF_ORDER after the start, LATTICE_ERROR_NOT_FOUND for a type that is not registered,
/// LATTICE_ERROR_LIMIT when lattice_world_config.max_objects are placed, LATTICE_ERROR_INVALID_ARGUMENT for a
/// key of 0 or one that is taken, for a wrong `state_count`, and for a value that does not fit its member,
/// which lattice_last_error() names with its bounds.
///
///     door_state door = {.open = 0};
///     const void* states[] = {&door};
///     for (size_t i = 0; i < level->door_count; ++i) {
///       door.x = level->doors[i].x;
///       lattice_place(world, level->doors[i].key, DOOR_TYPE, states, 1);
///     }
LATTICE_API lattice_result lattice_place(lattice_world* world, uint64_t key, uint32_t type_id,
                                         const void* const* states, size_t state_count);

/// The id of the object that was placed under `key`. On the authority the first call ends the placing. 0 when
/// it is not here: LATTICE_ERROR_NOT_FOUND for a key that was not placed and for an object that was
/// despawned, LATTICE_ERROR_NOT_CONNECTED on a client without a session. lattice_object_info.placed_key is
/// the way back.
///
///     lattice_netid door = lattice_placed(world, level->doors[i].key); /* on a client in on_connected */
LATTICE_API lattice_netid lattice_placed(lattice_world* world, uint64_t key);

/// Forgets all placed objects, to place those of another level. LATTICE_ERROR_OUT_OF_ORDER where
/// lattice_place() is.
LATTICE_API lattice_result lattice_clear_placed(lattice_world* world);

/// Removes an object. Outside the pump it goes at once; inside a callback it goes at the end of the current
/// phase. Where a call on it waits for the player of a listen host, it goes with the next phase, after the
/// call. Its id is never used again. LATTICE_ERROR_NOT_ALLOWED on a client, LATTICE_ERROR_NOT_FOUND when
/// there is no such object.
///
///     lattice_despawn(world, crate);
LATTICE_API lattice_result lattice_despawn(lattice_world* world, lattice_netid object);

/// Why an object disappears at a client.
typedef enum lattice_despawn_reason {
  LATTICE_DESPAWN_NONE = 0,       ///< no object disappears now
  LATTICE_DESPAWN_DESTROYED = 1,  ///< the authority destroyed it: its id is never used again
  LATTICE_DESPAWN_LEFT =
      2,  ///< this client no longer gets it; on_spawn tells when it comes back, by the same id
  LATTICE_DESPAWN_SESSION_ENDED = 3  ///< the connection ended
} lattice_despawn_reason;

/// Inside on_despawn: why the object disappears. LATTICE_DESPAWN_NONE and LATTICE_ERROR_OUT_OF_ORDER
/// elsewhere.
///
///     if (lattice_object_despawn_reason(world) == LATTICE_DESPAWN_DESTROYED) play_explosion(object);
LATTICE_API lattice_despawn_reason lattice_object_despawn_reason(lattice_world* world);

/// Writes one member. `prop_id` is behaviour index * 256 + member index, both counted from 0 in the order of
/// registration. `data` is the host value of the member and `len` its exact size in bytes; an array is
/// written whole. Allowed for the object's writer (lattice_object_writer()), and for a predicting owner
/// inside on_tick, whose writes are a prediction.
///
/// LATTICE_ERROR_NOT_ALLOWED elsewhere, LATTICE_ERROR_NOT_FOUND for an unknown object,
/// LATTICE_ERROR_INVALID_ARGUMENT for an unknown member or another size.
///
///     uint16_t health = 100; /* the third member of the first behaviour */
///     lattice_set_prop(world, pawn, 0 * 256 + 2, &health, sizeof health);
LATTICE_API lattice_result lattice_set_prop(lattice_world* world, lattice_netid object, uint16_t prop_id,
                                            const void* data, size_t len);

/// Reads one member of the simulated state into `out`, which has room for `cap` bytes. `prop_id` is that of
/// lattice_set_prop(). Returns the bytes written. 0 on failure: LATTICE_ERROR_NOT_FOUND for an unknown object
/// or member, LATTICE_ERROR_BUFFER_TOO_SMALL when `cap` is too small.
///
///     uint16_t health = 0;
///     if (lattice_get_prop(world, pawn, 0 * 256 + 2, &health, sizeof health) != 0) show_health(health);
LATTICE_API size_t lattice_get_prop(lattice_world* world, lattice_netid object, uint16_t prop_id, void* out,
                                    size_t cap);

/// Returns the host structure of one behaviour, counted from 0, to write. It is the copy that the simulation
/// works on: on_tick writes it in place for the objects it simulates. The call announces a write: after the
/// tick the authority compares the object with its last state and sends what changed. Objects that nobody
/// announced are not looked at, so an object at rest costs nothing. To read, call lattice_object_read().
///
/// The library owns the structure. The pointer is valid until the object despawns. Who keeps it must announce
/// later writes with lattice_object_wake(), or give the type LATTICE_TYPE_COMPARE_ALWAYS. NULL with
/// LATTICE_ERROR_NOT_FOUND when there is no such object or behaviour. What a client writes into an object
/// that it does not simulate reaches nobody, and the next state that comes replaces it.
///
///     pawn_state* pawn = lattice_object_state(world, object, 0);
///     if (pawn != NULL) pawn->x += pawn->velocity_x * dt_s;
LATTICE_API void* lattice_object_state(lattice_world* world, lattice_netid object, uint32_t behaviour);

/// Returns the same structure as lattice_object_state(), to read only. It announces nothing.
///
///     const pawn_state* pawn = lattice_object_read(world, object, 0);
///     if (pawn != NULL) follow_camera(pawn->x, pawn->y);
LATTICE_API const void* lattice_object_read(lattice_world* world, lattice_netid object, uint32_t behaviour);

/// Announces that the game has written an object through a pointer that it keeps, or will before the current
/// tick ends. Does nothing when another peer writes the object. LATTICE_ERROR_NOT_FOUND when there is no such
/// object.
///
///     kept->x += 1.0f; /* a pointer of lattice_object_state(), from an earlier tick */
///     lattice_object_wake(world, object);
LATTICE_API lattice_result lattice_object_wake(lattice_world* world, lattice_netid object);

/// Authority: lets an object sleep. Until it wakes, no tick looks at it: lattice_simulated_objects() leaves
/// it out, and it is not compared even if its type has LATTICE_TYPE_COMPARE_ALWAYS. Clients keep its state,
/// and those that join or come near still get it. At the end of the tick, outside of on_tick at the end of
/// the next one, the object is compared once more: all that was written by then is sent, before this call or
/// after it, through a kept pointer too. What is written later through a kept pointer is not sent before the
/// object wakes. It wakes with lattice_object_state(), lattice_set_prop() and lattice_object_wake(). A client
/// that predicts the object goes on stepping it, so let only those sleep that a step leaves as they are. An
/// object that nobody writes costs nothing even when it is awake, apart from its place in
/// lattice_simulated_objects().
///
/// LATTICE_ERROR_NOT_FOUND when there is no such object, LATTICE_ERROR_NOT_ALLOWED on a client, and when
/// another peer writes the object.
///
///     if (door->is_shut && door->angle == 0) lattice_object_sleep(world, object); /* until it is opened */
LATTICE_API lattice_result lattice_object_sleep(lattice_world* world, lattice_netid object);

/// What is known of an object.
typedef struct lattice_object_info {
  uint32_t struct_size;   ///< set by lattice_object_info_init()
  uint32_t type_id;       ///< the type it was spawned with
  lattice_peer_id owner;  ///< peer whose object it is; 0: nobody. lattice_object_writer() tells who writes it
  uint32_t authority_mode;  ///< a lattice_authority_mode
  /// The tick it was spawned in; on a client that of the first state received. 0: it was placed.
  uint32_t spawn_tick;
  /// Tick of its newest authoritative state; on the authority the last tick. A placed object of which nothing
  /// was heard has that before the session began: until on_loaded it may have changed all the same. Ticks
  /// pass 0, so where a client joined in the first ticks of a server it is one of the last before 2^32.
  uint32_t confirmed_tick;
  uint32_t is_simulated;  ///< 1: on_tick steps it here, as the authority of one that is awake, or the
                          ///< predicting owner
  uint64_t placed_key;    ///< key of lattice_place(); 0: it was spawned
} lattice_object_info;

/// All zero, with struct_size. Does nothing when `info` is NULL. Does not set lattice_last_result().
static inline void lattice_object_info_init(lattice_object_info* info) {
  if (info == NULL) return;
  memset(info, 0, sizeof *info);
  info->struct_size = (uint32_t)sizeof *info;
}

/// Writes what is known of an object. `out` must have been initialised. LATTICE_ERROR_NOT_FOUND when there is
/// no such object.
LATTICE_API lattice_result lattice_object_get_info(lattice_world* world, lattice_netid object,
                                                   lattice_object_info* out);

/// Returns the peer that writes an object, and the first tick of its tenure in `since_tick`. `since_tick` may
/// be NULL. An object has one writer in each tick: the peer whose state of it is the true one, which all
/// others receive. Only the writer may set the state; lattice_local_peer() says whether that is this peer. In
/// this version the writer is the authority, peer 1, and its tenure began when the object was spawned. The
/// tick is 0 for a placed object.
///
/// The writer is not the owner. The owner is the peer whose object it is (lattice_object_info.owner): it may
/// predict the object, its input moves the object, and it makes the calls that are for owners only. Nobody
/// has to own an object.
///
/// 0 on failure: LATTICE_ERROR_NOT_FOUND when there is no such object. `since_tick` is left as it is then.
///
///     uint32_t since = 0;
///     const bool is_mine = lattice_object_writer(world, crate, &since) == lattice_local_peer(world);
LATTICE_API lattice_peer_id lattice_object_writer(lattice_world* world, lattice_netid object,
                                                  uint32_t* since_tick);

/// Writes the ids of up to `cap` objects of a type, or of all types for `type_id` 0, in ascending order.
/// Returns how many there are, which may be more than `cap`. `out` may be NULL when `cap` is 0.
LATTICE_API size_t lattice_objects(lattice_world* world, uint32_t type_id, lattice_netid* out, size_t cap);

/// As lattice_objects(), but only those that on_tick steps here: on the authority all that do not sleep, on a
/// client the predicted ones. `out` may be NULL when `cap` is 0.
LATTICE_API size_t lattice_simulated_objects(lattice_world* world, uint32_t type_id, lattice_netid* out,
                                             size_t cap);

/// Copies what to draw into `out`: the host structure of one behaviour. A client shows an own predicted
/// object in the present, with corrections eased in. It shows every other object in the past, interpolated
/// between snapshots, or extrapolated for up to extrapolation_max_ms when neither a newer one has come nor that
/// it rests. What was extrapolated wrong is eased in too, where LATTICE_OPTION_SMOOTHING is on. On the
/// authority it is the state itself. The moment is that of lattice_frame_begin(). A world that never began a
/// frame reads the clock in each call, so two objects are drawn at slightly different moments.
///
/// Returns the bytes written. 0 on failure: LATTICE_ERROR_NOT_FOUND when there is no such object or
/// behaviour, LATTICE_ERROR_BUFFER_TOO_SMALL when `cap` is below the size of the structure.
///
///     pawn_state pose;
///     lattice_frame_begin(world);
///     if (lattice_object_view(world, object, 0, &pose, sizeof pose) != 0) draw_pawn(&pose);
LATTICE_API size_t lattice_object_view(lattice_world* world, lattice_netid object, uint32_t behaviour,
                                       void* out, size_t cap);

/// Copies the newest authoritative state of one behaviour into `out`, and its tick into `tick`: the networked
/// members, and zero in all other bytes. `tick` may be NULL. Returns the bytes written. 0 on failure:
/// LATTICE_ERROR_NOT_FOUND when there is no such object or behaviour, or no confirmed state yet;
/// LATTICE_ERROR_BUFFER_TOO_SMALL when `cap` is below the size of the structure.
LATTICE_API size_t lattice_object_confirmed(lattice_world* world, lattice_netid object, uint32_t behaviour,
                                            void* out, size_t cap, uint32_t* tick);

/// Returns a hash of the newest authoritative state of every object, as quantized for the wire. It is equal
/// on two peers that hold the same state. 0 and an error when the handle is bad.
LATTICE_API uint64_t lattice_world_state_hash(lattice_world* world);

#ifdef __cplusplus
}
#endif
#endif
