// The source of chunks of large transfers. An Endpoint asks for a chunk when a connection has sent everything
// else and has budget left. So chunks need no queue of their own, and no game message waits behind a chunk.
//
// A chunk travels in a message of a bulk channel. The endpoint reports each chunk once as acked or lost, as
// for a receipt. The source offers a lost chunk again.
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
  /// must be cheap. After false the answer may change with a callback, a chunk's receipt or a call of send()
  /// for that connection; any other change must be followed by Endpoint::wake(). The other functions are
  /// called for connected connections only.
  virtual bool has_chunk(connection::ConnectionHandle connection) = 0;

  struct Taken {
    uint8_t channel = 0;  ///< One declared as bulk.
    uint32_t chunk = 0;   ///< Any value; on_chunk_receipt() gets it back.
  };
  /// Writes the body of the next message to the front of `out` and returns its length. Called only after
  /// has_chunk() returned true. `out` is the room in the datagram: kMaxUnreliableBody to kMaxBulkBody bytes.
  /// A body of `floor_bytes`, at least kMaxUnreliableBody, fits a datagram that every path carries; a chunk
  /// that was lost once must not be longer. Returns 0 if there is no chunk after all; then has_chunk() must
  /// no longer offer it. Must not call the endpoint.
  virtual size_t take_chunk(connection::ConnectionHandle connection, std::span<uint8_t> out,
                            size_t floor_bytes, Taken* taken) = 0;

  /// Once for every chunk taken, at the latest before on_disconnected(). Must not call the endpoint.
  virtual void on_chunk_receipt(connection::ConnectionHandle connection, uint32_t chunk, bool acked) = 0;
};

}  // namespace lattice::reliability
