// Builds the plaintext of one Payload packet: exactly one ack block, then as many messages as fit (R-01,
//
//
// The ack block goes into the header of the first message if that message is reliable, otherwise into an ack
// message in front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/byte_cursor.h"
#include "reliability/channel/outgoing_message.h"
#include "transport/wire/message_framing.h"

namespace lattice::reliability {

class PacketBuilder {
 public:
  /// Writes into `out`, whose size is the plaintext budget. `ack_delay_ns` is sent to the peer if it is at
  /// least 1 ms and the ack message has room for it.
  PacketBuilder(std::span<uint8_t> out, const wire::AckBlock& ack, uint64_t ack_delay_ns)
      : writer_(out), ack_(ack), ack_delay_ns_(ack_delay_ns) {}

  /// Adds a message of a channel of `mode`; false, and nothing changed, when it does not fit any more.
  bool add(wire::ChannelMode mode, const OutgoingMessage& message) {
    const bool is_short = has_ack_ && wire::is_reliable(mode) && !message.is_fragment();
    if (!is_short) return add_with_head(mode, message);
    return wire::write_short_reliable(writer_, message.channel, message.flags, message.id, message.body);
  }
  /// Adds only the ack block, with its delay. The packet must be empty before.
  void add_ack_only();

  /// Makes the plaintext `bytes` long, if it is shorter and they fit (W-30). Nothing may be added after.
  void pad_to(size_t bytes) {
    if (bytes > size()) wire::write_padding(writer_, bytes - size());
  }

  bool empty() const { return writer_.size() == 0; }
  size_t size() const { return writer_.size(); }

 private:
  bool add_with_head(wire::ChannelMode mode, const OutgoingMessage& message);
  bool add_ack_before(wire::ChannelMode mode, const OutgoingMessage& message);

  base::ByteWriter writer_;
  wire::AckBlock ack_;
  uint64_t ack_delay_ns_;
  bool has_ack_ = false;
};

}  // namespace lattice::reliability
