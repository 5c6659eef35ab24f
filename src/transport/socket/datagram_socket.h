// The one interface through which the library sends and receives datagrams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/address.h"
#include "platform/udp_socket.h"

namespace lattice::socket {

/// Every receive buffer holds this much; no datagram is larger.
inline constexpr size_t kMaxDatagramBytes = 1500;

/// A datagram in a caller's buffer of kMaxDatagramBytes: `peer` is the sender when received and the
/// destination when sent, `size` the payload bytes, `data` the buffer (only read when sending).
using Datagram = platform::UdpDatagram;

struct SocketStats {
  uint64_t datagrams_sent = 0;  ///< Taken by the back end.
  uint64_t bytes_sent = 0;
  uint64_t datagrams_received = 0;  ///< Handed to the caller.
  uint64_t bytes_received = 0;
  uint64_t send_full = 0;          ///< Dropped because the back end's buffer or queue was full.
  uint64_t send_refused = 0;       ///< Refused one by one: no route, wrong family, filtered.
  uint64_t send_oversize = 0;      ///< Larger than kMaxDatagramBytes; never offered to the back end.
  uint64_t receive_truncated = 0;  ///< Arrived larger than kMaxDatagramBytes; dropped whole.
  uint64_t receive_errors = 0;     ///< The back end failed for a reason other than an empty queue.
  uint64_t receive_overflow = 0;   ///< Dropped because an in-process receive queue was full.
};

class DatagramSocket {
 public:
  DatagramSocket() = default;
  virtual ~DatagramSocket() = default;
  DatagramSocket(const DatagramSocket&) = delete;
  DatagramSocket& operator=(const DatagramSocket&) = delete;

  /// Fills up to out.size() datagrams and returns how many. Each out[i].data must point at a buffer of
  /// kMaxDatagramBytes; the pointers are not changed. Never blocks. `now_ns` is the caller's clock, used
  /// by simulated and impaired back ends only; it must not go back.
  virtual size_t receive(std::span<Datagram> out, uint64_t now_ns) = 0;

  /// Offers every datagram to the back end and returns how many it took; the rest is dropped and counted
  /// in stats(). Never blocks, keeps no pointer.
  virtual size_t send(std::span<const Datagram> datagrams, uint64_t now_ns) = 0;

  /// The bound address; family 0 when closed.
  virtual platform::Address local_address() const = 0;

  virtual const SocketStats& stats() const = 0;
  /// The counters of the innermost socket, behind all impairments.
  virtual const SocketStats& back_end_stats() const { return stats(); }

  /// Takes the waiting ICMP reports; yields the newest address that is unreachable. Anyone can forge a
  /// report.
  virtual bool take_unreachable(platform::Address*) { return false; }

  /// True when datagrams of one length to one address that are sent together, the last maybe shorter, cost
  /// less than others.
  virtual bool favours_equal_lengths() const { return false; }

  /// Blocks until a datagram may be waiting, or `timeout_ns` has passed; true for the first. A back end that
  /// cannot wait returns true at once: asking it for datagrams costs nothing then.
  virtual bool wait_readable(uint64_t /*timeout_ns*/) const { return true; }
  /// When a datagram that this socket holds back is due; UINT64_MAX: it holds none.
  virtual uint64_t next_event_ns() const { return UINT64_MAX; }
  /// The operating system's descriptor, to wait on; -1: there is none.
  virtual intptr_t descriptor() const { return -1; }

  /// True when a datagram too large for the path is dropped and not fragmented, so that sizes can be probed.
  virtual bool forbids_fragmentation() const { return true; }
};

}  // namespace lattice::socket
