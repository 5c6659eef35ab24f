// Puts messages from the layer above into the queues: checks, back-pressure, sequences,
// and fragmented messages, which are queued whole or not at all (F-01, F-04).
#include <algorithm>

#include "base/assert.h"
#include "reliability/channel/send_memory.h"
#include "reliability/endpoint/connection.h"
#include "reliability/endpoint/connection_notifier.h"
#include "transport/wire/control_body.h"

namespace lattice::reliability {
namespace {

constexpr auto kControl = static_cast<uint8_t>(Channel::kControl);

uint8_t wire_flags(MessageFlags flags) {
  return static_cast<uint8_t>((flags.is_rpc ? wire::kFlagRpc : 0) |
                              (flags.is_snapshot ? wire::kFlagSnapshot : 0));
}

}  // namespace

bool Connection::is_within_share(size_t messages, size_t bytes) const {
  const OutgoingChannels::Queued queued = outgoing_channels_.of_application();
  return queue_memory_bytes(messages + queued.messages, bytes + queued.bytes) <= kSendShareBytes;
}

SendResult Connection::send(uint8_t channel, MessageFlags flags, std::span<const uint8_t> body,
                            uint32_t receipt) {
  if (!connected()) return SendResult::kNotConnected;
  wake();
  if (channel >= wire::kChannelCount || flags.is_fragment) return SendResult::kInvalidChannel;
  const ChannelMode mode = context_.config.channels.mode(channel);
  if (mode > ChannelMode::kReliableOrdered) return SendResult::kInvalidChannel;
  if (channel == kControl &&
      (body.empty() || !wire::is_known_control_type(body[0]) || wire::is_transport_control_type(body[0]))) {
    return SendResult::kInvalidChannel;
  }
  if (body.size() > max_body_bytes(mode)) return SendResult::kTooLarge;
  OutgoingMessage message;
  message.channel = channel;
  message.flags = wire_flags(flags);
  message.receipt = receipt;
  message.body = body;
  const bool is_bounded = channel != kControl && !OutgoingChannels::is_engine(message);
  if (is_bounded && !may_queue(1, body.size())) return SendResult::kWouldBlock;
  return outgoing_channels_.queue(message, now_ns()) ? SendResult::kOk : SendResult::kWouldBlock;
}

void Connection::give_up_stale() {
  Notifier notifier(*this);
  const uint32_t given_up = outgoing_channels_.give_up(
      now_ns(), [&notifier](uint32_t receipt) { notifier.notify_receipt(receipt, false); });
  if (given_up != 0) count(Refusal::kMessageExpired, given_up);
}

void Connection::drop_waiting_snapshot() {
  Notifier notifier(*this);
  outgoing_channels_.drop_engine([&notifier](uint32_t receipt) { notifier.notify_receipt(receipt, false); });
}

SendResult Connection::send_fragments(uint8_t channel, MessageFlags flags, uint16_t group, size_t unit_bytes,
                                      std::span<const uint8_t> body, uint32_t receipt) {
  if (!connected()) return SendResult::kNotConnected;
  wake();
  if (channel >= kControl || flags.is_fragment || flags.is_snapshot) return SendResult::kInvalidChannel;
  const ChannelMode mode = context_.config.channels.mode(channel);
  if (mode > ChannelMode::kReliableOrdered) return SendResult::kInvalidChannel;
  LATTICE_CHECK(unit_bytes != 0 && unit_bytes <= kFragmentUnitBytes && body.size() > unit_bytes);
  const size_t count = (body.size() + unit_bytes - 1) / unit_bytes;
  if (count > kMaxFragments) return SendResult::kTooLarge;
  if (!may_queue(count, body.size() + count * sizeof(wire::FragmentHeader))) {
    return SendResult::kWouldBlock;
  }
  OutgoingMessage message;
  message.channel = channel;
  message.flags = static_cast<uint8_t>(wire_flags(flags) | wire::kFlagFragment);
  message.receipt = receipt;
  message.fragment.group = group;
  message.fragment.count = static_cast<uint16_t>(count);
  return outgoing_channels_.queue_fragments(message, unit_bytes, body, now_ns()) ? SendResult::kOk
                                                                                 : SendResult::kWouldBlock;
}

}  // namespace lattice::reliability
