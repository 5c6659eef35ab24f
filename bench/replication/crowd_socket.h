// Many UDP sockets on loopback behind one DatagramSocket, so that one Endpoint plays a crowd whose members
// each have an address of their own. The endpoint connects to crowd_address(i); this class moves those
// datagrams between socket i and the server.
//
// What the crowd sends leaves after a delay, and what it receives is handed over at once: the server sees the
// whole round trip, and only the small direction is stored. Sockets are polled in kPhases groups, as clients
// are spread over a tick; nothing waits in epoll, because waking a waiter is time of the sender.
#pragma once

#include <poll.h>

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/random.h"
#include "transport/socket/datagram_socket.h"

namespace bench {

class CrowdSocket final : public lattice::socket::DatagramSocket {
 public:
  static constexpr uint32_t kPhases = 4;

  /// The way to the server and back.
  struct Path {
    uint64_t delay_ns = 0;  // mean
    /// Client i has one of kDelays delays, from delay_ns less this to delay_ns and this.
    uint64_t spread_ns = 0;
    double loss = 0;  // of each direction
  };
  static constexpr uint32_t kDelays = 12;

  /// Opens `count` sockets, connected to `port` of 127.0.0.1.
  CrowdSocket(uint16_t port, uint32_t count, const Path& path);
  ~CrowdSocket() override;

  bool ok() const { return ok_; }
  /// The address by which the endpoint knows the server for client `index`.
  static lattice::base::PathId crowd_address(uint32_t index);

  /// receive() returns what waits at the sockets of this group from now on.
  void begin_phase(uint32_t phase);
  /// Sends what is due. For callers that send only.
  void flush(uint64_t now_ns);

  lattice::socket::Reading receive(std::span<lattice::socket::Datagram> out, uint64_t now_ns) override;
  size_t send(std::span<const lattice::socket::Datagram> datagrams, uint64_t now_ns) override;
  lattice::base::PathId local_path() const override;
  const lattice::socket::SocketStats& stats() const override { return stats_; }

 private:
  static constexpr size_t kRunBytes = 65536;
  struct Parcel {
    uint64_t due_ns;
    uint32_t index;
    std::vector<uint8_t> bytes;
  };

  bool find_readable();
  bool read_run();

  bool ok_ = false;
  Path path_;
  lattice::base::Random random_{1};
  std::vector<int> sockets_;
  std::vector<uint32_t> index_of_;                   // in sockets_, by descriptor
  std::vector<pollfd> group_;                        // those of the phase that may have something
  size_t next_ = 0;                                  // in group_: the socket to read
  bool again_ = false;                               // something was read since the last look
  std::array<std::deque<Parcel>, kDelays> parcels_;  // in the order of their times
  std::vector<std::vector<uint8_t>> spare_;          // buffers of parcels that have left
  // A received run, partly handed out.
  std::vector<uint8_t> run_;
  size_t run_at_ = 0, run_bytes_ = 0, segment_bytes_ = 0;
  uint32_t run_index_ = 0;
  lattice::socket::SocketStats stats_;
};

}  // namespace bench
