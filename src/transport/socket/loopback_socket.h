// Sockets inside one process, by path, without impairment: the next receive() yields every datagram sent,
// in order. One thread; the hub must outlive its sockets.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/buffer_pool.h"
#include "base/ring.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::socket {

class LoopbackSocket;

class LoopbackHub {
 public:
  /// Each socket queues at most `queue_datagrams` (rounded up to a power of two); more are dropped and
  /// counted as receive_overflow at the receiver.
  explicit LoopbackHub(size_t queue_datagrams = 4096, uint64_t pool_bytes = 64u << 20);
  ~LoopbackHub();

  /// A socket reachable under `address`; null when the address is taken or of no form.
  std::unique_ptr<LoopbackSocket> attach(const base::PathId& address);

 private:
  friend class LoopbackSocket;
  LoopbackSocket* find(const base::PathId& address) const;
  void detach(LoopbackSocket* socket);

  base::BufferPool pool_;
  std::vector<LoopbackSocket*> sockets_;
  size_t queue_datagrams_;
};

class LoopbackSocket final : public DatagramSocket {
 public:
  ~LoopbackSocket() override;

  Reading receive(std::span<Datagram> out, uint64_t now_ns) override;
  /// Takes every datagram of legal size whose destination exists; others count as send_refused.
  size_t send(std::span<const Datagram> datagrams, uint64_t now_ns) override;
  base::PathId local_path() const override { return address_; }
  const SocketStats& stats() const override { return stats_; }

 private:
  friend class LoopbackHub;
  struct Pending {
    base::PathId from;
    base::Buffer buffer;
  };
  LoopbackSocket(LoopbackHub& hub, const base::PathId& address, size_t queue_datagrams);
  bool deliver(const base::PathId& from, std::span<const uint8_t> bytes);

  LoopbackHub& hub_;
  base::PathId address_;
  base::Ring<Pending> pending_;
  SocketStats stats_;
};

}  // namespace lattice::socket
