// Where an Endpoint gets chunks of large transfers from: it asks when everything else of a connection has
// been sent and there is budget left, so that nothing waits in a queue of its own and nothing of the game
// waits behind it.
//
// A chunk travels in a message of a bulk channel. What became of its packet is told once per chunk, as for a
// receipt; a lost chunk is the source's to offer again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/connection/connection_table.h"

namespace lattice::reliability {

class BulkSource {
 public:
  virtual ~BulkSource() = default;

  /// Whether there is a chunk to send on `connection` now. Asked whenever the connection is serviced, so it
  /// must be cheap. After false the answer may change with a callback, a chunk's fate or a call of send() for
  /// that connection; whatever else changes it is followed by Endpoint::wake(). The rest is called for
  /// connected ones only.
  virtual bool has_chunk(connection::ConnectionHandle connection) = 0;

  struct Taken {
    uint8_t channel = 0;  ///< One declared as bulk.
    uint32_t chunk = 0;   ///< Comes back in on_chunk_receipt(); any value.
  };
  /// Writes the body of the message to send next to the front of `out` and returns its length; has_chunk()
  /// said true. `out` is what the datagram has room for, kMaxUnreliableBody to kMaxBulkBody bytes; its first
  /// `floor_bytes`, not less than the former, fit a datagram that every path carries: a chunk that was lost
  /// once takes no more. 0: the chunk cannot be had after all; then has_chunk() must no longer offer it.
  /// Must not call the endpoint.
  virtual size_t take_chunk(connection::ConnectionHandle connection, std::span<uint8_t> out,
                            size_t floor_bytes, Taken* taken) = 0;

  /// Once for every chunk taken, at the latest before on_disconnected(). Must not call the endpoint.
  virtual void on_chunk_receipt(connection::ConnectionHandle connection, uint32_t chunk, bool acked) = 0;
};

}  // namespace lattice::reliability
