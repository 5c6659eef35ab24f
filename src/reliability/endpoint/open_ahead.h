// Opens the packets of one batch on the caller's threads, before they are processed in the order of arrival.
// Only the AEAD runs here. SecureLink::open() later takes each result in turn: it decides which connection a
// datagram belongs to, whether its number is fresh and what a failure means. So the outcome is the same as
// without threads, also for forgeries, copies, and packets whose keys begin or end within the batch.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "reliability/endpoint/connection_shares.h"
#include "transport/connection/secure_link.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::reliability {

class OpenAhead {
 public:
  /// Takes memory for batches of up to `max_datagrams`.
  explicit OpenAhead(size_t max_datagrams)
      : shares_(max_datagrams), links_(max_datagrams), results_(max_datagrams) {}

  /// Forgets the last batch and begins a new one of `count` datagrams.
  void begin(size_t count) { std::fill_n(results_.begin(), count, connection::OpenedAhead::kNotTried); }
  /// Datagram number `index` of the batch is for the connection in `slot`, whose `link` may open it now.
  void add(size_t index, size_t bytes, uint32_t slot, const connection::SecureLink& link) {
    links_[index] = &link;
    shares_.add(slot, index, bytes);
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
