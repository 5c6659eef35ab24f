#include "transport/connection/disconnect_reason.h"

namespace lattice::connection {

const char* disconnect_reason_name(DisconnectReason reason) {
  switch (reason) {
    case DisconnectReason::kNone:
      return "none";
    case DisconnectReason::kRequested:
      return "requested";
    case DisconnectReason::kTimeout:
      return "timeout";
    case DisconnectReason::kTokenInvalid:
      return "token_invalid";
    case DisconnectReason::kTokenExpired:
      return "token_expired";
    case DisconnectReason::kTokenReused:
      return "token_reused";
    case DisconnectReason::kVersionMismatch:
      return "version_mismatch";
    case DisconnectReason::kSchemaMismatch:
      return "schema_mismatch";
    case DisconnectReason::kServerFull:
      return "server_full";
    case DisconnectReason::kKicked:
      return "kicked";
    case DisconnectReason::kProtocolError:
      return "protocol_error";
    case DisconnectReason::kResourceLimit:
      return "resource_limit";
    case DisconnectReason::kInternalError:
      return "internal_error";
    case DisconnectReason::kHostLeft:
      return "host_left";
    case DisconnectReason::kConfigMismatch:
      return "config_mismatch";
    case DisconnectReason::kServerRestarted:
      return "server_restarted";
    case DisconnectReason::kNoAnswer:
      return "no_answer";
    case DisconnectReason::kUnreachable:
      return "unreachable";
    case DisconnectReason::kPlacedMismatch:
      return "placed_mismatch";
  }
  return static_cast<uint16_t>(reason) >= kFirstApplicationReason ? "application" : "unknown";
}

bool is_reason_of_a_peer(crypto::Role teller, uint16_t told) {
  if (told >= kFirstApplicationReason) return true;
  switch (static_cast<DisconnectReason>(told)) {
    case DisconnectReason::kNone:
    case DisconnectReason::kRequested:
    case DisconnectReason::kProtocolError:
    case DisconnectReason::kResourceLimit:
    case DisconnectReason::kInternalError:
      return true;
    case DisconnectReason::kTokenInvalid:
    case DisconnectReason::kTokenExpired:
    case DisconnectReason::kTokenReused:
    case DisconnectReason::kVersionMismatch:
    case DisconnectReason::kSchemaMismatch:
    case DisconnectReason::kServerFull:
    case DisconnectReason::kKicked:
    case DisconnectReason::kHostLeft:
    case DisconnectReason::kConfigMismatch:
    case DisconnectReason::kPlacedMismatch:
      return teller == crypto::Role::kServer;
    case DisconnectReason::kTimeout:
    case DisconnectReason::kServerRestarted:
    case DisconnectReason::kNoAnswer:
    case DisconnectReason::kUnreachable:
      break;
  }
  return false;
}

DisconnectReason reason_from_peer(crypto::Role teller, uint16_t told) {
  return is_reason_of_a_peer(teller, told) ? static_cast<DisconnectReason>(told)
                                           : DisconnectReason::kProtocolError;
}

}  // namespace lattice::connection
