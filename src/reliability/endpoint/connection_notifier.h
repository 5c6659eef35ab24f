// Tells the channels of a connection, the handler and the bulk source which carried items were acked or lost.
#pragma once

#include "base/assert.h"
#include "reliability/endpoint/connection.h"
#include "reliability/recovery/sent_packet_history.h"

namespace lattice::reliability {

class Connection::Notifier final : public AckNotifier {
 public:
  explicit Notifier(Connection& connection) : connection_(connection) {}

  void notify_messages(uint8_t channel, uint32_t first, uint32_t count, uint64_t packet_seq,
                       bool acked) override {
    if (acked) {
      connection_.outgoing_channels_.on_acked(channel, first, count,
                                              [this](uint32_t receipt) { notify_receipt(receipt, true); });
    } else {
      connection_.outgoing_channels_.on_lost(channel, first, count, packet_seq);
    }
  }
  void notify_receipt(uint32_t receipt, bool acked) override {
    const ConnectionContext& context = connection_.context_;
    ++(acked ? context.totals.receipts_acked : context.totals.receipts_lost);
    context.handler.on_receipt(connection_.handle_, receipt, acked);
  }
  void notify_chunk(uint32_t chunk, bool acked) override {
    BulkSource* source = connection_.context_.config.bulk;
    LATTICE_ASSERT(source != nullptr);
    source->on_chunk_receipt(connection_.handle_, chunk, acked);
  }

 private:
  Connection& connection_;
};

}  // namespace lattice::reliability
