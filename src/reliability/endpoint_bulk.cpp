// Chunks of large transfers: what a connection sends when nothing else of it waits (spec B-10).
#include <array>

#include "base/assert.h"
#include "reliability/endpoint_core.h"

namespace lattice::reliability {

namespace {

/// Of the window, this much is left to messages that come before the next acknowledgement. More would keep
/// the window from being used, and growing.
constexpr uint64_t kReserveBytes = 2 * kDatagramBytes;
/// Of the plaintext, what frames a chunk.
constexpr size_t kFramingBytes = wire::kAckMessageBytes + 1 + 2;

}  // namespace

bool Endpoint::Core::has_chunks(const Peer& peer) const {
  return config.bulk != nullptr && config.bulk->has_chunk(peer.handle);
}

void Endpoint::Core::send_chunks(Peer& peer) {
  // A message that waits here was left without budget: then a chunk has none either.
  while (peer.connected() && !has_payload(peer) && items.has_room() && !peer.history.is_full() &&
         has_chunks(peer)) {
    // With nothing in flight one chunk may go, however small the window: it never stands still.
    const uint64_t in_flight = peer.history.bytes_in_flight();
    const uint64_t reserve_bytes = in_flight == 0 ? 0 : kReserveBytes;
    // Nothing waits behind a chunk, so it waits until the path's whole datagram may go.
    if (peer.pacer.allowance_bytes(in_flight + reserve_bytes) < peer.mtu.datagram_bytes()) return;
    if (!send_one_chunk(peer)) return;
  }
}

bool Endpoint::Core::send_one_chunk(Peer& peer) {
  Outgoing packet;
  packet.buffer = begin_packet(peer);
  const size_t overhead_bytes = peer.link->next_overhead_bytes();
  const size_t budget_bytes = peer.mtu.datagram_bytes() - overhead_bytes;
  const size_t floor_bytes = wire::kFloorDatagramBytes - overhead_bytes - kFramingBytes;
  // Copied into the packet from here: 1 kB, a fiftieth of what sealing it costs.
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
