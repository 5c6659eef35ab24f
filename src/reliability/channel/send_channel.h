// The sending side of one reliable channel (§5.2; ): messages waiting, in flight, to be sent again.
//
//   front                              window end (front + 256 and more)
//   | acked? in flight | lost | ... unsent ... | waiting behind the window (≤ 1024, ≤ 1 MiB) |
//
// Inside, an index names a message; message_id is its low 16 bits. When the ack of a packet comes a thousand
// packets late, new messages may use the same message_ids, but never the same indexes.
//
// Must stay true: ids are consecutive from the front; message n is sent only while n - front is below the
// window; no message is dropped before it is acked; each receipt is reported once, and in order where
// messages are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "base/buffer_pool.h"
#include "base/sequence.h"
#include "reliability/channel/outgoing_message.h"
#include "reliability/channel/pooled_ring.h"
#include "reliability/limits.h"
#include "reliability/recovery/carried_items.h"

namespace lattice::reliability {

class SendChannel {
 public:
  /// A message is repeated at the latest `max_resend_interval_ns` after it was last sent; up to 60 s.
  /// `is_ordered`: a receipt is reported when all earlier messages are acked too. The peer delivers none
  /// before those.
  explicit SendChannel(base::BufferPool& pool, uint64_t max_resend_interval_ns = kMaxResendIntervalNs,
                       bool is_ordered = false);
  ~SendChannel();
  SendChannel(const SendChannel&) = delete;
  SendChannel& operator=(const SendChannel&) = delete;

  /// Copies `message` into the queue and gives it an id; ignores its channel. False, and nothing changed,
  /// when the queue is full.
  bool queue(const OutgoingMessage& message);
  bool queue(uint8_t flags, std::span<const uint8_t> body, uint32_t receipt) {
    return queue({{}, 0, flags, receipt, body, {}});
  }
  /// The peer's credit, which may also be lower than before. At most kMaxReliableWindow are used.
  void set_window(int32_t messages) {
    window_ = static_cast<size_t>(std::clamp(messages, kReliableWindow, kMaxReliableWindow));
  }
  /// Removes the newest `count` messages, none of which was sent: undoes queue().
  void take_back(size_t count);

  /// Marks messages whose retransmission interval is over; call once per update, before packing.
  void expire(uint64_t now_ns);
  /// When expire() has something to mark; UINT64_MAX: never.
  uint64_t next_expiry_ns() const { return next_expiry_ns_; }

  /// The packet that messages leave in.
  struct Carrier {
    uint64_t packet_seq = 0;
    uint64_t now_ns = 0;
    /// A message is repeated so long after its first sending, then after twice that time, and so on up to the
    /// longest interval.
    uint64_t resend_after_ns = 0;
  };
  /// Consecutive messages.
  struct Run {
    uint32_t first = 0;  ///< Index.
    size_t count = 0;
  };

  /// Offers the oldest lost message to write(message), and notes that it left in `carrier` if write() returns
  /// true. Returns the run of it, or an empty one.
  template <class Write>
  Run resend_one(const Carrier& carrier, Write write) {
    if (lost_count_ == 0) return {};
    while (entries_[lost_cursor_].state != State::kLost) ++lost_cursor_;
    if (!write(message_at(lost_cursor_))) return {};
    --lost_count_;
    Entry& entry = entries_[lost_cursor_];
    note_sent(entry, carrier, interval_of(entry.interval_ms * 2 * kMillisecondNs));
    return {front_index_ + static_cast<uint32_t>(lost_cursor_), 1};
  }
  /// Offers new messages to write(message), the oldest first and at most `most`, until it returns false.
  /// Those that it took left in `carrier`. One pass: a packet of small messages has twenty.
  template <class Write>
  Run send_new(size_t most, const Carrier& carrier, Write write) {
    const Run begun{front_index_ + static_cast<uint32_t>(sent_count_), 0};
    const size_t ready = std::min(entries_.size(), window_);
    const size_t end = sent_count_ + std::min(most, ready - std::min(ready, sent_count_));
    const uint16_t interval_ms = interval_of(carrier.resend_after_ns);
    size_t at = sent_count_;
    for (; at != end; ++at) {
      if (!write(message_at(at))) break;
      Entry& entry = entries_[at];
      waiting_bytes_ -= entry.body.size_bytes;
      note_sent(entry, carrier, interval_ms);
    }
    const size_t count = at - sent_count_;
    sent_count_ = at;
    return {begun.first, count};
  }

