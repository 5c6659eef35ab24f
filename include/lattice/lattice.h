/// @file
/// Lattice: the whole public C interface, for C17 and C++. This header includes all others.
///
/// **A program** makes a world (world.h), registers what is networked (schema.h), sets callbacks
/// (callbacks.h), and then calls lattice_world_pump() in its loop. A client also connects (token.h,
/// connection.h).
///
/// **Results.** Every function sets lattice_last_result(), also when it succeeds, unless its comment says
/// otherwise. A function that returns lattice_result returns that same value. A function that returns
/// something else returns 0 or NULL when it fails, and lattice_last_result() and lattice_last_error() say
/// why. A call that fails changes nothing, unless its comment says otherwise. Three results can come from any
/// function and are not repeated at each:
///
/// - LATTICE_ERROR_INVALID_ARGUMENT for a pointer that is NULL, unless the comment says that it may be, for a
///   structure whose `_init` function was not called, and for an enumeration out of its range;
/// - LATTICE_ERROR_STALE_HANDLE for a handle of something that has ended;
/// - LATTICE_ERROR_BUSY when another thread is inside the same world.
///
/// **Memory.** The library copies what it keeps, and never frees what the application gave it. The few
/// functions that borrow or lend a pointer say until when. An array comes with the number of its elements or
/// bytes.
///
/// **Threads.** One world, with its connections, is used by one thread at a time. Different worlds are
/// independent and may run on different threads. Worlds that share a lattice_netsim count as one.
///
/// **Callbacks** run inside the pump, on the thread that pumps. A callback may call every function except the
/// pump itself (lattice_world_recv, lattice_world_tick, lattice_world_send, lattice_world_pump),
/// lattice_world_wait(), lattice_world_events(), lattice_world_destroy() and lattice_set_capture(); those
/// answer LATTICE_ERROR_OUT_OF_ORDER. The functions for the log, the clock, tasks, capture, back ends and
/// reading a transfer must not call back into the world. A despawn or a disconnect asked for inside a
/// callback happens at the end of the current phase of the pump, so that nothing disappears under a loop that
/// still uses it.
///
/// **Structures** of the interface begin with struct_size, which their `_init` function sets. A program that
/// was compiled with an older header works with a newer library: members that the program does not know keep
/// their default. A newer program works with an older library as long as it leaves at zero the members that
/// the library does not know.
///
/// **Units** are part of a name: _ns, _ms, _s, _hz, _bytes, _percent.
#ifndef LATTICE_LATTICE_H
#define LATTICE_LATTICE_H

#include "lattice/backend.h"
#include "lattice/callbacks.h"
#include "lattice/capture.h"
#include "lattice/config.h"
#include "lattice/connection.h"
#include "lattice/event.h"
#include "lattice/frame.h"
#include "lattice/input.h"
#include "lattice/interest.h"
#include "lattice/netsim.h"
#include "lattice/object.h"
#include "lattice/result.h"
#include "lattice/rpc.h"
#include "lattice/schema.h"
#include "lattice/stats.h"
#include "lattice/token.h"
#include "lattice/transfer.h"
#include "lattice/types.h"
#include "lattice/why.h"
#include "lattice/world.h"

#endif
