/// @file
/// Worlds: how to make one, run it and end it.
#ifndef LATTICE_WORLD_H
#define LATTICE_WORLD_H

#include "lattice/config.h"
#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the binary interface these headers describe.
#define LATTICE_ABI_VERSION 1u

/// Returns the LATTICE_ABI_VERSION of the library that is loaded. A program compares it with its own before
/// it calls anything else. Does not set lattice_last_result().
LATTICE_API uint32_t lattice_abi_version(void);

/// Returns the version of the library, as "0.1.0". Lives as long as the library. Does not set
/// lattice_last_result().
LATTICE_API const char* lattice_version(void);

/// Makes a world and opens its socket. Everything in `config` and `role` is copied; the handles, functions
/// and their contexts are kept. The caller owns the world and ends it with lattice_world_destroy().
///
/// NULL on failure. LATTICE_ERROR_CONFIG names the member, its value and its bound. LATTICE_ERROR_ADDRESS and
/// LATTICE_ERROR_ADDRESS_IN_USE are about bind_address, LATTICE_ERROR_PERMISSION and LATTICE_ERROR_IO about
/// bind_address or about the folder of the development key. LATTICE_ERROR_UNSUPPORTED: relays_for_peers is
/// not 0 or authority_peer_id is not 1. LATTICE_ERROR_LIMIT: 4096 worlds are alive. Blocks while the resolver
/// looks up a host name in bind_address; a numeric address never blocks.
///
///     lattice_world_config config;
///     lattice_world_config_init(&config);
///     lattice_role_context role;
///     lattice_role_context_init(&role, LATTICE_ROLE_CLIENT);
///     lattice_world* world = lattice_world_create(&config, &role);
LATTICE_API lattice_world* lattice_world_create(const lattice_world_config* config,
                                                const lattice_role_context* role);

/// Frees a world with its connections. The peers are not told: to tell them, call lattice_disconnect() for
/// each connection and pump until connections_leaving of lattice_world_stats is 0, or call
/// lattice_world_leave(), first. `world` may be NULL: nothing happens.
/// LATTICE_ERROR_OUT_OF_ORDER inside a callback: the world stays.
LATTICE_API lattice_result lattice_world_destroy(lattice_world* world);

/// Writes the address that the UDP socket is bound to, as "127.0.0.1:27015" with a final zero. 64 bytes are
/// always enough. LATTICE_ERROR_BUFFER_TOO_SMALL when `capacity` is too small for the longest address.
/// LATTICE_ERROR_UNSUPPORTED in a world without_udp.
LATTICE_API lattice_result lattice_world_address(lattice_world* world, char* out, size_t capacity);

/// Runs the world once: receives, runs every tick that is due, sends. Never blocks. Callbacks run inside.
/// Returns how many ticks ran, 0 to 8. LATTICE_ERROR_OUT_OF_ORDER inside a callback,
/// LATTICE_ERROR_WOULD_BLOCK while too many events wait (lattice_world_events()).
///
/// A game that controls its own loop calls the steps itself: lattice_world_recv(); lattice_world_ticks_due();
/// lattice_world_tick() as often as that said; lattice_world_send().
///
/// Datagrams wait for the pump. A client pumps once a frame, a server every few milliseconds:
///
///     while (running) {
///       lattice_world_pump(world);
///       uint64_t rest_ns = lattice_world_time_to_tick_ns(world);
///       sleep_ns(rest_ns < 5000000 ? rest_ns : 5000000);
///     }
///
/// A server without congestion control (LATTICE_CONGESTION_NONE) may sleep until the next tick, for about a
/// tenth less processor time. Inputs lose nothing by it: how early they came is measured by the time at which
/// the system received them. Only Linux tells that; elsewhere, and with back ends, clients then run half a
/// tick further ahead. Messages, calls and joins wait up to a tick. The buffer of the socket must hold what
/// comes between two pumps, some 2 KiB for each datagram (docs/operate.md). With congestion control, do not:
/// on some paths it takes the wait for the pump for a queue, and sends little.
///
/// A pump runs at most the ticks of 133 ms: no fewer than 8 and no more than 16, so a world of 1,000 ticks a
/// second needs a pump every 16 ms. The rest of the time is dropped, and what is beyond 250 ms in any case. On
/// an authority with clients the numbers of more than 10 dropped ticks are skipped (on_resync): the clocks of
/// the clients went on, and so their inputs are in time at once.
LATTICE_API uint32_t lattice_world_pump(lattice_world* world);

/// First step of the pump: takes every datagram that has arrived, at most 4096 or two for each connection if
/// that is more, and acts on it. Fixes the
/// schema when it is the first call of the pump. LATTICE_ERROR_OUT_OF_ORDER inside a callback,
/// LATTICE_ERROR_WOULD_BLOCK while too many events wait (lattice_world_events()).
LATTICE_API lattice_result lattice_world_recv(lattice_world* world);

/// Second step of the pump: steps the simulation by one tick, through on_tick. `tick` must be
/// lattice_world_next_tick(). LATTICE_ERROR_OUT_OF_ORDER for another number, inside a callback, and on a
/// client that has no tick to run yet; LATTICE_ERROR_UNSUPPORTED in a world that is transport_only. Nothing
/// happens then.
LATTICE_API lattice_result lattice_world_tick(lattice_world* world, uint32_t tick);

