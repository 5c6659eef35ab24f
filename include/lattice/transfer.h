/// @file
/// Large transfers: maps, avatars, the state of a late joiner. They move up to gigabytes over a running
/// connection, in the budget that the game leaves. One side offers, the other accepts, and both are told of
/// progress and of the end.
///
/// Both worlds name the same lattice_world_config.transfer_channel. A transfer lives as long as its
/// connection: it survives loss, blackouts and a change of address, but no reconnect. At most 8 run in each
/// direction of a connection at a time. The functions that take a connection answer
/// LATTICE_ERROR_NOT_CONNECTED before on_connected and inside on_disconnected, and LATTICE_ERROR_NOT_ALLOWED
/// when transfer_channel is 0.
#ifndef LATTICE_TRANSFER_H
#define LATTICE_TRANSFER_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Most bytes of a label.
#define LATTICE_TRANSFER_LABEL_MAX_BYTES 64u

/// A transfer of one connection, in one direction, until it ends. 0 is "none".
typedef uint32_t lattice_transfer;

/// How a transfer ended.
typedef enum lattice_transfer_ending {
  LATTICE_TRANSFER_DONE = 0,       ///< the receiver has every byte
  LATTICE_TRANSFER_REFUSED = 1,    ///< the receiver did not accept the offer
  LATTICE_TRANSFER_CANCELLED = 2,  ///< the other side cancelled it
  LATTICE_TRANSFER_FAILED = 3,     ///< the read or write callback failed, here or on the other side
  LATTICE_TRANSFER_TOO_LARGE = 4,  ///< larger than max_transfer_bytes of the receiver, which was not asked
  LATTICE_TRANSFER_CONNECTION_LOST = 5  ///< the connection ended first
} lattice_transfer_ending;

/// The stable lower-case name of an ending, such as "too_large"; "unknown" for other numbers. Never NULL,
/// lives as long as the library. Does not set lattice_last_result().
LATTICE_API const char* lattice_transfer_ending_name(lattice_transfer_ending ending);

/// The callbacks of large transfers. They run inside the pump. Each may be NULL. `ctx` is what
/// lattice_set_transfer_callbacks() was given.
typedef struct lattice_transfer_callbacks {
  uint32_t struct_size;  ///< set by lattice_transfer_callbacks_init()
  /// The peer offers `bytes` bytes. `label` is what its application says of them, has at most
  /// LATTICE_TRANSFER_LABEL_MAX_BYTES bytes, and is valid during the call. Answer with
  /// lattice_transfer_accept() or lattice_transfer_cancel(), now or later. Without this callback every offer
  /// is refused; when the control channel is too full to say so, the connection ends with
  /// LATTICE_DISCONNECT_RESOURCE_LIMIT.
  void (*on_offer)(void* ctx, lattice_conn* conn, lattice_transfer transfer, uint64_t bytes,
                   const void* label, size_t label_bytes);
  /// For an outgoing transfer that was started without data: write `bytes` bytes, from `offset` on, to `out`
  /// and return 1; any other number fails the transfer. The same bytes may be asked for again. Must not call
  /// the library.
  int (*read)(void* ctx, lattice_conn* conn, lattice_transfer transfer, uint64_t offset, void* out,
              size_t bytes);
  /// For an incoming transfer that was accepted without memory: store the `bytes` bytes of `data` at `offset`
  /// and return 1; any other number fails the transfer. Every byte comes once, in pieces of any order and
  /// length.
  int (*write)(void* ctx, lattice_conn* conn, lattice_transfer transfer, uint64_t offset, const void* data,
               size_t bytes);
  /// Progress: how many bytes were acknowledged (outgoing) or have arrived (incoming). Called at most once
  /// per pump and transfer.
  void (*on_progress)(void* ctx, lattice_conn* conn, lattice_transfer transfer, uint64_t done_bytes,
                      uint64_t total_bytes);
  /// A transfer ended. Called once for every transfer, unless this side cancelled it, and before
  /// on_disconnected when the connection ended. Memory given to the transfer is the application's again.
  void (*on_end)(void* ctx, lattice_conn* conn, lattice_transfer transfer, lattice_transfer_ending ending);
} lattice_transfer_callbacks;

