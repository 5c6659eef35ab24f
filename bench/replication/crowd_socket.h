// Many UDP sockets on loopback behind one DatagramSocket, so that one Endpoint plays a crowd whose members
// each have an address of their own. The endpoint connects to crowd_address(i); this class moves those
// datagrams between socket i and the server.
//
// What the crowd sends leaves `delay_ns` later, and what it receives is handed over at once: the server sees
// the whole round trip, and only the small direction is stored. Sockets are polled in kPhases groups, as
// clients are spread over a tick; nothing waits in epoll, because waking a waiter is time of the sender.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "transport/socket/datagram_socket.h"

namespace bench {

class CrowdSocket final : public lattice::socket::DatagramSocket {
 public:
  static constexpr uint32_t kPhases = 4;

  /// Opens `count` sockets, connected to `port` of 127.0.0.1.
  CrowdSocket(uint16_t port, uint32_t count, uint64_t delay_ns);
  ~CrowdSocket() override;

  bool ok() const { return ok_; }
  /// The address by which the endpoint knows the server for client `index`.
  static lattice::platform::Address crowd_address(uint32_t index);

  /// receive() returns what waits at the sockets of this group from now on.
  void begin_phase(uint32_t phase);
  /// Sends what is due. For callers that send only.
  void flush(uint64_t now_ns);

  size_t receive(std::span<lattice::socket::Datagram> out, uint64_t now_ns) override;
  size_t send(std::span<const lattice::socket::Datagram> datagrams, uint64_t now_ns) override;
  lattice::platform::Address local_address() const override;
  const lattice::socket::SocketStats& stats() const override { return stats_; }

 private:
  static constexpr size_t kRunBytes = 65536;
  struct Parcel {
    uint64_t due_ns;
    uint32_t index;
    std::vector<uint8_t> bytes;
  };

  bool read_run();

  bool ok_ = false;
  uint64_t delay_ns_;
  std::vector<int> sockets_;
  uint32_t next_ = 0;  // the socket to read
  std::deque<Parcel> parcels_;
  std::vector<std::vector<uint8_t>> spare_;  // buffers of parcels that have left
  // A received run, partly handed out.
  std::vector<uint8_t> run_;
  size_t run_at_ = 0, run_bytes_ = 0, segment_bytes_ = 0;
  uint32_t run_index_ = 0;
  lattice::socket::SocketStats stats_;
};

}  // namespace bench
