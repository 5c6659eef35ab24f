// Handles are numbers with the type of a pointer: kind, slot and generation of a world or a simulated
// network, and for connections their own slot and generation. A look-up compares generations before it
// touches the object, so a stale handle is refused and never followed (STYLE, "Public API"). These tables are
// the only globals of the library. Slots are claimed and freed with atomics, so worlds may be made and used
// on different threads. A slot also records the thread that is inside its world or network. A thread must
// enter the slot to reach the object, so no other thread can destroy the object while it is in use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "abi/handle_bits.h"
#include "lattice/types.h"

namespace lattice::abi {

inline constexpr uint32_t kMaxWorlds = 1u << Handle::kSlotBits;
inline constexpr uint32_t kMaxConnectionSlots = 1u << Handle::kConnectionSlotBits;

struct WorldInstance;   // world_instance.h
struct NetsimInstance;  // netsim.cpp

/// Claims a slot for `instance` and returns its handle, or nullptr when kMaxWorlds are alive.
lattice_world* register_world(WorldInstance* instance);
/// Frees a slot that this thread has entered, and leaves it; every handle to the world or its connections is
/// stale from here on.
void unregister_world(lattice_world* handle);

/// The result of entering the slot of a handle.
enum class Entry : uint8_t {
  kEntered,  ///< The caller must leave it again.
  kNested,   ///< This thread is already inside. The caller must not leave.
  kStale,    ///< The object is gone, or this was never a handle.
  kBusy,     ///< Another thread is inside.
};
/// `thread` is an address that is the same in every call of one thread and differs between threads. `*out` is
/// the instance when entered or nested, else null.
Entry enter_world(const lattice_world* handle, const void* thread, WorldInstance** out);
void leave_world(const lattice_world* handle);

lattice_netsim* register_netsim(NetsimInstance* instance);
void unregister_netsim(lattice_netsim* handle);
Entry enter_netsim(const lattice_netsim* handle, const void* thread, NetsimInstance** out);
void leave_netsim(const lattice_netsim* handle);

struct ConnectionRef {
  uint32_t slot = 0;
  uint32_t generation = 0;  ///< A handle keeps its low bits.
};
/// The handle of a connection of the world behind `world`.
lattice_conn* make_connection_handle(const lattice_world* world, ConnectionRef connection);
/// The handle of the world of a connection; a bad handle gives one that cannot be entered.
const lattice_world* world_of(const lattice_conn* handle);
/// The connection's slot and generation. The world decides whether the connection is alive.
ConnectionRef connection_of(const lattice_conn* handle);

}  // namespace lattice::abi
