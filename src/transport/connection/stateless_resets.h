// The server's side of stateless resets (states.md, "Stateless reset"; RFC 9000 §10.3): the tokens of its
// connections, and the answers to packets of unknown connections.
//
// Must stay true: a reset is shorter than the packet that it answers and is itself never answered, so two
// servers cannot keep each other busy; the number of resets is bounded; a token reveals nothing about the key
// or about other tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "base/path_id.h"
#include "transport/connection/datagram_sink.h"
#include "transport/connection/prefix_rate.h"
#include "transport/connection/rate_subject.h"
#include "transport/crypto/entropy.h"
#include "transport/crypto/hash.h"
#include "transport/crypto/locked.h"
#include "transport/wire/packet_header.h"
#include "transport/wire/stateless_reset.h"

namespace lattice::connection {

/// The token of a connection: first 16 of HMAC(reset key, "lattice/v1/stateless-reset" ‖ connection_id).
wire::ResetToken make_reset_token(const crypto::HmacKey& reset_key, uint64_t connection_id);

/// True when `datagram`, with a header of `header_bytes`, ends with `token`. The time does not depend on
/// where they differ.
bool is_reset(std::span<const uint8_t> datagram, size_t header_bytes, const wire::ResetToken& token);

struct ResetLimits {
  uint32_t per_s = 100, burst = 200;  ///< Per rate subject: of UDP a /24 or /56.
  uint32_t in_all_per_s = 2000;       ///< Each route has an equal part of it.
};

class StatelessResets {
 public:
  enum class Outcome : uint8_t {
    kSent,
    kNone,        ///< A packet that is never answered: a Disconnect, or a packet that is too short.
    kPrefixRate,  ///< Too many resets to its rate subject.
    kBudget,      ///< Too many resets on its route.
  };

  /// `reset_key` is secret and serves nothing else. `socket` says how many routes there are and who the rate
  /// subjects of its paths are; null: UDP alone. `socket` and `entropy` are borrowed and must outlive this.
  StatelessResets(const crypto::Key& reset_key, const ResetLimits& limits, crypto::EntropySource& entropy,
                  const socket::DatagramSocket* socket = nullptr);

  wire::ResetToken token_of(uint64_t connection_id) const { return make_reset_token(*key_, connection_id); }

  /// Answers a session packet of `datagram_bytes` whose connection_id this server does not know.
  Outcome answer(const base::PathId& from, const wire::PacketHeader& header, size_t header_bytes,
                 size_t datagram_bytes, uint64_t now_ns, DatagramSink& sink);

 private:
  crypto::Locked<crypto::HmacKey> key_;
  crypto::EntropySource& entropy_;
  RateSubjects subjects_;
  struct Route {
    PrefixRate rate;
    Budget budget;
  };
  std::vector<Route> routes_;
};

}  // namespace lattice::connection
