// The interfaces of large transfers: to the endpoint below and to the handler above.
#pragma once

#include <cstdint>
#include <span>

#include "transport/connection/connection_table.h"
#include "transport/wire/transfer_bodies.h"

namespace lattice::transfer {

using connection::ConnectionHandle;

/// A transfer of one connection. Outgoing and incoming ones are numbered apart.
struct TransferId {
  uint16_t number = 0;
  bool incoming = false;

  friend bool operator==(TransferId, TransferId) = default;
};

enum class TransferEnding : uint8_t {
  kDone,       ///< The receiver has every byte.
  kRefused,    ///< By the other side's application.
  kCancelled,  ///< By the other side's application.
  kFailed,     ///< read() or write() failed here, or on the other side.
  kTooLarge,   ///< Over the other side's limit.
  kConnectionLost,
};

/// The connection to the endpoint below.
class TransferLink {
 public:
  virtual ~TransferLink() = default;
  /// Sends `body` on the control channel; copied. False: the queue is full, or there is no connection.
  virtual bool send_control(ConnectionHandle connection, std::span<const uint8_t> body) = 0;
  /// Ends the connection because the queue of the control channel is full: the peer does not acknowledge it.
  virtual void close(ConnectionHandle connection) = 0;
  /// A connection has chunks to send again, for a reason that the connection itself does not notice.
  virtual void wake(ConnectionHandle connection) = 0;
};

/// Callbacks may start, accept, hold and cancel transfers, except for read().
class TransferHandler {
 public:
  virtual ~TransferHandler() = default;

  /// The peer offers `size_bytes`; `label` comes from its application. Answer with accept() or cancel(), now
  /// or later.
  virtual void on_offer(ConnectionHandle connection, TransferId transfer, uint64_t size_bytes,
                        std::span<const uint8_t> label) = 0;

  /// Fills all of `out` with the bytes of an outgoing transfer from `offset` on. May be called again for the
  /// same bytes. False: the bytes cannot be read, and the transfer fails. Called while a packet is built, so
  /// it must call no other function of the library.
  virtual bool read(ConnectionHandle connection, TransferId transfer, uint64_t offset,
                    std::span<uint8_t> out) = 0;

  /// Stores bytes of an incoming transfer. Each byte comes exactly once; chunks come in any order. False: the
  /// bytes cannot be stored, and the transfer fails.
  virtual bool write(ConnectionHandle connection, TransferId transfer, uint64_t offset,
                     std::span<const uint8_t> bytes) = 0;

  /// Reports the acknowledged bytes of an outgoing or the stored bytes of an incoming transfer. At most once
  /// per update() and transfer, and only after a change.
  virtual void on_progress(ConnectionHandle connection, TransferId transfer, uint64_t done_bytes,
                           uint64_t size_bytes) = 0;

  /// Once for every transfer that was offered to or by this side, unless this side cancelled it.
  virtual void on_end(ConnectionHandle connection, TransferId transfer, TransferEnding ending) = 0;
};

}  // namespace lattice::transfer
