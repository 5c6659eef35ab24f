/* Large transfers: maps, avatars, the state of a late joiner; up to gigabytes over a running connection, in
 * the budget the game leaves. Either end offers, the other accepts, and both hear of progress and of the end.
 *
 * Both worlds name the same lattice_world_config.transfer_channel. A transfer lives as long as its
 * connection: it survives loss, blackouts and a change of address, not a reconnect. At most 8 in each
 * direction of a connection at a time. The rules of lattice.h for threads and callbacks apply. */
#ifndef LATTICE_TRANSFER_H
#define LATTICE_TRANSFER_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LATTICE_TRANSFER_LABEL_MAX_BYTES 64u

/* A transfer of one connection, in one direction; 0 is none. Names what it names until the transfer ends. */
typedef uint32_t lattice_transfer;

typedef enum lattice_transfer_ending {
  LATTICE_TRANSFER_DONE = 0,      /* the receiver has every byte */
  LATTICE_TRANSFER_REFUSED = 1,   /* by the receiver, instead of accepting */
  LATTICE_TRANSFER_CANCELLED = 2, /* by the other side */
  LATTICE_TRANSFER_FAILED = 3,    /* read or write failed here, or on the other side */
  LATTICE_TRANSFER_TOO_LARGE = 4, /* over the receiver's max_transfer_bytes; its application was not asked */
  LATTICE_TRANSFER_CONNECTION_LOST = 5
} lattice_transfer_ending;

/* Called inside the pump. Any may be NULL; without on_offer every offer is refused, or the connection closes
 * when the control channel is too full to say so. */
typedef struct lattice_transfer_callbacks {
  uint32_t struct_size; /* set by lattice_transfer_callbacks_init() */
  /* The peer offers `bytes`; `label`, at most LATTICE_TRANSFER_LABEL_MAX_BYTES, is its application's and
   * valid during the call. Answer with lattice_transfer_accept() or lattice_transfer_cancel(), now or later.
   */
  void (*on_offer)(void* ctx, lattice_conn* conn, lattice_transfer transfer, uint64_t bytes,
                   const void* label, size_t label_bytes);
  /* Outgoing, without data in memory: write `bytes` bytes from `offset` on to `out` and return 1; 0 fails the
   * transfer. May ask for the same bytes again. Must not call the library. */
  int (*read)(void* ctx, lattice_conn* conn, lattice_transfer transfer, uint64_t offset, void* out,
              size_t bytes);
  /* Incoming, without memory to put it in: store `bytes` bytes at `offset` and return 1; 0 fails the
   * transfer. Every byte comes once, in pieces of any order and length. */
  int (*write)(void* ctx, lattice_conn* conn, lattice_transfer transfer, uint64_t offset, const void* data,
               size_t bytes);
  /* At most once per pump and transfer: what was acknowledged (outgoing) or has arrived (incoming). */
  void (*on_progress)(void* ctx, lattice_conn* conn, lattice_transfer transfer, uint64_t done_bytes,
                      uint64_t total_bytes);
  /* Once for every transfer, unless this side cancelled it; before on_disconnected when the connection ended.
   * Memory given to it is the caller's again. */
  void (*on_end)(void* ctx, lattice_conn* conn, lattice_transfer transfer, lattice_transfer_ending ending);
} lattice_transfer_callbacks;

/** No callback at all. Does nothing when `callbacks` is NULL. Does not set lattice_last_result(). */
static inline void lattice_transfer_callbacks_init(lattice_transfer_callbacks* callbacks) {
  if (callbacks == NULL) return;
  memset(callbacks, 0, sizeof *callbacks);
  callbacks->struct_size = (uint32_t)sizeof *callbacks;
}

/**
 * Sets the callbacks for large transfers, replacing all that were set before. The structure is copied.
 * `callbacks` may be NULL: none is called any more. `ctx` may be NULL; the library only hands it on.
 */
LATTICE_API lattice_result lattice_set_transfer_callbacks(lattice_world* world,
                                                          const lattice_transfer_callbacks* callbacks,
                                                          void* ctx);

/* Offers `bytes` bytes, at least 1. `data` is borrowed until on_end or lattice_transfer_cancel(); NULL: the
 * read callback is asked. `label` may be NULL and is copied. LATTICE_ERROR_LIMIT above max_transfer_bytes,
 * for a longer label and for a ninth transfer, LATTICE_ERROR_WOULD_BLOCK when the control channel is full,
 * LATTICE_ERROR_NOT_ALLOWED without a connection or a transfer_channel. */
LATTICE_API lattice_result lattice_transfer_start(lattice_conn* conn, const void* data, uint64_t bytes,
                                                  const void* label, size_t label_bytes,
                                                  lattice_transfer* out);

/* Accepts an offer. `memory` is exactly as large as the offer and borrowed until on_end or
 * lattice_transfer_cancel(); NULL with capacity 0: the write callback gets the bytes. LATTICE_ERROR_NOT_FOUND
 * for a transfer that has ended, LATTICE_ERROR_INVALID_ARGUMENT for one that is not an open offer or memory
 * of another size. */
LATTICE_API lattice_result lattice_transfer_accept(lattice_conn* conn, lattice_transfer transfer,
                                                   void* memory, uint64_t capacity);

/* Refuses an offer, or ends a transfer of either direction; no on_end follows here, and memory given to it is
 * the caller's again. LATTICE_ERROR_NOT_FOUND when it has ended, LATTICE_ERROR_WOULD_BLOCK (and it goes on)
 * when the control channel is full. */
LATTICE_API lattice_result lattice_transfer_cancel(lattice_conn* conn, lattice_transfer transfer);

/* 1: no more chunks for now; 0: go on. Either side may; chunks on their way still arrive. Errors as
 * lattice_transfer_cancel(), and LATTICE_ERROR_INVALID_ARGUMENT for an offer not accepted yet. */
LATTICE_API lattice_result lattice_transfer_hold(lattice_conn* conn, lattice_transfer transfer, int held);

/* What on_progress would say. LATTICE_ERROR_NOT_FOUND when it has ended. */
LATTICE_API lattice_result lattice_transfer_get_progress(lattice_conn* conn, lattice_transfer transfer,
                                                         uint64_t* done_bytes, uint64_t* total_bytes);

#ifdef __cplusplus
}
#endif
#endif
