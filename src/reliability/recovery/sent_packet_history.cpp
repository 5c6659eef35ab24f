#include "reliability/recovery/sent_packet_history.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "reliability/limits.h"

namespace lattice::reliability {

SentPacketHistory::SentPacketHistory(base::BufferPool& pool, CarriedItems& items)
    : pool_(&pool), items_(&items) {}

SentPacketHistory::~SentPacketHistory() {
  for (uint64_t seq = first_held_; seq <= last_sent_ && capacity_ != 0; ++seq) forget(record(seq));
  pool_->release(buffer_);
}

bool SentPacketHistory::holds(uint64_t packet_seq) const {
  return capacity_ != 0 && packet_seq >= first_held_ && packet_seq <= last_sent_;
}

void SentPacketHistory::forget(Record& record) {
  items_->remove_if(&record.items, [](const CarriedItem&) { return true; });
  record.state = State::kEmpty;
}

bool SentPacketHistory::grow() {
  const size_t capacity = capacity_ == 0 ? kMinSentPackets : capacity_ * 2;
  if (capacity > kMaxSentPackets) return false;
  base::Buffer larger = pool_->allocate(capacity * sizeof(Record));
  if (!larger) return false;
  auto* to = reinterpret_cast<Record*>(larger.data);
  for (uint64_t seq = first_held_; seq <= last_sent_; ++seq) to[seq & (capacity - 1)] = record(seq);
  pool_->release(buffer_);
  buffer_ = larger;
  capacity_ = capacity;
  return true;
}

// Frees the slot of packet_seq without displacing a packet in flight, if the bound allows.
bool SentPacketHistory::make_room(uint64_t packet_seq) {
  if (capacity_ == 0 && !grow()) return false;
  while (packet_seq - first_held_ >= capacity_) {
    if (record(first_held_).state == State::kInFlight && grow()) continue;
    return false;
  }
  return true;
}

// Makes packet_seq the last number, with room for its record; false when the pool gives no memory at all.
bool SentPacketHistory::append(uint64_t packet_seq, AckNotifier& notifier) {
  LATTICE_CHECK(packet_seq == last_sent_ + 1);
  while (!make_room(packet_seq)) {
    if (capacity_ == 0) break;
    if (record(first_held_).state == State::kInFlight) lose(first_held_, notifier);
    forget(record(first_held_));
    ++first_held_;
  }
  last_sent_ = packet_seq;
  if (capacity_ == 0) first_held_ = oldest_in_flight_ = last_sent_ + 1;
  return capacity_ != 0;
}

void SentPacketHistory::on_skipped(uint64_t packet_seq, AckNotifier& notifier) {
  if (!append(packet_seq, notifier)) return;
  record(packet_seq) = {0, CarriedItems::kNone, State::kSkipped, false, 0};
  newest_skipped_ = packet_seq;
  skip_resolved();
}

void SentPacketHistory::on_sent(const Sent& sent, AckNotifier& notifier) {
  if (!append(sent.packet_seq, notifier)) {
    // Without a record the packet counts as lost at once; its messages are repeated by their own timers.
    uint32_t chain = sent.items;
    items_->remove_if(&chain, [&](const CarriedItem& item) {
      notify_once(item, false, notifier);
      return true;
    });
    return;
  }
  record(sent.packet_seq) = {sent.sent_ns, sent.items,
                             sent.ack_eliciting ? State::kInFlight : State::kUntracked, sent.is_large,
                             sent.bytes};
  if (sent.ack_eliciting) {
    ++in_flight_;
    bytes_in_flight_ += sent.bytes;
    ++counters_.tracked;
  }
  skip_resolved();
}

void SentPacketHistory::skip_resolved() {
  oldest_in_flight_ = std::max(oldest_in_flight_, first_held_);
  while (oldest_in_flight_ <= last_sent_ && record(oldest_in_flight_).state != State::kInFlight) {
    ++oldest_in_flight_;
  }
}

uint64_t SentPacketHistory::expand(uint16_t ack_seq, uint64_t last_sent) {
  const uint64_t back = (last_sent - ack_seq) & 0xFFFF;
  return back >= last_sent ? 0 : last_sent - back;
}

bool SentPacketHistory::black_hole() const {
  if (!lost_large_in_row()) return false;
  for (uint64_t seq = first_large_lost_; seq < last_large_lost_; ++seq) {
    if (is_acked(seq) && !record(seq).is_large) return true;
  }
  return false;
}

bool SentPacketHistory::is_acked(uint64_t packet_seq) const {
  return holds(packet_seq) && record(packet_seq).state == State::kAcked;
}

bool SentPacketHistory::acknowledge(uint64_t packet_seq, AckNotifier& notifier) {
  if (!holds(packet_seq)) return false;
  Record& sent = record(packet_seq);
  if (sent.state == State::kEmpty || sent.state == State::kAcked) return false;
  if (sent.is_large) large_lost_in_row_ = 0;
  const bool was_in_flight = sent.state == State::kInFlight;
  if (was_in_flight) {
    --in_flight_;
    bytes_in_flight_ -= sent.bytes;
    ++counters_.acked;
  } else if (sent.state == State::kLost) {
    ++counters_.lost_spurious;
  }
  sent.state = State::kAcked;
  items_->remove_if(&sent.items, [&](const CarriedItem& item) {
    if (!notify_once(item, true, notifier)) {
      notifier.notify_messages(item.channel, item.value, item.count, packet_seq, true);
    }
    return true;
  });
  return was_in_flight;
}

void SentPacketHistory::lose(uint64_t packet_seq, AckNotifier& notifier) {
  Record& sent = record(packet_seq);
  LATTICE_ASSERT(sent.state == State::kInFlight);
  sent.state = State::kLost;
  if (sent.is_large) {
    const bool is_first = large_lost_in_row_++ == 0;
    first_large_lost_ = is_first ? packet_seq : std::min(first_large_lost_, packet_seq);
    last_large_lost_ = is_first ? packet_seq : std::max(last_large_lost_, packet_seq);
  }
  --in_flight_;
  bytes_in_flight_ -= sent.bytes;
  ++counters_.lost;
  ++counters_.lost_in_silence;
  // Receipts and chunks are reported and removed. Messages stay in the chain, because a late ack still saves
  // a retransmission.
  items_->remove_if(&sent.items, [&](const CarriedItem& item) {
    if (notify_once(item, false, notifier)) return true;
    notifier.notify_messages(item.channel, item.value, item.count, packet_seq, false);
    return false;
  });
}

// Whether a block acknowledges a number that was left out.
bool SentPacketHistory::names_skipped(uint64_t highest, uint32_t bitfield) const {
  if (newest_skipped_ + 32 < highest) return false;  // The usual case: the block does not reach back so far.
  const auto skipped = [this](uint64_t seq) { return holds(seq) && record(seq).state == State::kSkipped; };
  if (skipped(highest)) return true;
  for (uint32_t bit = 0; bit < 32 && highest > bit + 1; ++bit) {
    if ((bitfield >> bit & 1) != 0 && skipped(highest - (bit + 1))) return true;
  }
  return false;
}

// The bits of a block that the last applied block did not have: usually one or two of 32. Every packet
// repeats the old bits, and looking up their records again would cost more than the rest of the ack.
uint32_t SentPacketHistory::news(uint64_t highest, uint32_t bitfield) const {
  const uint64_t step = highest - applied_highest_;
  if (highest < applied_highest_ || step > 32) return bitfield;
  if (step == 0) return bitfield & ~applied_bitfield_;
  const uint32_t moved = step == 32 ? 0 : applied_bitfield_ << step;
  return bitfield & ~(moved | uint32_t{1} << (step - 1));
}

// A packet is acknowledged after one with a higher number was. The lost ones among them show that the
// patience was too short; the others, that it is still needed.
void SentPacketHistory::note_lateness(uint64_t age_ns, const RttEstimator& rtt) {
  const uint64_t late_ns = age_ns > rtt.srtt_ns() ? age_ns - rtt.srtt_ns() : 0;
  lateness_ns_[0] = std::max(lateness_ns_[0], std::clamp<uint64_t>(late_ns, 1, rtt.rto_ns()));
}

void SentPacketHistory::age_lateness(uint64_t now_ns) {
  const uint64_t since_ns = now_ns - lateness_since_ns_;
  if (since_ns < kLatenessPeriodNs) return;
  lateness_ns_ = {0, since_ns < 2 * kLatenessPeriodNs ? lateness_ns_[0] : 0};
  lateness_since_ns_ = now_ns;
}

AckResult SentPacketHistory::on_ack(const wire::AckBlock& ack, uint64_t now_ns, const RttEstimator& rtt,
                                    AckNotifier& notifier) {
  AckResult result;
  const uint64_t spurious_before = counters_.lost_spurious;
  const uint64_t bytes_before = bytes_in_flight_;
  const uint64_t highest = expand(ack.ack_seq, last_sent_);
  if (highest == 0) {
    // "Nothing received" is {0, 0}. Any other block without an expansion names a packet that was never sent.
    result.valid = ack == wire::AckBlock{};
    return result;
  }
  result.names_skipped = names_skipped(highest, ack.ack_bitfield);
  if (result.names_skipped || last_sent_ - highest > kMaxUnacked) {
    result.valid = false;
    return result;
  }
  const uint32_t bits = news(highest, ack.ack_bitfield);
  if (bits == 0 && highest == applied_highest_) return result;
  counters_.lost_in_silence = 0;
  if (highest >= applied_highest_) {
    applied_highest_ = highest;
    applied_bitfield_ = ack.ack_bitfield;
  }
  if (holds(highest)) {
    const Record& sent = record(highest);
    result.sample_sent_ns = sent.sent_ns;
    result.has_sample = sent.state == State::kInFlight;
    if (result.has_sample) result.first_sent_ns = first_sent_ns(highest, bits);
  }
  const auto apply = [&](uint64_t seq) {
    const bool was_overtaken = seq < largest_acked_ && holds(seq) && is_unsettled(record(seq).state);
    if (was_overtaken && rtt.tells(record(seq).sent_ns)) note_lateness(now_ns - record(seq).sent_ns, rtt);
    if (acknowledge(seq, notifier)) ++result.newly_acked;
  };
  apply(highest);
  for (uint32_t left = bits; left != 0; left &= left - 1) {
    const auto back = static_cast<uint64_t>(std::countr_zero(left)) + 1;
    if (highest <= back) break;  // Numbers below 1.
    apply(highest - back);
  }
  largest_acked_ = std::max(largest_acked_, highest);
  result.newly_acked_bytes = bytes_before - bytes_in_flight_;
  result.spurious = static_cast<uint32_t>(counters_.lost_spurious - spurious_before);
  skip_resolved();
  return result;
}

// `news` are the bits of newly acked packets before the highest. One that asks for no ack waits for none: the
// peer names it when a later packet asks.
uint64_t SentPacketHistory::first_sent_ns(uint64_t highest, uint32_t news) const {
  const uint64_t beyond = highest - std::min(highest, largest_acked_ + 1);
  uint32_t later = beyond >= 32 ? news : news & ((1u << beyond) - 1);
  while (later != 0) {
    const auto back = static_cast<uint64_t>(std::bit_width(later));
    const uint64_t first = highest - back;
    if (holds(first) && is_unsettled(record(first).state)) return record(first).sent_ns;
    later &= ~(1u << (back - 1));
  }
  return record(highest).sent_ns;
}

// The patience without an ack of a later packet. The message timers have fired long before, so this loss
// settles only receipts and counters. The configured bound of rto may lie below the round trip.
// An ack needs the whole round trip, so the patience ignores that bound.
uint64_t SentPacketHistory::silent_ns(const RttEstimator& rtt) {
  const uint64_t unbounded_ns = rtt.has_sample() ? rtt.srtt_ns() + 4 * rtt.rttvar_ns() : kInitialRtoNs;
  return 2 * std::max(rtt.rto_ns(), unbounded_ns) + kMaxAckDelayNs;
}

// The patience with an ack of a later packet: 9/8 of a round trip, and the lateness of those that were
// overtaken. RFC 9002 §6.1.2 requires the later ack too; without it a peer's ack delay would look like loss.
uint64_t SentPacketHistory::overtaken_ns(const RttEstimator& rtt) const {
  const uint64_t base_ns = std::max(rtt.srtt_ns(), rtt.latest_ns());
  if (!rtt.has_sample()) return kInitialRtoNs;
  const uint64_t late_ns = lateness_ns();
  return std::max(base_ns + base_ns / 8, rtt.srtt_ns() + late_ns + late_ns / 8) + 1'000'000;
}

uint64_t SentPacketHistory::next_loss_ns(const RttEstimator& rtt) const {
  if (in_flight_ == 0) return kNever;
  // The oldest packet is the first to be lost by either rule.
  uint64_t patience_ns = silent_ns(rtt);
  if (oldest_is_overtaken()) patience_ns = std::min(patience_ns, overtaken_ns(rtt));
  return record(oldest_in_flight_).sent_ns + patience_ns + 1;
}

uint32_t SentPacketHistory::detect_losses(uint64_t now_ns, const RttEstimator& rtt, AckNotifier& notifier) {
  if (in_flight_ == 0) return 0;
  age_lateness(now_ns);
  const uint64_t silent_ns = SentPacketHistory::silent_ns(rtt);
  if (!oldest_is_overtaken() && now_ns - record(oldest_in_flight_).sent_ns <= silent_ns) return 0;
  const uint64_t overtaken_ns = SentPacketHistory::overtaken_ns(rtt);
  const uint32_t proof = lateness_ns() == 0 ? kFastRetransmitPackets : UINT32_MAX;
  uint32_t lost = 0;
  uint32_t later_acked = 0;
  for (uint64_t seq = last_sent_; seq >= oldest_in_flight_; --seq) {
    const Record& sent = record(seq);
    if (sent.state == State::kAcked) ++later_acked;
    if (sent.state != State::kInFlight) continue;
    const uint64_t age_ns = now_ns - sent.sent_ns;
    if (later_acked >= proof || (later_acked > 0 && age_ns > overtaken_ns) || age_ns > silent_ns) {
      lose(seq, notifier);
      ++lost;
    }
  }
  skip_resolved();
  return lost;
}

void SentPacketHistory::lose_everything(AckNotifier& notifier) {
  for (uint64_t seq = first_held_; seq <= last_sent_ && capacity_ != 0; ++seq) {
    if (record(seq).state == State::kInFlight) lose(seq, notifier);
    forget(record(seq));
  }
  first_held_ = oldest_in_flight_ = last_sent_ + 1;
}

bool SentPacketHistory::validate() const {
  uint64_t in_flight = 0;
  uint64_t bytes = 0;
  for (uint64_t seq = first_held_; seq <= last_sent_ && capacity_ != 0; ++seq) {
    const bool flying = record(seq).state == State::kInFlight;
    if (flying && seq < oldest_in_flight_) return false;
    if (!flying) continue;
    ++in_flight;
    bytes += record(seq).bytes;
  }
  return in_flight == in_flight_ && bytes == bytes_in_flight_ &&
         last_sent_ + 1 - first_held_ <= capacity_ + 1;
}

}  // namespace lattice::reliability
