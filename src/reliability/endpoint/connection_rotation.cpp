// Key rotation over the control channel (K-05…K-09): this file queues the messages of KeyRotation and hands
// it the peer's messages. The rules are in transport/connection/key_rotation.h.
#include "reliability/endpoint/connection.h"

namespace lattice::reliability {
bool Connection::on_rotation_control(std::span<const uint8_t> body) {
  context_.batch.seal_pending();  // Packets that already have a number belong to the old keys.
  const connection::KeyRotation::ControlResult result =
      rotation_->on_control(body, *link_, context_.entropy, now_ns());
  if (result.refusal != connection::RotationRefusal::kNone) {
    protocol_error(refusal_of(result.refusal));
    return false;
  }
  wake();  // There may be an answer to queue.
  // The server uses the new keys after the first packet under them, and a quiet game may send none for long.
  if (result.switched) probes_.want();
  return true;
}

void Connection::update_rotation() {
  rotation_->update(*link_, context_.entropy, now_ns());
  const std::span<const uint8_t> body = rotation_->outgoing();
  // If the control queue is full, the next update offers the message again.
  if (!body.empty() && outgoing_channels_.queue_control(body)) rotation_->on_queued();
}

}  // namespace lattice::reliability
