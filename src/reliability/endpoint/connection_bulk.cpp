// Chunks of large transfers: a connection sends them when nothing else of it waits (spec B-10).
#include <array>

#include "base/assert.h"
#include "reliability/endpoint/connection.h"

namespace lattice::reliability {

namespace {

/// This much of the window stays free for messages that come before the next acknowledgement. A larger
/// reserve would keep the window from being used, and from growing.
constexpr uint64_t kReserveBytes = 2 * kDatagramBytes;
/// Plaintext bytes that frame a chunk.
constexpr size_t kFramingBytes = wire::kAckMessageBytes + 1 + 2;

}  // namespace

bool Connection::has_chunks() const {
  return context_.config.bulk != nullptr && context_.config.bulk->has_chunk(handle_);
}

void Connection::send_chunks() {
  // If a message still waits here, there was no budget for it, and there is none for a chunk either.
  while (connected() && !outgoing_channels_.has_work() && context_.items.has_room() && !history_.is_full() &&
         has_chunks()) {
    // With nothing in flight one chunk may leave, however small the window is: a transfer never stops.
    const uint64_t in_flight = history_.bytes_in_flight();
    const uint64_t reserve_bytes = in_flight == 0 ? 0 : kReserveBytes;
    // No message waits behind a chunk, so the chunk waits until a datagram of the path's full size may leave.
    if (pacer_.allowance_bytes(in_flight + reserve_bytes) < path_.datagram_bytes()) return;
    if (!send_one_chunk()) return;
  }
}

bool Connection::send_one_chunk() {
  Outgoing packet;
  packet.buffer = begin_packet();
  const size_t overhead_bytes = link_->next_overhead_bytes();
  const size_t budget_bytes = path_.datagram_bytes() - overhead_bytes;
  const size_t floor_bytes = wire::kFloorDatagramBytes - overhead_bytes - kFramingBytes;
  // The chunk is copied from here into the packet. Copying 1 kB costs a fiftieth of sealing it.
  std::array<uint8_t, kMaxBulkBody> body;
  const std::span<uint8_t> room = std::span(body).first(budget_bytes - kFramingBytes);
  BulkSource::Taken taken;
  const size_t body_bytes = context_.config.bulk->take_chunk(handle_, room, floor_bytes, &taken);
  if (body_bytes == 0) return false;
  LATTICE_CHECK(body_bytes <= room.size());
  LATTICE_ASSERT(taken.channel < wire::kChannelCount &&
                 context_.config.channels.mode(taken.channel) == ChannelMode::kBulk);
  PacketBuilder builder(packet.buffer.subspan(wire::kMaxHeaderBytes, budget_bytes), acks_.block(),
                        acks_.delay_ns(now_ns()));
  OutgoingMessage message;
  message.channel = taken.channel;
  message.body = room.first(body_bytes);
  const bool added = builder.add(ChannelMode::kBulk, message);
  LATTICE_CHECK(added);
  context_.items.add(&packet.items, CarriedKind::kChunk, taken.channel, taken.chunk);
  packet.plaintext_bytes = builder.size();
  packet.ack_eliciting = true;
  packet.charge = Charge::kOrdinary;
  transmit_payload(packet, 1, 0);
  return true;
}

}  // namespace lattice::reliability
