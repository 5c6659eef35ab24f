#include "reliability/channel/packet_builder.h"

#include "base/assert.h"
#include "reliability/limits.h"

namespace lattice::reliability {

bool PacketBuilder::add_with_head(wire::ChannelMode mode, const OutgoingMessage& message) {
  const bool reliable = wire::is_reliable(mode);
  const bool acks_first = !has_ack_ && !reliable;
  if (acks_first && !add_ack_before(mode, message)) return false;
  const wire::MessageHead head{message.channel, mode, message.flags, message.id, message.fragment};
  const bool written = wire::write_message(writer_, head, has_ack_ ? nullptr : &ack_, message.body);
  LATTICE_CHECK(written || !acks_first);
  has_ack_ = has_ack_ || written;
  return written;
}

// Adds the ack message in front of an unreliable message, if both fit; with the delay, if it fits too.
bool PacketBuilder::add_ack_before(wire::ChannelMode mode, const OutgoingMessage& message) {
  const size_t message_bytes =
      wire::message_overhead_bytes(mode, message.is_fragment(), true) + message.body.size();
  const bool with_delay = ack_delay_ns_ >= kMinReportedAckDelayNs &&
                          writer_.remaining() >= wire::kAckMessageWithDelayBytes + message_bytes;
  const size_t ack_bytes = with_delay ? wire::kAckMessageWithDelayBytes : wire::kAckMessageBytes;
  if (writer_.remaining() < ack_bytes + message_bytes) return false;
  has_ack_ = wire::write_ack_message(writer_, ack_, with_delay, ack_delay_ns_);
  LATTICE_CHECK(has_ack_);
  return true;
}

void PacketBuilder::add_ack_only() {
  LATTICE_ASSERT(empty());
  has_ack_ = wire::write_ack_message(writer_, ack_, true, ack_delay_ns_);
  LATTICE_CHECK(has_ack_);
}

}  // namespace lattice::reliability
