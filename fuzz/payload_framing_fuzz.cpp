// Payload framing: a plaintext either is refused with a reason, or is read as messages that write back to it.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "transport/wire/message_framing.h"

namespace {

using namespace lattice;

void require(bool condition) {
  if (!condition) std::abort();
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
  // The ack_elided flag is derived from the block's absence, so what was read has one spelling.
  require(std::memcmp(again.data(), data, writer.size()) == 0 || size == 0);
  if (error == wire::FramingError::kNone) {
    require(writer.size() == size && messages == summary.message_count);
  }
  return 0;
}
