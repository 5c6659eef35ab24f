// The one interface through which the library sends and receives datagrams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/path_id.h"

namespace lattice::socket {

/// Every receive buffer holds this much; no datagram is larger.
inline constexpr size_t kMaxDatagramBytes = 1500;

/// A socket without a descriptor is looked at so often by who waits for it.
inline constexpr uint64_t kLookAgainNs = 1'000'000;

/// A datagram in a caller's buffer of kMaxDatagramBytes. `peer` is the sender when received, the destination
/// when sent.
struct Datagram {
  base::PathId peer;
  uint32_t size = 0;        ///< Bytes of payload; 0 is a legal datagram.
  uint8_t* data = nullptr;  ///< Caller's buffer; only read when sending.
  /// Received: how long it had waited on this machine, as far as the socket knows. Only a hint.
  uint64_t waited_ns = 0;
};

/// What one receive() did.
struct Reading {
  size_t count = 0;    ///< Datagrams in the caller's buffers.
  size_t refused = 0;  ///< Read beside them and dropped: they cost the reader as much.
  /// False: nothing waits any more.
  bool may_have_more = false;
};

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
  // What a back end of the application did wrong.
  uint64_t backend_overrun = 0;         ///< It said that it took or gave more datagrams than there were.
  uint64_t backend_oversize = 0;        ///< It gave a datagram larger than kMaxDatagramBytes.
  uint64_t backend_bad_path = 0;        ///< It gave a datagram whose path is not one of its own.
  uint64_t backend_bad_limit = 0;       ///< It stated a largest datagram that is out of range.
  uint64_t backend_bad_descriptor = 0;  ///< Its descriptor was readable again and again, without a datagram.
};

class DatagramSocket {
 public:
  DatagramSocket() = default;
  virtual ~DatagramSocket() = default;
  DatagramSocket(const DatagramSocket&) = delete;
  DatagramSocket& operator=(const DatagramSocket&) = delete;

  /// Reads until `out` is full, or nothing waits, or out.size() datagrams were read of which some were
  /// refused. Each out[i].data must point at a buffer of kMaxDatagramBytes; the pointers are not changed.
  /// Never blocks. `now_ns` is the caller's clock, used by simulated and impaired back ends only; it must not
  /// go back.
  virtual Reading receive(std::span<Datagram> out, uint64_t now_ns) = 0;

  /// Offers every datagram to the back end and returns how many it took; the rest is dropped and counted
  /// in stats(). Never blocks, keeps no pointer.
  virtual size_t send(std::span<const Datagram> datagrams, uint64_t now_ns) = 0;

  /// The path under which this socket is bound; form kNone where it has none.
  virtual base::PathId local_path() const = 0;

  virtual const SocketStats& stats() const = 0;
  /// The counters of the innermost socket, behind all impairments.
  virtual const SocketStats& back_end_stats() const { return stats(); }

  /// Takes the waiting ICMP reports; yields the newest path that is unreachable. Anyone can forge a
  /// report.
  virtual bool take_unreachable(base::PathId*) { return false; }

  /// True when datagrams of one length to that path that are sent together, the last maybe shorter, cost less
  /// than others.
  virtual bool favours_equal_lengths(const base::PathId&) const { return false; }

  /// Blocks until a datagram may be waiting, or `timeout_ns` has passed; true for the first. A back end that
  /// cannot wait returns true at once: asking it for datagrams costs nothing then.
  virtual bool wait_readable(uint64_t /*timeout_ns*/) const { return true; }
  /// When a datagram that this socket holds back is due; UINT64_MAX: it holds none.
  virtual uint64_t next_event_ns() const { return UINT64_MAX; }
  /// The operating system's descriptor, to wait on; -1: there is none.
  virtual intptr_t descriptor() const { return -1; }
  /// A wait for the descriptors of several sockets was ended by one of them, perhaps by this one's.
  virtual void on_wake() const {}

  /// True when a datagram too large for the path is dropped and not fragmented, so that sizes can be probed.
  virtual bool forbids_fragmentation(const base::PathId&) const { return true; }

  /// The largest datagram that may be sent to `path`, at least 1200; 0 when the path is none of this
  /// socket's.
  virtual uint32_t largest_datagram(const base::PathId& path) const {
    const bool is_own =
        path.route == local_path().route && (path.route != base::kUdpRoute || base::is_ip(path));
    if (!is_own) return 0;
    // The UDP payload that Ethernet leaves: an IPv6 header is 20 bytes longer than one of IPv4.
    return path.form == base::PathForm::kIpv6 ? 1452 : 1472;
  }

  /// A number that those paths share whose senders count as one where strangers are limited. Empty: this
  /// socket states none. Asked for every datagram of a stranger.
  virtual std::optional<uint64_t> rate_subject(const base::PathId&) const { return std::nullopt; }

  /// One above the highest route of a path that receive() gives.
  virtual size_t route_count() const { return 1; }
};

}  // namespace lattice::socket
