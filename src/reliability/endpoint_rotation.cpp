// Key rotation over the control channel (K-05…K-09): what KeyRotation wants said is queued here, and what the
// peer says on it is handed over. The rules are in transport/connection/key_rotation.h.
#include "reliability/endpoint_core.h"

namespace lattice::reliability {
namespace {

constexpr auto kControl = static_cast<uint8_t>(Channel::kControl);

}  // namespace

bool Endpoint::Core::on_rotation_control(Peer& peer, std::span<const uint8_t> body) {
  batch.seal_pending();  // Packets that have their number are of the keys before.
  const connection::KeyRotation::ControlResult result =
      peer.rotation->on_control(body, *peer.link, entropy, now_ns);
  if (result.refusal != connection::RotationRefusal::kNone) {
    protocol_error(peer, refusal_of(result.refusal));
    return false;
  }
  wake(peer);  // There may be an answer to queue.
  // The server seals under the new keys once it has heard them, and a quiet game may say nothing for long.
  if (result.switched) peer.keepalive_wanted = true;
  return true;
}

void Endpoint::Core::update_rotation(Peer& peer) {
  peer.rotation->update(*peer.link, entropy, now_ns);
  const std::span<const uint8_t> body = peer.rotation->outgoing();
  // A full control queue delays it; it is offered again with the next update.
  if (!body.empty() && peer.channel_to_send(kControl).queue(0, body, 0)) peer.rotation->on_queued();
}

}  // namespace lattice::reliability
