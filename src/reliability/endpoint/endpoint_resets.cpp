// Stateless resets (states.md, "Stateless reset"). The server sends each client a token. After a restart the
// server no longer knows the connection and answers the client's packets with that token. The client then
// knows that its connection is gone.
#include "reliability/endpoint/endpoint_core.h"

namespace lattice::reliability {
void Endpoint::Core::queue_reset_token(Peer& peer) {
  const auto body = wire::encode_reset_token(resets->token_of(peer.link->connection_id()));
  // Without memory for the message the client gets no token, and notices a restart by silence.
  peer.outgoing_channels.queue_control(body);
}

bool Endpoint::Core::on_reset_token(Peer& peer, std::span<const uint8_t> body) {
  wire::ResetToken token;
  if (peer.incoming || peer.reset_token || !wire::parse_reset_token(body, &token)) {
    protocol_error(peer, Refusal::kBadResetToken);
    return false;
  }
  peer.reset_token = token;
  return true;
}

void Endpoint::Core::refuse_unknown(const base::PathId& from, const wire::PacketHeader& header,
                                    size_t header_bytes, size_t datagram_bytes) {
  using Outcome = connection::StatelessResets::Outcome;
  const Outcome outcome =
      resets ? resets->answer(from, header, header_bytes, datagram_bytes, now_ns, batch) : Outcome::kNone;
  switch (outcome) {
    case Outcome::kSent:
      ++stats.resets_sent;
      count(Refusal::kUnknownConnection, nullptr);
      return;
    case Outcome::kPrefixRate:
      count(Refusal::kResetRate, nullptr);
      return;
    case Outcome::kBudget:
      count(Refusal::kResetBudget, nullptr);
      return;
    case Outcome::kNone:
      count(Refusal::kUnknownConnection, nullptr);
      return;
  }
}

void Endpoint::Core::end_if_reset(Peer& peer, std::span<const uint8_t> datagram, size_t header_bytes) {
  // A failed open may have changed the datagram, but never its last 16 bytes: the tag, or in a reset the
  // token.
  if (!peer.connected() || !peer.reset_token) return;
  if (!connection::is_reset(datagram, header_bytes, *peer.reset_token)) return;
  peer.lifecycle.apply(connection::Event::kPeerDisconnect);
  note_end(peer, connection::DisconnectReason::kServerRestarted, 0,
           "the server no longer knows this connection");
}

}  // namespace lattice::reliability
