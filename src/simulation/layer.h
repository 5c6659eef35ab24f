// Layer simulation: when a tick happens and which input it gets (§10, T-01 to T-06, C-06).
//
//   fixed_tick     turns the caller's clock into whole ticks, without drift and without a spiral of death
//   tick_time      a point between two ticks, on the server's time line
//   clock_sync     client: where the server's clock is, and how far ahead of it to run
//   input_history  client: the inputs of the last ticks, and which of them still have to be sent
//   input_codec    the input message on channel 1
//   input_buffer   server: one client's jitter buffer; exactly one input for each tick
//
// Refuses to: read a clock, own a socket, call the game, know objects. This layer says which ticks to run, to
// skip or to wait with; the world does it.
#pragma once
