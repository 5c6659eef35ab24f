// Who may write an object's state, and since when (I5, A-01). Nothing else decides it: the role of a world
// does not, and the owner of an object does not.
//
// Owner and writer answer two questions. The owner is the peer whose object it is: the owner may predict it,
// may make its owner-only calls, and sees it at any distance. The writer is the peer whose state of the
// object is the true one: all other peers receive that state. The mode relates the two. In every tick an
// object has exactly one writer, since it has one record.
#pragma once

#include <cstdint>

#include "base/sequence.h"
#include "lattice/types.h"

namespace lattice::replication {

using base::Tick;

/// Peer ids: the authority of the session is 1, clients count from 2, 0 is nobody.
inline constexpr uint64_t kAuthorityPeer = 1;
inline constexpr uint64_t kFirstClientPeer = 2;

struct Authority {
  uint64_t writer = kAuthorityPeer;
  Tick since_tick = 0;  // the first tick of the writer's tenure; authority_tick in the spec

  bool operator==(const Authority&) const = default;
};

/// The tenure that begins at `since_tick`. The owner writes a shared object. The authority of the session
/// writes every other object, and a shared one that nobody owns.
constexpr Authority begin_tenure(lattice_authority_mode mode, uint64_t owner, Tick since_tick) {
  const bool owner_writes = mode == LATTICE_AUTHORITY_SHARED && owner != 0;
  return {owner_writes ? owner : kAuthorityPeer, since_tick};
}

}  // namespace lattice::replication
