// game-sim: Depot, the demo game, as the library that server, host and client of a game share (§18).
//
// Does: the warehouse, the rules of one tick, the networked types, the judgement of door requests, the bots.
// Refuses: to see anything of Lattice but include/lattice/, to allocate in a tick, to use libm beyond sqrt,
// to read a clock, and to keep simulated state outside the networked structures (a rollback restores those
// and nothing else).
//
//   vec2, arena, hall, waypoints   geometry: constants, no state
//   state                    the networked structures and the input command
//   rules                    one tick of one object, on plain structures: no Lattice calls at all
//   schema                   how the structures are described to Lattice
//   game                     joins rules and Lattice: on_tick
//   parcels                  the goods of the hall, on the authority
//   game_server              the authority's part: spawning, validation of RPCs
//   bot                      seeded players
#pragma once
