// The connections of a session, and what comes over them; see session.h.
#include <utility>

#include "transport/wire/control_body.h"
#include "world/session.h"

namespace lattice::world {
namespace {

/// Snapshots and inputs travel on channel 1 only, and are never RPCs (spec W-27).
bool is_engine_traffic_legal(wire::Channel channel, reliability::MessageFlags flags) {
  return !flags.is_snapshot || (channel == wire::Channel::kUnreliableSequenced && !flags.is_rpc);
}

}  // namespace

// --- Beginning and end

bool Session::is_connecting() const {
  return endpoint_ && endpoint_->state(connector_->connection()) != connection::State::kDisconnected;
}

OpResult Session::connect(const base::PathId& server, std::span<const uint8_t> token, ConnectionHandle* out,
                          const char** error) {
  if (!connector_) {
    *error = "This world does not connect to others.";
    return OpResult::kNotAllowed;
  }
  if (is_connecting()) {
    *error = "This world has a connection. Disconnect it, and pump until it has ended.";
    return OpResult::kNotAllowed;
  }
  const OpResult checked = connector_->check(token, error);
  if (checked != OpResult::kOk) return checked;
  fix_schema();
  placed_.put_in_order();
  endpoint_->endpoint().set_placed(placed_.summary());
  const OpResult begun = connector_->connect(*endpoint_, server, token, error);
  if (begun == OpResult::kOk) *out = connector_->connection();
  return begun;
}

connection::Admission Session::on_admission(const connection::AdmissionRequest& request) {
  connection::Admission answer;
  if (!clients_) {  // no endpoint asks that accepts no connections
    answer.refusal = connection::DisconnectReason::kServerFull;
    return answer;
  }
  Admission who;
  who.player = request.token.player;
  who.session = request.token.session;
  who.user_data = request.token.user_data;
  answer.refusal = static_cast<connection::DisconnectReason>(observer_.on_admit(who));
  if (answer.refusal != connection::DisconnectReason::kNone) answer.text = observer_.admit_text();
  answer.peer_id = clients_->next_peer();
  return answer;
}

void Session::on_connected(ConnectionHandle connection, const reliability::ConnectedInfo& info) {
  if (clients_) {
    clients_->add(connection, info.peer_id);
    if (sender_) sender_->join(connection, info.peer_id);
    if (input_receiver_) input_receiver_->open(connection.slot, current_tick_);
  } else {
    table_.set_local_peer(info.peer_id);
    if (receiver_) {
      clock_->start(info.server_tick, now_ns_, info.rtt_ns);
      receiver_->begin_session(placed_, info.server_tick);
    }
  }
  observer_.on_connected(connection, info);
}

std::vector<serialization::SchemaDifference> Session::differences_from(uint64_t remote_schema,
                                                                       std::string_view text) const {
  using serialization::Extent;
  const bool is_whole = serialization::schema_hash_of(text) == remote_schema;
  return schema_differences(schema_.text(), text, is_whole ? Extent::kWhole : Extent::kFront);
}

std::string Session::schema_lines(uint64_t remote_schema, std::string_view text) {
  return told_lines(differences_from(remote_schema, text), wire::kMaxSchemaLinesBytes);
}

void Session::on_schema_told(ConnectionHandle connection, uint64_t remote_schema, std::string_view text) {
  const std::vector<serialization::SchemaDifference> differences = differences_from(remote_schema, text);
  if (!differences.empty()) observer_.on_schema_differs(connection, differences);
}

std::vector<serialization::SchemaDifference> Session::differences_told(std::string_view lines) const {
  return serialization::differences_told(schema_.text(), lines);
}

void Session::on_disconnected(ConnectionHandle connection, connection::DisconnectReason reason,
                              uint64_t remote_schema, std::string_view text) {
  const Client* client = clients_ ? clients_->find(connection) : nullptr;
  if (clients_ && client == nullptr) return;
  const bool ends_following = connector_ && connection == connector_->connection();
  if (transfers_) transfers_->transfers().on_disconnected(connection);
  // The game may connect again inside the callback below: its new connection must stay.
  if (ends_following) connector_->forget();
  observer_.on_disconnected(connection, reason, remote_schema, text);
  if (client != nullptr) forget_client(*client);
  if (ends_following) end_following();
}

void Session::forget_client(const Client& client) {
  if (input_receiver_) input_receiver_->close(client.connection.slot, current_tick_);
  if (sender_) sender_->leave(client.connection);
  rpcs_.forget(client.peer);
  held_calls_.forget(client.connection);
  clients_->remove(client.connection);
}

void Session::end_following() {
  table_.set_local_peer(0);
  rpcs_.forget(kAuthorityPeer);
  if (!receiver_) return;
  receiver_->end_session();
  frame_log_.forget_up_to(placed_.size());  // the next session begins with the level as it was placed
  predictor_->end_session();
  presenter_->end_session();
  clock_->stop();
  if (input_sender_) input_sender_->clear();
}

bool Session::is_owner(uint64_t peer) const {
  return peer == 0 || (config_.has_player && peer == local_peer()) ||
         (clients_ && clients_->find_peer(peer) != nullptr);
}

StateReceiver::Joining Session::joining(ConnectionHandle connection) {
  if (receiver_) return receiver_->joining();
  if (!sender_) return {};
  return {sender_->join_count(connection), sender_->loaded(connection)};
}

void Session::disconnect(ConnectionHandle connection, connection::DisconnectReason reason,
                         std::string_view text, Now) {
  if (!endpoint_) return;
  if (phase_ == Phase::kIdle) {
    endpoint_->disconnect(connection, reason, text);
  } else {
    pending_disconnects_.push_back({connection, reason, std::string(text)});
  }
}

void Session::disconnect_all(connection::DisconnectReason reason, std::string_view text) {
  if (endpoint_) endpoint_->endpoint().disconnect_all(reason, text);
}

void Session::set_closing(bool is_closing) {
  if (endpoint_) endpoint_->endpoint().set_closing(is_closing);
}

bool Session::has_connections() const {
  return endpoint_ && endpoint_->endpoint().connection_count() != 0;
}

void Session::set_issuers(std::span<const crypto::PublicKey> issuers) {
  config_.issuers.assign(issuers.begin(), issuers.end());
  if (endpoint_) endpoint_->endpoint().set_issuers(issuers);
}

void Session::set_timeout_paused(bool paused, Now now) {
  timeout_paused_ = paused;
  if (endpoint_) endpoint_->endpoint().set_timeout_paused(paused, now.ns);
}

reliability::SendResult Session::send_message(ConnectionHandle connection, wire::Channel channel,
                                              std::span<const uint8_t> body, uint32_t* receipt) {
  if (!endpoint_) return reliability::SendResult::kNotConnected;
  if (receipt == nullptr) return endpoint_->send(connection, channel, {}, body);
  const uint32_t number = last_receipt_ % (kApplicationReceiptBit - 1) + 1;
  const auto sent = endpoint_->send(connection, channel, {}, body, kApplicationReceiptBit | number);
  if (sent == reliability::SendResult::kOk) *receipt = last_receipt_ = number;
  return sent;
}

bool Session::tell_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) {
  if ((receipt & kApplicationReceiptBit) == 0) return false;
  observer_.on_receipt(connection, receipt & ~kApplicationReceiptBit, acked);
  return true;
}

