// DatagramSocket over the operating system's UDP, in batches. Here addresses become paths, and paths become
// addresses.
#pragma once

#include <array>
#include <memory>

#include "platform/udp_socket.h"
#include "transport/socket/datagram_socket.h"
#include "transport/socket/path_address.h"

namespace lattice::socket {

class UdpSocket final : public DatagramSocket {
 public:
  /// Opens and binds; null on failure, with the reason in `result` (which may be null).
  static std::unique_ptr<UdpSocket> open(const platform::Address& bind_address,
                                         platform::UdpOpenResult* result = nullptr,
                                         const platform::UdpOptions& options = {});

  Reading receive(std::span<Datagram> out, uint64_t now_ns) override;
  size_t send(std::span<const Datagram> datagrams, uint64_t now_ns) override;
  base::PathId local_path() const override { return path_of(socket_.local_address()); }
  bool take_unreachable(base::PathId* peer) override;
  const SocketStats& stats() const override { return stats_; }
  bool favours_equal_lengths(const base::PathId&) const override {
    return socket_.capabilities().segmentation_offload;
  }
  bool forbids_fragmentation(const base::PathId&) const override {
    return socket_.capabilities().forbids_fragmentation;
  }

  /// 0 also for the family that the socket does not speak.
  uint32_t largest_datagram(const base::PathId& path) const override;

  /// The buffer sizes that the kernel granted, and the options that it supports.
  const platform::UdpCapabilities& capabilities() const { return socket_.capabilities(); }

  bool wait_readable(uint64_t timeout_ns) const override { return socket_.wait_readable(timeout_ns); }
  intptr_t descriptor() const override { return socket_.descriptor(); }

 private:
  UdpSocket() = default;

  platform::UdpSocket socket_;
  std::array<platform::UdpDatagram, platform::kUdpBatchDatagrams> batch_;  ///< Of one call; with addresses.
  SocketStats stats_;
};

}  // namespace lattice::socket
