// Converts lattice_impairment to socket::Impairment, with the range checks of both.
#pragma once

#include "lattice/netsim.h"
#include "transport/socket/impairment.h"

namespace lattice::abi {

/// Fills `out`; on failure returns the error, and lattice_last_error() names the member.
lattice_result read_impairment(const lattice_impairment* in, socket::Impairment* out);

}  // namespace lattice::abi
