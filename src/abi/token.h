// Code that the two ways to issue a connect token share.
#pragma once

#include <span>

#include "lattice/lattice.h"

namespace lattice::abi {

/// LATTICE_OK, or sets the error that names field, value and bound.
lattice_result check_token_request(const lattice_token_request& request);
/// Writes a signed token for a checked request to `out`; LATTICE_ERROR_BUFFER_TOO_SMALL when it does not fit.
lattice_result issue_token(const uint8_t* issuer_seed, const lattice_token_request& request,
                           std::span<uint8_t> out, size_t* out_bytes);

}  // namespace lattice::abi
