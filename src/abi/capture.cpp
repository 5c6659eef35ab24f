// lattice_set_capture, the only function of lattice/capture.h.
#include "lattice/capture.h"

#include <algorithm>
#include <memory>

#include "abi/call.h"
#include "abi/capture_bridge.h"

namespace lattice::abi {

void CaptureBridge::on_captured(const reliability::CapturedDatagram& datagram) {
  lattice_captured_datagram out{};
  out.struct_size = sizeof out;
  out.flags = (datagram.is_outgoing ? uint32_t{LATTICE_CAPTURED_OUTGOING} : 0) |
              (datagram.is_opened ? uint32_t{LATTICE_CAPTURED_OPENED} : 0);
  out.time_ns = datagram.now_ns;
  out.data = datagram.bytes.data();
  out.bytes = static_cast<uint32_t>(datagram.bytes.size());
  const base::PathId udp = socket_.local_path();
  const bool is_udp = datagram.peer.route == base::kUdpRoute;
  const base::PathId local = is_udp ? udp : base::PathId{.number = datagram.peer.route};
  out.local_port = local.number;
  out.remote_port = datagram.peer.number;
  std::copy(local.bytes.begin(), local.bytes.end(), out.local_ip);
  std::copy(datagram.peer.bytes.begin(), datagram.peer.bytes.end(), out.remote_ip);
  fn_(ctx_, &out);
}

}  // namespace lattice::abi

extern "C" {

lattice_result lattice_set_capture(lattice_world* world, lattice_capture_fn fn, void* ctx) {
  using namespace lattice;
  abi::WorldCall call(world);
  abi::WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (call.is_nested()) {
    return abi::fail(LATTICE_ERROR_OUT_OF_ORDER, "lattice_set_capture was called from inside the pump.");
  }
  std::unique_ptr<abi::CaptureBridge> bridge;
  if (fn != nullptr) bridge = std::make_unique<abi::CaptureBridge>(instance->world->socket(), fn, ctx);
  if (!instance->world->set_capture(bridge.get())) {
    return abi::fail(LATTICE_ERROR_UNSUPPORTED,
                     "This library was built without captures. Build it with -DLATTICE_CAPTURE=ON.");
  }
  instance->capture = std::move(bridge);
  return LATTICE_OK;
}

}  // extern "C"
