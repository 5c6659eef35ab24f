#include "conformance/side_capture.h"

#include <utility>

namespace lattice::test {

bool SideCapture::start(NodeOf<fragment::FragmentingEndpoint>& node, const std::string& path) {
  own_ = node.address;
  return node.endpoint->set_capture(this) && writer_.open(path).empty();
}

void SideCapture::on_captured(const reliability::CapturedDatagram& datagram) {
  app::PcapngAddress source{own_.bytes, own_.number};
  app::PcapngAddress destination{datagram.peer.bytes, datagram.peer.number};
  if (!datagram.is_outgoing) std::swap(source, destination);
  writer_.write(datagram.now_ns / 1000, source, destination,
                datagram.is_opened ? "lattice_opened" : "lattice", datagram.bytes);
}

}  // namespace lattice::test
