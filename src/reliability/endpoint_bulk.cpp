// Blocks of large transfers: what a connection sends when nothing else of it waits (spec B-10).
#include <array>

#include "base/assert.h"
#include "reliability/endpoint_core.h"

namespace lattice::reliability {

namespace {

/// Of the window, this much is left to messages that come before the next acknowledgement. More would keep
/// the window from being used, and growing.
constexpr uint64_t kReserveBytes = 2 * kDatagramBytes;

}  // namespace

bool Endpoint::Core::has_blocks(const Peer& peer) const {
  return config.bulk != nullptr && config.bulk->next_block_bytes(peer.handle) != 0;
}

void Endpoint::Core::send_blocks(Peer& peer) {
  if (config.bulk == nullptr) return;
  // A message that waits here was left without budget: then a block has none either.
  while (peer.connected() && !has_payload(peer) && items.has_room()) {
    const size_t body_bytes = config.bulk->next_block_bytes(peer.handle);
    if (body_bytes == 0) return;
    // With nothing in flight one block may go, however small the window: it never stands still.
    const uint64_t in_flight = peer.history.bytes_in_flight();
    const uint64_t reserve_bytes = in_flight == 0 ? 0 : kReserveBytes;
    if (peer.governor.allowance_bytes(in_flight + reserve_bytes) == 0) return;
    if (!send_one_block(peer, body_bytes)) return;
  }
}

bool Endpoint::Core::send_one_block(Peer& peer, size_t body_bytes) {
  LATTICE_CHECK(body_bytes <= kMaxUnreliableBody);
  // Copied into the packet from here: 1 kB, a fiftieth of what sealing it costs.
  std::array<uint8_t, kMaxUnreliableBody> body;
  BulkSource::Taken taken;
  if (!config.bulk->take_block(peer.handle, std::span(body).first(body_bytes), &taken)) return false;
  LATTICE_ASSERT(taken.channel < wire::kChannelCount &&
                 config.channels.mode(taken.channel) == ChannelMode::kBulk);
  Outgoing packet;
  packet.buffer = begin_packet(peer);
  const size_t budget_bytes = wire::kFloorDatagramBytes - peer.link->next_overhead_bytes();
  PacketBuilder builder(packet.buffer.subspan(wire::kMaxHeaderBytes, budget_bytes), peer.acks.block(),
                        peer.acks.delay_ns(now_ns));
  OutgoingMessage message;
  message.channel = taken.channel;
  message.body = std::span(body).first(body_bytes);
  const bool added = builder.add(ChannelMode::kBulk, message);
  LATTICE_CHECK(added);
  items.add(&packet.items, {CarriedKind::kBlock, taken.channel, taken.block});
  packet.plaintext_bytes = builder.size();
  packet.ack_eliciting = true;
  packet.charge = Charge::kOrdinary;
  transmit_payload(peer, packet, 1, 0);
  return true;
}

}  // namespace lattice::reliability
