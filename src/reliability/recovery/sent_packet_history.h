// Loss detection for the packets this side sent: expands the peer's 16-bit acks, declares losses, and
// notifies the owner of every carried item (§3.4, §5.2; ).
//
//   in flight ──ack──▶ acked
//   in flight ──3 later acked, 9/8 RTT, silence, or eviction──▶ lost ──late ack──▶ acked
//
// Where packets overtake each other, later acks say little. Then only time counts: the patience grows by as
// much as packets of the last seconds came behind later ones (RACK, RFC 8985 §6.2).
//
// Records sit in a ring indexed by packet number. It starts at 32 and doubles, up to 1024, whenever the next
// record would displace one still in flight; at the bound the displaced one is lost.
//
// Must stay true: a receipt or a chunk is reported once; a reliable message may be reported lost and later
// acked, never the reverse.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/buffer_pool.h"
#include "base/compiler.h"
#include "reliability/limits.h"
#include "reliability/recovery/carried_items.h"
#include "reliability/recovery/rtt_estimator.h"
#include "transport/wire/ack_block.h"

namespace lattice::reliability {

/// Gets a call for each carried item that was acked or lost. Must not send packets or touch the history from
/// inside a call.
class AckNotifier {
 public:
  virtual ~AckNotifier() = default;
  /// Reports the `count` reliable messages from index `first` on.
  virtual void notify_messages(uint8_t channel, uint32_t first, uint32_t count, uint64_t packet_seq,
                               bool acked) = 0;
  virtual void notify_receipt(uint32_t receipt, bool acked) = 0;
  virtual void notify_chunk(uint32_t chunk, bool acked) = 0;
};

/// Reports a receipt or a chunk, which then leaves the record of its packet. False for reliable messages.
inline bool notify_once(const CarriedItem& item, bool acked, AckNotifier& notifier) {
  if (item.kind == CarriedKind::kReliableMessage) return false;
  if (item.kind == CarriedKind::kReceipt) {
    notifier.notify_receipt(item.value, acked);
  } else {
    notifier.notify_chunk(item.value, acked);
  }
  return true;
}

struct AckResult {
  bool valid = true;  ///< False: the block names a number never sent (R-02) and was not applied.
  /// The block names a number that was left out on purpose: a lie. `valid` is false.
  bool names_skipped = false;
  uint32_t newly_acked = 0;
  uint64_t newly_acked_bytes = 0;
  uint32_t spurious = 0;  ///< Packets that were declared lost and that this block acknowledges.
  /// A round-trip sample may be taken: ack_seq names a packet that was newly acked and asks for acks. Its
  /// content does not matter, because packet numbers are never used again.
  bool has_sample = false;
  uint64_t sample_sent_ns = 0;
  /// With a sample: when the first of the newly acked packets left, of those that ask for an ack and are
  /// beyond all acked before.
  uint64_t first_sent_ns = 0;
};

struct HistoryCounters {
  uint64_t tracked = 0;        ///< Packets that ask for an ack.
  uint64_t acked = 0;          ///< Tracked packets that were acked while in flight.
  uint64_t lost = 0;           ///< Tracked packets that were declared lost.
  uint64_t lost_spurious = 0;  ///< Lost packets that were acked later.
  /// Of the lost ones, those since the peer last acknowledged something: it may be gone, and not the packets.
  uint64_t lost_in_silence = 0;
};

class SentPacketHistory {
 public:
  SentPacketHistory(base::BufferPool& pool, CarriedItems& items);
  ~SentPacketHistory();
  SentPacketHistory(const SentPacketHistory&) = delete;
  SentPacketHistory& operator=(const SentPacketHistory&) = delete;

  struct Sent {
    uint64_t packet_seq = 0;  ///< One more than the last call's.
    uint64_t sent_ns = 0;
    bool ack_eliciting = false;            ///< Others are recorded only to be counted as "later acked".
    bool is_large = false;                 ///< Larger than the floor every path carries (L-06).
    uint32_t items = CarriedItems::kNone;  ///< The chain; owned by the history from here on.
    uint16_t bytes = 0;                    ///< Of the datagram; counted in flight when ack_eliciting.
  };
  /// Records a packet. Reports to `notifier` a packet whose record is displaced.
  void on_sent(const Sent& sent, AckNotifier& notifier);

  /// `packet_seq`, one more than the last call's, was left out: a peer that acknowledges it lies.
  void on_skipped(uint64_t packet_seq, AckNotifier& notifier);

  /// Applies one ack block, which came at `now_ns`.
  AckResult on_ack(const wire::AckBlock& ack, uint64_t now_ns, const RttEstimator& rtt,
                   AckNotifier& notifier);

  /// Declares losses by order and by age. Returns how many packets were lost.
  uint32_t detect_losses(uint64_t now_ns, const RttEstimator& rtt, AckNotifier& notifier);

  /// The time at which detect_losses() would declare the next loss, if no further ack comes; kNever with
  /// nothing in flight.
  uint64_t next_loss_ns(const RttEstimator& rtt) const;
  static constexpr uint64_t kNever = UINT64_MAX;

  /// The end of the connection: reports every remaining receipt as lost. Empties the history.
  void lose_everything(AckNotifier& notifier);

  /// The number an ack_seq stands for, given the last number sent: the largest s ≤ last with the same low 16
  /// bits, or 0 when there is none.
  static uint64_t expand(uint16_t ack_seq, uint64_t last_sent);

