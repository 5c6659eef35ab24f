// A bounded binary heap over pooled payloads.
#include "transport/socket/delivery_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"

namespace lattice::socket {

DeliveryQueue::DeliveryQueue(base::BufferPool& pool, size_t capacity) : pool_(&pool), capacity_(capacity) {
  heap_.reserve(capacity);
}

DeliveryQueue::DeliveryQueue(DeliveryQueue&& other) noexcept
    : pool_(other.pool_),
      heap_(std::move(other.heap_)),
      capacity_(other.capacity_),
      next_sequence_(other.next_sequence_) {
  other.heap_.clear();
}

/// The heap's order: true when `a` comes out after `b`. The sequence makes the order total, so datagrams with
/// equal arrival times come out in the order of offering on every platform.
bool DeliveryQueue::later(const Entry& a, const Entry& b) {
  if (a.deliver_at_ns != b.deliver_at_ns) return a.deliver_at_ns > b.deliver_at_ns;
  return a.sequence > b.sequence;
}

bool DeliveryQueue::push(uint64_t deliver_at_ns, const base::PathId& peer, std::span<const uint8_t> bytes,
                         uint64_t tag) {
  if (heap_.size() >= capacity_ || bytes.size() > kMaxDatagramBytes) return false;
  const base::Buffer buffer = pool_->allocate(bytes.size());
  if (!buffer) return false;
  if (!bytes.empty()) std::memcpy(buffer.data, bytes.data(), bytes.size());
  heap_.push_back({deliver_at_ns, next_sequence_++, peer, tag, buffer});
  std::push_heap(heap_.begin(), heap_.end(), later);
  return true;
}

bool DeliveryQueue::pop(uint64_t now_ns, Datagram& out, uint64_t* tag) {
  if (heap_.empty() || heap_.front().deliver_at_ns > now_ns) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  Entry& entry = heap_.back();
  out.peer = entry.peer;
  out.size = entry.buffer.size_bytes;
  out.waited_ns = now_ns - entry.deliver_at_ns;
  std::memcpy(out.data, entry.buffer.data, entry.buffer.size_bytes);
  if (tag != nullptr) *tag = entry.tag;
  pool_->release(entry.buffer);
  heap_.pop_back();
  return true;
}

void DeliveryQueue::clear() {
  for (Entry& entry : heap_) pool_->release(entry.buffer);
  heap_.clear();
}

bool DeliveryQueue::validate() const {
  return heap_.size() <= capacity_ && std::is_heap(heap_.begin(), heap_.end(), later);
}

}  // namespace lattice::socket
