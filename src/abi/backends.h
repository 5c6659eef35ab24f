// The back ends of a world: read from its configuration, and joined with UDP.
#pragma once

#include <memory>
#include <vector>

#include "abi/backend_socket.h"
#include "lattice/lattice.h"

namespace lattice::abi {

class Backends {
 public:
  /// Reads the back ends of a configuration whose count is within its bounds. On failure sets the error.
  lattice_result read(const lattice_world_config& config);
  /// One socket of `udp`, which may be null, and all back ends.
  std::unique_ptr<socket::DatagramSocket> join(std::unique_ptr<socket::DatagramSocket> udp);
  /// The world is made: its back ends are closed when their sockets end.
  void own();

 private:
  std::vector<lattice_datagram_backend> read_;
  std::vector<BackendSocket*> sockets_;  // in the joined socket
};

}  // namespace lattice::abi
