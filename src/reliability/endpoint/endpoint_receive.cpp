// From the socket to an opened packet: routing (P-04, P-07), the handshakes, the AEAD (K-03). Until a packet
// has been opened, it changes only counters.
#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"
#include "platform/byte_order.h"
#include "reliability/endpoint/endpoint_core.h"
#include "reliability/endpoint/peer_prefetch.h"

namespace lattice::reliability {
namespace {

Refusal refusal_of_header(wire::HeaderStatus status) {
  switch (status) {
    case wire::HeaderStatus::kTooShort:
      return Refusal::kHeaderTooShort;
    case wire::HeaderStatus::kBadMagic:
      return Refusal::kHeaderBadMagic;
    case wire::HeaderStatus::kWrongVersion:
      return Refusal::kHeaderWrongVersion;
    case wire::HeaderStatus::kUnknownType:
      return Refusal::kHeaderUnknownType;
    case wire::HeaderStatus::kBadPacketSeq:
    case wire::HeaderStatus::kOk:
      break;
  }
  return Refusal::kHeaderBadPacketSeq;
}

}  // namespace

// Fetches what the next packets need, in the order in which one thing leads to the next: the peer, the
// records of what it acknowledges and the handler's part, the items of those records.
class Endpoint::Core::PacketsAhead {
 public:
  PacketsAhead(const Core& core, std::span<const socket::Datagram> datagrams)
      : core_(core), datagrams_(datagrams) {
    for (size_t k = 0; k < std::min(kPeerAhead, datagrams_.size()); ++k) fetch_peer(k);
  }

  /// Call it for each datagram in turn, before it is processed. No peer is freed in between.
  void prefetch(size_t k) {
    if (k + kPeerAhead < datagrams_.size()) fetch_peer(k + kPeerAhead);
    if (const Peer* peer = peer_of(k + kPeerAhead - 1)) {
      peer->history.prefetch_acks();
      core_.handler.on_packet_soon(peer->handle);
    }
    if (const Peer* peer = peer_of(k + kPeerAhead - 2)) peer->history.prefetch_acked_items();
  }

 private:
  static constexpr size_t kPeerAhead = 3;

  void fetch_peer(size_t k) {
    const Peer* peer = core_.claimed_peer(datagrams_[k]);
    peers_[k % peers_.size()] = peer;
    if (peer != nullptr) prefetch_for_packet(*peer);
  }
  const Peer* peer_of(size_t k) const { return k < datagrams_.size() ? peers_[k % peers_.size()] : nullptr; }

