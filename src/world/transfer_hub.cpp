#include "world/transfer_hub.h"

#include "base/assert.h"
#include "transport/wire/control_body.h"

namespace lattice::world {
namespace {

transfer::TransferConfig transfer_config(const WorldConfig& config) {
  transfer::TransferConfig out;
  out.max_connections = config.max_connections;
  out.channel = config.transfer_channel;
  out.max_size_bytes = config.max_transfer_bytes;
  return out;
}

}  // namespace

TransferHub::TransferHub(const WorldConfig& config, transfer::TransferHandler& handler)
    : channel_(config.transfer_channel), transfers_(transfer_config(config), *this, handler) {
  LATTICE_ASSERT(channel_ != 0);
}

void TransferHub::prepare(reliability::EndpointConfig* config) {
  const bool declared = config->channels.declare(channel_, wire::ChannelMode::kBulk);
  LATTICE_CHECK(declared);  // the channel number was checked with the configuration
  config->bulk = &transfers_;
}

std::optional<reliability::Verdict> TransferHub::on_message(transfer::ConnectionHandle connection,
                                                            wire::Channel channel,
                                                            std::span<const uint8_t> body) {
  transfer::TransferRefusal refusal;
  if (channel == wire::Channel::kControl && wire::is_transfer_control_type(body[0])) {
    refusal = transfers_.on_control(connection, body);
  } else if (static_cast<uint8_t>(channel) == channel_) {
    refusal = transfers_.on_chunk(connection, body);
  } else {
    return std::nullopt;
  }
  return closes(refusal) ? reliability::Verdict::kProtocolError : reliability::Verdict::kAccept;
}

bool TransferHub::send_control(transfer::ConnectionHandle connection, std::span<const uint8_t> body) {
  return endpoint_ != nullptr &&
         endpoint_->send(connection, wire::Channel::kControl, {}, body) == reliability::SendResult::kOk;
}

void TransferHub::close(transfer::ConnectionHandle connection) {
  endpoint_->disconnect(connection, connection::DisconnectReason::kResourceLimit, "control_queue");
}

}  // namespace lattice::world
