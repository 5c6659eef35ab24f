// A decorator that puts an impaired network between the caller and any other socket, in both directions. The
// impairment can change while running. Real processes use it to get a bad network. The caller's clock drives
// it, so delays are as fine as the caller's polling.
//
// Must stay true: without impairment no datagram is looked at, and there is no memory for any. Until the
// first impairment a batch costs one call and one look at a pointer.
#pragma once

#include <array>
#include <memory>

#include "base/buffer_pool.h"
#include "transport/socket/datagram_socket.h"
#include "transport/socket/impairment_queue.h"

namespace lattice::socket {

struct ImpairedSocketConfig {
  Impairment send = {};
  Impairment receive = {};
  uint64_t seed = 1;
  size_t queue_datagrams = 8192;    ///< Most datagrams in flight in each direction.
  uint64_t pool_bytes = 64u << 20;  ///< Most memory for payloads in flight.
};

class ImpairedSocket final : public DatagramSocket {
 public:
  /// Takes ownership of `inner`, which must not be null.
  ImpairedSocket(std::unique_ptr<DatagramSocket> inner, const ImpairedSocketConfig& config);

  /// Sends the datagrams that are due, drains the inner socket (at most kDrainBatches batches) into the
  /// receive direction, and fills `out` with the datagrams that are due there.
  Reading receive(std::span<Datagram> out, uint64_t now_ns) override;
  /// Offers `datagrams` to the send direction and forwards the datagrams that are due. Every datagram of
  /// legal size counts as taken, because a sender does not learn of losses in the network. A direction
  /// without impairment and without datagrams in flight passes straight to the inner socket.
  size_t send(std::span<const Datagram> datagrams, uint64_t now_ns) override;
  base::PathId local_path() const override { return inner_->local_path(); }
  bool take_unreachable(base::PathId* peer) override { return inner_->take_unreachable(peer); }
  /// The counters of this socket's caller; inner().stats() has those behind the impairment.
  const SocketStats& stats() const override { return stats_; }
  const SocketStats& back_end_stats() const override { return inner_->back_end_stats(); }
  bool favours_equal_lengths(const base::PathId& path) const override {
    return inner_->favours_equal_lengths(path);
  }
  bool forbids_fragmentation(const base::PathId& path) const override {
    return inner_->forbids_fragmentation(path);
  }
  uint32_t largest_datagram(const base::PathId& path) const override {
    return inner_->largest_datagram(path);
  }
  std::optional<uint64_t> rate_subject(const base::PathId& path) const override {
    return inner_->rate_subject(path);
  }
  size_t route_count() const override { return inner_->route_count(); }
  /// Delayed datagrams come without a sign, so a direction that delays is looked at each millisecond.
  bool wait_readable(uint64_t timeout_ns) const override;
  intptr_t descriptor() const override { return inner_->descriptor(); }

  /// Change one direction from now on; datagrams in flight keep their arrival times. The first impairment
  /// allocates the queues.
  void configure_send(const Impairment& impairment);
  void configure_receive(const Impairment& impairment);
  const Impairment& send_impairment() const { return queues_ ? queues_->send.impairment() : kClear; }
  const Impairment& receive_impairment() const { return queues_ ? queues_->receive.impairment() : kClear; }

  /// Faults injected so far, per direction.
  const ImpairmentStats& send_faults() const { return queues_ ? queues_->send.stats() : kNoFaults; }
  const ImpairmentStats& receive_faults() const { return queues_ ? queues_->receive.stats() : kNoFaults; }

  /// Forwards sends that are due without receiving; for callers that sleep until next_event_ns().
  void flush(uint64_t now_ns);
  /// When the next datagram in flight, in either direction, is due; kNoEvent when there is none.
  uint64_t next_event_ns() const override;

  DatagramSocket& inner() { return *inner_; }

  static constexpr size_t kBatch = 64;
  static constexpr size_t kDrainBatches = 32;

 private:
  static constexpr Impairment kClear{};
  static constexpr ImpairmentStats kNoFaults{};

  /// What impairing needs: made for the first impairment, kept from then on.
  struct Queues {
    explicit Queues(const ImpairedSocketConfig& config);
    std::span<Datagram> scratch();

    base::BufferPool pool;
    ImpairmentQueue send;
    ImpairmentQueue receive;
    std::unique_ptr<uint8_t[]> buffers;  ///< kBatch buffers of kMaxDatagramBytes.
    std::array<Datagram, kBatch> datagrams{};
  };

  /// The queues, or null while this direction does not need them.
  Queues* impairing(ImpairmentQueue Queues::*direction) const {
    return queues_ != nullptr && !((*queues_).*direction).transparent() ? queues_.get() : nullptr;
  }
  Reading pass_received(std::span<Datagram> out, uint64_t now_ns);
  size_t pass_sent(std::span<const Datagram> datagrams, uint64_t now_ns);
  void drain_inner(Queues& queues, uint64_t now_ns);

  std::unique_ptr<DatagramSocket> inner_;
  ImpairedSocketConfig config_;
  std::unique_ptr<Queues> queues_;
  SocketStats stats_;
};

}  // namespace lattice::socket
