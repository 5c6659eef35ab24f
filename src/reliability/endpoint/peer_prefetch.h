// Prefetches a peer's state into the cache before it is needed. With hundreds of connections no state is in
// the cache when its peer is processed, and waiting for one cache line after the other takes longer than the
// work.
#pragma once

#include <cstddef>

#include "base/compiler.h"
#include "reliability/endpoint/peer.h"

namespace lattice::reliability {

/// How many datagrams, or slots, ahead to prefetch: the work in between covers one access to memory.
inline constexpr size_t kPrefetchAhead = 2;

/// Prefetches the state that every update reads: clocks, histories, queues, counters.
inline void prefetch_for_update(const Peer& peer) {
  base::prefetch(&peer, peer.outgoing_channels.hot_end());
  base::prefetch(&peer.probes, peer.probes.hot_end());
}

/// Prefetches also the keys that seal.
inline void prefetch_for_send(const Peer& peer) {
  prefetch_for_update(peer);
  if (peer.link) peer.link->prefetch_for_seal();
}

/// Prefetches also the state that opening a packet reads: keys, replay window.
inline void prefetch_for_packet(const Peer& peer) {
  prefetch_for_update(peer);
  base::prefetch(&peer.rotation, &peer.link);
  if (peer.link) peer.link->prefetch_for_open();
}

}  // namespace lattice::reliability
