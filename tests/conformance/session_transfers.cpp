#include "conformance/session_transfers.h"

#include <cstring>

#include "transport/wire/control_body.h"

namespace lattice::test {
namespace {

using transfer::TransferEnding;
using transfer::TransferId;

// Offers of each end, in this order; their numbers follow.
constexpr uint16_t kWanted = 1, kRefused = 2, kCancelled = 3;
constexpr uint64_t kWantedBytes = 90'001;
// The path has been found to carry large datagrams by then.
constexpr uint32_t kOffersTick = 60, kGoOnTick = 80, kCancelTick = 90;

uint8_t byte_at(uint64_t offset) {
  return static_cast<uint8_t>(offset * 0x9E3779B97F4A7C15u >> 56);
}

transfer::TransferConfig config() {
  transfer::TransferConfig out;
  out.channel = kSessionBulkChannel;
  return out;
}

}  // namespace

SessionTransfers::SessionTransfers() : transfers_(config(), *this, *this) {}

void SessionTransfers::prepare(reliability::EndpointConfig* config) {
  config->channels.declare(kSessionBulkChannel, wire::ChannelMode::kBulk);
  config->bulk = &transfers_;
}

void SessionTransfers::attach(Node& node) {
  node_ = &node;
  node.handler.context = this;
  node.handler.on_body = [](void* context, ConnectionHandle connection, Channel channel,
                            std::span<const uint8_t> body) {
    transfer::Transfers& transfers = static_cast<SessionTransfers*>(context)->transfers_;
    auto refusal = transfer::TransferRefusal::kNone;
    if (channel == Channel::kControl && wire::is_transfer_control_type(body[0])) {
      refusal = transfers.on_control(connection, body);
    } else if (static_cast<uint8_t>(channel) == kSessionBulkChannel) {
      refusal = transfers.on_chunk(connection, body);
    }
    return closes(refusal) ? reliability::Verdict::kProtocolError : reliability::Verdict::kAccept;
  };
}

void SessionTransfers::offer(uint64_t size_bytes, const char* label) {
  TransferId id;
  const std::span<const char> text(label, std::strlen(label));
  const auto result = transfers_.start(node_->connection, size_bytes, nullptr,
                                       {reinterpret_cast<const uint8_t*>(text.data()), text.size()}, &id);
  LATTICE_CHECK(result == transfer::TransferResult::kOk);
}

void SessionTransfers::step(uint32_t tick) {
  if (tick == kOffersTick) {
    offer(kWantedBytes, "map");
    offer(5000, "no");
    offer(20'000'000, "");
  }
  if (tick == kGoOnTick) {
    transfers_.hold(node_->connection, {kCancelled, true}, false);
    transfers_.hold(node_->connection, {kCancelled, true}, true);
  }
  if (tick == kCancelTick) transfers_.cancel(node_->connection, {kCancelled, false});
  transfers_.update();
}

bool SessionTransfers::finished() const {
  const auto wanted = incoming_.find(kWanted);
  if (wanted == incoming_.end() || wanted->second.size() != kWantedBytes) return false;
  for (uint64_t at = 0; at < kWantedBytes; ++at) {
    if (wanted->second[at] != byte_at(at)) return false;
  }
  const auto ended = [](const auto& endings, uint16_t number, TransferEnding as) {
    const auto found = endings.find(number);
    return found != endings.end() && found->second == as;
  };
  return ended(out_ended_, kWanted, TransferEnding::kDone) &&
         ended(out_ended_, kRefused, TransferEnding::kRefused) &&
         ended(in_ended_, kCancelled, TransferEnding::kCancelled);
}

bool SessionTransfers::send_control(transfer::ConnectionHandle connection, std::span<const uint8_t> body) {
  return node_->endpoint->send(connection, Channel::kControl, {}, body) == SendResult::kOk;
}

void SessionTransfers::close(transfer::ConnectionHandle connection) {
  node_->endpoint->disconnect(connection, connection::DisconnectReason::kResourceLimit);
}

void SessionTransfers::wake(transfer::ConnectionHandle connection) {
  node_->endpoint->endpoint().wake(connection);
}

void SessionTransfers::on_offer(transfer::ConnectionHandle connection, TransferId id, uint64_t size_bytes,
                                std::span<const uint8_t> label) {
  if (label.size() == 2) {
    transfers_.cancel(connection, id);
    return;
  }
  incoming_[id.number].resize(size_bytes);
  transfers_.accept(connection, id, incoming_[id.number]);
  if (label.empty()) transfers_.hold(connection, id, true);  // None of its chunks fills the record.
}

bool SessionTransfers::read(transfer::ConnectionHandle, TransferId, uint64_t offset, std::span<uint8_t> out) {
  for (uint8_t& byte : out) byte = byte_at(offset++);
  return true;
}

bool SessionTransfers::write(transfer::ConnectionHandle, TransferId, uint64_t, std::span<const uint8_t>) {
  return false;  // Everything comes into memory.
}

void SessionTransfers::on_end(transfer::ConnectionHandle, TransferId id, TransferEnding ending) {
  (id.incoming ? in_ended_ : out_ended_)[id.number] = ending;
}

}  // namespace lattice::test
