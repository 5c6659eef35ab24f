// What large transfers need from below and tell above.
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

/// The way control messages leave.
class TransferLink {
 public:
  virtual ~TransferLink() = default;
  /// Sends `body` on the control channel; copied. False: the queue is full, or there is no connection.
  virtual bool send_control(ConnectionHandle connection, std::span<const uint8_t> body) = 0;
  /// Ends the connection for want of room: the peer lets all of the control channel's queue wait.
  virtual void close(ConnectionHandle connection) = 0;
  /// There are chunks to send again, after nothing that the connection itself would notice.
  virtual void wake(ConnectionHandle connection) = 0;
};

/// Callbacks may start, accept, hold and cancel transfers, except for read().
class TransferHandler {
 public:
  virtual ~TransferHandler() = default;

  /// The peer offers `size_bytes`; `label` is what its application says about them. Answer with accept() or
  /// cancel(), now or later.
  virtual void on_offer(ConnectionHandle connection, TransferId transfer, uint64_t size_bytes,
                        std::span<const uint8_t> label) = 0;

  /// Fills all of `out` with the bytes of an outgoing transfer from `offset` on; may be asked again for the
  /// same ones. False: they cannot be had; the transfer fails. Called while a packet is built: must do
  /// nothing else.
  virtual bool read(ConnectionHandle connection, TransferId transfer, uint64_t offset,
                    std::span<uint8_t> out) = 0;

  /// Bytes of an incoming transfer, each exactly once, in any order of chunks. False: they cannot be stored;
  /// the transfer fails.
  virtual bool write(ConnectionHandle connection, TransferId transfer, uint64_t offset,
                     std::span<const uint8_t> bytes) = 0;

  /// Outgoing: acknowledged; incoming: stored. At most once per update() and transfer, and only when it
  /// changed.
  virtual void on_progress(ConnectionHandle connection, TransferId transfer, uint64_t done_bytes,
                           uint64_t size_bytes) = 0;

  /// Once for every transfer that was offered to or by this side, unless this side cancelled it.
  virtual void on_end(ConnectionHandle connection, TransferId transfer, TransferEnding ending) = 0;
};

}  // namespace lattice::transfer