/// Last step of the pump: builds snapshots or inputs when they are due and sends what the connections may
/// send now. LATTICE_ERROR_OUT_OF_ORDER inside a callback.
LATTICE_API lattice_result lattice_world_send(lattice_world* world);

/// Returns the tick that the next lattice_world_tick() must name. On a client the number jumps when the clock
/// does (on_resync). 0 and LATTICE_ERROR_NOT_CONNECTED on a client that has no tick to run yet, 0 and
/// LATTICE_ERROR_UNSUPPORTED in a world that is transport_only.
LATTICE_API uint32_t lattice_world_next_tick(lattice_world* world);

/// Returns how many ticks are due now, 0 to 16. A call uses up the time since the last call, so call it once
/// per pump; a second call right after it returns 0. A client's clock is steered towards the authority's, so
/// its ticks come up to a tenth faster or slower. Time for more ticks than a pump may run is dropped, and
/// counted in lattice_world_stats.ticks_dropped_ns.
LATTICE_API uint32_t lattice_world_ticks_due(lattice_world* world);

/// Returns the nanoseconds until the next tick is due, by the clock of the world. 0: it is due now. Use it to
/// sleep between pumps. UINT64_MAX in a world that is transport_only. 0 and an error when the handle is bad.
LATTICE_API uint64_t lattice_world_time_to_tick_ns(lattice_world* world);

/// Sleeps until the pump has something to do, or until `timeout_ns` have passed: a datagram has come, a tick
/// or a timer is due, something was sent, or events wait. Returns 1 if there is something to do or a signal
/// came, and 0 after the timeout; 0 only asks. While messages wait that congestion control lets leave later,
/// there is something to do a millisecond after the last pump. So there is, each millisecond, in a world with
/// a back end that has no descriptor: only a look tells whether a datagram came. The sleep is by
/// the clock of the system, even where lattice_world_config.clock is set. Other threads get
/// LATTICE_ERROR_BUSY from this world meanwhile. 0 with LATTICE_ERROR_UNSUPPORTED on a simulated network,
/// where time does not pass by itself, and with LATTICE_ERROR_OUT_OF_ORDER inside a callback.
///
///     while (running) {
///       lattice_world_wait(world, 100000000);
///       lattice_world_pump(world);
///     }
LATTICE_API uint32_t lattice_world_wait(lattice_world* world, uint64_t timeout_ns);

/// Writes how many nanoseconds the pump has nothing to do, if no datagram comes: the most that a loop of the
/// program's own should sleep, together with lattice_world_descriptor(). 0: call the pump now, or events wait
/// and lattice_world_events() has them. Until a millisecond after the last pump while messages wait that
/// congestion control lets leave later. UINT64_MAX: nothing is due. Ask right before the sleep: the pump
/// records events, and what was sent since is due at once.
///
///     struct pollfd fd = {.fd = (int)descriptor, .events = POLLIN};
///     while (running) {
///       uint64_t idle_ns = 0;
///       lattice_world_idle_ns(world, &idle_ns);
///       uint64_t ms = idle_ns / 1000000 + (idle_ns % 1000000 != 0);
///       poll(&fd, 1, ms < 1000 ? (int)ms : 1000);
///       lattice_world_recv(world);
///       ...  // lattice_world_events(), and what they lead to
///       lattice_world_send(world);
///     }
LATTICE_API lattice_result lattice_world_idle_ns(lattice_world* world, uint64_t* out);

/// Writes the descriptor of the UDP socket, for poll(), epoll or kqueue in a loop of the program's own. It is
/// readable when datagrams wait. Only wait on it: the world reads it and closes it. It says nothing of back
/// ends: wait on theirs too, or call lattice_world_wait(). LATTICE_ERROR_UNSUPPORTED on a simulated network,
/// and in a world without UDP.
LATTICE_API lattice_result lattice_world_descriptor(lattice_world* world, intptr_t* out);

/// What lattice_set_option() switches. The first three work on a client and are on at the start. Switch them
/// off to compare, or to explain what they do.
typedef enum lattice_option {
  /// On: the client simulates its own objects at once. Off: they wait for the authority.
  LATTICE_OPTION_PREDICTION = 0,
  LATTICE_OPTION_SMOOTHING = 1,  ///< on: corrections are eased in; off: they snap
  /// On: objects of others are drawn in the past, between snapshots. Off: their newest state is drawn.
  LATTICE_OPTION_INTERPOLATION = 2,
  /// On: silence ends no established connection. Off, as at the start: silence counts from then on. Clients
  /// and authorities each have their own switch. For development: with the switch on at both ends, a debugger
  /// may stop either side for as long as it likes.
  LATTICE_OPTION_TIMEOUT_PAUSED = 3
} lattice_option;

/// Switches `option` on when `enabled` is not 0, else off. It takes effect with the next tick and the next
/// frame, or with the next view in a world that never began a frame. LATTICE_ERROR_NOT_ALLOWED for an option
/// of clients on an authority, LATTICE_ERROR_INVALID_ARGUMENT for an option that does not exist.
///
///     lattice_set_option(world, LATTICE_OPTION_PREDICTION, 0);
LATTICE_API lattice_result lattice_set_option(lattice_world* world, lattice_option option, int enabled);

#ifdef __cplusplus
}
#endif
#endif
