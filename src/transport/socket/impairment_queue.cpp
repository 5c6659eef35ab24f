// Model and queue together.
#include "transport/socket/impairment_queue.h"

namespace lattice::socket {

void ImpairmentQueue::offer(const base::PathId& peer, std::span<const uint8_t> bytes, uint64_t now_ns) {
  const Fate fate = model_.offer(bytes.size(), now_ns, stats_);
  for (size_t i = 0; i < fate.copies; ++i) {
    if (!queue_.push(fate.deliver_at_ns[i], peer, bytes)) ++stats_.dropped_overflow;
  }
}

size_t ImpairmentQueue::take(std::span<Datagram> out, uint64_t now_ns) {
  size_t count = 0;
  while (count < out.size() && queue_.pop(now_ns, out[count])) {
    stats_.delivered_bytes += out[count].size;
    ++count;
  }
  stats_.delivered += count;
  return count;
}

}  // namespace lattice::socket
