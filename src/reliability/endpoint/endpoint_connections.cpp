// Beginnings and ends of connections (H-11, L-05): admission, confirmation, disconnects, reports, and
// freeing.
#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "reliability/endpoint/endpoint_core.h"

namespace lattice::reliability {
namespace {

using connection::DisconnectReason;
using connection::Event;
using connection::State;

/// Clients that start together must not retry together, so the seed differs between clients. A simulated run
/// must repeat, so the seed does not come from entropy.
uint64_t retry_jitter_seed(const EndpointConfig& config, const base::PathId& local, uint64_t now_ns) {
  uint64_t state = config.jitter_seed ^ now_ns ^ base::hash_path(local);
  return base::splitmix64(state);
}

}  // namespace

void Endpoint::Core::count(Refusal refusal, Peer* peer, uint64_t how_often) {
  stats.refusals.add(refusal, how_often);
  if (peer != nullptr) peer->stats.refusals.add(refusal, how_often);
}

connection::Admission Endpoint::Core::admit(const connection::AdmissionRequest& request) {
  if (is_full() && !request.has_place) return {DisconnectReason::kServerFull, {}, 0};
  return handler.on_admission(request);
}

uint32_t Endpoint::Core::offered_features(const EndpointConfig& config) {
  return config.offer_aes256gcm && crypto::has_aes256gcm() ? wire::kFeatureAes256Gcm : 0;
}

// Both sides take the features from the same sealed message 4, so they agree.
crypto::Cipher Endpoint::Core::cipher_of(uint32_t features) {
  return (features & wire::kFeatureAes256Gcm) != 0 ? crypto::Cipher::kAes256Gcm
                                                   : crypto::Cipher::kChaCha20Poly1305;
}

Peer& Endpoint::Core::make_peer(ConnectionHandle handle) {
  LATTICE_CHECK(!peers[handle.slot]);
  void* room = peer_memory.data() + handle.slot * sizeof(Peer);
  peers[handle.slot].reset(new (room)
                               Peer(pool, receive_memory, items, config.channels, pacer_setup(), config.rto));
  Peer& peer = *peers[handle.slot];
  peer.bulk = config.bulk;
  peer.handle = handle;
  return peer;
}

ConnectResult Endpoint::Core::connect(const base::PathId& server_path, std::span<const uint8_t> token,
                                      const crypto::KeyPair& client, ConnectionHandle* out) {
  if (!base::is_path(server_path) || (base::is_ip(server_path) && server_path.number == 0) ||
      socket.largest_datagram(server_path) == 0) {
    return ConnectResult::kBadAddress;
  }
  wire::TokenFields fields;
  if (wire::parse_token(token, &fields) != wire::TokenStatus::kOk) return ConnectResult::kBadToken;
  if (fields.kind != wire::TokenKind::kConnect || fields.role != wire::TokenRole::kInitiator ||
      fields.protocol_id != config.protocol_id || fields.cnf != client.public_key()) {
    return ConnectResult::kBadToken;
  }
  if (fields.schema_id != 0 && fields.schema_id != config.schema_id) return ConnectResult::kSchemaMismatch;
  if (table.size() == table.capacity()) return ConnectResult::kFull;
  const std::optional<ConnectionHandle> handle = table.insert_pending(server_path);
  if (!handle) return ConnectResult::kAlreadyConnecting;

  Peer* peer = &make_peer(*handle);
  peer->path.begin(server_path);
  peer->player = fields.player;
  peer->session = fields.session;
  peer->user_bytes = static_cast<uint16_t>(fields.user_data.size());
  std::copy(fields.user_data.begin(), fields.user_data.end(), peer->user_data.begin());
  peer->end.announce();
  connection::ClientHandshakeConfig handshake_config;
  handshake_config.protocol_id = config.protocol_id;
  handshake_config.schema_id = config.schema_id;
  handshake_config.features = offered_features(config);
  handshake_config.max_datagram_bytes = static_cast<uint16_t>(config.max_datagram_bytes);
  handshake_config.tick_rate_hz = config.tick_rate_hz;
  handshake_config.max_objects = config.max_objects;
  handshake_config.placed = config.placed;
  handshake_config.budget_ns = config.connect_budget_ns;
  handshake_config.first_retry_ns = config.connect_retry_ns;
  handshake_config.jitter_seed = retry_jitter_seed(config, socket.local_path(), now_ns);
  peer->handshake =
      std::make_unique<connection::ClientHandshake>(handshake_config, server_path, token, client.clone());
  wake(*peer);
  *out = *handle;
  return ConnectResult::kOk;
}

void Endpoint::Core::on_handshake_result(Peer& peer, connection::ClientResult& result) {
  switch (result.outcome) {
    case connection::ClientOutcome::kPending:
      return;
    case connection::ClientOutcome::kAccepted:
      on_accepted_by_server(peer, *result.accepted);
      return;
    case connection::ClientOutcome::kRefused:
    case connection::ClientOutcome::kGaveUp:
      peer.handshake.reset();
      if (result.is_reason_reserved) count(Refusal::kReasonReserved, &peer);
      note_end(peer, result.reason, result.remote_schema_id, result.text.view());
      peer.stats.ended_by_peer = result.is_told_by_server;
      return;
  }
}

void Endpoint::Core::on_accepted_by_server(Peer& peer, connection::ClientAccepted& accepted) {
  peer.lifecycle = peer.handshake->lifecycle();
  peer.handshake.reset();
  LATTICE_ASSERT(peer.connected());
  if (!table.assign_id(peer.handle, accepted.connection_id)) {
    // Two servers chose the same 64 random bits as id, so the two connections cannot be told apart.
    peer.lifecycle.apply(Event::kSilence);
    note_end(peer, DisconnectReason::kInternalError, 0, "connection_id in use");
    return;
  }
  peer.link.emplace(config.protocol_id, accepted.connection_id, crypto::Role::kClient,
                    std::move(accepted.master), config.link_limits, cipher_of(accepted.features));
  peer.rotation.emplace(crypto::Role::kClient, config.rotation, now_ns);
  peer.path.agree(accepted.mtu_hint_bytes, path_limits(peer.path.address()));
  peer.path.mtu().assume(config.initial_datagram_bytes);
  peer.path.mtu().bound_rate(config.congestion.max_rate_bytes_per_s);
  peer.timers.emplace(config.timers, now_ns, false);
  peer.peer_id = accepted.peer_id;
  peer.features = accepted.features;
  peer.server_tick = accepted.server_tick;
  peer.tick_rate_hz = accepted.tick_rate_hz;
  peer.probes.begin(now_ns);
  peer.losses.begin(now_ns / 1'000'000'000);
  if (accepted.first_rtt_ns != 0) peer.rtt.add_sample(accepted.first_rtt_ns, now_ns);
  send_keepalive(peer, true);  // At once: the server says nothing before it has heard from us (H-11).
  announce(peer, accepted.most_rtt_ns);
}

// At once, because the newcomer takes its place. Nobody was told of it.
void Endpoint::Core::end_half_open(uint64_t connection_id) {
  const std::optional<ConnectionHandle> handle = table.find(connection_id);
  if (!handle) return;
  Peer& peer = *peers[handle->slot];
  LATTICE_ASSERT(!peer.end.is_announced());
  if (peer.is_listed) std::erase(ending, handle->slot);
  free_peer(peer);
}

void Endpoint::Core::on_accepted_client(connection::ServerAccepted& accepted) {
  const std::optional<ConnectionHandle> handle = table.insert(accepted.connection_id);
  if (!handle) {
    // admit() saw a free slot and the handshake chose a fresh id. The only remaining cause is an outgoing
    // connection with the same id.
    server->on_ended(accepted.connection_id);
    return;
  }
  Peer* peer = &make_peer(*handle);
  peer->path.begin(accepted.address);
  peer->incoming = true;
  peer->peer_id = accepted.peer_id;
  peer->player = accepted.player;
  peer->session = accepted.session;
  peer->user_data = accepted.user_data;
  peer->user_bytes = accepted.user_bytes;
  peer->features = accepted.features;
  peer->server_tick = server_tick;
  peer->tick_rate_hz = config.tick_rate_hz;
  peer->link.emplace(config.protocol_id, accepted.connection_id, crypto::Role::kServer,
                     std::move(accepted.master), config.link_limits, cipher_of(accepted.features));
  peer->rotation.emplace(crypto::Role::kServer, config.rotation, now_ns);
  peer->path.agree(accepted.max_datagram_bytes, path_limits(peer->path.address()));
  peer->path.mtu().assume(config.initial_datagram_bytes);
  peer->path.mtu().bound_rate(config.congestion.max_rate_bytes_per_s);
  peer->timers.emplace(config.timers, now_ns, true);
  peer->probes.begin(now_ns);
  peer->accepts_repeated_then = server->repeated_accept_count();
  peer->losses.begin(now_ns / 1'000'000'000);
  peer->lifecycle.apply(Event::kAdmit);
  wake(*peer);
}

void Endpoint::Core::confirm(Peer& peer, uint64_t packet_seq) {
  peer.lifecycle.apply(Event::kConfirm);
  server->on_confirmed(peer.link->connection_id());
  // The time from message 4 to the client's first packet is a round trip if neither was sent twice.
  if (packet_seq == 1 && peer.accepts_repeated_then == server->repeated_accept_count()) {
    peer.rtt.add_sample(now_ns - peer.probes.began_ns(), now_ns);
  }
  peer.probes.want();
  queue_reset_token(peer);
  peer.end.announce();
  announce(peer);
}

void Endpoint::Core::announce(Peer& peer, uint64_t most_rtt_ns) {
  ++stats.connections_opened;
  ConnectedInfo info;
  info.address = peer.path.address();
  info.peer_id = peer.peer_id;
  info.is_incoming = peer.incoming;
  info.player = peer.player;
  info.session = peer.session;
  info.user_data = std::span<const uint8_t>(peer.user_data).first(peer.user_bytes);
  info.features = peer.features;
  info.server_tick = peer.server_tick;
  info.tick_rate_hz = peer.tick_rate_hz;
  info.rtt_ns = peer.rtt.has_sample() ? peer.rtt.srtt_ns() : most_rtt_ns;
  handler.on_connected(peer.handle, info);
}

void Endpoint::Core::disconnect(Peer& peer, DisconnectReason reason, std::string_view text) {
  wake(peer);
  if (peer.handshake) {
    if (peer.handshake_started) peer.handshake->cancel();
    peer.handshake.reset();
    note_end(peer, reason, 0, text);
    return;
  }
  if (!peer.lifecycle.allows(Event::kDisconnect)) return;  // Ending already.
  peer.lifecycle.apply(Event::kDisconnect);
  if (peer.lifecycle.state() == State::kDisconnecting) peer.timers->begin_disconnect(now_ns);
  note_end(peer, reason, 0, text);
}

void Endpoint::Core::note_end(Peer& peer, DisconnectReason reason, uint64_t remote_schema,
                              std::string_view text) {
  peer.end.note(reason, remote_schema, text);
  list_ending(peer);
}

void Endpoint::Core::set_timeout_paused(bool paused, uint64_t since_ns) {
  const bool goes_on = timeout_paused && !paused;
  timeout_paused = paused;
  for (const auto& peer : peers) {
    if (!peer || !peer->connected()) continue;
    if (goes_on) peer->timers->restart_silence(std::max(since_ns, now_ns));
    wake(*peer);  // Its next deadline may have changed.
  }
}

std::string_view Endpoint::Core::why_silent(const Peer& peer) const {
  if (peer.incoming) return {};
  const bool nobody_listens =
      unreachable.about == peer.path.address() && unreachable.at_ns >= peer.timers->heard_at_ns();
  return nobody_listens ? "nobody listens at the server's address any more"
                        : "silence: server gone or restarted, or the network is down";
}

void Endpoint::Core::list_ending(Peer& peer) {
  if (peer.is_listed) return;
  peer.is_listed = true;
  ending.push_back(peer.handle.slot);
}

void Endpoint::Core::finish_phase() {
  // Callbacks may end further connections while this runs; each peer is listed at most once, so the list is
  // bounded.
  for (size_t i = 0; i < ending.size(); ++i) {
    Peer& peer = *peers[ending[i]];
    if (peer.end.take_report()) report_end(peer);
    if (peer.lifecycle.state() == State::kTimeout) peer.lifecycle.apply(Event::kReport);
    if (peer.lifecycle.state() == State::kDisconnected) {
      free_peer(peer);
    } else {
      peer.is_listed = false;
    }
  }
  ending.clear();
}

void Endpoint::Core::report_end(Peer& peer) {
  lose_receipts(peer);
  if (!peer.end.is_announced()) return;  // A half-open entry that was never announced.
  if (peer.link) ++stats.connections_closed;
  table.stop_pending(peer.handle);  // The application may connect to the same server again in the callback.
  handler.on_disconnected(peer.handle, peer.end.reason(), peer.end.remote_schema(), peer.end.text());
}

void Endpoint::Core::free_peer(Peer& peer) {
  const ConnectionHandle handle = peer.handle;
  batch.seal_pending();  // Its Disconnect may still be waiting.
  if (peer.incoming) server->on_ended(peer.link->connection_id());
  table.erase(handle);
  service_times.set(handle.slot, base::DeadlineTable::kNever);
  peers[handle.slot].reset();
}

const ConnectionStats* Endpoint::Core::stats_of(Peer& peer) {
  if (peer.connected()) update_loss_window(peer);
  ConnectionStats& out = peer.stats;
  out.srtt_ns = peer.rtt.srtt_ns();
  out.rttvar_ns = peer.rtt.rttvar_ns();
  out.rto_ns = peer.rtt.rto_ns();
  out.min_rtt_ns = peer.rtt.min_rtt_ns(now_ns);
  out.latest_rtt_ns = peer.rtt.latest_ns();
  out.rtt_samples = peer.rtt.sample_count();
  const HistoryCounters& history = peer.history.counters();
  out.packets_acked = history.acked;
  out.packets_lost = history.lost;
  out.packets_lost_spurious = history.lost_spurious;
  out.loss_out = peer.losses.out();
  out.loss_in = peer.losses.in();
  out.traffic = peer.traffic;
  if (peer.link) {
    out.key_epoch = peer.link->newest_epoch();
    out.datagram_bytes = peer.path.datagram_bytes();
    out.packets_missing = missing_packets(peer.link->highest_received(), out.traffic.packets_received);
  }
  const OutgoingChannels::Queued queued = peer.outgoing_channels.reliable();
  out.reliable_messages_queued = static_cast<uint32_t>(queued.messages);
  out.reliable_bytes_queued = static_cast<uint32_t>(queued.bytes);
  fill_congestion_stats(peer, &out);
  return &out;
}

}  // namespace lattice::reliability
