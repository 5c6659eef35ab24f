// lattice_result: names, and the result of the last call.
#include "lattice/result.h"

#include "abi/last_error.h"
#include "transport/connection/disconnect_reason.h"

extern "C" {

const char* lattice_last_error(void) {
  return lattice::abi::last_error();
}

lattice_result lattice_last_result(void) {
  return lattice::abi::last_result();
}

const char* lattice_result_name(lattice_result result) {
  switch (result) {
    case LATTICE_OK:
      return "ok";
    case LATTICE_ERROR_INVALID_ARGUMENT:
      return "invalid_argument";
    case LATTICE_ERROR_STALE_HANDLE:
      return "stale_handle";
    case LATTICE_ERROR_WOULD_BLOCK:
      return "would_block";
    case LATTICE_ERROR_OUT_OF_ORDER:
      return "out_of_order";
    case LATTICE_ERROR_BUFFER_TOO_SMALL:
      return "buffer_too_small";
    case LATTICE_ERROR_CONFIG:
      return "config";
    case LATTICE_ERROR_SCHEMA:
      return "schema";
    case LATTICE_ERROR_ADDRESS:
      return "address";
    case LATTICE_ERROR_ADDRESS_IN_USE:
      return "address_in_use";
    case LATTICE_ERROR_PERMISSION:
      return "permission";
    case LATTICE_ERROR_IO:
      return "io";
    case LATTICE_ERROR_TOKEN:
      return "token";
    case LATTICE_ERROR_LIMIT:
      return "limit";
    case LATTICE_ERROR_NOT_ALLOWED:
      return "not_allowed";
    case LATTICE_ERROR_NOT_FOUND:
      return "not_found";
    case LATTICE_ERROR_UNSUPPORTED:
      return "unsupported";
    case LATTICE_ERROR_BUSY:
      return "busy";
    case LATTICE_ERROR_NOT_CONNECTED:
      return "not_connected";
  }
  return "unknown";
}

const char* lattice_disconnect_reason_name(int reason) {
  using lattice::connection::DisconnectReason;
  if (reason < 0 || reason > UINT16_MAX) return "unknown";
  return lattice::connection::disconnect_reason_name(static_cast<DisconnectReason>(reason));
}

}  // extern "C"
