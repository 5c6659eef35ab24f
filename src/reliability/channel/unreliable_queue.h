// Unreliable messages waiting for the next update: a bounded queue of copied bodies. One per connection for
// engine traffic (snapshots, inputs) and one for the rest, because they differ in packing priority.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/buffer_pool.h"
#include "reliability/channel/outgoing_message.h"
#include "reliability/channel/pooled_ring.h"
#include "reliability/limits.h"

namespace lattice::reliability {

class UnreliableQueue {
 public:
  explicit UnreliableQueue(base::BufferPool& pool) : pool_(&pool), entries_(pool, kMaxQueuedMessages) {}
  ~UnreliableQueue() {
    lose_everything([](uint32_t) {});
  }
  UnreliableQueue(const UnreliableQueue&) = delete;
  UnreliableQueue& operator=(const UnreliableQueue&) = delete;

  /// Copies `message` in; false, and nothing changed, at the bounds of R-08. `now_ms` wraps.
  bool queue(const OutgoingMessage& message, uint32_t now_ms) {
    if (bytes_ + stored_bytes(message) > kMaxQueuedBytes) return false;
    Entry entry{};
    if (!store_message(*pool_, message, &entry.body)) return false;
    entry.id = message.id;
    entry.channel = message.channel;
    entry.flags = message.flags;
    entry.queued_ms = now_ms;
    if (!entries_.push_back(entry)) {
      release_body(*pool_, entry.body);
      return false;
    }
    bytes_ += entry.body.size_bytes;
    return true;
  }
  /// Takes back the newest `count` messages: undoes queue().
  void take_back(size_t count) {
    for (; count != 0; --count) {
      bytes_ -= entries_.back().body.size_bytes;
      release_body(*pool_, entries_.back().body);
      entries_.pop_back();
    }
    if (entries_.empty()) entries_.reset();
  }

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  size_t bytes() const { return bytes_; }
  /// The longest body that waits; visits all.
  size_t longest_body_bytes() const {
    size_t longest = 0;
    for (size_t i = 0; i < entries_.size(); ++i)
      longest = std::max<size_t>(longest, entries_[i].body.size_bytes);
    return longest;
  }

  /// The length of the oldest message, and the message; the queue is not empty.
  size_t front_bytes() { return entries_.front().body.size_bytes; }
  OutgoingMessage front() {
    const Entry& entry = entries_.front();
    OutgoingMessage out{entry.id, entry.channel, entry.flags, entry.body.receipt, {}, {}};
    read_stored(entry.body, &out);
    return out;
  }
  void pop_front() {
    bytes_ -= entries_.front().body.size_bytes;
    release_body(*pool_, entries_.front().body);
    entries_.pop_front();
    if (entries_.empty()) entries_.reset();
  }

  /// Gives up messages that have waited for `most_ms` or longer, calling lost(receipt) for each receipt of
  /// each fragment. Returns how many. A message of which fragments have left would be of no use without the
  /// rest, so it has a second more.
  template <class Lost>
  uint32_t give_up(uint32_t now_ms, uint32_t most_ms, Lost lost) {
    constexpr uint32_t kToFinishMs = 1000;
    uint32_t count = 0;
    for (; !entries_.empty() && now_ms - entries_.front().queued_ms >= most_ms; ++count) {
      const OutgoingMessage message = front();
      size_t left = 1;  // the fragments of a message lie next to each other
      if (message.is_fragment()) {
        const bool has_begun = message.fragment.index != 0;
        if (has_begun && now_ms - entries_.front().queued_ms < most_ms + kToFinishMs) break;
        left = size_t{message.fragment.count} - message.fragment.index;
      }
      for (; left != 0; --left) {
        if (entries_.front().body.receipt != 0) lost(entries_.front().body.receipt);
        pop_front();
      }
    }
    return count;
  }

  /// Empties the queue, calling lost(receipt) for each receipt.
  template <class Lost>
  void lose_everything(Lost lost) {
    while (!entries_.empty()) {
      if (entries_.front().body.receipt != 0) lost(entries_.front().body.receipt);
      pop_front();
    }
  }

 private:
  struct Entry {
    StoredBody body;
    base::Sequence16 id;
    uint8_t channel;
    uint8_t flags;
    uint32_t queued_ms;
  };
  static_assert(sizeof(Entry) <= 24);

  base::BufferPool* pool_;
  PooledRing<Entry> entries_;
  size_t bytes_ = 0;
};

}  // namespace lattice::reliability
