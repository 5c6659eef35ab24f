// What the two ways to a connect token share.
#pragma once

#include "lattice/lattice.h"

namespace lattice::abi {

/// LATTICE_OK, or sets the error that names field, value and bound.
lattice_result check_token_request(const lattice_token_request& request);

}  // namespace lattice::abi
