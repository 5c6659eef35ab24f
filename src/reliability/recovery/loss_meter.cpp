#include "reliability/recovery/loss_meter.h"

namespace lattice::reliability {

void LossMeter::close(uint64_t second, const HistoryCounters& sent, uint64_t highest, uint64_t received) {
  const uint64_t tracked = sent.tracked - tracked_;
  const uint64_t lost = sent.lost - lost_;
  const uint64_t spurious = sent.lost_spurious - spurious_;
  const uint64_t missing = highest - std::min(highest, received);
  if (tracked != 0) {
    const uint64_t gone = lost - std::min(lost, spurious);
    out_ = std::min(1.0, static_cast<double>(gone) / static_cast<double>(tracked));
  }
  if (highest != highest_) {
    const uint64_t numbers = highest - highest_;
    const auto newly_missing = static_cast<int64_t>(missing - missing_);
    in_ = std::min(1.0, skip_allowance_.lost_of(numbers, newly_missing) / static_cast<double>(numbers));
  }
  second_ = second;
  tracked_ = sent.tracked;
  lost_ = sent.lost;
  spurious_ = sent.lost_spurious;
  highest_ = highest;
  missing_ = missing;
}

}  // namespace lattice::reliability
