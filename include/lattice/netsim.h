/// @file
/// Bad networks: what a link does to datagrams, on a real socket or in a simulated network.
#ifndef LATTICE_NETSIM_H
#define LATTICE_NETSIM_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a bad link does to datagrams in one direction. Percentages are 0..100 and times 0..60000 ms.
/// lattice_impairment_init() makes a perfect link: every member is 0, except queue_bytes.
typedef struct lattice_impairment {
  uint32_t struct_size;  ///< set by lattice_impairment_init()
  double delay_ms;       ///< added to every datagram
  double jitter_ms;      ///< a random time in -jitter_ms..+jitter_ms is added too; the sum is never below 0
  int jitter_reorders;   ///< 0: datagrams keep their order in spite of jitter; 1: they may overtake
  double loss_percent;   ///< chance of each datagram to be lost, independent of others
  double burst_enter_percent;  ///< chance per datagram that a burst begins, in which all are lost
  double burst_leave_percent;  ///< chance per datagram that the burst ends
  double duplicate_percent;    ///< chance of each datagram to arrive twice
  double reorder_percent;      ///< chance of each datagram to be held back by reorder_ms
  double reorder_ms;           ///< how long such a datagram is held back
  double rate_kbit_per_s;      ///< capacity of the link in kbit/s, 0..1e9; 0: unlimited
  uint32_t queue_bytes;        ///< bytes that may wait for rate_kbit_per_s; more are dropped; default 65536
  int blackout;                ///< 1: nothing passes
} lattice_impairment;

/// Fills the defaults of the first `struct_size` bytes. lattice_impairment_init() calls it with the size the
/// caller was compiled with, so the structure of an older program is never overrun.
/// LATTICE_ERROR_INVALID_ARGUMENT when `struct_size` is below 4 or above 4096.
LATTICE_API lattice_result lattice_impairment_init_sized(lattice_impairment* impairment,
                                                         uint32_t struct_size);
/// Fills in a perfect link. Call it first.
static inline void lattice_impairment_init(lattice_impairment* impairment) {
  lattice_impairment_init_sized(impairment, (uint32_t)sizeof *impairment);
}

/// Fills in one direction of a named network. LATTICE_DIRECTION_SEND is the way from a client to its server.
/// `out` must have been initialised. Names: "lan", "fibre", "cable", "dsl", "wifi-busy", "4g", "5g",
/// "satellite", "hotel", "train", "transatlantic", "worst", "demo"; LATTICE_ERROR_NOT_FOUND for others.
LATTICE_API lattice_result lattice_impairment_preset(const char* name, lattice_direction direction,
                                                     lattice_impairment* out);

/// Returns the name of preset `index`, counted from 0. The name lives as long as the library. NULL and
/// LATTICE_ERROR_NOT_FOUND past the last.
LATTICE_API const char* lattice_impairment_preset_name(uint32_t index);

/// Impairs the datagrams of this world in one direction from now on. `impairment` is copied. Works on real
/// sockets and in a simulated network. LATTICE_ERROR_CONFIG names a member that is out of range.
/// A delayed datagram moves on when this world is next pumped. So impair the side that is pumped often: a
/// world that is pumped every 200 ms would add up to 200 ms to each delay, and no network does that.
///
///     lattice_impairment bad;
///     lattice_impairment_init(&bad);
///     bad.delay_ms = 50.0;
///     lattice_set_impairment(world, LATTICE_DIRECTION_SEND, &bad);
LATTICE_API lattice_result lattice_set_impairment(lattice_world* world, lattice_direction direction,
                                                  const lattice_impairment* impairment);

/// Makes a network in virtual time. Every loss and delay follows from `seed`, and so do the keys of the
/// worlds on it, so a run repeats exactly, but for bytes that come from tokens: lattice_dev_token()
/// draws ids from the system. Nothing on it is secret. Worlds attach through
/// lattice_world_config.netsim and should use lattice_netsim_clock() as their clock. The caller owns the
/// network and ends it with lattice_netsim_destroy(). NULL and LATTICE_ERROR_LIMIT when 4096 are alive.
LATTICE_API lattice_netsim* lattice_netsim_create(uint64_t seed);

/// Frees a network. `netsim` may be NULL: nothing happens. LATTICE_ERROR_NOT_ALLOWED while worlds are
/// attached: destroy them first.
LATTICE_API lattice_result lattice_netsim_destroy(lattice_netsim* netsim);

/// Sets the link between all addresses, in both directions, where lattice_netsim_set_link() has set none.
/// `impairment` is copied. LATTICE_ERROR_CONFIG names a member that is out of range.
LATTICE_API lattice_result lattice_netsim_set_impairment(lattice_netsim* netsim,
                                                         const lattice_impairment* impairment);

/// Sets the link for datagrams from one address, such as "10.0.0.2:1000", to another. `impairment` is copied.
/// LATTICE_ERROR_ADDRESS when an address does not parse, LATTICE_ERROR_NOT_FOUND when no world is there,
/// LATTICE_ERROR_CONFIG names a member that is out of range.
LATTICE_API lattice_result lattice_netsim_set_link(lattice_netsim* netsim, const char* from, const char* to,
                                                   const lattice_impairment* impairment);

/// Moves virtual time forward by `ns` nanoseconds. Datagrams that are due then arrive at the next pump.
///
///     for (int ms = 0; ms < 1000; ++ms) {
///       lattice_world_pump(server);
///       lattice_world_pump(client);
///       lattice_netsim_advance(netsim, 1000000);
///     }
LATTICE_API lattice_result lattice_netsim_advance(lattice_netsim* netsim, uint64_t ns);

/// Returns virtual time in nanoseconds; it starts at 0. 0 and an error when the handle is bad.
LATTICE_API uint64_t lattice_netsim_now(lattice_netsim* netsim);

/// lattice_netsim_now() in the form of a lattice_clock_fn. `netsim` is the handle of the network; give it as
/// lattice_world_config.clock_ctx.
LATTICE_API uint64_t lattice_netsim_clock(void* netsim);

#ifdef __cplusplus
}
#endif
#endif
