/// @file
/// Remote procedure calls (RPC) on objects. They are declared with the type of the object (schema.h).
#ifndef LATTICE_RPC_H
#define LATTICE_RPC_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Calls `rpc_id` on `object`. `args` is the host structure of its arguments and `len` its exact size; it is
/// copied. `args` may be NULL when `len` is 0. A value that does not fit its member is clamped; the log says
/// so, and values_clamped counts. `target` and `channel` must be as declared. An RPC declared
/// LATTICE_RPC_TO_ALL may also be sent to one client, with lattice_rpc_to().
///
/// A call to clients goes to those that have the object, and LATTICE_RPC_TO_ALL succeeds with nobody there.
/// With interest management, a call on an object that was spawned a moment ago waits until the sets of the
/// clients are made again, and reaches those that get the object. For each client the newest 64 such calls
/// wait. Older ones are dropped and counted (rpc_queue_full).
///
/// Order at a client: on_spawn, then every reliable call the authority made on the object, then on_despawn. A
/// call waits 2 s at most for its object: where the first state comes later, because the budget is small for
/// what is sent, it is dropped and counted there (rpc_unknown_object). It is dropped too where the object
/// leaves the client's set again before its first state is there. A reliable call made just before
/// lattice_despawn() arrives where the object has come; it stays at the client until then, 10 s at most. An
/// unreliable call may be lost; none arrives after on_despawn. A call by a client on an object that the
/// authority has despawned meanwhile is refused and counted there. Source: docs/spec/data.md, rule D-35.
///
/// Inside a resimulated tick (lattice_tick_context.is_resimulating) a call returns LATTICE_OK and sends
/// nothing: it was sent when the tick ran for the first time.
///
/// LATTICE_ERROR_NOT_CONNECTED on a client that is not connected, LATTICE_ERROR_NOT_FOUND for an unknown
/// object or when nobody is there to be called (LATTICE_RPC_TO_ALL with nobody there succeeds),
/// LATTICE_ERROR_NOT_ALLOWED when this role may not call that target, LATTICE_ERROR_INVALID_ARGUMENT when the
/// type has no such RPC or it is not declared like this, LATTICE_ERROR_LIMIT when the arguments do not fit a
/// message, LATTICE_ERROR_WOULD_BLOCK when the queue of a callee is full. After LATTICE_ERROR_WOULD_BLOCK
/// with LATTICE_RPC_TO_ALL the callees whose queue has room have got the call: do not call all of them again.
///
///     open_door_args args = {.open = 1};
///     lattice_channel channel = LATTICE_CHANNEL_RELIABLE_ORDERED;
///     lattice_rpc(world, door, RPC_OPEN_DOOR, LATTICE_RPC_TO_SERVER, channel, &args, sizeof args);
LATTICE_API lattice_result lattice_rpc(lattice_world* world, lattice_netid object, uint16_t rpc_id,
                                       lattice_rpc_target target, lattice_channel channel, const void* args,
                                       size_t len);

/// Calls `rpc_id` on `object` at one client. As lattice_rpc() with LATTICE_RPC_TO_PEER, and with the same
/// errors. `args` may be NULL when `len` is 0.
LATTICE_API lattice_result lattice_rpc_to(lattice_world* world, lattice_netid object, uint16_t rpc_id,
                                          lattice_peer_id peer, lattice_channel channel, const void* args,
                                          size_t len);

/// Inside on_rpc: the peer id of the caller. 0 and LATTICE_ERROR_OUT_OF_ORDER elsewhere.
LATTICE_API lattice_peer_id lattice_rpc_sender(lattice_world* world);

/// Inside on_rpc: the tick that the caller was at when it made the call. 0 and LATTICE_ERROR_OUT_OF_ORDER
/// elsewhere.
LATTICE_API uint32_t lattice_rpc_tick(lattice_world* world);

#ifdef __cplusplus
}
#endif
#endif
