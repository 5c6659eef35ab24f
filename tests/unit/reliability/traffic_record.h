// Records every datagram that enters a simulated network, as an attacker on the path can.
#pragma once

#include <vector>

#include "endpoint_rig.h"

namespace lattice::test {

struct RecordedDatagram {
  base::PathId from, to;
  Bytes bytes;

  bool is_session_packet() const {
    wire::PacketHeader header;
    size_t header_bytes = 0;
    return wire::parse_packet_header(bytes, wire::kProtocolId, &header, &header_bytes) ==
               wire::HeaderStatus::kOk &&
           wire::is_session_packet(header.type);
  }
};

/// Installs itself as the network's tap for its life.
class TrafficRecord {
 public:
  explicit TrafficRecord(socket::SimulatedNetwork& network) : network_(network) {
    network_.set_tap(&TrafficRecord::see, this);
  }
  ~TrafficRecord() { network_.set_tap(nullptr, nullptr); }
  TrafficRecord(const TrafficRecord&) = delete;
  TrafficRecord& operator=(const TrafficRecord&) = delete;

  const std::vector<RecordedDatagram>& all() const { return all_; }
  std::vector<RecordedDatagram> session_packets(const base::PathId& from) const {
    std::vector<RecordedDatagram> out;
    for (const RecordedDatagram& each : all_) {
      if (each.from == from && each.is_session_packet()) out.push_back(each);
    }
    return out;
  }

 private:
  static socket::TapVerdict see(void* context, socket::TappedDatagram& datagram) {
    static_cast<TrafficRecord*>(context)->all_.push_back(
        {datagram.from, datagram.to, Bytes(datagram.data, datagram.data + datagram.size)});
    return socket::TapVerdict::kPass;
  }

  socket::SimulatedNetwork& network_;
  std::vector<RecordedDatagram> all_;
};

}  // namespace lattice::test
