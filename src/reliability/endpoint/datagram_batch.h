// Outgoing datagrams: they are sealed in place in fixed buffers and handed to the socket in one call. The
// pacing of §6.2 happens above this class; no datagram waits here. The handshakes emit their datagrams here
// too. Packets are sealed as they are queued, or, if the caller lends threads, together just before they
// leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "reliability/endpoint/capture.h"
#include "reliability/endpoint/connection_shares.h"
#include "transport/connection/datagram_sink.h"
#include "transport/connection/secure_link.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::reliability {

class DatagramBatch final : public connection::DatagramSink {
 public:
  static constexpr size_t kDatagrams = 64;
  /// With threads that seal: large enough for a snapshot to hundreds of clients, so that each thread wakes
  /// once.
  static constexpr size_t kDatagramsWithTasks = 256;

  /// `socket` and `capture` are borrowed.
  DatagramBatch(socket::DatagramSocket& socket, Capture& capture, const CallerTasks& tasks);

  /// The clock value handed to the socket from now on.
  void set_now(uint64_t now_ns) { now_ns_ = now_ns; }

  /// A buffer of kMaxDatagramBytes for the next datagram; flushes first when all are taken. Valid until
  /// commit() or the next begin().
  std::span<uint8_t> begin();
  /// Queues a packet that `link` began in the buffer from begin(). The packet may be sealed only in the next
  /// seal_pending(); until then `link`, the link of the connection in `slot`, must not change.
  void commit(const base::PathId& to, uint32_t slot, connection::SecureLink& link,
              const connection::SecureLink::Unsealed& packet);
  /// Seals every queued packet that is not sealed yet. Call it before a link gets new keys or ends.
  void seal_pending() {
    if (shares_ && shares_->item_count() != 0) seal_shares();
  }

  /// Copies a handshake datagram in.
  void emit(const base::PathId& to, std::span<const uint8_t> datagram) override;

  /// Sends every queued datagram. A datagram that the socket does not take is lost, as if in the network.
  void flush();

  uint64_t emitted_count() const { return emitted_count_; }
  uint64_t emitted_bytes() const { return emitted_bytes_; }

 private:
  struct Pending {
    connection::SecureLink* link = nullptr;
    connection::SecureLink::Unsealed packet;
  };

  void queue(const base::PathId& to, std::span<uint8_t> datagram);
  void seal_shares();

  socket::DatagramSocket& socket_;
  Capture& capture_;
  CallerTasks tasks_;
  std::vector<socket::Datagram> datagrams_;
  std::unique_ptr<uint8_t[]> buffers_;
  std::vector<Pending> pending_;            ///< By datagram; only with tasks.
  std::optional<ConnectionShares> shares_;  ///< The datagrams that are not sealed yet; only with tasks.
  size_t count_ = 0;
  uint64_t now_ns_ = 0;
  uint64_t emitted_count_ = 0;
  uint64_t emitted_bytes_ = 0;
};

}  // namespace lattice::reliability
