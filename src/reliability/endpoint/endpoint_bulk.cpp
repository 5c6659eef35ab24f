// Chunks of large transfers: a connection sends them when nothing else of it waits (spec B-10).
#include <array>

#include "base/assert.h"
#include "reliability/endpoint/endpoint_core.h"

namespace lattice::reliability {

namespace {

/// This much of the window stays free for messages that come before the next acknowledgement. A larger
/// reserve would keep the window from being used, and from growing.
constexpr uint64_t kReserveBytes = 2 * kDatagramBytes;
/// Plaintext bytes that frame a chunk.
constexpr size_t kFramingBytes = wire::kAckMessageBytes + 1 + 2;

}  // namespace

bool Endpoint::Core::has_chunks(const Peer& peer) const {
  return config.bulk != nullptr && config.bulk->has_chunk(peer.handle);
}

void Endpoint::Core::send_chunks(Peer& peer) {
  // If a message still waits here, there was no budget for it, and there is none for a chunk either.
  while (peer.connected() && !peer.outgoing_channels.has_work() && items.has_room() &&
         !peer.history.is_full() && has_chunks(peer)) {
    // With nothing in flight one chunk may leave, however small the window is: a transfer never stops.
    const uint64_t in_flight = peer.history.bytes_in_flight();
    const uint64_t reserve_bytes = in_flight == 0 ? 0 : kReserveBytes;
    // No message waits behind a chunk, so the chunk waits until a datagram of the path's full size may leave.
    if (peer.pacer.allowance_bytes(in_flight + reserve_bytes) < peer.path.datagram_bytes()) return;
    if (!send_one_chunk(peer)) return;
  }
}

bool Endpoint::Core::send_one_chunk(Peer& peer) {
  Outgoing packet;
  packet.buffer = begin_packet(peer);
  const size_t overhead_bytes = peer.link->next_overhead_bytes();
  const size_t budget_bytes = peer.path.datagram_bytes() - overhead_bytes;
  const size_t floor_bytes = wire::kFloorDatagramBytes - overhead_bytes - kFramingBytes;
  // The chunk is copied from here into the packet. Copying 1 kB costs a fiftieth of sealing it.
  std::array<uint8_t, kMaxBulkBody> body;
  const std::span<uint8_t> room = std::span(body).first(budget_bytes - kFramingBytes);
  BulkSource::Taken taken;
  const size_t body_bytes = config.bulk->take_chunk(peer.handle, room, floor_bytes, &taken);
  if (body_bytes == 0) return false;
  LATTICE_CHECK(body_bytes <= room.size());
  LATTICE_ASSERT(taken.channel < wire::kChannelCount &&
                 config.channels.mode(taken.channel) == ChannelMode::kBulk);
  PacketBuilder builder(packet.buffer.subspan(wire::kMaxHeaderBytes, budget_bytes), peer.acks.block(),
                        peer.acks.delay_ns(now_ns));
  OutgoingMessage message;
  message.channel = taken.channel;
  message.body = room.first(body_bytes);
  const bool added = builder.add(ChannelMode::kBulk, message);
  LATTICE_CHECK(added);
  items.add(&packet.items, {.kind = CarriedKind::kChunk, .channel = taken.channel, .value = taken.chunk});
  packet.plaintext_bytes = builder.size();
  packet.ack_eliciting = true;
  packet.charge = Charge::kOrdinary;
  transmit_payload(peer, packet, 1, 0);
  return true;
}

}  // namespace lattice::reliability