  /// True while the record of `packet_seq` exists and says acknowledged.
  bool is_acked(uint64_t packet_seq) const;
  /// Four large packets in a row were lost, and a smaller one sent between them arrived (L-06). If the
  /// smaller one had been lost too, the path would carry nothing at all.
  bool black_hole() const;
  /// black_hole() may be true.
  bool lost_large_in_row() const { return large_lost_in_row_ >= kBlackHoleLosses; }
  void reset_black_hole() { large_lost_in_row_ = 0; }
  /// Forgets how late packets were that others had overtaken.
  void forget_lateness() { lateness_ns_ = {}; }

  /// The peer has acknowledged none of the last 2¹⁵ numbers: after many more, its ack blocks could mean two
  /// packets.
  bool is_unheard() const { return last_sent_ + 2 - largest_acked_ >= kMaxUnacked; }
  /// True in two cases: is_unheard(), or another packet, with a number left out before it, would displace the
  /// record of a packet in flight. That packet would count as lost and its content would be sent again at
  /// once.
  bool is_full() const {
    return (in_flight_ != 0 && last_sent_ + 2 - oldest_in_flight_ >= kMaxSentPackets) || is_unheard();
  }

  uint64_t last_sent() const { return last_sent_; }
  uint64_t in_flight() const { return in_flight_; }
  /// Datagram bytes of the packets in flight.
  uint64_t bytes_in_flight() const { return bytes_in_flight_; }
  /// The highest number the peer has acknowledged; 0 before the first ack.
  uint64_t largest_acked() const { return largest_acked_; }
  const HistoryCounters& counters() const { return counters_; }
  size_t capacity() const { return capacity_; }

  /// Fetches the records that sending looks at: of the oldest packet in flight, and of the next one. Only a
  /// hint, as are those below.
  void prefetch_sent() const {
    if (capacity_ == 0) return;
    base::prefetch(&record(oldest_in_flight_));
    base::prefetch(&record(last_sent_ + 1));
  }
  /// Fetches the records of the packets that the next ack block is likely to name.
  void prefetch_acks() const {
    if (capacity_ == 0) return;
    base::prefetch(&record(applied_highest_ + 1));
    base::prefetch(&record(applied_highest_ + kUsuallyAcked));
  }
  /// Then fetches what those packets carried.
  void prefetch_acked_items() const {
    const uint64_t last = std::min(applied_highest_ + kUsuallyAcked, last_sent_);
    for (uint64_t seq = applied_highest_ + 1; seq <= last; ++seq) {
      if (holds(seq)) items_->prefetch(record(seq).items);
    }
  }

  /// Counts agree with the records. For tests and validation builds.
  bool validate() const;

 private:
  enum class State : uint8_t { kEmpty, kUntracked, kInFlight, kLost, kAcked, kSkipped };
  static bool is_unsettled(State state) { return state == State::kInFlight || state == State::kLost; }
  /// What overtaking showed holds for one to two of these.
  static constexpr uint64_t kLatenessPeriodNs = 8'000'000'000;
  struct Record {
    uint64_t sent_ns;
    uint32_t items;
    State state;
    bool is_large;
    uint16_t bytes;
  };
  static_assert(sizeof(Record) == 16);

  static constexpr uint64_t kUsuallyAcked = 4;  // by one ack block, at most

  Record* array() const { return reinterpret_cast<Record*>(buffer_.data); }
  Record& record(uint64_t packet_seq) const { return array()[packet_seq & (capacity_ - 1)]; }
  bool holds(uint64_t packet_seq) const;
  bool make_room(uint64_t packet_seq);
  bool append(uint64_t packet_seq, AckNotifier& notifier);
  bool names_skipped(uint64_t highest, uint32_t bitfield) const;
  uint64_t first_sent_ns(uint64_t highest, uint32_t news) const;
  uint32_t news(uint64_t highest, uint32_t bitfield) const;
  bool grow();
  bool acknowledge(uint64_t packet_seq, AckNotifier& notifier);
  void lose(uint64_t packet_seq, AckNotifier& notifier);
  void forget(Record& record);
  void skip_resolved();
  static uint64_t silent_ns(const RttEstimator& rtt);
  uint64_t overtaken_ns(const RttEstimator& rtt) const;
  void note_lateness(uint64_t age_ns, const RttEstimator& rtt);
  void age_lateness(uint64_t now_ns);
  /// How much later than srtt packets were acked that others had overtaken; 0: none was, of late.
  uint64_t lateness_ns() const { return std::max(lateness_ns_[0], lateness_ns_[1]); }
  bool oldest_is_overtaken() const { return largest_acked_ > oldest_in_flight_; }

  base::BufferPool* pool_;
  CarriedItems* items_;
  base::Buffer buffer_;
  size_t capacity_ = 0;
  uint64_t first_held_ = 1;  ///< Records below are gone.
  uint64_t last_sent_ = 0;
  uint64_t largest_acked_ = 0;
  uint64_t applied_highest_ = 0;  ///< The newest block applied: its packets are not looked up again.
  uint32_t applied_bitfield_ = 0;
  uint64_t newest_skipped_ = 0;
  uint32_t large_lost_in_row_ = 0;
  uint64_t first_large_lost_ = 0;  ///< The first packet of that row.
  uint64_t last_large_lost_ = 0;
  uint64_t oldest_in_flight_ = 1;  ///< No record below it is in flight.
  uint64_t in_flight_ = 0;
  uint64_t bytes_in_flight_ = 0;
  std::array<uint64_t, 2> lateness_ns_{};  ///< The largest of this period, and of the one before it.
  uint64_t lateness_since_ns_ = 0;
  HistoryCounters counters_;
};

}  // namespace lattice::reliability
