// Beginning and end of a connection (H-11, L-05): handshake, confirmation, disconnects, reports.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/durations.h"
#include "base/random.h"
#include "reliability/endpoint/connection.h"
#include "reliability/endpoint/connection_notifier.h"

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

// Both sides take the features from the same sealed message 4, so they agree.
crypto::Cipher cipher_of(uint32_t features) {
  return (features & wire::kFeatureAes256Gcm) != 0 ? crypto::Cipher::kAes256Gcm
                                                   : crypto::Cipher::kChaCha20Poly1305;
}

}  // namespace

Connection::Connection(const ConnectionContext& context, ConnectionHandle handle)
    : context_(context),
      handle_(handle),
      history_(context.pool, context.items),
      rtt_(context.config.rto),
      pacer_({context.config.congestion, context.clock.now_ns()}),
      outgoing_channels_(context.pool, context.config.channels, context.config.rto.max_ns),
      incoming_channels_(context.pool, context.receive_memory, context.config.channels) {}

void Connection::begin_connecting(const base::PathId& server, const wire::TokenFields& fields,
                                  std::span<const uint8_t> token, const crypto::KeyPair& client) {
  path_.begin(server);
  player_ = fields.player;
  session_ = fields.session;
  user_bytes_ = static_cast<uint16_t>(fields.user_data.size());
  std::copy(fields.user_data.begin(), fields.user_data.end(), user_data_.begin());
  end_.announce();
  const EndpointConfig& config = context_.config;
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
  handshake_config.jitter_seed = retry_jitter_seed(config, context_.socket.local_path(), now_ns());
  handshake_config.schema_lines = [&handler = context_.handler](uint64_t schema_id, std::string_view text) {
    return handler.schema_lines(schema_id, text);
  };
  handshake_ = std::make_unique<connection::ClientHandshake>(handshake_config, server, token, client.clone());
  wake();
}

void Connection::begin_accepted(connection::ServerAccepted& accepted) {
  path_.begin(accepted.address);
  is_incoming_ = true;
  peer_id_ = accepted.peer_id;
  player_ = accepted.player;
  session_ = accepted.session;
  user_data_ = accepted.user_data;
  user_bytes_ = accepted.user_bytes;
  features_ = accepted.features;
  server_tick_ = context_.server_tick;
  tick_rate_hz_ = context_.config.tick_rate_hz;
  begin_link(crypto::Role::kServer, accepted.connection_id, std::move(accepted.master),
             accepted.max_datagram_bytes);
  accepts_repeated_then_ = context_.server->repeated_accept_count();
  lifecycle_.apply(Event::kAdmit);
  wake();
}

void Connection::begin_link(crypto::Role role, uint64_t connection_id, crypto::Key master,
                            uint32_t peer_datagram_bytes) {
  const EndpointConfig& config = context_.config;
  link_.emplace(config.protocol_id, connection_id, role, std::move(master), config.link_limits,
                cipher_of(features_));
  rotation_.emplace(role, config.rotation, now_ns());
  path_.agree(peer_datagram_bytes, path_limits(path_.address()));
  path_.mtu().assume(config.initial_datagram_bytes);
  path_.mtu().bound_rate(config.congestion.max_rate_bytes_per_s);
  timers_.emplace(config.timers, now_ns(), role == crypto::Role::kServer);
  probes_.begin(now_ns());
  losses_.begin(now_ns() / base::kSecondNs);
}

std::optional<connection::ClientAccepted> Connection::on_handshake_datagram(
    const base::PathId& from, std::span<const uint8_t> datagram) {
  connection::ClientResult result = handshake_->on_datagram(from, datagram, now_ns(), context_.batch);
  if (result.drop != connection::ClientDrop::kNone) {
    count(Refusal::kHandshakeRefused);
    context_.totals.client_drops.add(result.drop);
  }
  on_handshake_end(result);
  wake();  // The next attempt may be due earlier, or the link is there.
  return std::move(result.accepted);
}

void Connection::on_handshake_end(connection::ClientResult& result) {
  if (result.outcome != connection::ClientOutcome::kRefused &&
      result.outcome != connection::ClientOutcome::kGaveUp) {
    return;
  }
  handshake_.reset();
  if (result.is_reason_reserved) count(Refusal::kReasonReserved);
  note_end(result.reason, result.remote_schema_id, result.text.view());
  end_.note_schema(std::move(result.remote_schema_text));
  stats_.ended_by_peer = result.is_told_by_server;
}

