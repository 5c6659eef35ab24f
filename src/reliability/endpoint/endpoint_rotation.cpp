// Key rotation over the control channel (K-05…K-09): this file queues the messages of KeyRotation and hands
// it the peer's messages. The rules are in transport/connection/key_rotation.h.
#include "reliability/endpoint/endpoint_core.h"

namespace lattice::reliability {
bool Endpoint::Core::on_rotation_control(Peer& peer, std::span<const uint8_t> body) {
  batch.seal_pending();  // Packets that already have a number belong to the old keys.
  const connection::KeyRotation::ControlResult result =
      peer.rotation->on_control(body, *peer.link, entropy, now_ns);
  if (result.refusal != connection::RotationRefusal::kNone) {
    protocol_error(peer, refusal_of(result.refusal));
    return false;
  }
  wake(peer);  // There may be an answer to queue.
  // The server uses the new keys after the first packet under them, and a quiet game may send none for long.
  if (result.switched) peer.probes.want();
  return true;
}

void Endpoint::Core::update_rotation(Peer& peer) {
  peer.rotation->update(*peer.link, entropy, now_ns);
  const std::span<const uint8_t> body = peer.rotation->outgoing();
  // If the control queue is full, the next update offers the message again.
  if (!body.empty() && peer.outgoing_channels.queue_control(body)) peer.rotation->on_queued();
}

}  // namespace lattice::reliability
