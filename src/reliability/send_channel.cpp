#include "reliability/send_channel.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::reliability {
namespace {
// 256 in the window and 1024 behind it; the array of 2048 entries stays within the pool's largest block.
constexpr size_t kMaxEntries = static_cast<size_t>(kReliableWindow) + kMaxQueuedMessages;
constexpr uint64_t kMillisecondNs = 1'000'000;
}  // namespace

SendChannel::SendChannel(base::BlockPool& pool) : pool_(&pool), entries_(pool, kMaxEntries) {}

SendChannel::~SendChannel() {
  lose_everything([](uint32_t) {});
}

void SendChannel::clear_counts() {
  sent_count_ = lost_count_ = lost_cursor_ = waiting_bytes_ = queued_bytes_ = 0;
  next_expiry_ns_ = UINT64_MAX;
}

bool SendChannel::queue(const OutgoingMessage& message) {
  LATTICE_ASSERT(message.body.size() <= kMaxReliableBody);
  if (waiting_bytes_ + stored_bytes(message) > kMaxQueuedBytes) return false;
  Entry entry{};
  if (!store_message(*pool_, message, &entry.body)) return false;
  entry.flags = message.flags;
  entry.state = State::kUnsent;
  if (!entries_.push_back(entry)) {
    release_body(*pool_, entry.body);
    return false;
  }
  waiting_bytes_ += entry.body.size_bytes;
  queued_bytes_ += entry.body.size_bytes;
  return true;
}

void SendChannel::take_back(size_t count) {
  LATTICE_ASSERT(count <= entries_.size() - sent_count_);
  for (; count != 0; --count) {
    waiting_bytes_ -= entries_.back().body.size_bytes;
    release(entries_.back());
    entries_.pop_back();
  }
  if (entries_.empty()) entries_.reset();
}

void SendChannel::expire(uint64_t now_ns) {
  if (now_ns < next_expiry_ns_) return;
  next_expiry_ns_ = UINT64_MAX;
  for (size_t i = 0; i < sent_count_; ++i) {
    Entry& entry = entries_[i];
    if (entry.state != State::kInFlight) continue;
    const uint64_t due_ns = entry.sent_ns + entry.interval_ms * kMillisecondNs;
    if (now_ns >= due_ns) {
      entry.state = State::kLost;
      ++lost_count_;
      lost_cursor_ = std::min(lost_cursor_, i);
    } else {
      next_expiry_ns_ = std::min(next_expiry_ns_, due_ns);
    }
  }
}

bool SendChannel::next_lost(OutgoingMessage* out) {
  if (lost_count_ == 0) return false;
  while (entries_[lost_cursor_].state != State::kLost) ++lost_cursor_;
  *out = message_at(lost_cursor_);
  return true;
}

bool SendChannel::has_new() const {
  return sent_count_ < entries_.size() && sent_count_ < static_cast<size_t>(kReliableWindow);
}

bool SendChannel::next_new(OutgoingMessage* out) const {
  if (!has_new()) return false;
  *out = message_at(sent_count_);
  return true;
}

// Without receipt: the channel tells it, not the packet.
OutgoingMessage SendChannel::message_at(size_t offset) const {
  const Entry& entry = entries_[offset];
  OutgoingMessage out;
  out.id = front_id_.plus(static_cast<int32_t>(offset));
  out.flags = entry.flags;
  read_stored(entry.body, &out);
  return out;
}

void SendChannel::on_sent(base::Sequence16 id, uint64_t packet_seq, uint64_t now_ns,
                          uint64_t resend_after_ns) {
  const int32_t offset = id.distance_from(front_id_);
  LATTICE_CHECK(offset >= 0 && static_cast<size_t>(offset) <= sent_count_ &&
                static_cast<size_t>(offset) < entries_.size());
  Entry& entry = entries_[static_cast<size_t>(offset)];
  if (entry.state == State::kLost) {
    --lost_count_;
    entry.interval_ms = static_cast<uint16_t>(
        std::min<uint64_t>(uint64_t{entry.interval_ms} * 2, kMaxResendIntervalNs / kMillisecondNs));
  } else {
    LATTICE_ASSERT(entry.state == State::kUnsent && static_cast<size_t>(offset) == sent_count_);
    ++sent_count_;
    waiting_bytes_ -= entry.body.size_bytes;
    entry.interval_ms = static_cast<uint16_t>(
        (std::min(resend_after_ns, kMaxResendIntervalNs) + kMillisecondNs - 1) / kMillisecondNs);
  }
  entry.state = State::kInFlight;
  entry.sent_ns = now_ns;
  entry.packet_seq = static_cast<uint32_t>(packet_seq);
  next_expiry_ns_ = std::min(next_expiry_ns_, now_ns + entry.interval_ms * kMillisecondNs);
}

void SendChannel::release(Entry& entry) {
  queued_bytes_ -= entry.body.size_bytes;
  release_body(*pool_, entry.body);
}

uint32_t SendChannel::on_fate(base::Sequence16 id, uint64_t packet_seq, bool acked) {
  const int32_t offset = id.distance_from(front_id_);
  if (offset < 0 || static_cast<size_t>(offset) >= sent_count_) return 0;  // Acked by another packet already.
  Entry& entry = entries_[static_cast<size_t>(offset)];
  if (entry.state == State::kAcked) return 0;
  if (!acked) {
    // Only the newest carrier counts: an older one's loss is what the message was sent again for.
    if (entry.state == State::kInFlight && entry.packet_seq == static_cast<uint32_t>(packet_seq)) {
      entry.state = State::kLost;
      ++lost_count_;
      lost_cursor_ = std::min(lost_cursor_, static_cast<size_t>(offset));
    }
    return 0;
  }
  if (entry.state == State::kLost) --lost_count_;
  entry.state = State::kAcked;
  const uint32_t receipt = entry.body.receipt;
  release(entry);
  while (!entries_.empty() && entries_.front().state == State::kAcked) {
    entries_.pop_front();
    front_id_ = front_id_.next();
    --sent_count_;
    if (lost_cursor_ != 0) --lost_cursor_;
  }
  if (entries_.empty()) entries_.reset();
  return receipt;
}

bool SendChannel::validate() const {
  size_t lost = 0;
  size_t waiting = 0;
  size_t queued = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if ((entry.state == State::kUnsent) != (i >= sent_count_)) return false;
    if (entry.state == State::kLost) {
      ++lost;
      if (i < lost_cursor_) return false;
    }
    if (entry.state == State::kUnsent) waiting += entry.body.size_bytes;
    queued += entry.body.size_bytes;
  }
  if (!entries_.empty() && entries_[0].state == State::kAcked) return false;
  return lost == lost_count_ && waiting == waiting_bytes_ && queued == queued_bytes_ &&
         sent_count_ <= static_cast<size_t>(kReliableWindow);
}

}  // namespace lattice::reliability
