// Handles are numbers in a pointer's clothes: kind, slot and generation of a world or a simulated network,
// and for connections their own slot and generation. A lookup compares generations before it touches
// anything, so a stale handle is refused and never followed (STYLE, "Public API"). These tables are the only
// globals of the library; slots are claimed and freed with atomics, so worlds may be made and used on
// different threads (B-05).
#pragma once

#include <cstddef>
#include <cstdint>

#include "lattice/types.h"

namespace lattice::socket {
class SimulatedNetwork;
}

namespace lattice::abi {

inline constexpr uint32_t kMaxWorlds = 4096;
inline constexpr uint32_t kMaxConnectionSlots = 16384;

struct WorldInstance;   // world_instance.h
struct NetsimInstance;  // netsim.cpp

/// Claims a slot for `instance` and returns its handle, or nullptr when kMaxWorlds are alive.
lattice_world* register_world(WorldInstance* instance);
/// Frees the slot; every handle to the world or its connections is stale from here on.
void unregister_world(lattice_world* handle);
/// The instance behind a live handle, else nullptr.
WorldInstance* find_world(const lattice_world* handle);

lattice_netsim* register_netsim(NetsimInstance* instance);
void unregister_netsim(lattice_netsim* handle);
NetsimInstance* find_netsim(const lattice_netsim* handle);
/// The network behind a live handle, for worlds that attach to it; else nullptr.
socket::SimulatedNetwork* network_of(const lattice_netsim* handle);

struct ConnectionRef {
  uint32_t slot = 0;
  uint32_t generation = 0;  ///< 22 bits are kept
};
/// The handle of a connection of the world behind `world`.
lattice_conn* make_connection_handle(const lattice_world* world, ConnectionRef connection);
/// The world of a connection handle if that world is alive, with the connection's slot and generation;
/// whether the connection itself is alive is for the world to say.
WorldInstance* find_world_of(const lattice_conn* handle, ConnectionRef* connection);

}  // namespace lattice::abi
