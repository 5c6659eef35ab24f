// world: composes every layer below into one pump, recv -> tick -> send (§10.1, §19, B-03).
//
//   world             shared by both roles: schema, socket, endpoint, objects, phases of the pump
//   authority_world   server or host: which objects there are, who joins, game ticks
//   state_sender      what this side writes goes out: versions, sets, snapshots, and why something is missing
//   input_receiver    the inputs of other peers come in
//   interest_hub      part of state_sender: who sees what, from what the game said of objects and viewers
//   client_world      client: routes between the five parts that follow
//   state_receiver    the states of objects that the other side writes come in
//   predictor         predicts some of these objects, compares, runs ticks again
//   presenter         the moment that is shown, and the pose of each object then, by a presentation of each
//   clock_follower    when ticks are due that follow the other side's clock
//   input_sender      the inputs of the own player go out
//   placed_set        both: the objects that were placed before the session
//   rpc_router        both: RPC bodies to and from the game
//
// Refuses to: read a clock (time is an argument), know C structures of the ABI, hold game rules. It calls the
// game through Observer only: inside the pump, or at once when the game itself ends a connection outside it.
#pragma once
