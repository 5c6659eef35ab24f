// world: composes every layer below into one pump, recv -> tick -> send (§10.1, §19, B-03).
//
//   world             shared by both roles: schema, socket, endpoint, objects, phases of the pump
//   authority_world   server or host: which objects there are, who joins, game ticks
//   state_sender      what this side writes goes out: versions, sets, snapshots, and why something is missing
//   input_receiver    the inputs of other peers come in
//   interest_hub      part of state_sender: who sees what, from what the game said of objects and viewers
//   client_world      client: snapshots in, predict and reconcile, inputs out
//   placed_set        both: the objects that were placed before the session
//   presentation      client: what to draw for each object, between and beyond snapshots
//   rpc_router        both: RPC bodies to and from the game
//
// Refuses to: read a clock (time is an argument), know C structures of the ABI, hold game rules. It calls the
// game through Observer only: inside the pump, or at once when the game itself ends a connection outside it.
#pragma once