/// No callback at all. Does nothing when `callbacks` is NULL. Does not set lattice_last_result().
static inline void lattice_transfer_callbacks_init(lattice_transfer_callbacks* callbacks) {
  if (callbacks == NULL) return;
  memset(callbacks, 0, sizeof *callbacks);
  callbacks->struct_size = (uint32_t)sizeof *callbacks;
}

/// Sets the callbacks for large transfers, replacing all that were set before. The structure is copied.
/// `callbacks` may be NULL: no callback is called any more. `ctx` may be NULL; the library only hands it on.
LATTICE_API lattice_result lattice_set_transfer_callbacks(lattice_world* world,
                                                          const lattice_transfer_callbacks* callbacks,
                                                          void* ctx);

/// Offers `bytes` bytes, at least 1, and writes the new transfer to `out`. `data` is borrowed until on_end or
/// lattice_transfer_cancel(). `data` may be NULL: the read callback is asked instead. `label` is copied.
/// `label` may be NULL when `label_bytes` is 0.
///
/// LATTICE_ERROR_INVALID_ARGUMENT when `data` is NULL and no read callback is set yet; LATTICE_ERROR_LIMIT
/// for 0 bytes, above max_transfer_bytes, for a longer label, for a ninth transfer, and where the one that was
/// started 65,536 transfers before is still open; LATTICE_ERROR_WOULD_BLOCK when the control channel is full.
///
///     lattice_transfer transfer;
///     lattice_transfer_start(conn, map, map_bytes, "map", 3, &transfer);
LATTICE_API lattice_result lattice_transfer_start(lattice_conn* conn, const void* data, uint64_t bytes,
                                                  const void* label, size_t label_bytes,
                                                  lattice_transfer* out);

/// Accepts an offer. `memory` has `capacity` bytes, exactly as many as the offer, and is borrowed until
/// on_end or lattice_transfer_cancel(). `memory` may be NULL when `capacity` is 0: the write callback gets
/// the bytes. LATTICE_ERROR_NOT_FOUND for a transfer that has ended, LATTICE_ERROR_INVALID_ARGUMENT for one
/// that is not an open offer, for memory of another size, and for no memory while no write callback is set.
LATTICE_API lattice_result lattice_transfer_accept(lattice_conn* conn, lattice_transfer transfer,
                                                   void* memory, uint64_t capacity);

/// Refuses an offer, or ends a transfer of either direction. No on_end follows on this side, and memory given
/// to the transfer is the application's again. LATTICE_ERROR_NOT_FOUND when it has ended.
/// LATTICE_ERROR_WOULD_BLOCK when the control channel is full: the transfer goes on.
LATTICE_API lattice_result lattice_transfer_cancel(lattice_conn* conn, lattice_transfer transfer);

/// Pauses a transfer while `held` is not 0, and lets it go on when `held` is 0. Either side may pause it;
/// chunks on their way still arrive. LATTICE_ERROR_NOT_FOUND when it has ended, LATTICE_ERROR_WOULD_BLOCK
/// when the control channel is full, LATTICE_ERROR_INVALID_ARGUMENT for an incoming offer that is not
/// accepted yet.
LATTICE_API lattice_result lattice_transfer_hold(lattice_conn* conn, lattice_transfer transfer, int held);

/// Writes to `done_bytes` how many bytes were acknowledged (outgoing) or have arrived (incoming), and to
/// `total_bytes` how many the transfer has. LATTICE_ERROR_NOT_FOUND when the transfer has ended.
LATTICE_API lattice_result lattice_transfer_get_progress(lattice_conn* conn, lattice_transfer transfer,
                                                         uint64_t* done_bytes, uint64_t* total_bytes);

#ifdef __cplusplus
}
#endif
#endif
