// game-sim: Depot, the demo game, as the library a game shares between server, host and client (§18).
//
// Does: the warehouse, the rules of one tick, the networked types, who may open a door, the bots.
// Refuses: to see anything of Lattice but include/lattice/, to allocate in a tick, to use libm beyond
// sqrt, to read a clock, and to keep state that matters in anything but the networked structures
// (a rollback restores those and nothing else).
//
//   vec2, arena, waypoints   geometry: constants, no state
//   state                    the networked structures and the input command
//   rules                    one tick of one object, on plain structures: no Lattice calls at all
//   schema                   how the structures are described to Lattice
//   game                     the glue: on_tick over lattice_simulated_objects()
//   game_server              what only the authority does: spawning, RPC validation
//   bot                      seeded players
#pragma once
