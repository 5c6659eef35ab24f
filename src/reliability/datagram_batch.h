// Datagrams on their way out: sealed one by one into fixed buffers, handed to the socket in one call (§6.2 is
// paced above this; here nothing waits). Also the sink the handshakes emit into.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "reliability/capture.h"
#include "transport/connection/datagram_sink.h"
#include "transport/socket/datagram_socket.h"

namespace lattice::reliability {

class DatagramBatch final : public connection::DatagramSink {
 public:
  static constexpr size_t kDatagrams = 64;

  /// Both are borrowed.
  DatagramBatch(socket::DatagramSocket& socket, Capture& capture);

  /// The clock value handed to the socket from now on.
  void set_now(uint64_t now_ns) { now_ns_ = now_ns; }

  /// A buffer of kMaxDatagramBytes for the next datagram; flushes first when all are taken. Valid until
  /// commit() or the next begin().
  std::span<uint8_t> begin();
  /// Queues `datagram`, a part of the buffer begin() gave.
  void commit(const platform::Address& to, std::span<uint8_t> datagram);

  /// Copies a handshake datagram in.
  void emit(const platform::Address& to, std::span<const uint8_t> datagram) override;

  /// Sends everything queued. What the back end does not take is lost, as if on the way.
  void flush();

  uint64_t emitted_count() const { return emitted_count_; }
  uint64_t emitted_bytes() const { return emitted_bytes_; }

 private:
  socket::DatagramSocket& socket_;
  Capture& capture_;
  std::unique_ptr<uint8_t[]> buffers_;
  std::array<socket::Datagram, kDatagrams> datagrams_{};
  size_t count_ = 0;
  uint64_t now_ns_ = 0;
  uint64_t emitted_count_ = 0;
  uint64_t emitted_bytes_ = 0;
};

}  // namespace lattice::reliability
