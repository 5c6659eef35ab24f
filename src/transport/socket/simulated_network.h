// A whole network in one process: seeded, in virtual time, with an Impairment per direction, an observer
// that may drop, change or inject datagrams, and address spoofing. The same seed, attachments and calls
// give the same deliveries on every machine.
//
// A datagram sent from A to B: tap -> model of direction (A, B) -> queue of B -> B's receive(). The generator
// of each direction is seeded from the network seed, both addresses, and how often each address was attached
// before. So the order in which directions first see traffic does not matter, and a client that returns to an
// old address gets a new loss sequence.
//
// One thread. The network must outlive the sockets it hands out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer_pool.h"
#include "base/hash_index.h"
#include "base/id_pool.h"
#include "base/random.h"
#include "transport/socket/datagram_socket.h"
#include "transport/socket/delivery_queue.h"
#include "transport/socket/impairment_model.h"

namespace lattice::socket {

struct SimulatedNetworkConfig {
  uint64_t seed = 1;
  size_t max_attachments = 4096;
  size_t queue_datagrams = 8192;     ///< Most in flight to one attachment; more are dropped_overflow.
  uint64_t pool_bytes = 256u << 20;  ///< Most memory for payloads in flight; taken in slabs as needed.
};

/// A datagram about to enter the network, as the tap sees it. The tap may change `data` and `size` (up to
/// kMaxDatagramBytes), and `from` and `to`.
struct TappedDatagram {
  base::PathId from;
  base::PathId to;
  uint32_t size = 0;
  uint8_t* data = nullptr;
  uint64_t now_ns = 0;
};

enum class TapVerdict : uint8_t { kPass, kDrop };

/// Sees every datagram sent through the network, before impairment. May call inject(), must not send.
using NetworkTap = TapVerdict (*)(void* context, TappedDatagram& datagram);

class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(const SimulatedNetworkConfig& config);
  ~SimulatedNetwork();
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

  /// A socket bound to `address`; null when it is taken, of no form, or max_attachments is reached.
  /// Destroying the socket frees the address, loses the datagrams in flight to it, and forgets the
  /// impairments and fault counts of its directions. Allocates the queue.
  std::unique_ptr<DatagramSocket> attach(const base::PathId& address);

  /// Gives the attachment at `from` the address `to`, as a NAT does; datagrams in flight to the old address
  /// are lost. Directions keep the attachment's impairments. False when `from` is unknown or `to` is taken.
  bool rebind(const base::PathId& from, const base::PathId& to);

  /// A seed for the random values of an attachment. It depends on the network's seed and the number of calls.
  uint64_t draw_seed() { return base::splitmix64(draw_state_); }

  /// Sets the impairment of every direction, existing or future, that set_direction() has not configured.
  void set_default(const Impairment& impairment);
  /// Sets the impairment from one attached address to another; false when either is unknown.
  bool set_direction(const base::PathId& from, const base::PathId& to, const Impairment& impairment);
  /// Both directions at once: `up` from a to b, `down` from b to a.
  bool set_path(const base::PathId& a, const base::PathId& b, const Impairment& up, const Impairment& down);

  /// Sends datagrams from one attached address to another through `link`; null removes it. Directions may
  /// share a link, and it must outlive the attachments. False when an address is unknown.
  bool set_bottleneck(const base::PathId& from, const base::PathId& to, BottleneckLink* link);

  /// Sets the tap; null removes it.
  void set_tap(NetworkTap tap, void* context);

  /// Puts a datagram straight into the queue of `to`. It seems to come from `from` (any address, attached or
  /// not) and arrives at `deliver_at_ns`; neither tap nor impairment sees it. False when `to` is unknown, its
  /// queue is full, or the datagram is too large.
  bool inject(const base::PathId& from, const base::PathId& to, std::span<const uint8_t> bytes,
              uint64_t deliver_at_ns);

  /// Reports to the attachment at `to` that `about` is unreachable, as a router or a forger does with ICMP.
  /// Replaces a report that was not taken yet. False when `to` is unknown.
  bool report_unreachable(const base::PathId& to, const base::PathId& about);

  /// When the next datagram arrives anywhere, or kNoEvent; a test jumps virtual time to it. It stays in
  /// the past until the receiver has taken the datagrams that are due.
  uint64_t next_event_ns() const;
  /// Datagrams in flight, all attachments together.
  size_t in_flight() const;

  /// Faults on the way to / from an attachment, summed over its directions; all zero when unknown.
  ImpairmentStats faults_to(const base::PathId& address) const;
  ImpairmentStats faults_from(const base::PathId& address) const;
  /// Faults of one direction; all zero when it has seen no traffic.
  ImpairmentStats faults(const base::PathId& from, const base::PathId& to) const;

  uint64_t tap_dropped() const { return tap_dropped_; }  ///< Verdict kDrop.
  uint64_t unreachable() const { return unreachable_; }  ///< Sent to an address without an attachment.
  const base::BufferPoolStats& pool_stats() const { return pool_.stats(); }

 private:
  class Socket;
  struct Attachment;
  struct Direction;

  uint32_t find(const base::PathId& address) const;
  uint32_t count_attachment(const base::PathId& address);
  uint32_t direction_index(uint32_t from, uint32_t to);
  uint32_t find_direction(uint32_t from, uint32_t to) const;
  bool transmit(uint32_t from, const Datagram& datagram, uint64_t now_ns);
  void carry(uint32_t from, const TappedDatagram& datagram);
  size_t deliver(uint32_t to, std::span<Datagram> out, uint64_t now_ns);
  void detach(uint32_t slot);
  void open_direction(Direction& direction) const;

  SimulatedNetworkConfig config_;
  base::BufferPool pool_;
  base::IdPool slots_;
  base::HashIndex by_address_;
  base::HashIndex attach_counts_;  ///< By address; kept when it detaches.
  std::vector<std::unique_ptr<Attachment>> attachments_;
  base::HashIndex by_direction_;
  std::vector<std::unique_ptr<Direction>> directions_;
  Impairment default_;
  uint64_t draw_state_;
  NetworkTap tap_ = nullptr;
  void* tap_context_ = nullptr;
  uint64_t tap_dropped_ = 0;
  uint64_t unreachable_ = 0;
};

}  // namespace lattice::socket
