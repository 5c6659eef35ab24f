// Tells the channels of one peer, and the handler, what became of carried items.
#pragma once

#include "base/assert.h"
#include "reliability/endpoint_handler.h"
#include "reliability/peer.h"
#include "reliability/sent_packet_history.h"
#include "reliability/statistics.h"

namespace lattice::reliability {

class PeerFate final : public CarriedFate {
 public:
  PeerFate(EndpointHandler& handler, EndpointStats& stats, Peer& peer)
      : handler_(handler), stats_(stats), peer_(peer) {}

  void on_message_fate(uint8_t channel, uint16_t message_id, uint64_t packet_seq, bool acked) override {
    LATTICE_ASSERT(peer_.reliable[channel] != nullptr);
    const uint32_t receipt = peer_.reliable[channel]->send.on_fate({message_id}, packet_seq, acked);
    if (receipt != 0) on_receipt_fate(receipt, true);
  }
  void on_receipt_fate(uint32_t receipt, bool acked) override {
    ++(acked ? stats_.receipts_acked : stats_.receipts_lost);
    handler_.on_receipt(peer_.handle, receipt, acked);
  }
  void on_block_fate(uint32_t block, bool acked) override {
    LATTICE_ASSERT(peer_.bulk != nullptr);
    peer_.bulk->on_block_fate(peer_.handle, block, acked);
  }

 private:
  EndpointHandler& handler_;
  EndpointStats& stats_;
  Peer& peer_;
};

}  // namespace lattice::reliability
