/// @file
/// Looking at decrypted datagrams, for tools and tests (docs/capture.md).
///
/// Works only in a library built with the option LATTICE_CAPTURE, which a shipped one is not. Elsewhere the
/// code that would hand out plaintext does not exist, and lattice_set_capture() says
/// LATTICE_ERROR_UNSUPPORTED.
#ifndef LATTICE_CAPTURE_H
#define LATTICE_CAPTURE_H

#include "lattice/result.h"
#include "lattice/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What is known of a captured datagram. lattice_captured_datagram.flags is a sum of these.
typedef enum lattice_capture_flag {
  LATTICE_CAPTURED_OUTGOING = 1,  ///< set: this world sent the datagram; not set: it arrived
  /// Set: `data` is outer header, clear part and plaintext, without the tag. Not set: `data` is the datagram
  /// as it was on the wire, because nothing in it is encrypted or because it could not be decrypted.
  LATTICE_CAPTURED_OPENED = 2
} lattice_capture_flag;

/// One datagram that a world sent or received. The library fills it.
typedef struct lattice_captured_datagram {
  uint32_t struct_size;   ///< of the library that fills it
  uint32_t flags;         ///< sum of lattice_capture_flag
  uint64_t time_ns;       ///< when it was processed, by the clock of the world
  const uint8_t* data;    ///< the datagram; valid during the call
  uint32_t bytes;         ///< size of `data`
  uint16_t local_port;    ///< UDP port of this world; of another route its number
  uint16_t remote_port;   ///< UDP port of the peer; of another route the number of the peer's path
  uint8_t local_ip[16];   ///< address of this world; IPv4 as IPv4-mapped IPv6; of another route zero
  uint8_t remote_ip[16];  ///< address of the peer, in the same form; of another route the bytes of its path
} lattice_captured_datagram;

/// All zero, with struct_size. Does nothing when `datagram` is NULL. Does not set lattice_last_result().
static inline void lattice_captured_datagram_init(lattice_captured_datagram* datagram) {
  if (datagram == NULL) return;
  memset(datagram, 0, sizeof *datagram);
  datagram->struct_size = (uint32_t)sizeof *datagram;
}

/// Gets every datagram, in the order of processing: an arriving one after the library acted on it, a leaving
/// one together with its batch. Called inside the pump. Must not call back into the library.
typedef void (*lattice_capture_fn)(void* ctx, const lattice_captured_datagram* datagram);

/// Has `fn` called with every datagram of this world from now on. `fn` may be NULL: no function is called any
/// more. `ctx` may be NULL; the library only hands it on. LATTICE_ERROR_UNSUPPORTED in a library built
/// without captures, LATTICE_ERROR_OUT_OF_ORDER inside a callback.
LATTICE_API lattice_result lattice_set_capture(lattice_world* world, lattice_capture_fn fn, void* ctx);

#ifdef __cplusplus
}
#endif
#endif
