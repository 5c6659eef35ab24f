#include "reliability/packet_builder.h"

#include "base/assert.h"
#include "reliability/limits.h"

namespace lattice::reliability {

bool PacketBuilder::add(wire::ChannelMode mode, const OutgoingMessage& message) {
  const bool reliable = wire::is_reliable(mode);
  const bool block_in_header = reliable && !has_ack_;
  const size_t message_bytes =
      wire::message_overhead_bytes(mode, message.is_fragment(), !block_in_header) + message.body.size();
  size_t ack_bytes = 0;
  bool with_delay = false;
  if (!has_ack_ && !reliable) {
    with_delay = ack_delay_ns_ >= kMinReportedAckDelayNs &&
                 writer_.remaining() >= wire::kAckMessageWithDelayBytes + message_bytes;
    ack_bytes = with_delay ? wire::kAckMessageWithDelayBytes : wire::kAckMessageBytes;
  }
  if (writer_.remaining() < ack_bytes + message_bytes) return false;
  if (ack_bytes != 0) {
    const bool written = wire::write_ack_message(writer_, ack_, with_delay, ack_delay_ns_);
    LATTICE_CHECK(written);
  }
  wire::Message framed;
  framed.channel = message.channel;
  framed.mode = mode;
  framed.flags = message.flags;
  framed.id = message.id;
  framed.has_ack = block_in_header;
  framed.ack = ack_;
  framed.fragment = message.fragment;
  framed.body = message.body;
  const bool written = wire::write_message(writer_, framed);
  LATTICE_CHECK(written);
  has_ack_ = true;
  return true;
}

void PacketBuilder::add_ack_only() {
  LATTICE_ASSERT(empty());
  has_ack_ = wire::write_ack_message(writer_, ack_, true, ack_delay_ns_);
  LATTICE_CHECK(has_ack_);
}

}  // namespace lattice::reliability
