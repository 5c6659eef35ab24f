// Decides whether the peer has moved to another address (§4.3; L-04). A NAT may give a client a new port at
// any time, and an attacker may copy a packet and deliver the copy first, from an address of his choice. The
// two cases look alike until the new address has answered a challenge that only the owner of the keys can
// read.
//
//   newest packet from elsewhere ─▶ challenge it, go on sending to the old address ─▶ answer from there: move
//                                         │ a newer packet from the old address, or 1 to 3 s: forget it
//
// Must stay true: before an address has answered, it gets at most three times the bytes it sent; one address
// is on trial at a time, and a trial begins at least a second after the last one.
#pragma once

#include <array>
#include <cstdint>

#include "base/path_id.h"
#include "transport/crypto/entropy.h"

namespace lattice::reliability {

class PathValidator {
 public:
  using Challenge = std::array<uint8_t, 8>;

  static constexpr uint64_t kAmplification = 3;
  static constexpr uint64_t kMinTrialIntervalNs = 1'000'000'000;
  static constexpr uint64_t kMaxTrialNs = 3'000'000'000;
  static constexpr uint32_t kMaxForeignOpensPerSecond = 100;

  /// Whether one more datagram from an address that is not the peer's may be opened now. Counts the datagram.
  /// Each one costs an AEAD pass, and an attacker needs only the connection_id.
  bool may_open_foreign(uint64_t now_ns);

  /// A packet of `bytes` from `from` was opened; `is_newest`: its number is the highest so far. `active` is
  /// the peer's address, and `from` may equal it. True: a trial of `from` has begun.
  bool on_authentic(const base::PathId& from, const base::PathId& active, size_t bytes, bool is_newest,
                    uint64_t now_ns, crypto::EntropySource& entropy);

  /// Ends a trial that took too long. `rto_ns` is the active path's.
  void update(uint64_t now_ns, uint64_t rto_ns);

  /// Whether a challenge of `bytes` should be sent now: at the beginning and then every `rto_ns`, while the
  /// bytes received allow it.
  bool challenge_due(size_t bytes, uint64_t now_ns, uint64_t rto_ns) const;
  void on_challenge_sent(size_t bytes, uint64_t now_ns);

  /// True when `response`, from `from`, proves the address on trial: the path moves there, and the trial is
  /// over.
  bool on_response(const base::PathId& from, const Challenge& response);

  bool on_trial() const { return on_trial_; }
  /// While on_trial().
  const base::PathId& candidate() const { return candidate_; }
  const Challenge& challenge() const { return challenge_; }

 private:
  // What every packet reads comes first; the rest is of trials.
  bool on_trial_ = false;
  bool has_begun_ = false;  ///< Ever: began_ns_ means something.
  bool challenged_ = false;
  uint32_t foreign_opens_ = 0;
  base::PathId candidate_;
  Challenge challenge_{};
  uint64_t received_bytes_ = 0;
  uint64_t sent_bytes_ = 0;
  uint64_t began_ns_ = 0;
  uint64_t challenged_ns_ = 0;
  uint64_t foreign_second_ = 0;
};

}  // namespace lattice::reliability
