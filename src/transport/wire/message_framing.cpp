#include "transport/wire/message_framing.h"

#include <algorithm>
#include <cstring>

#include "platform/byte_order.h"

namespace lattice::wire {
namespace {

uint8_t first_byte(uint8_t channel, uint8_t flags) {
  return static_cast<uint8_t>((channel << 4) | flags);
}

uint8_t* put_ack(uint8_t* at, const AckBlock& ack) {
  platform::store_u16_le(at, ack.ack_seq);
  platform::store_u32_le(at + 2, ack.ack_bitfield);
  return at + kAckBlockBytes;
}

AckBlock ack_at(const uint8_t* at) {
  return {platform::load_u16_le(at), platform::load_u32_le(at + 2)};
}

}  // namespace

bool MessageReader::refuse(FramingError error) {
  error_ = error;
  rest_ = {};
  return false;
}

bool MessageReader::skip_padding() {
  const std::span<const uint8_t> zeros = rest_.subspan(1);
  if (std::any_of(zeros.begin(), zeros.end(), [](uint8_t byte) { return byte != 0; })) {
    return refuse(FramingError::kReservedBits);
  }
  rest_ = {};
  return false;
}

bool MessageReader::read_ack_body(Message* message) {
  const std::span<const uint8_t> body = message->body;
  if (body.size() != kAckBlockBytes && body.size() != kAckBlockBytes + 2) {
    return refuse(FramingError::kBadAckMessage);
  }
  message->has_ack = true;
  message->ack = ack_at(body.data());
  if (body.size() != kAckBlockBytes) {
    message->has_ack_delay = true;
    message->ack_delay_ns = platform::load_u16_le(body.data() + kAckBlockBytes) * kAckDelayUnitNs;
  }
  message->body = {};
  return true;
}

bool MessageReader::next(Message* out) {
  if (rest_.empty()) return false;
  const uint8_t flags = rest_[0] & 0x0F;
  const bool is_short = (flags & (kFlagFragment | kFlagAckElided)) == kFlagAckElided &&
                        is_reliable(channels_.mode(rest_[0] >> 4)) && rest_.size() >= kShortReliableBytes;
  return is_short ? read_short_reliable(out) : read_any(out);
}

bool MessageReader::take_body(size_t overhead_bytes, Message* message) {
  const uint8_t* length = rest_.data() + overhead_bytes - 2;
  if ((length[1] & 3) != 0) return refuse(FramingError::kReservedBits);
  const size_t body_bytes = static_cast<size_t>(length[0] << 8 | length[1]) >> 2;
  if (rest_.size() - overhead_bytes < body_bytes) return refuse(FramingError::kTruncated);
  message->body = rest_.subspan(overhead_bytes, body_bytes);
  rest_ = rest_.subspan(overhead_bytes + body_bytes);
  return true;
}

// What busy packets are full of: a reliable message, whole, without an ack block.
bool MessageReader::read_short_reliable(Message* message) {
  const uint8_t* at = rest_.data();
  message->channel = at[0] >> 4;
  message->mode = channels_.mode(message->channel);
  message->flags = at[0] & 0x0F;
  message->id.value = platform::load_u16_le(at + 1);
  message->fragment = {};
  message->has_ack = message->has_ack_delay = false;
  message->ack = {};
  return take_body(kShortReliableBytes, message);
}

bool MessageReader::read_any(Message* out) {
  Message& message = *out;
  message = {};
  const uint8_t* at = rest_.data();
  if (*at == kPaddingByte) return skip_padding();
  message.channel = at[0] >> 4;
  message.flags = at[0] & 0x0F;
  message.mode = channels_.mode(message.channel);
  if (message.mode == ChannelMode::kUndeclared) return refuse(FramingError::kUndeclaredChannel);
  const bool takes_flags = message.mode != ChannelMode::kAckMessage && message.mode != ChannelMode::kBulk;
  if (!takes_flags && message.flags != 0) return refuse(FramingError::kReservedFlag);
  const bool ack_elided = (message.flags & kFlagAckElided) != 0;
  if (ack_elided && !is_reliable(message.mode)) return refuse(FramingError::kReservedFlag);
  const size_t overhead_bytes = message_overhead_bytes(message.mode, message.is_fragment(), ack_elided);
  if (rest_.size() < overhead_bytes) return refuse(FramingError::kTruncated);
  ++at;
  if (message.mode == ChannelMode::kUnreliableSequenced || is_reliable(message.mode)) {
    message.id.value = platform::load_u16_le(at);
    at += 2;
  }
  if (is_reliable(message.mode) && !ack_elided) {
    message.has_ack = true;
    message.ack = ack_at(at);
    at += kAckBlockBytes;
  }
  if (message.is_fragment()) {
    message.fragment.group = platform::load_u16_le(at);
    message.fragment.index = at[2];
    message.fragment.count = at[3] == 0 ? uint16_t{256} : at[3];
    if (message.fragment.index >= message.fragment.count) return refuse(FramingError::kBadFragment);
  }
  if (!take_body(overhead_bytes, &message)) return false;
  return message.mode != ChannelMode::kAckMessage || read_ack_body(&message);
}

FramingError check_framing(std::span<const uint8_t> plaintext, const ChannelTable& channels,
                           FramingSummary* out, std::span<Message> kept) {
  MessageReader reader(plaintext, channels);
  FramingSummary summary;
  bool has_ack = false;
  Message not_kept;
  for (;;) {
    const bool keeps = summary.kept_count < kept.size();
    Message& message = keeps ? kept[summary.kept_count] : not_kept;
    if (!reader.next(&message)) break;
    if (keeps) {
      ++summary.kept_count;
      summary.rest = reader.rest();
    }
    if (message.has_ack && !has_ack) {
      has_ack = true;
      summary.ack = message.ack;
      summary.has_ack_delay = message.has_ack_delay;
      summary.ack_delay_ns = message.ack_delay_ns;
    }
    ++(message.mode == ChannelMode::kAckMessage ? summary.ack_message_count : summary.message_count);
    if (is_reliable(message.mode)) ++summary.reliable_count;
  }
  if (reader.error() != FramingError::kNone) return reader.error();
  if (!has_ack) return FramingError::kMissingAck;
  if (kept.empty()) summary.rest = plaintext;
  *out = summary;
  return FramingError::kNone;
}

bool write_message(base::ByteWriter& writer, const MessageHead& head, const AckBlock* ack,
                   std::span<const uint8_t> body) {
  const bool reliable = is_reliable(head.mode);
  const bool elided = reliable && ack == nullptr;
  const size_t bytes = message_overhead_bytes(head.mode, head.is_fragment(), elided) + body.size();
  if (body.size() > kMaxMessageBodyBytes || !writer.ok() || writer.remaining() < bytes) return false;
  const auto given = static_cast<uint8_t>(head.flags & (kFlagFragment | kFlagRpc | kFlagSnapshot));
  uint8_t* at = writer.take(bytes);
  *at++ = first_byte(head.channel, static_cast<uint8_t>(given | (elided ? kFlagAckElided : 0)));
  if (head.mode == ChannelMode::kUnreliableSequenced || reliable) {
    platform::store_u16_le(at, head.id.value);
    at += 2;
  }
  if (reliable && !elided) at = put_ack(at, *ack);
  if (head.is_fragment()) {
    platform::store_u16_le(at, head.fragment.group);
    at[2] = head.fragment.index;
    at[3] = static_cast<uint8_t>(head.fragment.count);  // 256 wraps to 0 (F-01)
    at += kFragmentHeaderBytes;
  }
  at = put_length(at, body.size());
  if (!body.empty()) std::memcpy(at, body.data(), body.size());
  return true;
}

void write_padding(base::ByteWriter& writer, size_t bytes) {
  bytes = std::min(bytes, writer.remaining());
  if (bytes == 0) return;
  uint8_t* at = writer.take(bytes);
  std::memset(at, 0, bytes);
  *at = kPaddingByte;
}

bool write_ack_message(base::ByteWriter& writer, const AckBlock& ack, bool with_delay, uint64_t delay_ns) {
  const size_t bytes = with_delay ? kAckMessageWithDelayBytes : kAckMessageBytes;
  if (!writer.ok() || writer.remaining() < bytes) return false;
  uint8_t* at = writer.take(bytes);
  *at++ = first_byte(static_cast<uint8_t>(Channel::kAck), 0);
  at = put_length(at, with_delay ? kAckBlockBytes + 2 : kAckBlockBytes);
  at = put_ack(at, ack);
  if (with_delay) {
    platform::store_u16_le(at, static_cast<uint16_t>(std::min<uint64_t>(delay_ns / kAckDelayUnitNs, 0xFFFF)));
  }
  return true;
}

}  // namespace lattice::wire
