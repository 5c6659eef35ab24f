#include "reliability/channel/send_channel.h"

#include <algorithm>

#include "base/assert.h"

namespace lattice::reliability {
namespace {
// The largest window and 1024 behind it; the array of 2048 entries is the pool's largest buffer.
constexpr size_t kMaxEntries = static_cast<size_t>(kMaxReliableWindow) + kMaxQueuedMessages;
}  // namespace

SendChannel::SendChannel(base::BufferPool& pool, uint64_t max_resend_interval_ns, bool is_ordered)
    : pool_(&pool),
      entries_(pool, kMaxEntries),
      max_interval_ms_(static_cast<uint16_t>(max_resend_interval_ns / kMillisecondNs)),
      is_ordered_(is_ordered) {
  LATTICE_CHECK(max_resend_interval_ns >= kMillisecondNs &&
                max_resend_interval_ns <= 60'000 * kMillisecondNs);
}

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
  if (entries_.size() - sent_count_ >= kMaxQueuedMessages + (window_ - std::min(window_, sent_count_)))
    return false;
  Entry* entry = entries_.extend();
  if (entry == nullptr) return false;
  if (!store_message(*pool_, message, &entry->body)) {
    entries_.pop_back();
    if (entries_.empty()) entries_.reset();
    return false;
  }
  entry->flags = message.flags;
  entry->state = State::kUnsent;
  waiting_bytes_ += entry->body.size_bytes;
  queued_bytes_ += entry->body.size_bytes;
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

void SendChannel::release(Entry& entry) {
  queued_bytes_ -= entry.body.size_bytes;
  release_body(*pool_, entry.body);
}

SendChannel::Range SendChannel::sent_range(uint32_t first, size_t count) const {
  // Packets on record span far less than 2^31 messages, so a negative offset means an entry that was removed.
  const auto begin = static_cast<int32_t>(first - front_index_);
  const int32_t end = begin + static_cast<int32_t>(count);
  const auto offset = [this](int32_t at) {
    return std::min(static_cast<size_t>(std::max(at, 0)), sent_count_);
  };
  return {offset(begin), offset(end)};
}

size_t SendChannel::take_acked(uint32_t first, size_t count, std::span<uint32_t> receipts) {
  LATTICE_ASSERT(count <= receipts.size());
  const Range range = sent_range(first, count);
  size_t receipt_count = 0;
  for (size_t i = range.begin; i < range.end; ++i) {
    Entry& entry = entries_[i];
    if (entry.state == State::kAcked) continue;  // Another packet was acked first.
    if (entry.state == State::kLost) --lost_count_;
    entry.state = State::kAcked;
    const uint32_t receipt = entry.body.receipt;
    release(entry);
    if (receipt == 0) continue;
    if (is_ordered_) {
      entry.body.receipt = receipt;
    } else {
      receipts[receipt_count++] = receipt;
    }
  }
  return receipt_count;
}

// The front moves once for all messages of a packet: a packet of small messages has twenty.
uint32_t SendChannel::drop_acked() {
  size_t done = 0;
  uint32_t receipt = 0;
  while (receipt == 0 && done < sent_count_ && entries_[done].state == State::kAcked) {
    receipt = entries_[done++].body.receipt;
  }
  entries_.pop_front(done);
  front_index_ += static_cast<uint32_t>(done);
  sent_count_ -= done;
  lost_cursor_ -= std::min(lost_cursor_, done);
  if (entries_.empty()) entries_.reset();
  return receipt;
}

void SendChannel::on_lost(uint32_t first, size_t count, uint64_t packet_seq) {
  const Range range = sent_range(first, count);
  for (size_t i = range.begin; i < range.end; ++i) {
    Entry& entry = entries_[i];
    // Only the newest carrier counts: the loss of an older carrier has already caused this resend.
    if (entry.state != State::kInFlight || entry.packet_seq != static_cast<uint32_t>(packet_seq)) continue;
    entry.state = State::kLost;
    ++lost_count_;
    lost_cursor_ = std::min(lost_cursor_, i);
  }
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
         sent_count_ <= static_cast<size_t>(kMaxReliableWindow);
}

}  // namespace lattice::reliability
