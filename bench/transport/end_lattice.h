// An ability of Lattice's end only: many connections over one socket, for the idle workload.
#pragma once

#include "transport/end.h"

namespace bench {

/// Clients `first` … `first + count - 1` of the Lattice server at `port`, all on one socket. Each flush()
/// begins the next handshake once the previous one is done. Null when no socket could be opened.
std::unique_ptr<End> connect_lattice_crowd(uint16_t port, uint32_t first, uint32_t count);

}  // namespace bench
