// Layer prediction: what a client shows before and after the authority's state arrives (§11, §12, S-01 to
// S-07).
//
//   state_arena          the states of all predicted objects, one row per tick and one column per object
//   timeline             which row holds which tick: the last 64 ticks, or as many as configured
//   reconciler           compares them with the server's, rewinds all predicted objects and resimulates
//   prediction_errors    by how much the predictions were wrong, by member
//   interpolation_clock  render time on the server's time line, with an adaptive delay
//   interpolation        the pose of one remote object: interpolate, extrapolate or hold
//   smoother             eases a correction over about 200 ms instead of jumping
//
// Refuses to: run the game itself (a callback does), read a clock, know connections. It works on words of a
// serialization Layout. It writes host structures through the layout only for presentation.
#pragma once
