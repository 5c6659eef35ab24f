// The receiving side of acknowledgement: the content of an ack block, and when one is due (§3.4,
// L-07).
//
//   ack_seq            = low 16 bits of the highest number accepted
//   ack_bitfield bit n = number (highest - (n + 1)) was accepted
//
// Must stay true: only packets whose every reliable message was accepted are recorded here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "reliability/limits.h"
#include "transport/wire/ack_block.h"

namespace lattice::reliability {

class AckTracker {
 public:
  /// A packet was opened, checked and accepted whole. Packet numbers start at 1 and come in any order. If the
  /// packet asks for an ack, the ack may wait for `max_delay_ns`. The packet may have waited `unread_ns` for
  /// this side to read it.
  void on_packet(uint64_t packet_seq, bool ack_eliciting, uint64_t now_ns,
                 uint64_t max_delay_ns = kMaxAckDelayNs, uint64_t unread_ns = 0);

  /// The block to send now; {0, 0} before the first packet.
  wire::AckBlock block() const;
  /// Time since the highest accepted packet was read: the ack_delay of R-01. A time it may have waited before
  /// counts too, if it is kMinReportedUnreadNs or more.
  uint64_t delay_ns(uint64_t now_ns) const {
    return delay_bound_ns(now_ns) - (unread_ns_ < kMinReportedUnreadNs ? unread_ns_ : 0);
  }
  /// The longest time that the highest accepted packet may have been here.
  uint64_t delay_bound_ns(uint64_t now_ns) const {
    return highest_ == 0 ? 0 : now_ns - highest_at_ns_ + unread_ns_;
  }

  /// True when packets ask for an ack that has not been sent.
  bool ack_pending() const { return unacked_count_ != 0; }
  /// True when the ack must not wait: so many packets ask for it as set_every() said; or such a packet
  /// came out of turn, and the sender must learn of it to tell a loss from a delay; or the ack would be late
  /// at the next update, `until_next_ns` after now. The second and the third reason wait until the pause
  /// after the last block is over.
  bool ack_due(uint64_t now_ns, uint64_t until_next_ns) const;
  /// The time from which ack_due() is true for updates at most `until_next_ns` apart; kNever with none
  /// pending.
  uint64_t due_at_ns(uint64_t until_next_ns) const;
  static constexpr uint64_t kNever = UINT64_MAX;
  /// An ack leaves for every kAckEveryPackets packets, or kAckEveryPacketsOfMany if windows are large. After
  /// packets that were overtaken it is the former for a while: they come far behind the highest, and a block
  /// names 33.
  void set_every(uint32_t packets) { every_packets_ = packets; }
  static constexpr uint32_t kInOrderPackets = 1024;
  /// True when so many packets wait for an ack, and an ack may leave for that reason. One half of a window of
  /// small reliable messages should be in flight while the other half is acked.
  bool ack_overdue(uint64_t now_ns) const {
    return unacked_count_ >= every_packets() && now_ns >= overdue_from_ns();
  }
  /// A packet with block() in it was sent. For `pause_ns` no ack should follow: where the sending rate is
  /// small and packets overtake each other, these would take all of it.
  void on_block_sent(uint64_t now_ns, uint64_t pause_ns) {
    unacked_count_ = 0, out_of_turn_ = false, pause_until_ns_ = now_ns + pause_ns;
  }

  /// A packet with nothing but an ack was sent. For each, acks that are overdue wait `cost_ns` of the time of
  /// the sending rate; kAckBurstNs of it is there at once. A peer that sends much could else make a side with
  /// a small rate send nothing but acks. Unless the rate `is_fixed`, acks of whole blocks do not wait:
  /// without them the peer would take packets for lost.
  void on_separate_ack(uint64_t now_ns, uint64_t cost_ns, bool is_fixed) {
    paid_until_ns_ = std::max(paid_until_ns_, now_ns) + cost_ns;
    whole_blocks_wait_ = is_fixed;
  }
  static constexpr uint64_t kAckBurstNs = 250'000'000;
  /// A block covers 33 numbers, and some are left out or lost.
  static constexpr uint32_t kWholeBlockPackets = 28;

  uint64_t highest() const { return highest_; }

 private:
  uint32_t every_packets() const {
    return in_order_count_ == kInOrderPackets ? every_packets_ : kAckEveryPackets;
  }
  uint64_t overdue_from_ns() const {
    if (unacked_count_ >= kWholeBlockPackets && !whole_blocks_wait_) return 0;
    return paid_until_ns_ - std::min(paid_until_ns_, kAckBurstNs);
  }

  uint64_t highest_ = 0;  ///< 0: none.
  uint64_t highest_at_ns_ = 0;
  uint64_t unread_ns_ = 0;  ///< How long the highest may have waited before that.
  uint64_t ack_by_ns_ = 0;
  uint64_t pause_until_ns_ = 0;
  uint64_t paid_until_ns_ = 0;
  uint32_t bitfield_ = 0;
  uint32_t unacked_count_ = 0;
  uint32_t every_packets_ = kAckEveryPackets;
  uint32_t in_order_count_ = 0;  ///< Packets since one was overtaken; stops at kInOrderPackets.
  bool whole_blocks_wait_ = false;
  bool out_of_turn_ =
      false;  ///< Since the last block: a gap before a packet that asks, or one that fills it.
};

}  // namespace lattice::reliability
