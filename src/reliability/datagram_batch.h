// Datagrams on their way out: sealed in place in fixed buffers, handed to the socket in one call (§6.2 is
// paced above this; here nothing waits). Also the sink the handshakes emit into. Packets are sealed as they
// are queued, or, where the caller lends threads, together just before they leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "reliability/capture.h"
#include "reliability/connection_shares.h"
#include "transport/connection/datagram_sink.h"
#include "transport/connection/secure_link.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::reliability {

class DatagramBatch final : public connection::DatagramSink {
 public:
  static constexpr size_t kDatagrams = 64;
  /// With threads to seal them: a snapshot for hundreds of clients at once, so that each thread wakes once.
  static constexpr size_t kDatagramsWithTasks = 256;

  /// `socket` and `capture` are borrowed.
  DatagramBatch(socket::DatagramSocket& socket, Capture& capture, const CallerTasks& tasks);

  /// The clock value handed to the socket from now on.
  void set_now(uint64_t now_ns) { now_ns_ = now_ns; }

  /// A buffer of kMaxDatagramBytes for the next datagram; flushes first when all are taken. Valid until
  /// commit() or the next begin().
  std::span<uint8_t> begin();
  /// Queues a packet `link` began in the buffer begin() gave. It may be sealed only in the next
  /// seal_pending(), to which `link`, that of the connection in `slot`, stays as it is.
  void commit(const platform::Address& to, uint32_t slot, connection::SecureLink& link,
              const connection::SecureLink::Unsealed& packet);
  /// Seals what is not sealed yet: before a link gets new keys or ends.
  void seal_pending() {
    if (shares_ && shares_->item_count() != 0) seal_shares();
  }

  /// Copies a handshake datagram in.
  void emit(const platform::Address& to, std::span<const uint8_t> datagram) override;

  /// Sends everything queued. What the back end does not take is lost, as if on the way.
  void flush();

  uint64_t emitted_count() const { return emitted_count_; }
  uint64_t emitted_bytes() const { return emitted_bytes_; }

 private:
  struct Pending {
    connection::SecureLink* link = nullptr;
    connection::SecureLink::Unsealed packet;
  };

  void queue(const platform::Address& to, std::span<uint8_t> datagram);
  void seal_shares();

  socket::DatagramSocket& socket_;
  Capture& capture_;
  CallerTasks tasks_;
  std::vector<socket::Datagram> datagrams_;
  std::unique_ptr<uint8_t[]> buffers_;
  std::vector<Pending> pending_;            ///< By datagram; with tasks only, like the next.
  std::optional<ConnectionShares> shares_;  ///< Of the datagrams that are not sealed.
  size_t count_ = 0;
  uint64_t now_ns_ = 0;
  uint64_t emitted_count_ = 0;
  uint64_t emitted_bytes_ = 0;
};

}  // namespace lattice::reliability
