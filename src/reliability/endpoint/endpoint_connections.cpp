// Connections are made, end and are freed (H-11, L-05). What a beginning and an end mean for the connection
// itself is in connection_lifecycle.cpp.
#include <algorithm>

#include "base/assert.h"
#include "platform/process_memory.h"
#include "reliability/endpoint/endpoint_core.h"

namespace lattice::reliability {

connection::Admission Endpoint::Core::admit(const connection::AdmissionRequest& request) {
  // Several times what a newcomer takes: those who are connected need memory too, and go on.
  constexpr size_t kSpareBytes = 4 << 20;
  if (is_closing) return {connection::DisconnectReason::kServerFull, "the server is shutting down", 0};
  if (!has_place() && !request.has_place) {
    return {connection::DisconnectReason::kServerFull, "every place is taken", 0};
  }
  if (!platform::has_memory(kSpareBytes)) {
    return {connection::DisconnectReason::kServerFull, "no memory for another connection", 0};
  }
  return context.handler.on_admission(request);
}

Connection& Endpoint::Core::make_connection(ConnectionHandle handle) {
  LATTICE_CHECK(!connections[handle.slot]);
  void* room = connection_memory.data() + handle.slot * sizeof(Connection);
  connections[handle.slot].reset(new (room) Connection(context, handle));
  return *connections[handle.slot];
}

ConnectResult Endpoint::Core::connect(const base::PathId& server_path, std::span<const uint8_t> token,
                                      const crypto::KeyPair& client, ConnectionHandle* out) {
  const EndpointConfig& config = context.config;
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

  make_connection(*handle).begin_connecting(server_path, fields, token, client);
  *out = *handle;
  return ConnectResult::kOk;
}

// At once, because the newcomer takes its place. Nobody was told of it.
void Endpoint::Core::end_half_open(uint64_t connection_id) {
  const std::optional<ConnectionHandle> handle = table.find(connection_id);
  if (!handle) return;
  Connection& connection = *connections[handle->slot];
  LATTICE_ASSERT(!connection.is_announced());
  if (connection.is_listed()) schedule.forget_ending(handle->slot);
  free_connection(connection);
}

Connection* Endpoint::Core::first_leaving() const {
  const auto leaving = std::ranges::find_if(connections, [](const auto& c) { return c && c->is_leaving(); });
  return leaving == connections.end() ? nullptr : leaving->get();
}

bool Endpoint::Core::has_place() const {
  return !is_full() || first_leaving() != nullptr;
}

void Endpoint::Core::make_place() {
  if (is_full()) free_connection(*first_leaving());
}

void Endpoint::Core::on_accepted_client(connection::ServerAccepted& accepted) {
  const std::optional<ConnectionHandle> handle = table.insert(accepted.connection_id);
  if (!handle) {
    // admit() saw a free slot and the handshake chose a fresh id. The only remaining cause is an outgoing
    // connection with the same id.
    server->on_ended(accepted.connection_id, context.clock.now_ns());
    return;
  }
  make_connection(*handle).begin_accepted(accepted);
}

void Endpoint::Core::finish_phase() {
  schedule.finish_ending([this](uint32_t slot) {
    Connection& connection = *connections[slot];
    if (connection.take_end()) {
      table.stop_pending(connection.handle());  // The application may connect again in the callback.
      connection.report_end();
    }
    if (connection.leave_list()) free_connection(connection);
  });
}

void Endpoint::Core::free_connection(Connection& connection) {
  const ConnectionHandle handle = connection.handle();
  batch.seal_pending();  // Its Disconnect may still be waiting.
  if (connection.counts_as_leaving()) --context.totals.connections_leaving;
  if (connection.is_incoming()) server->on_ended(connection.connection_id(), context.clock.now_ns());
  table.erase(handle);
  schedule.set(handle.slot, ServiceSchedule::kNever);
  connections[handle.slot].reset();
}

}  // namespace lattice::reliability
