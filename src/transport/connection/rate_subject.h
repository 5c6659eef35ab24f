// Who shares the limits of strangers with a path (H-01, P-03): the networks of IP addresses, and elsewhere
// what the back end of the path states. Limits are of one route, so a subject names its route.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/path_id.h"
#include "transport/crypto/entropy.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::connection {

/// The prefix of an IP path: its first 24 (IPv4) or 56 (IPv6) bits, tagged by form.
uint64_t prefix_of(const base::PathId& path);

struct RateSubject {
  uint64_t id = 0;       ///< A prefix, or a number with a meaning to the route only.
  uint64_t network = 0;  ///< A /16 of IPv4 or a /32 of IPv6, which is what a provider has; elsewhere `id`.
  uint8_t route = base::kUdpRoute;

  friend bool operator==(const RateSubject&, const RateSubject&) = default;
};

struct HashOfSubject {
  size_t operator()(const RateSubject& subject) const;
};

/// Asks back ends for the rate subjects of their paths.
class RateSubjects {
 public:
  /// `socket` is borrowed; null: UDP alone. `entropy` gives the key of a hash where there are more routes.
  RateSubjects(const socket::DatagramSocket* socket, crypto::EntropySource& entropy);

  /// UDP: the prefix. Another route: what it states; where it states nothing, the prefix of an IP path, and
  /// for an opaque one the path itself.
  RateSubject of(const base::PathId& path) const;

 private:
  uint64_t hash(const base::PathId& path) const;

  const socket::DatagramSocket* socket_;
  uint64_t hash_key_[2] = {};
};

}  // namespace lattice::connection