  const Core& core_;
  std::span<const socket::Datagram> datagrams_;
  std::array<const Peer*, kPeerAhead + 1> peers_{};
};

void Endpoint::Core::receive() {
  batch.set_now(now_ns);
  note_unreachable();
  unread_ns = emptied_ns == 0 ? 0 : std::min(now_ns - emptied_ns, kMaxUnreadNs);
  reading_every_ns = std::max(unread_ns, reading_every_ns - reading_every_ns / 8);
  constexpr size_t kMaxDatagrams = kMaxReceiveBatches * DatagramBatch::kDatagrams;
  for (size_t taken = 0; taken < kMaxDatagrams; taken += receive_datagrams.size()) {
    const size_t received = socket.receive(receive_datagrams, now_ns);
    const bool is_ahead = opening && !capture.is_on();  // A capture taps this thread's AEAD packet by packet.
    if (is_ahead) open_ahead(std::span(receive_datagrams).first(received));
    const std::span<const socket::Datagram> datagrams = std::span(receive_datagrams).first(received);
    PacketsAhead ahead(*this, datagrams);
    for (size_t k = 0; k < received; ++k) {
      ahead.prefetch(k);
      const socket::Datagram& datagram = receive_datagrams[k];
      capture.begin_incoming(datagram.peer, {datagram.data, datagram.size});
      on_datagram(datagram.peer, {datagram.data, datagram.size},
                  is_ahead ? opening->result(k) : connection::OpenedAhead::kNotTried);
      capture.finish_incoming(now_ns);
      // The sender refills its window while this side processes the rest of the burst.
      if (std::exchange(ack_leaves_now, false)) batch.flush();
    }
    if (received < receive_datagrams.size()) emptied_ns = now_ns;
    if (received < receive_datagrams.size() || !handler.takes_more()) break;
  }
  if (server) verify_newcomers();
  finish_phase();
  batch.flush();
}

// A hint for a client that gets no answer. Anyone can forge it, so it ends nothing.
void Endpoint::Core::note_unreachable() {
  base::PathId about;
  if (!socket.take_unreachable(&about)) return;
  const std::optional<ConnectionHandle> pending = table.find_pending(about);
  Peer* peer = pending ? find(*pending) : nullptr;
  if (peer != nullptr && peer->handshake) peer->handshake->on_unreachable();
  unreachable = {about, now_ns};
}

Peer* Endpoint::Core::claimed_peer(const socket::Datagram& datagram) const {
  constexpr size_t kConnectionIdOffset = 5;
  if (datagram.size < wire::kMinHeaderBytes) return nullptr;
  const auto handle = table.find(platform::load_u64_le(datagram.data + kConnectionIdOffset));
  return handle ? peers[handle->slot].get() : nullptr;
}

void Endpoint::Core::prefetch(const socket::Datagram& datagram) const {
  if (const Peer* peer = claimed_peer(datagram)) prefetch_for_packet(*peer);
}

void Endpoint::Core::open_ahead(std::span<const socket::Datagram> received) {
  opening->begin(received.size());
  for (size_t k = 0; k < received.size(); ++k) {
    if (k + kPrefetchAhead < received.size()) prefetch(received[k + kPrefetchAhead]);
    if (const Peer* peer = claimed_peer(received[k])) {
      opening->add(k, received[k].peer, received[k].size, *peer);
    }
  }
  opening->run(config.tasks, received);
}

void Endpoint::Core::on_datagram(const base::PathId& from, std::span<uint8_t> datagram,
                                 connection::OpenedAhead ahead) {
  wire::PacketHeader header;
  size_t header_bytes = 0;
  const wire::HeaderStatus status =
      wire::parse_packet_header(datagram, config.protocol_id, &header, &header_bytes);
  if (status == wire::HeaderStatus::kWrongVersion && server && header.type == wire::PacketType::kHandshake) {
    on_server_datagram(from, datagram);  // May answer with an advisory denial (P-03); refuses in any case.
    count(Refusal::kHeaderWrongVersion, nullptr);
    return;
  }
  if (status != wire::HeaderStatus::kOk) {
    count(refusal_of_header(status), nullptr);
    return;
  }
  if (wire::is_session_packet(header.type)) {
    on_session_datagram(from, datagram, header, header_bytes, ahead);
  } else {
    on_handshake_datagram(from, datagram, header, header_bytes);
  }
}

void Endpoint::Core::on_handshake_datagram(const base::PathId& from, std::span<const uint8_t> datagram,
                                           const wire::PacketHeader& header, size_t header_bytes) {
  bool for_server = header.type == wire::PacketType::kChallengeResponse;
  if (header.type == wire::PacketType::kHandshake) {
    const auto message = wire::peek_handshake_message(datagram.subspan(header_bytes));
    for_server = message == wire::HandshakeMessage::kConnectionRequest;
  } else if (!for_server) {
    count(Refusal::kWrongRole, nullptr);  // RelayCtrl: no relay here.
    return;
  }
  if (for_server) {
    if (server) {
      on_server_datagram(from, datagram);
    } else {
      count(Refusal::kWrongRole, nullptr);
    }
    return;
  }
  const std::optional<ConnectionHandle> pending = table.find_pending(from);
  Peer* peer = pending ? find(*pending) : nullptr;
  if (peer == nullptr || !peer->handshake || !peer->handshake_started) {
    // A repeated ConnectionAccepted comes here, and so does every unexpected handshake datagram.
    count(Refusal::kNotReady, nullptr);
    return;
  }
  on_client_datagram(*peer, from, datagram);
}

void Endpoint::Core::on_server_datagram(const base::PathId& from, std::span<const uint8_t> datagram) {
  const connection::ServerArrival arrival = server->on_datagram(from, datagram, moment(), batch);
  if (arrival.waits) capture.forget_incoming();  // It is captured when it is verified, and so opened.
  note_refused(arrival.displaced.value_or(from), arrival.refusal, {});
}

// The packets of players come first: what strangers cost in curve operations is spent after them.
void Endpoint::Core::verify_newcomers() {
  while (const auto waited = server->take_waiting(now_ns)) {
    capture.begin_incoming(waited->from, waited->datagram());
    connection::ServerResult result = server->verify(*waited, moment(), batch);
    if (result.accepted) {
      if (result.gave_way != 0) end_half_open(result.gave_way);
      on_accepted_client(*result.accepted);
    } else {
      note_refused(waited->from, result.refusal, result.text.view());
    }
    capture.finish_incoming(now_ns);
  }
}

void Endpoint::Core::note_refused(const base::PathId& from, connection::ServerRefusal refusal,
                                  std::string_view text) {
  if (refusal == connection::ServerRefusal::kNone) return;
  count(Refusal::kHandshakeRefused, nullptr);
  handler.on_connect_refused(from, refusal, text);
}

void Endpoint::Core::on_client_datagram(Peer& peer, const base::PathId& from,
                                        std::span<const uint8_t> datagram) {
  connection::ClientResult result = peer.handshake->on_datagram(from, datagram, now_ns, batch);
  if (result.drop != connection::ClientDrop::kNone) {
    count(Refusal::kHandshakeRefused, &peer);
    stats.client_drops.add(result.drop);
  }
  on_handshake_result(peer, result);
  wake(peer);
}

void Endpoint::Core::on_session_datagram(const base::PathId& from, std::span<uint8_t> datagram,
                                         const wire::PacketHeader& header, size_t header_bytes,
                                         connection::OpenedAhead ahead) {
  const std::optional<ConnectionHandle> handle = table.find(header.connection_id);
  Peer* peer = handle ? find(*handle) : nullptr;
  if (peer == nullptr || !peer->link) {
    refuse_unknown(from, header, header_bytes, datagram.size());
    return;
  }
  if (!may_open_from(*peer, from)) return;
  if (peer->connected()) update_loss_window(*peer);
  const connection::SecureLink::Opened packet = peer->link->open(datagram, header, header_bytes, ahead);
  if (!packet) {
    count(refusal_of(packet.refusal), peer);
    end_if_reset(*peer, datagram, header_bytes);
    if (peer->link->closed() != connection::LinkClosed::kOpen) wake(*peer);
    return;
  }
  peer->timers->on_authenticated(now_ns);
  if (packet.epoch != peer->link->send_epoch()) batch.seal_pending();  // The send epoch may follow (K-08).
  bool is_plain = packet.type == wire::PacketType::kPayload && peer->connected();
  if (peer->rotation->on_opened(*peer->link, packet.epoch, datagram.size(), now_ns, peer->rtt.rto_ns())) {
    is_plain = false;
  }
  if (!is_plain) wake(*peer);
  ++peer->traffic.packets_received;
  peer->traffic.bytes_received += datagram.size();
  ++stats.traffic.packets_received;
  stats.traffic.bytes_received += datagram.size();
  if (peer->lifecycle.state() == connection::State::kHandshake) confirm(*peer, packet.packet_seq);
  if (packet.type == wire::PacketType::kDisconnect) {
    on_disconnect(*peer, packet);
    return;
  }
  if (!peer->connected()) {
    count(Refusal::kNotReady, peer);
    return;
  }
  note_source(*peer, from, datagram.size(), packet.is_newest);
  if (packet.type == wire::PacketType::kPayload) {
    on_payload(*peer, packet);
  } else {
    on_keepalive(*peer, from, packet);
  }
  // One ack block covers 33 packets, so in a burst the ack cannot wait for the next update.
  if (peer->connected() && peer->acks.ack_overdue(now_ns)) {
    send_ack(*peer);
    ack_leaves_now = true;
  }
  if (is_plain) reschedule_after_payload(*peer);
}

}  // namespace lattice::reliability
