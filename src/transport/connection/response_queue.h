// Messages 3 with the right cookie that wait for their curve operations (S-12). Prefix after prefix has its
// turn, so a prefix that sends many waits for itself. When the queue is full, the prefix with the most
// messages loses its newest; where no prefix has more than the newcomer's, the network with the most does: a
// /16 of IPv4, a /32 of IPv6, which is what a provider has. One customer of it may have thousands of /56s.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "platform/address.h"
#include "transport/wire/handshake_bodies.h"
#include "transport/wire/packet_header.h"
#include "transport/wire/token.h"

namespace lattice::connection {

class ResponseQueue {
 public:
  static constexpr size_t kMaxResponses = 128;

  struct Response {
    platform::Address from;
    uint64_t prefix = 0;
    uint16_t size = 0;
    std::array<uint8_t, wire::kMaxChallengeResponseBytes> bytes{};

    std::span<const uint8_t> datagram() const { return {bytes.data(), size}; }
  };

  ResponseQueue();

  enum class Push : uint8_t {
    kWaits,
    kWaitsAnotherLost,  ///< The queue was full and another message gave way: see `displaced`.
    kAlreadyWaits,      ///< One of the same address; this one is forgotten.
    kLost,              ///< The queue is full, and no other prefix or network has more.
  };
  /// Keeps a copy of a message 3 of at most kMaxChallengeResponseBytes.
  Push push(const platform::Address& from, std::span<const uint8_t> datagram, platform::Address* displaced);
  /// The oldest message of the prefix whose turn it is. The queue must not be empty.
  Response pop();
  bool empty() const { return waiting_.empty(); }

 private:
  /// A prefix or a network as a number.
  using GroupOf = uint64_t (*)(const Response& response);
  /// The group that has the most loses its newest message, if a newcomer of `group` has less even then.
  bool make_room(GroupOf group_of, uint64_t group, platform::Address* displaced);

  std::vector<Response> waiting_;  // order of arrival
  uint64_t last_prefix_ = 0;       // had its turn last
};

}  // namespace lattice::connection
