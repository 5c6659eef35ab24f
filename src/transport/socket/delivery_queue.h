// Datagrams in flight, as a heap ordered by (arrival time, order of offering). The constructor sets the bound
// and allocates the heap; payloads live in a shared BufferPool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer_pool.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::socket {

/// The result of next_event_ns() functions when no datagram is in flight.
inline constexpr uint64_t kNoEvent = UINT64_MAX;

class DeliveryQueue {
 public:
  /// Holds at most `capacity` datagrams. `pool` must outlive the queue.
  DeliveryQueue(base::BufferPool& pool, size_t capacity);
  ~DeliveryQueue() { clear(); }
  DeliveryQueue(DeliveryQueue&& other) noexcept;
  DeliveryQueue& operator=(DeliveryQueue&&) = delete;

  /// Copies `bytes` in; pop() yields them at `deliver_at_ns` or later, together with `tag`. False when the
  /// queue or the pool is full, or the datagram is larger than kMaxDatagramBytes.
  bool push(uint64_t deliver_at_ns, const base::PathId& peer, std::span<const uint8_t> bytes,
            uint64_t tag = 0);

  /// Moves the earliest datagram due by `now_ns` into `out` (whose data points at kMaxDatagramBytes);
  /// false when none is due. `tag` may be null.
  bool pop(uint64_t now_ns, Datagram& out, uint64_t* tag = nullptr);

  /// Arrival time of the earliest datagram, or kNoEvent.
  uint64_t next_event_ns() const { return heap_.empty() ? kNoEvent : heap_.front().deliver_at_ns; }

  size_t size() const { return heap_.size(); }
  size_t capacity() const { return capacity_; }

  /// Drops every datagram.
  void clear();

  /// Heap order holds and the bound is respected. For tests and validation builds.
  bool validate() const;

 private:
  struct Entry {
    uint64_t deliver_at_ns;
    uint64_t sequence;
    base::PathId peer;
    uint64_t tag;
    base::Buffer buffer;
  };
  static bool later(const Entry& a, const Entry& b);

  base::BufferPool* pool_;
  std::vector<Entry> heap_;
  size_t capacity_;
  uint64_t next_sequence_ = 0;
};

}  // namespace lattice::socket
