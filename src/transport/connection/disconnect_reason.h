// Why a connection ended or was never established (L-05). Disconnect, ConnectionRefused and ConnectionDenied
// carry these numbers on the wire; 256 and above belong to the application.
#pragma once

#include <cstdint>

#include "transport/crypto/key_schedule.h"

namespace lattice::connection {

enum class DisconnectReason : uint16_t {
  kNone = 0,
  kRequested = 1,
  kTimeout = 2,
  kTokenInvalid = 3,
  kTokenExpired = 4,
  kTokenReused = 5,
  kVersionMismatch = 6,
  kSchemaMismatch = 7,
  kServerFull = 8,
  kKicked = 9,
  kProtocolError = 10,
  kResourceLimit = 11,
  kInternalError = 12,
  kHostLeft = 13,
  kConfigMismatch = 14,   ///< Tick rate or room for objects; the text names both values.
  kServerRestarted = 15,  ///< Local, never sent: a stateless reset.
  kNoAnswer = 16,         ///< Local, never sent: no answer to any connection request.
  kUnreachable = 17,      ///< Local, never sent: no answer, and ICMP says that the address is unreachable.
  kPlacedMismatch = 18,   ///< Other objects were placed before the session; the text names the difference.
};

inline constexpr uint16_t kFirstApplicationReason = 256;

/// Whether a peer of this role may tell this reason. Nobody tells one that is reserved or only ever local;
/// and a client tells none that a server alone decides, such as kKicked. Source: docs/spec/states.md L-15,
/// L-17.
bool is_reason_of_a_peer(crypto::Role teller, uint16_t told);

/// The reason in a peer's message, or kProtocolError where this peer may not tell it: a peer that could claim
/// a timeout or a restart would mislead applications that reconnect after one, and a client that says it was
/// kicked would mislead whoever reads the server's log.
DisconnectReason reason_from_peer(crypto::Role teller, uint16_t told);

/// A fixed lower-case name ("schema_mismatch"); "application" from 256 on, "unknown" for the rest.
const char* disconnect_reason_name(DisconnectReason reason);

}  // namespace lattice::connection
