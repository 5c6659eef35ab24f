// A server and a client that exchange large transfers over the simulated network.
#pragma once

#include <functional>

#include "unit/reliability/endpoint_rig.h"
#include "unit/transfer/transfer_app.h"

namespace lattice::test {

inline constexpr auto kTransferChannel = static_cast<Channel>(13);

/// One side: its transfers, connected to an endpoint as in a world.
class TransferSide final : public transfer::TransferLink {
 public:
  explicit TransferSide(const transfer::TransferConfig& config) : transfers(config, *this, app) {
    app.transfers = &transfers;
  }

  void attach(Node& node) {
    node_ = &node;
    node.handler.on_body = [](void* self, ConnectionHandle connection, Channel channel,
                              std::span<const uint8_t> body) {
      return static_cast<TransferSide*>(self)->on_body(connection, channel, body);
    };
    node.handler.context = this;
    node.handler.record = false;
  }

  bool send_control(ConnectionHandle connection, std::span<const uint8_t> body) override {
    return node_->endpoint->send(connection, Channel::kControl, {}, body) == SendResult::kOk;
  }
  void close(ConnectionHandle connection) override {
    node_->endpoint->disconnect(connection, connection::DisconnectReason::kResourceLimit);
  }
  void wake(ConnectionHandle connection) override { node_->endpoint->wake(connection); }

  TransferApp app;
  transfer::Transfers transfers;
  uint64_t other_messages = 0;  ///< Of other channels.
  /// Called for each of them.
  std::function<void(std::span<const uint8_t>)> on_other;

 private:
  reliability::Verdict on_body(ConnectionHandle connection, Channel channel, std::span<const uint8_t> body) {
    auto refusal = transfer::TransferRefusal::kNone;
    if (channel == Channel::kControl) {
      refusal = transfers.on_control(connection, body);
    } else if (channel == kTransferChannel) {
      refusal = transfers.on_chunk(connection, body);
    } else {
      ++other_messages;
      if (on_other) on_other(body);
    }
    return closes(refusal) ? reliability::Verdict::kProtocolError : reliability::Verdict::kAccept;
  }

  Node* node_ = nullptr;
};

class TransferRig {
 public:
  explicit TransferRig(RigOptions options = {}) : rig(with_transfers(std::move(options))) {
    server.attach(rig.server);
    client.attach(rig.client());
  }

  void step() {
    server.transfers.update();
    client.transfers.update();
    rig.step();
  }
  template <class Condition>
  bool run_until(uint64_t at_most_ns, Condition condition) {
    const uint64_t end_ns = rig.now_ns + at_most_ns;
    while (rig.now_ns < end_ns && !condition()) step();
    return condition();
  }
  /// From server to client.
  transfer::TransferId start(uint64_t size_bytes) {
    transfer::TransferId id;
    EXPECT_EQ(server.transfers.start(rig.server.connection, size_bytes, nullptr, {}, &id),
              transfer::TransferResult::kOk);
    return id;
  }
  bool run_until_done(uint64_t at_most_ns) {
    return run_until(at_most_ns, [this] { return !server.app.ended.empty(); });
  }

 private:
  static transfer::TransferConfig config() {
    transfer::TransferConfig out;
    out.max_connections = 8;
    out.channel = static_cast<uint8_t>(kTransferChannel);
    return out;
  }
  RigOptions with_transfers(RigOptions options) {
    for (reliability::EndpointConfig* side : {&options.server, &options.client}) {
      side->channels.declare(static_cast<uint8_t>(kTransferChannel), reliability::ChannelMode::kBulk);
    }
    options.server.bulk = &server.transfers;
    options.client.bulk = &client.transfers;
    return options;
  }

 public:
  TransferSide server{config()};  ///< Before the rig, whose endpoints ask it for chunks.
  TransferSide client{config()};
  EndpointRig rig;
};

}  // namespace lattice::test
