// The large transfers of a world: joins the transfer layer to the endpoint's control and bulk channels.
#pragma once

#include <optional>

#include "reliability/endpoint/endpoint.h"
#include "transfer/transfers.h"
#include "world/world_config.h"

namespace lattice::world {

class TransferHub final : private transfer::TransferLink {
 public:
  /// `config.transfer_channel` is not 0; `handler` is borrowed.
  TransferHub(const WorldConfig& config, transfer::TransferHandler& handler);

  /// Declares the channel and becomes the endpoint's source of chunks. Call bind() with the endpoint that is
  /// made from `config`.
  void prepare(reliability::EndpointConfig* config);
  void bind(reliability::Endpoint& endpoint) { endpoint_ = &endpoint; }

  transfer::Transfers& transfers() { return transfers_; }
  const transfer::Transfers& transfers() const { return transfers_; }

  /// The verdict on a message of the control or the bulk channel; nullopt when the message is not about
  /// transfers.
  std::optional<reliability::Verdict> on_message(transfer::ConnectionHandle connection, wire::Channel channel,
                                                 std::span<const uint8_t> body);

 private:
  bool send_control(transfer::ConnectionHandle connection, std::span<const uint8_t> body) override;
  void close(transfer::ConnectionHandle connection) override;
  void wake(transfer::ConnectionHandle connection) override { endpoint_->wake(connection); }

  uint8_t channel_;
  transfer::Transfers transfers_;
  reliability::Endpoint* endpoint_ = nullptr;
};

}  // namespace lattice::world
