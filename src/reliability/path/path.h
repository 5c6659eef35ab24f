// The path of a connection: the peer's address (L-04), and the largest datagram that arrives there (L-06).
// The rules are in path_validator.h and mtu_search.h; this class keeps the two together when the address
// changes.
//
//   packet from elsewhere ─▶ trial ─▶ challenge ─▶ answer from there ─▶ move: the search for a size starts
//   over
//
// Must stay true: the address changes only by begin() and by an answer to a challenge.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/path_id.h"
#include "reliability/path/mtu_search.h"
#include "reliability/path/path_validator.h"

namespace lattice::reliability {

class Path {
 public:
  using Challenge = PathValidator::Challenge;

  void begin(const base::PathId& address) { address_ = address; }
  /// Where packets go and come from.
  const base::PathId& address() const { return address_; }
  /// Whether a packet sent at `sent_ns` went to address(); if not, it says nothing about this path.
  bool was_used_at(uint64_t sent_ns) const { return sent_ns >= since_ns_; }

  // The address.

  /// Whether one more datagram from another address may be opened now. Counts the datagram.
  bool may_open_foreign(uint64_t now_ns) { return validator_.may_open_foreign(now_ns); }
  /// A packet of `bytes` from `from` was opened; `is_newest`: its number is the highest so far. True: a trial
  /// of `from` has begun.
  bool on_authentic(const base::PathId& from, size_t bytes, bool is_newest, uint64_t now_ns,
                    crypto::EntropySource& entropy) {
    return validator_.on_authentic(from, address_, bytes, is_newest, now_ns, entropy);
  }
  /// Ends a trial that took too long.
  void update(uint64_t now_ns, uint64_t rto_ns) { validator_.update(now_ns, rto_ns); }

  /// The address on trial and what it must answer are in trial(), while it is on_trial().
  bool on_trial() const { return validator_.on_trial(); }
  const PathValidator& trial() const { return validator_; }
  void on_challenge_sent(size_t bytes, uint64_t now_ns) { validator_.on_challenge_sent(bytes, now_ns); }

  /// What limits datagrams of this side on the path.
  struct Limits {
    uint32_t datagram_bytes = wire::kFloorDatagramBytes;
    bool forbids_fragmentation = true;  ///< Without, no size can be tried.
  };
  /// True when `response`, from `from`, proves the address on trial. Then the path is there from now on.
  bool on_response(const base::PathId& from, const Challenge& response, const Limits& own, uint64_t now_ns) {
    if (!validator_.on_response(from, response)) return false;
    address_ = from;
    since_ns_ = now_ns;
    mtu_.restart();
    agree(agreed_bytes_, own);
    return true;
  }

  /// The peer's challenge, which the next Keepalive answers.
  void on_challenge(const Challenge& challenge) {
    answer_ = challenge;
    answer_waits_ = true;
  }
  bool answer_waits() const { return answer_waits_; }
  const Challenge& take_answer() {
    answer_waits_ = false;
    return answer_;
  }

  // The size.

  /// `bytes`: the largest datagram that the peer accepts.
  void agree(uint32_t bytes, const Limits& own) {
    agreed_bytes_ = bytes;
    uint32_t limit = std::min(bytes, own.datagram_bytes);
    if (!own.forbids_fragmentation) limit = wire::kFloorDatagramBytes;
    mtu_.set_limit(limit);
  }
  /// The largest datagram known or assumed to arrive.
  uint32_t datagram_bytes() const { return mtu_.datagram_bytes(); }
  MtuSearch& mtu() { return mtu_; }
  const MtuSearch& mtu() const { return mtu_; }

 private:
  base::PathId address_;
  bool answer_waits_ = false;
  uint32_t agreed_bytes_ = wire::kFloorDatagramBytes;
  uint64_t since_ns_ = 0;  ///< Packets sent before this time went to the old address.
  PathValidator validator_;  ///< Used by the side that accepted.
  MtuSearch mtu_;
  Challenge answer_{};
};

}  // namespace lattice::reliability
