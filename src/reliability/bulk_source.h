// Where an Endpoint gets blocks of large transfers from: it asks when everything else of a connection has
// been sent and there is budget left, so that nothing waits in a queue of its own and nothing of the game
// waits behind it.
//
// A block travels in a message of a bulk channel. What became of its packet is told once per block, as for a
// receipt; a lost block is the source's to offer again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/connection/connection_table.h"

namespace lattice::reliability {

class BulkSource {
 public:
  virtual ~BulkSource() = default;

  /// Size of the message body to send next on `connection`, 1 to kMaxUnreliableBody; 0: none now. Asked at
  /// every visit, so it must be cheap. After 0 the answer may change with a callback, a block's fate or a
  /// call of send() for that connection; whatever else changes it is followed by Endpoint::wake(). The rest
  /// is called for connected ones only.
  virtual size_t next_block_bytes(connection::ConnectionHandle connection) = 0;

  struct Taken {
    uint8_t channel = 0;  ///< One declared as bulk.
    uint32_t block = 0;   ///< Comes back in on_block_fate(); any value.
  };
  /// Writes that body to all of `out`. False: it cannot be had after all; then next_block_bytes() must no
  /// longer offer it. Must not call the endpoint.
  virtual bool take_block(connection::ConnectionHandle connection, std::span<uint8_t> out, Taken* taken) = 0;

  /// Once for every block taken, at the latest before on_disconnected(). Must not call the endpoint.
  virtual void on_block_fate(connection::ConnectionHandle connection, uint32_t block, bool acked) = 0;
};

}  // namespace lattice::reliability
