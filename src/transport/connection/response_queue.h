// Messages 3 with the right cookie that wait for their curve operations (S-12). Prefix after prefix has its
// turn, so a prefix that sends many waits for itself. When the queue is full, the prefix with the most
// messages loses its newest.
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
    kWaitsAnotherLost,  ///< The queue was full and a message of another prefix gave way: see `displaced`.
    kAlreadyWaits,      ///< One of the same address; this one is forgotten.
    kLost,              ///< The queue is full and no other prefix has more.
  };
  /// Keeps a copy of a message 3 of at most kMaxChallengeResponseBytes.
  Push push(const platform::Address& from, std::span<const uint8_t> datagram, platform::Address* displaced);
  /// The oldest message of the prefix whose turn it is. The queue must not be empty.
  Response pop();
  bool empty() const { return waiting_.empty(); }

 private:
  struct Share {
    uint64_t prefix = 0;
    size_t count = 0;
  };
  /// The prefix that has the most.
  Share largest_share() const;
  size_t count_of(uint64_t prefix) const;
  void erase_newest_of(uint64_t prefix, platform::Address* from);

  std::vector<Response> waiting_;  // order of arrival
  uint64_t last_prefix_ = 0;       // had its turn last
};

}  // namespace lattice::connection
