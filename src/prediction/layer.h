// Layer prediction: what a client shows before and after it knows better (§11, §12, S-01 to S-07).
//
//   prediction_history   one predicted object's states of the last 64 ticks
//   reconciler           compares them with the server's, rewinds all predicted objects and re-simulates
//   interpolation_clock  render time on the server's time line, with an adaptive delay
//   interpolation_buffer one remote object's samples: interpolate, extrapolate or hold
//   smoother             eases a correction over ~200 ms instead of snapping
//
// Refuses to: run the game itself (a callback does), read a clock, know connections. It works on words of
// a serialization Layout and writes host structs through it only for presentation.
#pragma once
