// The sending side of one reliable channel (§5.2; ): messages waiting, in flight, to be sent again.
//
//   front                              window end (front + 256)
//   | acked? in flight | lost | ... unsent ... | waiting behind the window (≤ 1024, ≤ 1 MiB) |
//
// Must stay true: ids are consecutive from the front; message n is sent only while n - front < 256; nothing
// is dropped before it is acked; a message's receipt is told once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/block_pool.h"
#include "base/sequence.h"
#include "reliability/limits.h"
#include "reliability/outgoing_message.h"
#include "reliability/pooled_ring.h"

namespace lattice::reliability {

class SendChannel {
 public:
  explicit SendChannel(base::BlockPool& pool);
  ~SendChannel();
  SendChannel(const SendChannel&) = delete;
  SendChannel& operator=(const SendChannel&) = delete;

  /// Copies `message` into the queue; its id is given here, its channel is not looked at. False, and nothing
  /// changed, when the channel may hold no more.
  bool queue(const OutgoingMessage& message);
  bool queue(uint8_t flags, std::span<const uint8_t> body, uint32_t receipt) {
    return queue({{}, 0, flags, receipt, body, {}});
  }
  /// Takes back the newest `count` messages, none of which was sent: undoes queue().
  void take_back(size_t count);

  /// Marks messages whose retransmission interval is over; call once per update, before packing.
  void expire(uint64_t now_ns);
  /// When expire() has something to mark; UINT64_MAX: never.
  uint64_t next_expiry_ns() const { return next_expiry_ns_; }

  /// The next message to retransmit, or to send for the first time; false when there is none. on_sent() must
  /// follow before the next call, or the same message is offered again.
  bool next_lost(OutgoingMessage* out);
  bool next_new(OutgoingMessage* out) const;
  /// The offered message left in packet `packet_seq`; if it is the first time, it goes again after
  /// `resend_after_ns`, then after twice that, and so on up to 1 s.
  void on_sent(base::Sequence16 id, uint64_t packet_seq, uint64_t now_ns, uint64_t resend_after_ns);

  /// The fate of packet `packet_seq`, which carried `id`. Returns the receipt to report as acked, or 0.
  uint32_t on_fate(base::Sequence16 id, uint64_t packet_seq, bool acked);

  /// Empties the channel, calling lost(receipt) for each receipt not told.
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
  bool has_new() const;
  bool has_lost() const { return lost_count_ != 0; }
  size_t queued_messages() const { return entries_.size(); }
  size_t queued_bytes() const { return queued_bytes_; }
  /// Bodies that were never sent.
  size_t waiting_bytes() const { return waiting_bytes_; }

  /// Counts agree with the entries. For tests and validation builds.
  bool validate() const;

 private:
  enum class State : uint8_t { kUnsent, kInFlight, kLost, kAcked };
  struct Entry {
    StoredBody body;
    uint64_t sent_ns;
    uint32_t packet_seq;  ///< Low bits of the packet that carried it last.
    uint16_t interval_ms;
    uint8_t flags;
    State state;
  };
  static_assert(sizeof(Entry) == 32);

  OutgoingMessage message_at(size_t offset) const;
  void release(Entry& entry);
  void clear_counts();

  base::BlockPool* pool_;
  PooledRing<Entry> entries_;
  base::Sequence16 front_id_;
  size_t sent_count_ = 0;     ///< Entries ever sent: a prefix of entries_.
  size_t lost_count_ = 0;     ///< Entries in kLost.
  size_t lost_cursor_ = 0;    ///< No kLost entry below it.
  size_t waiting_bytes_ = 0;  ///< Bodies never sent.
  size_t queued_bytes_ = 0;
  uint64_t next_expiry_ns_ = UINT64_MAX;  ///< No entry in flight expires earlier.
};

}  // namespace lattice::reliability
