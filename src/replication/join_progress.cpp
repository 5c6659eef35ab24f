#include "replication/join_progress.h"

#include <algorithm>

#include "base/assert.h"
#include "lattice/authoring/bit_writer.h"

namespace lattice::replication {

bool JoinProgress::due(Tick tick, uint32_t missing, uint32_t tick_rate_hz) const {
  if (done_) return false;
  if (sent_tick_ == 0 || (missing == 0 && !any_last())) return true;
  if (missing == 0 && std::ranges::find(last_receipts_, 0u) == last_receipts_.end()) return false;
  return base::tick_distance(tick, sent_tick_) >= static_cast<int32_t>(tick_rate_hz / kPartsPerS);
}

std::span<const uint8_t> JoinProgress::write(Tick tick, const JoinCount& count, uint32_t receipt) {
  LATTICE_ASSERT(count.missing <= count.objects);
  sent_tick_ = tick;
  if (count.missing != 0) {
    last_receipts_ = {};
  } else {
    LATTICE_ASSERT(std::ranges::find(last_receipts_, 0u) != last_receipts_.end());
    *std::ranges::find(last_receipts_, 0u) = receipt;
  }
  BitWriter out(bytes_);
  out.WriteU32(tick);
  out.WriteByte(kFlagProgress);
  out.WriteVarint(count.objects);
  out.WriteVarint(count.missing);
  return out.finish();
}

void JoinProgress::on_receipt(uint32_t receipt, bool acked) {
  const auto at = std::ranges::find(last_receipts_, receipt);
  if (receipt == 0 || at == last_receipts_.end()) return;
  *at = 0;
  done_ = done_ || acked;
}

bool JoinProgress::any_last() const {
  return std::ranges::any_of(last_receipts_, [](uint32_t receipt) { return receipt != 0; });
}

}  // namespace lattice::replication
