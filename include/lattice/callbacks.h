/// @file
/// The callbacks: what the library tells the game. Every callback runs inside the pump, on the thread that
/// pumps. lattice.h says what a callback may call.
#ifndef LATTICE_CALLBACKS_H
#define LATTICE_CALLBACKS_H

#include "lattice/connection.h"
#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What on_tick is told. The library fills it.
typedef struct lattice_tick_context {
  uint32_t struct_size;   ///< size of this structure in the library
  uint32_t tick;          ///< the tick to simulate
  uint32_t tick_rate_hz;  ///< lattice_world_config.tick_rate_hz
  /// 1: this tick runs again, after a correction. Play no sound and send nothing.
  uint32_t is_resimulating;
  double dt_s;                       ///< length of a tick in seconds: 1 / tick_rate_hz
  const lattice_role_context* role;  ///< as given to lattice_world_create(); lives as long as the world
} lattice_tick_context;

/// All zero, with struct_size. Does nothing when `context` is NULL. Does not set lattice_last_result().
static inline void lattice_tick_context_init(lattice_tick_context* context) {
  if (context == NULL) return;
  memset(context, 0, sizeof *context);
  context->struct_size = (uint32_t)sizeof *context;
}

/// The game's callbacks. Each may be NULL. `ctx` is what lattice_set_callbacks() was given. A pointer among
/// the arguments is valid during the call only, unless it is a handle.
typedef struct lattice_callbacks {
  uint32_t struct_size;  ///< set by lattice_callbacks_init()

  /// A connection is established. On the authority the peer is a client; on a client it is the authority.
  void (*on_connected)(void* ctx, lattice_conn* conn);
  /// A connection, or an attempt to connect, has ended. `reason` is a lattice_disconnect_reason or an
  /// application's own number. `conn` answers lattice_conn_get_info() until this returns. A client may call
  /// lattice_connect() here. On a client the objects are still there: on_despawn follows for each of them.
  /// With LATTICE_DISCONNECT_SCHEMA_MISMATCH, lattice_last_error() names the first difference on a client,
  /// until this calls the library.
  void (*on_disconnected)(void* ctx, lattice_conn* conn, int reason);
  /// Client: an object has appeared. Its state can be read already. Not called for placed objects.
  void (*on_spawn)(void* ctx, lattice_netid object, uint32_t type_id);
  /// Client: an object disappears. Its state can be read until this returns. lattice_object_despawn_reason()
  /// says why it goes. When the connection ends, on_disconnected comes first, then this for every object
  /// that was not placed.
  void (*on_despawn)(void* ctx, lattice_netid object);
  /// A peer calls the RPC `rpc_id` on `object`. Ids are unique within one type only: where two types have
  /// RPCs with the same id, ask lattice_object_get_info() for the type of `object`. `args` is the host
  /// structure of its arguments and `bytes` the size of it; NULL and 0 for an RPC without arguments.
  /// lattice_rpc_sender() says who called, lattice_rpc_tick() when.
  void (*on_rpc)(void* ctx, lattice_netid object, uint16_t rpc_id, const void* args, size_t bytes);
  /// Client: `new_owner` owns the object from now on, or the writer's tenure began anew. 0: nobody owns it.
  /// lattice_object_writer() tells who writes it. No call of this version changes an owner, so it is not
  /// called for objects of this library's authority.
  void (*on_authority_changed)(void* ctx, lattice_netid object, lattice_peer_id new_owner);
  /// Runs one tick: step every object of lattice_simulated_objects(). A client also calls it for past ticks
  /// after a correction (lattice_tick_context.is_resimulating), so it must depend on nothing but the state of
  /// the objects, the inputs of the tick and its number.
  void (*on_tick)(void* ctx, lattice_world* world, const lattice_tick_context* tick);
  /// Before each tick, on a client and a host: write the player's input for `tick` into `input`. It is the
  /// host structure of the registered input, has `bytes` bytes and still holds the input before. Without this
  /// callback lattice_set_input() alone decides.
  void (*on_sample_input)(void* ctx, lattice_world* world, uint32_t tick, void* input, size_t bytes);
  /// A message arrived that the peer sent with lattice_send(). `data` has `bytes` bytes.
  void (*on_message)(void* ctx, lattice_conn* conn, lattice_channel channel, const void* data, size_t bytes);
  /// Authority: may the bearer of this token join? Return 0 for yes. Return a disconnect reason for no:
  /// LATTICE_DISCONNECT_SERVER_FULL, LATTICE_DISCONNECT_KICKED or 256 to 65535; another number counts as
  /// LATTICE_DISCONNECT_KICKED. lattice_set_admit_text() says why. `info` has only player, session and
  /// user_data of the token. Without this callback every bearer of a valid token joins.
  int (*on_admit)(void* ctx, lattice_world* world, const lattice_conn_info* info);
  /// The number of the tick jumped. Client: its clock did, and predictions in between are void. Authority: it
  /// was not pumped for so long that the ticks in between never run (lattice_world_pump()).
  void (*on_resync)(void* ctx, lattice_world* world, uint32_t from_tick, uint32_t to_tick);
  /// What became of a message sent with lattice_send_with_receipt(). Called once for each, before
  /// on_disconnected. `acked` 1: the library of the peer has all of the message, and on the ordered channel
  /// all before it. On an unreliable channel the application of the peer may still never see it, when a newer
  /// message has overtaken it. `acked` 0: the message is given up. On an unreliable channel a packet with it
  /// was lost, or it waited for max_wait_ms of lattice_channel_settings; on a reliable one the connection
  /// ended first.
  void (*on_receipt)(void* ctx, lattice_conn* conn, uint32_t receipt, int acked);
  /// Authority: may the client get this object, or keep it? 0: no. Asked before each snapshot about each
  /// object with lattice_object_interest.is_filtered that the other rules let through, in
  /// lattice_world_send(). At most 512 objects for a client at a time; the others keep what they had, and
  /// their turn comes with the next snapshots. The functions of
  /// interest.h that change something answer LATTICE_ERROR_OUT_OF_ORDER inside it, and so does
  /// lattice_spawn(). Without this callback every such object is let through.
  int (*on_relevant)(void* ctx, lattice_world* world, lattice_conn* conn, lattice_netid object);
  /// Authority: a value that the game wrote does not fit its member and was clamped: a number out of range,
  /// NaN where the form has none, an unknown enum value, text that is not UTF-8, a size above the capacity.
  /// Clients get the clamped value. An object whose members are rounded after each tick holds it from now on
  /// too. `object` is the first that had such a value, `prop_id` the member as in lattice_set_prop(), `tick`
  /// the tick. Called once for each member of a type in this world, after on_tick. It must spawn nothing. The
  /// log has a line that says the same, and the counter values_clamped of lattice_world_refusal() goes up by
  /// the number of such members, of all objects, in every tick. Inputs and arguments of calls are clamped
  /// likewise where they are made: the log and the counter say so there, and this callback is for objects
  /// alone.
  void (*on_value_clamped)(void* ctx, lattice_world* world, lattice_netid object, uint16_t prop_id,
                           uint32_t tick);
  /// The client of `conn` has all of what it was to have when it joined: every object that was in its set
  /// then has arrived, or is gone. Show the game now, or let the player in. lattice_conn_info.is_loaded is 1
  /// from then on. Called once for a connection, after on_connected, on the authority and on the client: on
  /// the authority after its next snapshot for that client, on the client when the authority has told it,
  /// half a round trip later. Not called for a connection that ends before, nor while an object of the set is
  /// too long to be sent at all (snapshot_budget_bytes). What comes into the set later has
  /// no such event; on_spawn tells of each object.
  void (*on_loaded)(void* ctx, lattice_conn* conn);
} lattice_callbacks;

/// No callback at all. Does nothing when `callbacks` is NULL. Does not set lattice_last_result().
static inline void lattice_callbacks_init(lattice_callbacks* callbacks) {
  if (callbacks == NULL) return;
  memset(callbacks, 0, sizeof *callbacks);
  callbacks->struct_size = (uint32_t)sizeof *callbacks;
}

/// Sets the callbacks of a world, replacing all that were set before. The structure is copied. `callbacks`
/// may be NULL: no callback is called any more. `ctx` may be NULL; the library only hands it on. May be
/// called from a callback; the next callback is one of the new set.
///
///     lattice_callbacks callbacks;
///     lattice_callbacks_init(&callbacks);
///     callbacks.on_tick = step_my_game;
///     lattice_set_callbacks(world, &callbacks, my_game);
LATTICE_API lattice_result lattice_set_callbacks(lattice_world* world, const lattice_callbacks* callbacks,
                                                 void* ctx);

#ifdef __cplusplus
}
#endif
#endif