  /// A packet with the `count` (at most CarriedItems::kMaxPerPacket) messages from index `first` on was
  /// acked. At the end calls told(receipt) for each receipt to report as acked; told() may queue more
  /// messages.
  template <class Told>
  void on_acked(uint32_t first, size_t count, Told told) {
    std::array<uint32_t, CarriedItems::kMaxPerPacket> receipts;
    const size_t told_count = take_acked(first, count, receipts);
    uint32_t in_turn = drop_acked();
    for (size_t i = 0; i < told_count; ++i) told(receipts[i]);
    for (; in_turn != 0; in_turn = drop_acked()) told(in_turn);
  }
  /// Packet `packet_seq`, which carried the `count` messages from index `first` on, was lost.
  void on_lost(uint32_t first, size_t count, uint64_t packet_seq);

  /// Empties the channel, calling lost(receipt) for each receipt not reported yet.
  template <class Lost>
  void lose_everything(Lost lost) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].body.receipt != 0) lost(entries_[i].body.receipt);
      release_body(*pool_, entries_[i].body);
    }
    entries_.reset();
    clear_counts();
  }

  bool idle() const { return entries_.empty(); }
  /// Something is ready to be packed now.
  bool has_work() const { return lost_count_ != 0 || has_new(); }
  bool has_new() const { return sent_count_ < entries_.size() && sent_count_ < window_; }
  bool has_lost() const { return lost_count_ != 0; }
  size_t queued_messages() const { return entries_.size(); }
  size_t queued_bytes() const { return queued_bytes_; }
  /// Bodies that were never sent.
  size_t waiting_bytes() const { return waiting_bytes_; }

  /// Counts agree with the entries. For tests and validation builds.
  bool validate() const;

 private:
  static constexpr uint64_t kMillisecondNs = 1'000'000;
  uint16_t interval_of(uint64_t resend_after_ns) const {
    const uint64_t ms = (resend_after_ns + kMillisecondNs - 1) / kMillisecondNs;
    return static_cast<uint16_t>(std::min<uint64_t>(ms, max_interval_ms_));
  }

  enum class State : uint8_t { kUnsent, kInFlight, kLost, kAcked };
  struct Entry {
    StoredBody body;
    uint64_t sent_ns;     ///< This member and the next two are set once sent.
    uint32_t packet_seq;  ///< Low bits of the packet that carried it last.
    uint16_t interval_ms;
    uint8_t flags;
    State state;
  };
  static_assert(sizeof(Entry) == 32);

  void note_sent(Entry& entry, const Carrier& carrier, uint16_t interval_ms) {
    entry.state = State::kInFlight;
    entry.sent_ns = carrier.now_ns;
    entry.packet_seq = static_cast<uint32_t>(carrier.packet_seq);
    entry.interval_ms = interval_ms;
    next_expiry_ns_ = std::min(next_expiry_ns_, carrier.now_ns + interval_ms * kMillisecondNs);
  }
  // Without the receipt: the channel reports the receipt, not the packet.
  OutgoingMessage message_at(size_t offset) const {
    const Entry& entry = entries_[offset];
    OutgoingMessage out;
    out.id.value = static_cast<uint16_t>(front_index_ + offset);
    out.flags = entry.flags;
    read_stored(entry.body, &out);
    return out;
  }
  /// Offsets [begin, end) of those of the `count` entries from index `first` on that still exist and were
  /// sent.
  struct Range {
    size_t begin;
    size_t end;
  };
  Range sent_range(uint32_t first, size_t count) const;
  size_t take_acked(uint32_t first, size_t count, std::span<uint32_t> receipts);
  /// Drops acked messages from the front, up to the first with a receipt, which it returns; 0: there is none.
  uint32_t drop_acked();
  void release(Entry& entry);
  void clear_counts();

  base::BufferPool* pool_;
  PooledRing<Entry> entries_;
  uint32_t front_index_ = 0;
  uint16_t max_interval_ms_;
  bool is_ordered_;
  size_t window_ = static_cast<size_t>(kReliableWindow);
  size_t sent_count_ = 0;     ///< Entries ever sent: a prefix of entries_.
  size_t lost_count_ = 0;     ///< Entries in kLost.
  size_t lost_cursor_ = 0;    ///< No kLost entry below it.
  size_t waiting_bytes_ = 0;  ///< Bodies never sent.
  size_t queued_bytes_ = 0;
  uint64_t next_expiry_ns_ = UINT64_MAX;  ///< No entry in flight expires earlier.
};

}  // namespace lattice::reliability
