// Brings a peer's state towards the processor before it is needed: with hundreds of connections none of it is
// near when its turn comes, and waiting for one cache line after the other takes longer than the work.
#pragma once

#include <cstddef>

#include "base/prefetch.h"
#include "reliability/peer.h"

namespace lattice::reliability {

/// How many datagrams, or slots, ahead: the work between covers one trip to memory.
inline constexpr size_t kPrefetchAhead = 2;

/// What every update reads: clocks, histories, queues, counters.
inline void prefetch_for_update(const Peer& peer) {
  base::prefetch(&peer, &peer.rtt + 1);
}

/// What opening a packet reads besides: keys, replay window.
inline void prefetch_for_packet(const Peer& peer) {
  prefetch_for_update(peer);
  base::prefetch(&peer.rotation, &peer.link);
  if (peer.link) peer.link->prefetch_for_open();
}

}  // namespace lattice::reliability
