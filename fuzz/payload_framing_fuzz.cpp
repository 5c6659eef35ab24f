// Payload framing: a plaintext either is refused with a reason, or is read as messages that, with its padding,
// write back to it.
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "transport/wire/message_framing.h"

namespace {

using namespace lattice;

void require(bool condition) {
  if (!condition) std::abort();
}

bool same(const wire::Message& a, const wire::Message& b) {
  return a.channel == b.channel && a.flags == b.flags && a.id == b.id && a.has_ack == b.has_ack &&
         a.ack == b.ack && a.fragment == b.fragment && a.body.data() == b.body.data() &&
         a.body.size() == b.body.size();
}

/// The messages that the check keeps, and those read from the rest, equal those of a reader of the whole
/// plaintext.
void require_kept_is_read(std::span<const uint8_t> input, const wire::ChannelTable& channels) {
  std::array<wire::Message, 3> kept;
  wire::FramingSummary summary;
  if (wire::check_framing(input, channels, &summary, kept) != wire::FramingError::kNone) return;
  wire::MessageReader all(input, channels), rest(summary.rest, channels);
  wire::Message expected, message;
  for (size_t i = 0; all.next(&expected); ++i) {
    if (i < summary.kept_count) {
      require(same(kept[i], expected));
    } else {
      require(rest.next(&message) && same(message, expected));
    }
  }
  require(!rest.next(&message));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> input(data, size);
  wire::ChannelTable channels;
  channels.declare(4, wire::ChannelMode::kReliableUnordered);
  channels.declare(5, wire::ChannelMode::kUnreliableSequenced);
  wire::FramingSummary summary;
  const wire::FramingError error = wire::check_framing(input, channels, &summary);
  wire::MessageReader reader(input, channels);
  wire::Message message;
  std::vector<uint8_t> again(size + 16);
  base::ByteWriter writer(again);
  uint32_t messages = 0;
  bool has_ack = false;
  while (reader.next(&message)) {
    has_ack = has_ack || message.has_ack;
    if (message.mode == wire::ChannelMode::kAckMessage) {
      require(wire::write_ack_message(writer, message.ack, message.has_ack_delay, message.ack_delay_ns));
      continue;
    }
    ++messages;
    require(wire::write_message(writer, message));
  }
  if (error == wire::FramingError::kMissingAck) {
    require(reader.error() == wire::FramingError::kNone && !has_ack);
  } else {
    require(reader.error() == error);
  }
  require(writer.size() <= size);
  // The ack_elided flag is derived from the absence of the ack block, so every message has one encoding.
  require(std::memcmp(again.data(), data, writer.size()) == 0 || size == 0);
  if (error == wire::FramingError::kNone) {
    const size_t padding_bytes = size - writer.size();
    wire::write_padding(writer, padding_bytes);
    require(writer.size() == size && std::memcmp(again.data(), data, size) == 0);
    require(messages == summary.message_count);
    require_kept_is_read(input, channels);
  }
  return 0;
}