std::optional<reliability::Verdict> Session::engine_message(ConnectionHandle connection,
                                                            wire::Channel channel,
                                                            std::span<const uint8_t> body) {
  if (transfers_) {
    if (const auto verdict = transfers_->on_message(connection, channel, body)) return verdict;
  }
  if (channel != wire::Channel::kControl) return std::nullopt;
  // Transfers need a bulk channel (spec B-2). The other types have no meaning in 1.0.
  return wire::is_transfer_control_type(body[0]) ? reliability::Verdict::kProtocolError
                                                 : reliability::Verdict::kAccept;
}

void Session::on_packet_soon(ConnectionHandle connection, Ahead ahead) {
  switch (ahead) {
    case Ahead::kFar:
      if (clients_) clients_->prefetch(connection.slot);
      if (input_receiver_) input_receiver_->prefetch_place(connection.slot);
      if (sender_) sender_->prefetch_receipts(connection.slot);
      return;
    case Ahead::kNear:
      if (input_receiver_) input_receiver_->prefetch(connection.slot);
      return;
    case Ahead::kNext:
      if (input_receiver_) input_receiver_->prefetch_inputs(connection.slot);
  }
}

void Session::on_receipt(ConnectionHandle connection, uint32_t receipt, bool acked) {
  if (tell_receipt(connection, receipt, acked)) return;
  if (sender_) sender_->on_receipt(connection, receipt, acked);  // no other engine message has receipts
}

reliability::Verdict Session::on_message(ConnectionHandle connection, wire::Channel channel,
                                         reliability::MessageFlags flags, std::span<const uint8_t> body,
                                         uint64_t arrived_ns) {
  Client* client = clients_ ? clients_->find(connection) : nullptr;
  if (clients_ && client == nullptr) return reliability::Verdict::kAccept;
  if (!is_engine_traffic_legal(channel, flags)) return reliability::Verdict::kProtocolError;
  if (const auto verdict = engine_message(connection, channel, body)) return *verdict;
  if (config_.transport_only && (flags.is_snapshot || flags.is_rpc))
    return reliability::Verdict::kProtocolError;
  if (flags.is_snapshot) {
    return client != nullptr ? receive_inputs(connection, body, arrived_ns) : receive_part(body, arrived_ns);
  }
  if (flags.is_rpc) {
    receive_call(client, channel, body);
  } else {
    observer_.on_message(connection, static_cast<uint8_t>(channel), body);
  }
  return reliability::Verdict::kAccept;
}

reliability::Verdict Session::receive_inputs(ConnectionHandle client, std::span<const uint8_t> body,
                                             uint64_t arrived_ns) {
  if (!input_receiver_) return reliability::Verdict::kProtocolError;
  if (!input_receiver_->receive(client.slot, body, current_tick_, position_of_arrival(arrived_ns))) {
    return reliability::Verdict::kProtocolError;
  }
  sender_->heard_inputs(client);
  return reliability::Verdict::kAccept;
}

simulation::TickTime Session::position_of_arrival(uint64_t arrived_ns) const {
  return simulation::moved({current_tick_, 0.0}, fixed_tick_.passed_at(arrived_ns) - lost_ticks_);
}

reliability::Verdict Session::receive_part(std::span<const uint8_t> body, uint64_t arrived_ns) {
  const replication::SnapshotHeader* part = nullptr;
  const reliability::Verdict verdict = receiver_->receive(body, &part);
  if (part == nullptr) return verdict;
  const reliability::ConnectionStats* link = endpoint_->stats(connector_->connection());
  clock_->on_part(*part, link == nullptr ? 0 : link->srtt_ns, arrived_ns);
  if (input_sender_) input_sender_->on_part(*part);
  predictor_->on_part(*part);
  return verdict;
}

}  // namespace lattice::world
