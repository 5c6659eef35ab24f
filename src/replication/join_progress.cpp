#include "replication/join_progress.h"

#include "base/assert.h"
#include "lattice/authoring/bit_writer.h"

namespace lattice::replication {

bool JoinProgress::due(Tick tick, uint32_t missing, uint32_t tick_rate_hz) const {
  if (done_) return false;
  if (sent_tick_ == 0 || (missing == 0 && last_receipt_ == 0)) return true;
  return base::tick_distance(tick, sent_tick_) >= static_cast<int32_t>(tick_rate_hz / kPartsPerS);
}

std::span<const uint8_t> JoinProgress::write(Tick tick, const JoinCount& count, uint32_t receipt) {
  LATTICE_ASSERT(count.missing <= count.objects);
  sent_tick_ = tick;
  last_receipt_ = count.missing == 0 ? receipt : 0;
  BitWriter out(bytes_);
  out.WriteU32(tick);
  out.WriteByte(kFlagProgress);
  out.WriteVarint(count.objects);
  out.WriteVarint(count.missing);
  return out.finish();
}

void JoinProgress::on_receipt(uint32_t receipt, bool acked) {
  if (receipt != last_receipt_) return;
  done_ = acked;
  if (!acked) last_receipt_ = 0;
}

}  // namespace lattice::replication
