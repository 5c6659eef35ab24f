// One impaired direction: an ImpairmentModel decides, and a DeliveryQueue holds the datagrams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/buffer_pool.h"
#include "transport/socket/delivery_queue.h"
#include "transport/socket/impairment_model.h"

namespace lattice::socket {

class ImpairmentQueue {
 public:
  /// At most `capacity` datagrams in flight; more are counted as dropped_overflow. `pool` must outlive the
  /// queue.
  ImpairmentQueue(base::BufferPool& pool, size_t capacity, uint64_t seed)
      : model_(seed), queue_(pool, capacity) {}

  /// See ImpairmentModel::configure.
  void configure(const Impairment& impairment) { model_.configure(impairment); }
  const Impairment& impairment() const { return model_.impairment(); }

  /// Decides about a datagram for or from `peer`, and keeps it if it is not lost.
  void offer(const base::PathId& peer, std::span<const uint8_t> bytes, uint64_t now_ns);

  /// Fills `out` with the datagrams that are due by `now_ns`, earliest first; returns how many.
  size_t take(std::span<Datagram> out, uint64_t now_ns);

  /// Arrival time of the next datagram, or kNoEvent.
  uint64_t next_event_ns() const { return queue_.next_event_ns(); }
  size_t size() const { return queue_.size(); }
  /// True for a perfect path without datagrams in flight: the caller may bypass the queue.
  bool transparent() const { return queue_.size() == 0 && impairment() == Impairment{}; }
  const ImpairmentStats& stats() const { return stats_; }

 private:
  ImpairmentModel model_;
  DeliveryQueue queue_;
  ImpairmentStats stats_;
};

}  // namespace lattice::socket