void Connection::on_accepted_by_server(connection::ClientAccepted& accepted, bool has_id) {
  lifecycle_ = handshake_->lifecycle();
  handshake_.reset();
  LATTICE_ASSERT(connected());
  if (!has_id) {
    // Two servers chose the same 64 random bits as id, so the two connections cannot be told apart.
    lifecycle_.apply(Event::kSilence);
    note_end(DisconnectReason::kInternalError, 0, "connection_id in use");
    return;
  }
  peer_id_ = accepted.peer_id;
  features_ = accepted.features;
  server_tick_ = accepted.server_tick;
  tick_rate_hz_ = accepted.tick_rate_hz;
  begin_link(crypto::Role::kClient, accepted.connection_id, std::move(accepted.master),
             accepted.mtu_hint_bytes);
  if (accepted.first_rtt_ns != 0) rtt_.add_sample(accepted.first_rtt_ns, now_ns());
  send_keepalive(true);  // At once: the server says nothing before it has heard from us (H-11).
  announce(accepted.most_rtt_ns);
}

void Connection::confirm(uint64_t packet_seq) {
  lifecycle_.apply(Event::kConfirm);
  context_.server->on_confirmed(link_->connection_id());
  // The time from message 4 to the client's first packet is a round trip if neither was sent twice.
  if (packet_seq == 1 && accepts_repeated_then_ == context_.server->repeated_accept_count()) {
    rtt_.add_sample(now_ns() - probes_.began_ns(), now_ns());
  }
  probes_.want();
  queue_reset_token();
  end_.announce();
  announce();
}

void Connection::queue_reset_token() {
  const auto body = wire::encode_reset_token(context_.resets->token_of(link_->connection_id()));
  // Without memory for the message the client gets no token, and notices a restart by silence.
  outgoing_channels_.queue_control(body);
}

void Connection::announce(uint64_t most_rtt_ns) {
  ++context_.totals.connections_opened;
  connected_at_ns_ = now_ns();
  ConnectedInfo info;
  info.address = path_.address();
  info.peer_id = peer_id_;
  info.connection_id = link_->connection_id();
  info.is_incoming = is_incoming_;
  info.player = player_;
  info.session = session_;
  info.user_data = std::span<const uint8_t>(user_data_).first(user_bytes_);
  info.features = features_;
  info.server_tick = server_tick_;
  info.tick_rate_hz = tick_rate_hz_;
  info.rtt_ns = rtt_.has_sample() ? rtt_.srtt_ns() : most_rtt_ns;
  context_.handler.on_connected(handle_, info);
}

void Connection::disconnect(DisconnectReason reason, std::string_view text) {
  wake();
  if (handshake_) {
    if (handshake_started_) handshake_->cancel();
    handshake_.reset();
    note_end(reason, 0, text);
    return;
  }
  if (!lifecycle_.allows(Event::kDisconnect)) return;  // Ending already.
  lifecycle_.apply(Event::kDisconnect);
  if (lifecycle_.state() == State::kDisconnecting) {
    timers_->begin_disconnect(now_ns());
    ++context_.totals.connections_leaving;
  }
  note_end(reason, 0, text);
}

void Connection::note_end(DisconnectReason reason, uint64_t remote_schema, std::string_view text) {
  end_.note(reason, remote_schema, text);
  list_ending();
}

void Connection::list_ending() {
  if (is_listed_) return;
  is_listed_ = true;
  context_.schedule.list_ending(handle_.slot);
}

std::string_view Connection::why_silent() const {
  if (is_incoming_) return {};
  const bool nobody_listens =
      context_.unreachable.about == path_.address() && context_.unreachable.at_ns >= timers_->heard_at_ns();
  return nobody_listens ? "nobody listens at the server's address any more"
                        : "silence: server gone or restarted, or the network is down";
}

connection::State Connection::state() const {
  if (!handshake_) return lifecycle_.state();
  return handshake_started_ ? handshake_->lifecycle().state() : State::kConnecting;
}

bool Connection::take_end() {
  if (!end_.take_report()) return false;
  Notifier notifier(*this);
  const auto lost = [&notifier](uint32_t receipt) { notifier.notify_receipt(receipt, false); };
  // Channels report the receipts of reliable messages; packets report those of unreliable messages.
  history_.lose_everything(notifier);
  outgoing_channels_.lose_everything(lost);
  return true;
}

void Connection::report_end() {
  if (!end_.is_announced()) return;  // A half-open entry that was never announced.
  if (link_) ++context_.totals.connections_closed;
  if (!end_.schema_text().empty()) {
    context_.handler.on_schema_told(handle_, end_.remote_schema(), end_.schema_text());
  }
  context_.handler.on_disconnected(handle_, end_.reason(), end_.remote_schema(), end_.text());
}

bool Connection::leave_list() {
  if (lifecycle_.state() == State::kTimeout) lifecycle_.apply(Event::kReport);
  if (lifecycle_.state() == State::kDisconnected) return true;
  is_listed_ = false;
  return false;
}

}  // namespace lattice::reliability
