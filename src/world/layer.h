// world: composes every layer below into one pump, recv -> tick -> send (§10.1, §19, B-03).
//
//   session           one side, without a role: owns the parts that its configuration asks for, and routes
//
// A side that listens:
//   client_table      who is at which connection
//   state_sender      what this side writes goes out: versions, sets, snapshots, and why something is missing
//   snapshot_brake    part of state_sender: who acknowledges little of much gets fewer snapshots
//   interest_hub      part of state_sender: who sees what, from what the game said of objects and viewers
//   input_receiver    the inputs of other peers come in
//
// A side that connects:
//   connector         the keys for its tokens, and its connection
//   state_receiver    the states of objects that the other side writes come in
//   predictor         predicts some of these objects, compares, runs ticks again
//   presenter         the moment that is shown, and the pose of each object then, by a presentation of each
//   clock_follower    when ticks are due that follow the other side's clock
//   input_sender      the inputs of the own player go out
//
// Both:
//   placed_set        the objects that were placed before the session
//   rpc_router        RPC bodies to and from the game
//   clamped_arguments inputs and arguments of calls that did not fit their members
//   held_calls        those of an authority on objects so new that nobody knows yet who gets them
//   frame_log         what happened between two frames
//
// Refuses to: read a clock (time is an argument), know C structures of the ABI, hold game rules. It calls the
// game through Observer only: inside the pump, or at once when the game itself ends a connection outside it.
#pragma once
