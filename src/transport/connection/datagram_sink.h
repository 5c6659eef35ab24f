// Where the handshakes put the datagrams they want sent: the caller's, so that nothing here owns a socket.
#pragma once

#include <cstdint>
#include <span>

#include "platform/address.h"

namespace lattice::connection {

class DatagramSink {
 public:
  virtual ~DatagramSink() = default;
  /// Takes a copy of `datagram` for `to`. A full queue may drop it: every sender here survives loss.
  virtual void emit(const platform::Address& to, std::span<const uint8_t> datagram) = 0;
};

}  // namespace lattice::connection
