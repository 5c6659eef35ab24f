#include "reliability/path/mtu_search.h"

#include <algorithm>

#include "base/assert.h"
#include "base/durations.h"

namespace lattice::reliability {

bool MtuSearch::has_next_size() const {
  return proved_ + 1 != kSizes.size() && kSizes[proved_ + 1] <= limit_bytes_;
}

void MtuSearch::assume(uint32_t bytes) {
  LATTICE_ASSERT(probe_seq_ == 0 && given_up_seq_ == 0);
  while (has_next_size() && kSizes[proved_ + 1] <= bytes) ++proved_;
}

uint64_t MtuSearch::pause_ns() const {
  return bytes_per_s_ == 0 ? 0 : kSizes.back() * kShareOfRate * base::kSecondNs / bytes_per_s_;
}

uint32_t MtuSearch::probe_due(uint64_t now_ns) const {
  if (probe_seq_ != 0 || !has_next_size() || now_ns < std::max(resume_ns_, paced_ns_)) return 0;
  return kSizes[proved_ + 1];
}

uint64_t MtuSearch::next_deadline_ns() const {
  if (probe_seq_ != 0) return give_up_ns_;
  return has_next_size() ? std::max(resume_ns_, paced_ns_) : kNever;
}

void MtuSearch::on_probe_sent(uint64_t packet_seq, uint64_t now_ns, uint64_t patience_ns) {
  LATTICE_ASSERT(probe_due(now_ns) != 0 && packet_seq != 0);
  probe_seq_ = packet_seq;
  give_up_ns_ = now_ns + patience_ns;
  paced_ns_ = now_ns + pause_ns();
}

void MtuSearch::on_probe_acked() {
  LATTICE_ASSERT(probe_seq_ != 0 || given_up_seq_ != 0);
  // The probe in flight and the one given up have the same size, so either ack proves that size and ends
  // both.
  probe_seq_ = 0;
  given_up_seq_ = 0;
  losses_ = 0;
  resume_ns_ = 0;
  ++proved_;
}

void MtuSearch::update(uint64_t now_ns) {
  if (paced_ns_ == 0 && has_next_size()) paced_ns_ = now_ns + pause_ns();
  if (probe_seq_ == 0 || now_ns < give_up_ns_) return;
  given_up_seq_ = probe_seq_;
  probe_seq_ = 0;
  if (++losses_ < kLossesPerSize) return;
  losses_ = 0;
  resume_ns_ = now_ns + kRetryNs;
}

void MtuSearch::on_black_hole(uint64_t now_ns) {
  restart();
  resume_ns_ = now_ns + kRetryNs;
}

void MtuSearch::restart() {
  proved_ = 0;
  losses_ = 0;
  probe_seq_ = 0;
  given_up_seq_ = 0;
  resume_ns_ = paced_ns_ = 0;
}

}  // namespace lattice::reliability
