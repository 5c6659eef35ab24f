#include "transport/wire/message_framing.h"

#include <algorithm>

namespace lattice::wire {
namespace {

// bits(length, 14) followed by two zero bits is the big-endian u16 of length << 2 (Y-01, Y-04).
void write_length(base::ByteWriter& writer, size_t body_bytes) {
  const auto packed = static_cast<uint16_t>(body_bytes << 2);
  writer.u8(static_cast<uint8_t>(packed >> 8));
  writer.u8(static_cast<uint8_t>(packed));
}

uint8_t first_byte(uint8_t channel, uint8_t flags) {
  return static_cast<uint8_t>((channel << 4) | flags);
}

}  // namespace

bool MessageReader::refuse(FramingError error) {
  if (error_ == FramingError::kNone) error_ = error;
  reader_.fail();
  return false;
}

inline bool MessageReader::read_channel_header(Message* message) {
  if (message->mode == ChannelMode::kUnreliableSequenced) {
    message->id.value = reader_.u16();
  } else if (is_reliable(message->mode)) {
    message->id.value = reader_.u16();
    if ((message->flags & kFlagAckElided) == 0) {
      message->has_ack = true;
      message->ack.ack_seq = reader_.u16();
      message->ack.ack_bitfield = reader_.u32();
    }
  }
  return reader_.ok() ? true : refuse(FramingError::kTruncated);
}

inline bool MessageReader::read_fragment_header(Message* message) {
  if (!message->is_fragment()) return true;
  message->fragment.group = reader_.u16();
  message->fragment.index = reader_.u8();
  const uint8_t count = reader_.u8();
  if (!reader_.ok()) return refuse(FramingError::kTruncated);
  message->fragment.count = count == 0 ? uint16_t{256} : count;
  if (message->fragment.index >= message->fragment.count) return refuse(FramingError::kBadFragment);
  return true;
}

bool MessageReader::read_ack_body(Message* message) {
  base::ByteReader body(message->body);
  if (body.remaining() != kAckBlockBytes && body.remaining() != kAckBlockBytes + 2) {
    return refuse(FramingError::kBadAckMessage);
  }
  message->has_ack = true;
  message->ack.ack_seq = body.u16();
  message->ack.ack_bitfield = body.u32();
  if (body.remaining() != 0) {
    message->has_ack_delay = true;
    message->ack_delay_ns = uint64_t{body.u16()} * kAckDelayUnitNs;
  }
  message->body = {};
  return true;
}

bool MessageReader::next(Message* out) {
  if (error_ != FramingError::kNone || reader_.remaining() == 0) return false;
  // In place: a packet of small messages walks through here dozens of times, twice.
  Message& message = *out;
  message = {};
  const uint8_t first = reader_.u8();
  message.channel = first >> 4;
  message.flags = first & 0x0F;
  message.mode = channels_.mode(message.channel);
  if (message.mode == ChannelMode::kUndeclared) return refuse(FramingError::kUndeclaredChannel);
  const bool takes_flags = message.mode != ChannelMode::kAckMessage && message.mode != ChannelMode::kBulk;
  if (!takes_flags && message.flags != 0) return refuse(FramingError::kReservedFlag);
  if (!is_reliable(message.mode) && (message.flags & kFlagAckElided) != 0) {
    return refuse(FramingError::kReservedFlag);
  }
  if (!read_channel_header(&message) || !read_fragment_header(&message)) return false;
  const unsigned high = reader_.u8();
  const unsigned low = reader_.u8();
  if (!reader_.ok()) return refuse(FramingError::kTruncated);
  if ((low & 3) != 0) return refuse(FramingError::kReservedBits);
  message.body = reader_.bytes(((high << 8) | low) >> 2);
  if (!reader_.ok()) return refuse(FramingError::kTruncated);
  return message.mode != ChannelMode::kAckMessage || read_ack_body(&message);
}

FramingError check_framing(std::span<const uint8_t> plaintext, const ChannelTable& channels,
                           FramingSummary* out) {
  MessageReader reader(plaintext, channels);
  FramingSummary summary;
  bool has_ack = false;
  Message message;
  while (reader.next(&message)) {
    if (message.has_ack && !has_ack) {
      has_ack = true;
      summary.ack = message.ack;
      summary.has_ack_delay = message.has_ack_delay;
      summary.ack_delay_ns = message.ack_delay_ns;
    }
    if (message.mode != ChannelMode::kAckMessage) ++summary.message_count;
    if (is_reliable(message.mode)) ++summary.reliable_count;
  }
  if (reader.error() != FramingError::kNone) return reader.error();
  if (!has_ack) return FramingError::kMissingAck;
  *out = summary;
  return FramingError::kNone;
}

size_t message_overhead_bytes(ChannelMode mode, bool is_fragment, bool ack_elided) {
  size_t bytes = 1 + 2;
  if (mode == ChannelMode::kUnreliableSequenced) bytes += 2;
  if (is_reliable(mode)) bytes += ack_elided ? 2 : 2 + kAckBlockBytes;
  if (is_fragment) bytes += kFragmentHeaderBytes;
  return bytes;
}

bool write_message(base::ByteWriter& writer, const Message& message) {
  const bool reliable = is_reliable(message.mode);
  const bool elided = reliable && !message.has_ack;
  const size_t overhead = message_overhead_bytes(message.mode, message.is_fragment(), elided);
  if (message.body.size() > kMaxMessageBodyBytes) return false;
  if (!writer.ok() || writer.remaining() < overhead + message.body.size()) return false;
  auto flags = static_cast<uint8_t>(message.flags & (kFlagFragment | kFlagRpc | kFlagSnapshot));
  if (elided) flags = static_cast<uint8_t>(flags | kFlagAckElided);
  writer.u8(first_byte(message.channel, flags));
  if (message.mode == ChannelMode::kUnreliableSequenced || reliable) writer.u16(message.id.value);
  if (reliable && !elided) {
    writer.u16(message.ack.ack_seq);
    writer.u32(message.ack.ack_bitfield);
  }
  if (message.is_fragment()) {
    writer.u16(message.fragment.group);
    writer.u8(message.fragment.index);
    writer.u8(static_cast<uint8_t>(message.fragment.count));  // 256 wraps to 0 (F-01)
  }
  write_length(writer, message.body.size());
  writer.bytes(message.body);
  return writer.ok();
}

bool write_ack_message(base::ByteWriter& writer, const AckBlock& ack, bool with_delay, uint64_t delay_ns) {
  const size_t needed = with_delay ? kAckMessageWithDelayBytes : kAckMessageBytes;
  if (!writer.ok() || writer.remaining() < needed) return false;
  writer.u8(first_byte(static_cast<uint8_t>(Channel::kAck), 0));
  write_length(writer, with_delay ? kAckBlockBytes + 2 : kAckBlockBytes);
  writer.u16(ack.ack_seq);
  writer.u32(ack.ack_bitfield);
  if (with_delay) writer.u16(static_cast<uint16_t>(std::min<uint64_t>(delay_ns / kAckDelayUnitNs, 0xFFFF)));
  return writer.ok();
}

}  // namespace lattice::wire
