// Passes the endpoint's capture to the C callback.
#pragma once

#include "lattice/capture.h"
#include "reliability/endpoint/capture.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::abi {

class CaptureBridge final : public reliability::CaptureObserver {
 public:
  /// `socket` is borrowed.
  CaptureBridge(const socket::DatagramSocket& socket, lattice_capture_fn fn, void* ctx)
      : socket_(socket), fn_(fn), ctx_(ctx) {}

  void on_captured(const reliability::CapturedDatagram& datagram) override;

 private:
  const socket::DatagramSocket& socket_;
  lattice_capture_fn fn_;
  void* ctx_;
};

}  // namespace lattice::abi
