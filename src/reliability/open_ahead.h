// Opens what arrived together on threads of the caller's, before it is acted on in the order of arrival. Only
// the AEAD is done here: whose a datagram is, whether its number is fresh, what a failure means, is decided
// in its turn by SecureLink::open(), which takes the result instead of the work. So a batch with forgeries,
// copies, or packets of keys that begin or end within it comes out as one by one.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "reliability/connection_shares.h"
#include "reliability/peer.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::reliability {

class OpenAhead {
 public:
  /// Takes memory for batches of up to `max_datagrams`.
  explicit OpenAhead(size_t max_datagrams)
      : shares_(max_datagrams), links_(max_datagrams), results_(max_datagrams) {}

  /// Forgets the last batch: a new one of `count` datagrams is tried from here on.
  void begin(size_t count) { std::fill_n(results_.begin(), count, connection::OpenedAhead::kNotTried); }
  /// `datagram`, number `index` of the batch, names `peer` as its connection and came from `from`. Kept for
  /// run() when that is where the peer is: strange sources are opened at a limited rate (L-04), in turn.
  void add(size_t index, const platform::Address& from, size_t bytes, const Peer& peer) {
    if (!peer.link || from != peer.path) return;
    links_[index] = &*peer.link;
    shares_.add(peer.handle.slot, index, bytes);
  }
  void run(const CallerTasks& tasks, std::span<const socket::Datagram> datagrams) {
    shares_.run(tasks, [this, datagrams](size_t i) {
      results_[i] = links_[i]->open_ahead({datagrams[i].data, datagrams[i].size});
    });
  }
  connection::OpenedAhead result(size_t index) const { return results_[index]; }

 private:
  ConnectionShares shares_;
  std::vector<const connection::SecureLink*> links_;
  std::vector<connection::OpenedAhead> results_;
};

}  // namespace lattice::reliability
