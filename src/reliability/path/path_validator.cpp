#include "reliability/path/path_validator.h"

#include <algorithm>

#include "base/assert.h"
#include "base/durations.h"
#include "transport/crypto/secret.h"

namespace lattice::reliability {
namespace {

using base::kSecondNs;

}  // namespace

bool PathValidator::may_open_foreign(uint64_t now_ns) {
  if (now_ns / kSecondNs != foreign_second_) {
    foreign_second_ = now_ns / kSecondNs;
    foreign_opens_ = 0;
  }
  if (foreign_opens_ == kMaxForeignOpensPerSecond) return false;
  ++foreign_opens_;
  return true;
}

bool PathValidator::on_authentic(const base::PathId& from, const base::PathId& active, size_t bytes,
                                 bool is_newest, uint64_t now_ns, crypto::EntropySource& entropy) {
  if (on_trial_ && from == candidate_) {
    received_bytes_ += bytes;
    return false;
  }
  if (!is_newest) return false;
  if (from == active) {
    // The peer still sends from its old address, so the packet from elsewhere was a copy.
    on_trial_ = false;
    return false;
  }
  // A newer packet from a third address also replaces the address on trial. An attacker who was first must
  // not keep the peer from moving for longer than kMinTrialIntervalNs.
  if (has_begun_ && now_ns - began_ns_ < kMinTrialIntervalNs) return false;
  candidate_ = from;
  entropy.fill(challenge_);
  received_bytes_ = bytes;
  sent_bytes_ = 0;
  began_ns_ = now_ns;
  on_trial_ = has_begun_ = true;
  challenged_ = false;
  return true;
}

void PathValidator::update(uint64_t now_ns, uint64_t rto_ns) {
  if (!on_trial_) return;
  const uint64_t trial_ns = std::clamp(3 * rto_ns, kMinTrialIntervalNs, kMaxTrialNs);
  if (now_ns - began_ns_ >= trial_ns) on_trial_ = false;
}

bool PathValidator::challenge_due(size_t bytes, uint64_t now_ns, uint64_t rto_ns) const {
  return on_trial_ && (!challenged_ || now_ns - challenged_ns_ >= rto_ns) &&
         sent_bytes_ + bytes <= kAmplification * received_bytes_;
}

void PathValidator::on_challenge_sent(size_t bytes, uint64_t now_ns) {
  sent_bytes_ += bytes;
  challenged_ns_ = now_ns;
  challenged_ = true;
  LATTICE_ASSERT(sent_bytes_ <= kAmplification * received_bytes_);
}

bool PathValidator::on_response(const base::PathId& from, const Challenge& response) {
  if (!on_trial_ || !challenged_ || from != candidate_ ||
      !crypto::equal_constant_time(response, challenge_)) {
    return false;
  }
  on_trial_ = false;
  return true;
}

}  // namespace lattice::reliability
