// From a datagram of the connection to an opened packet (K-03). Until a packet has been opened, it changes
// only counters.
#include "base/assert.h"
#include "reliability/endpoint/connection.h"

namespace lattice::reliability {

bool Connection::on_datagram(const base::PathId& from, std::span<uint8_t> datagram,
                             const wire::PacketHeader& header, size_t header_bytes,
                             connection::OpenedAhead ahead) {
  if (!may_open_from(from)) return false;
  if (connected()) update_loss_window();
  const connection::SecureLink::Opened packet = link_->open(datagram, header, header_bytes, ahead);
  if (!packet) {
    count(refusal_of(packet.refusal));
    end_if_reset(datagram, header_bytes);
    if (link_->closed() != connection::LinkClosed::kOpen) wake();
    return false;
  }
  timers_->on_authenticated(now_ns());
  if (packet.epoch != link_->send_epoch()) {
    context_.batch.seal_pending();  // The send epoch may follow (K-08).
  }
  bool is_plain = packet.type == wire::PacketType::kPayload && connected();
  if (rotation_->on_opened(*link_, packet.epoch, datagram.size(), now_ns(), rtt_.rto_ns())) {
    is_plain = false;
  }
  if (!is_plain) wake();
  ++traffic_.packets_received;
  traffic_.bytes_received += datagram.size();
  ++context_.totals.traffic.packets_received;
  context_.totals.traffic.bytes_received += datagram.size();
  if (lifecycle_.state() == connection::State::kHandshake) confirm(packet.packet_seq);
  if (packet.type == wire::PacketType::kDisconnect) {
    on_disconnect(packet);
    return false;
  }
  if (!connected()) {
    count(Refusal::kNotReady);
    return false;
  }
  note_source(from, datagram.size(), packet.is_newest);
  if (packet.type == wire::PacketType::kPayload) {
    on_payload(packet);
  } else {
    on_keepalive(from, packet);
  }
  // One ack block covers 33 packets, so in a burst the ack cannot wait for the next update.
  const bool is_ack_overdue = connected() && acks_.ack_overdue(now_ns());
  if (is_ack_overdue) send_ack();
  if (is_plain) reschedule_after_payload();
  return is_ack_overdue;
}

bool Connection::may_open_from(const base::PathId& from) {
  if (from == path_.address()) return true;
  // Servers do not move, and a client that has not confirmed yet has no address to move from.
  if (!is_incoming_ || !connected()) {
    count(Refusal::kForeignAddress);
    return false;
  }
  // A route may be trusted less, carry less or cost more than another, so a connection keeps its own.
  if (from.route != path_.address().route) {
    count(Refusal::kForeignRoute);
    return false;
  }
  if (!path_.may_open_foreign(now_ns())) {
    count(Refusal::kForeignAddressRate);
    return false;
  }
  return true;
}

void Connection::end_if_reset(std::span<const uint8_t> datagram, size_t header_bytes) {
  // A failed open may have changed the datagram, but never its last 16 bytes: the tag, or in a reset the
  // token.
  if (!connected() || !reset_token_) return;
  if (!connection::is_reset(datagram, header_bytes, *reset_token_)) return;
  lifecycle_.apply(connection::Event::kPeerDisconnect);
  note_end(connection::DisconnectReason::kServerRestarted, 0, "the server no longer knows this connection");
}

}  // namespace lattice::reliability
