#include "reliability/recovery/ack_tracker.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::reliability {

void AckTracker::on_packet(uint64_t packet_seq, bool ack_eliciting, uint64_t now_ns, uint64_t max_delay_ns,
                           uint64_t unread_ns) {
  LATTICE_ASSERT(packet_seq != 0);
  const bool in_turn = packet_seq == highest_ + 1;
  if (packet_seq > highest_) {
    const uint64_t step = packet_seq - highest_;
    if (highest_ == 0 || step > 32) {
      bitfield_ = 0;
    } else {
      bitfield_ = step == 32 ? 0 : bitfield_ << step;
      bitfield_ |= uint32_t{1} << (step - 1);
    }
    highest_ = packet_seq;
    highest_at_ns_ = now_ns;
    unread_ns_ = unread_ns;
  } else if (packet_seq < highest_ && highest_ - packet_seq <= 32) {
    bitfield_ |= uint32_t{1} << (highest_ - packet_seq - 1);
  }
  in_order_count_ = packet_seq < highest_ ? 0 : std::min(in_order_count_ + 1, kInOrderPackets);
  if (ack_eliciting) {
    const uint64_t by_ns = now_ns + max_delay_ns;
    ack_by_ns_ = unacked_count_ == 0 ? by_ns : std::min(ack_by_ns_, by_ns);
    ++unacked_count_;
    out_of_turn_ = out_of_turn_ || !in_turn;
  }
}

wire::AckBlock AckTracker::block() const {
  return {static_cast<uint16_t>(highest_), bitfield_};
}

bool AckTracker::ack_due(uint64_t now_ns, uint64_t until_next_ns) const {
  if (unacked_count_ == 0) return false;
  if (ack_overdue(now_ns)) return true;
  return now_ns >= pause_until_ns_ && (out_of_turn_ || now_ns + until_next_ns >= ack_by_ns_);
}

uint64_t AckTracker::due_at_ns(uint64_t until_next_ns) const {
  if (unacked_count_ == 0) return kNever;
  const bool is_late = out_of_turn_ || ack_by_ns_ <= until_next_ns;
  const uint64_t in_time_ns =
      is_late ? pause_until_ns_ : std::max(ack_by_ns_ - until_next_ns, pause_until_ns_);
  return unacked_count_ >= every_packets() ? std::min(in_time_ns, overdue_from_ns()) : in_time_ns;
}

}  // namespace lattice::reliability
