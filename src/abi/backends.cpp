#include "abi/backends.h"

#include <cstdio>
#include <utility>

#include "abi/call.h"
#include "abi/struct_size.h"
#include "transport/socket/composite_socket.h"

namespace lattice::abi {

lattice_result Backends::read(const lattice_world_config& config) {
  for (uint32_t i = 0; i < config.backend_count; ++i) {
    char name[64];
    std::snprintf(name, sizeof name, "lattice_world_config.backends[%u]", i);
    const lattice_datagram_backend* given = config.backends[i];
    if (given == nullptr) return fail(LATTICE_ERROR_CONFIG, "%s is NULL. Give a back end.", name);
    lattice_datagram_backend& backend = read_.emplace_back();
    if (given->struct_size < sizeof given->struct_size || given->struct_size > kMaxStructBytes) {
      return fail(
          LATTICE_ERROR_CONFIG,
          "%s.struct_size is %u, so it was not initialised. Call lattice_datagram_backend_init() first.",
          name, given->struct_size);
    }
    if (const lattice_result bad = read_struct(given, &backend, "lattice_datagram_backend")) return bad;
    if (backend.reserved != 0) {
      return fail(LATTICE_ERROR_CONFIG, "%s.reserved is %u. Leave it at 0.", name, backend.reserved);
    }
    if (backend.receive == nullptr || backend.send == nullptr) {
      return fail(LATTICE_ERROR_CONFIG, "%s.%s is NULL. A back end needs receive and send.", name,
                  backend.receive == nullptr ? "receive" : "send");
    }
    for (uint32_t k = 0; k < i; ++k) {
      const bool is_same = read_[k].ctx == backend.ctx && read_[k].receive == backend.receive;
      if (is_same) return fail(LATTICE_ERROR_CONFIG, "%s is the same back end as backends[%u].", name, k);
    }
  }
  return LATTICE_OK;
}

std::unique_ptr<socket::DatagramSocket> Backends::join(std::unique_ptr<socket::DatagramSocket> udp) {
  if (read_.empty()) return udp;
  socket::CompositeSocket::Routes routes;
  routes[base::kUdpRoute] = std::move(udp);
  for (size_t i = 0; i < read_.size(); ++i) {
    auto socket = std::make_unique<BackendSocket>(read_[i], static_cast<uint8_t>(i + 1));
    sockets_.push_back(socket.get());
    routes[i + 1] = std::move(socket);
  }
  return std::make_unique<socket::CompositeSocket>(std::move(routes));
}

void Backends::own() {
  for (BackendSocket* socket : sockets_) socket->own();
}

}  // namespace lattice::abi

extern "C" lattice_result lattice_datagram_backend_init_sized(lattice_datagram_backend* backend,
                                                              uint32_t struct_size) {
  const lattice::abi::Call call;
  return lattice::abi::write_defaults(lattice_datagram_backend{}, backend, struct_size);
}
