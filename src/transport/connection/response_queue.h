// Messages 3 and 7 of one route with the right cookie that wait for their curve operations (S-12). Subject
// after subject has its turn, so a prefix that sends many waits for itself. When the queue is full, the
// subject with the most messages loses its newest; where none has more than the newcomer's, the network with
// the most does: a /16 of IPv4, a /32 of IPv6, which is what a provider has. One customer of it may have
// thousands of /56s.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/path_id.h"
#include "transport/connection/rate_subject.h"
#include "transport/wire/handshake_bodies.h"
#include "transport/wire/packet_header.h"
#include "transport/wire/token.h"

namespace lattice::connection {

class ResponseQueue {
 public:
  static constexpr size_t kMaxResponses = 128;
  static constexpr size_t kMaxResponseBytes =
      std::max(wire::kMaxChallengeResponseBytes, wire::kMaxSchemaDifferenceBytes);

  struct Response {
    base::PathId from;
    RateSubject subject;
    std::vector<uint8_t> datagram;
  };

  ResponseQueue();

  enum class Push : uint8_t {
    kWaits,
    kWaitsAnotherLost,  ///< The queue was full and another message gave way: see `displaced`.
    kAlreadyWaits,      ///< One of the same path; this one is forgotten.
    kLost,              ///< The queue is full, and no other subject or network has more.
  };
  /// Keeps a copy of a message of at most kMaxResponseBytes.
  Push push(const base::PathId& from, const RateSubject& subject, std::span<const uint8_t> datagram,
            base::PathId* displaced);
  /// The oldest message of the subject whose turn it is. The queue must not be empty.
  Response pop();
  bool empty() const { return waiting_.empty(); }

 private:
  /// A subject or a network as a number.
  using GroupOf = uint64_t (*)(const Response& response);
  /// The group that has the most loses its newest message, if a newcomer of `group` has less even then.
  bool make_room(GroupOf group_of, uint64_t group, base::PathId* displaced);

  std::vector<Response> waiting_;  // order of arrival
  uint64_t last_subject_ = 0;      // had its turn last
};

}  // namespace lattice::connection
