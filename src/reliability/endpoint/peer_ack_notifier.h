// Tells the channels of one peer, the handler and the bulk source which carried items were acked or lost.
#pragma once

#include "base/assert.h"
#include "reliability/endpoint/endpoint_handler.h"
#include "reliability/endpoint/peer.h"
#include "reliability/endpoint/statistics.h"
#include "reliability/recovery/sent_packet_history.h"

namespace lattice::reliability {

class PeerAckNotifier final : public AckNotifier {
 public:
  PeerAckNotifier(EndpointHandler& handler, EndpointStats& stats, Peer& peer)
      : handler_(handler), stats_(stats), peer_(peer) {}

  void notify_messages(uint8_t channel, uint32_t first, uint32_t count, uint64_t packet_seq,
                       bool acked) override {
    if (acked) {
      peer_.outgoing_channels.on_acked(channel, first, count,
                                       [this](uint32_t receipt) { notify_receipt(receipt, true); });
    } else {
      peer_.outgoing_channels.on_lost(channel, first, count, packet_seq);
    }
  }
  void notify_receipt(uint32_t receipt, bool acked) override {
    ++(acked ? stats_.receipts_acked : stats_.receipts_lost);
    handler_.on_receipt(peer_.handle, receipt, acked);
  }
  void notify_chunk(uint32_t chunk, bool acked) override {
    LATTICE_ASSERT(peer_.bulk != nullptr);
    peer_.bulk->on_chunk_receipt(peer_.handle, chunk, acked);
  }

 private:
  EndpointHandler& handler_;
  EndpointStats& stats_;
  Peer& peer_;
};

}  // namespace lattice::reliability
