// One end of a large transfer on an Endpoint: takes every offer into memory of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reliability/endpoint/endpoint.h"
#include "transfer/transfers.h"

namespace bench {

class TransferEnd final : private lattice::transfer::TransferLink,
                          private lattice::transfer::TransferHandler {
 public:
  static constexpr uint8_t kChannel = 13;

  TransferEnd() : transfers_(config(), *this, *this) {}

  /// Declares the channel and names the source of chunks; before the endpoint is made of `out`.
  void prepare(lattice::reliability::EndpointConfig* out) {
    out->channels.declare(kChannel, lattice::wire::ChannelMode::kBulk);
    out->bulk = &transfers_;
  }
  void bind(lattice::reliability::Endpoint& endpoint) { endpoint_ = &endpoint; }

  /// Offers `data`, which is borrowed until done().
  bool start(lattice::reliability::ConnectionHandle connection, std::span<const uint8_t> data) {
    lattice::transfer::TransferId id;
    return transfers_.start(connection, data.size(), data.data(), {}, &id) ==
           lattice::transfer::TransferResult::kOk;
  }
  /// Before every update_and_send().
  void update() { transfers_.update(); }
  /// A message of the control or the transfer channel.
  lattice::reliability::Verdict on_message(lattice::reliability::ConnectionHandle connection,
                                           lattice::reliability::Channel channel,
                                           std::span<const uint8_t> body) {
    const auto refusal = channel == lattice::reliability::Channel::kControl
                             ? transfers_.on_control(connection, body)
                             : transfers_.on_chunk(connection, body);
    return lattice::transfer::closes(refusal) ? lattice::reliability::Verdict::kProtocolError
                                              : lattice::reliability::Verdict::kAccept;
  }

  bool done() const { return done_; }
  std::span<const uint8_t> received() const { return memory_; }

 private:
  static lattice::transfer::TransferConfig config() {
    lattice::transfer::TransferConfig out;
    out.channel = kChannel;
    return out;
  }

  // TransferLink
  bool send_control(lattice::reliability::ConnectionHandle connection,
                    std::span<const uint8_t> body) override {
    return endpoint_->send(connection, lattice::reliability::Channel::kControl, {}, body) ==
           lattice::reliability::SendResult::kOk;
  }
  void close(lattice::reliability::ConnectionHandle connection) override {
    endpoint_->disconnect(connection, lattice::connection::DisconnectReason::kResourceLimit);
  }
  void wake(lattice::reliability::ConnectionHandle connection) override { endpoint_->wake(connection); }

  // TransferHandler
  void on_offer(lattice::reliability::ConnectionHandle connection, lattice::transfer::TransferId transfer,
                uint64_t size_bytes, std::span<const uint8_t>) override {
    memory_.resize(size_bytes);
    transfers_.accept(connection, transfer, memory_);
  }
  bool read(lattice::reliability::ConnectionHandle, lattice::transfer::TransferId, uint64_t,
            std::span<uint8_t>) override {
    return false;
  }
  bool write(lattice::reliability::ConnectionHandle, lattice::transfer::TransferId, uint64_t,
             std::span<const uint8_t>) override {
    return false;
  }
  void on_progress(lattice::reliability::ConnectionHandle, lattice::transfer::TransferId, uint64_t,
                   uint64_t) override {}
  void on_end(lattice::reliability::ConnectionHandle, lattice::transfer::TransferId,
              lattice::transfer::TransferEnding ending) override {
    done_ = ending == lattice::transfer::TransferEnding::kDone;
  }

  lattice::transfer::Transfers transfers_;
  lattice::reliability::Endpoint* endpoint_ = nullptr;
  std::vector<uint8_t> memory_;
  bool done_ = false;
};

}  // namespace bench
