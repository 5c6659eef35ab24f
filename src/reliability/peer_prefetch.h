// Brings a peer's state towards the processor before it is needed. One packet touches some thirty cache lines
// of its Peer; with hundreds of connections none of them is near when its turn comes, and waiting for them
// one after the other takes longer than the work. Hints only: nothing depends on them.
#pragma once

#include <cstddef>

#include "reliability/peer.h"

namespace lattice::reliability {

/// How many datagrams, or slots, ahead: the work between covers one trip to memory.
inline constexpr size_t kPrefetchAhead = 2;

inline void prefetch_bytes(const void* from, const void* to) {
  constexpr size_t kLineBytes = 64;
  for (const char* line = static_cast<const char*>(from); line < static_cast<const char*>(to);
       line += kLineBytes) {
    __builtin_prefetch(line);
  }
}

/// What every update reads: clocks, histories, queues, counters. Not the keys, which are half of a peer and
/// only read when it sends.
inline void prefetch_for_update(const Peer& peer) {
  prefetch_bytes(&peer.lifecycle, &peer.lifecycle + 1);
  prefetch_bytes(&peer.timers, &peer + 1);
}

/// What opening a packet reads besides: address, keys, replay window.
inline void prefetch_for_packet(const Peer& peer) {
  prefetch_bytes(&peer, peer.user_data.data());
  prefetch_bytes(&peer.link, &peer.link + 1);
  prefetch_for_update(peer);
}

/// Its reliable channels' sending sides; reads the peer, so that should be near already.
inline void prefetch_channels(const Peer& peer) {
  for (const auto& channel : peer.reliable) {
    if (channel) prefetch_bytes(&channel->send, &channel->send + 1);
  }
}

}  // namespace lattice::reliability
