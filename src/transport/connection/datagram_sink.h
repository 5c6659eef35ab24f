// Takes the datagrams that the handshakes send. The caller provides it, so that this layer owns no socket.
#pragma once

#include <cstdint>
#include <span>

#include "base/path_id.h"

namespace lattice::connection {

class DatagramSink {
 public:
  virtual ~DatagramSink() = default;
  /// Copies `datagram` for `to`. A full queue may drop it: every caller here repeats lost datagrams.
  virtual void emit(const base::PathId& to, std::span<const uint8_t> datagram) = 0;
};

}  // namespace lattice::connection
