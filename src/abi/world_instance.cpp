// The game's callbacks, and the facts about a connection for lattice_conn_get_info().
#include "abi/world_instance.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#include "abi/last_error.h"
#include "platform/clock.h"
#include "transport/socket/path_address.h"

namespace lattice::abi {

void WorldInstance::write_log(lattice_log_level level, const char* category, const char* format, ...) const {
  if (log == nullptr) return;
  char text[kMaxLogLineBytes];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  log(log_ctx, level, category, text);
}

world::Now WorldInstance::now() const {
  world::Now now;
  const uint64_t steps = steady_clock.steps();
  now.ns = steady_clock.read(clock != nullptr ? clock(clock_ctx) : platform::monotonic_ns());
  if (steady_clock.steps() != steps && world != nullptr) {
    world->count_clock_step();
    if (steps == 0) {
      write_log(
          LATTICE_LOG_WARNING, "clock",
          "the clock went back by %.3f s; that counts as no time, and clock_went_back counts from here on",
          static_cast<double>(steady_clock.last_step_ns()) / 1e9);
    }
  }
  now.unix_s = unix_seconds != nullptr ? unix_seconds(unix_seconds_ctx) : platform::unix_seconds();
  return now;
}

lattice_conn* WorldInstance::handle_of(world::ConnectionHandle connection) const {
  return make_connection_handle(handle, {connection.slot, connection.generation});
}

lattice_event WorldInstance::event_of(lattice_event_kind kind, world::ConnectionHandle connection) {
  lattice_event event{};
  event.kind = static_cast<uint32_t>(kind);
  event.conn = handle_of(connection);
  const Connection* entry = find({connection.slot, connection.generation});
  if (entry != nullptr) event.peer = entry->info.peer_id;
  return event;
}

WorldInstance::Connection* WorldInstance::find(ConnectionRef ref) {
  if (ref.slot >= connections.size()) return nullptr;
  Connection& connection = connections[ref.slot];
  const bool same = Handle::same_connection_generation(connection.handle.generation, ref.generation);
  return connection.known && same ? &connection : nullptr;
}

WorldInstance::Connection& WorldInstance::remember(world::ConnectionHandle connection) {
  if (connections.size() <= connection.slot) connections.resize(connection.slot + 1);
  Connection& entry = connections[connection.slot];
  entry = {};
  entry.handle = connection;
  entry.known = true;
  entry.info.struct_size = sizeof entry.info;
  return entry;
}

void WorldInstance::note_address(Connection& connection) const {
  const base::PathId path = world->remote_path(connection.handle);
  if (!base::is_path(path)) return;
  char text[socket::kPathTextBytes];
  socket::format_path(path, text);
  static_assert(sizeof text <= sizeof connection.info.remote_address);
  std::memcpy(connection.info.remote_address, text, sizeof text);
}

namespace {

std::string hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  }
  return text;
}

/// Who was connected, and how the connection was until its end: what somebody asks who reads of the end.
std::string describe_life(const lattice_conn_info& info, const reliability::ConnectionStats& link) {
  char numbers[128];
  std::snprintf(numbers, sizeof numbers,
                "; connected for %.1f s, rtt %.0f ms, loss %.1f %% out and %.1f %% in, last heard %.1f s ago",
                static_cast<double>(link.connected_ns) / 1e9, static_cast<double>(link.srtt_ns) / 1e6,
                100 * link.loss_out, 100 * link.loss_in, static_cast<double>(link.silent_ns) / 1e9);
  return "; player " + hex(info.player) + ", session " + hex(info.session) + numbers;
}

/// What the log says of the end of a connection: who ended it, the reason, the text. A peer's text is quoted,
/// so that it cannot be taken for the library's own words.
std::string describe_end(bool by_peer, connection::DisconnectReason reason, std::string_view text) {
  std::string line = by_peer ? "ended by the peer: " : "ended here: ";
  line += connection::disconnect_reason_name(reason);
  if (text.empty()) return line;
  if (!by_peer) return line.append(" (").append(text).append(")");
  line += " \"";
  for (const char character : text) {
    if (character == '"' || character == '\\') line += '\\';
    line += character;
  }
  return line += '"';
}

/// For lattice_last_error().
std::string describe_schema_refusal(const std::vector<std::string>& differences) {
  if (differences.empty()) return "The server has another schema, and did not say what differs.";
  std::string text = "The server has another schema. " + differences[0] + ".";
  if (differences.size() == 1) return text;
  return text + " lattice_conn_schema_difference() names the " + std::to_string(differences.size()) +
         " differences that were found.";
}

void write_refusal(void* ctx, const char* line) {
  static_cast<WorldInstance*>(ctx)->write_log(LATTICE_LOG_WARNING, "connect", "%s", line);
}

}  // namespace

void WorldInstance::on_connect_refused(const connection::RefusedClient& client) {
  if (log != nullptr) refusal_log.note(client, now().ns, write_refusal, this);
  if (!client.schema_lines.empty()) note_schema_told(client, now().ns);
}

// Whoever has a valid token may tell anything, so what is logged, compared and kept is bounded, whoever
// tells. The players of one old build all tell the same, which is said once a minute for each of 16 builds.
void WorldInstance::note_schema_told(const connection::RefusedClient& client, uint64_t now_ns) {
  constexpr uint64_t kSameNs = 60'000'000'000;
  constexpr size_t kMostLogged = 4;
  const size_t hash = std::hash<std::string_view>()(client.schema_lines);
  for (const SchemaTold::Lately& lately : schema_told.lately) {
    if (lately.at_ns != 0 && lately.hash == hash && now_ns < lately.at_ns + kSameNs) return;
  }
  // The room is taken first: to compare costs as much as the whole schema is long.
  if (!refusal_log.takes_difference(client, now_ns)) return;
  const auto differences = world->differences_told(client.schema_lines);
  if (differences.empty()) return;
  schema_told.sentences.clear();
  schema_told.lately[schema_told.next_lately++ % schema_told.lately.size()] = {hash, now_ns};
  const std::string name = refused_name(client);
  for (const serialization::SchemaDifference& difference : differences) {
    const std::string& sentence = schema_told.sentences.emplace_back(describe_to_server(difference));
    if (schema_told.sentences.size() > kMostLogged) continue;
    write_log(LATTICE_LOG_WARNING, "schema", "refused %s: %s", name.c_str(), sentence.c_str());
  }
  if (differences.size() <= kMostLogged) return;
  write_log(LATTICE_LOG_WARNING, "schema", "refused %s: and %zu more differences", name.c_str(),
            differences.size() - kMostLogged);
}

void WorldInstance::on_path_moved(world::ConnectionHandle connection, const base::PathId& before,
                                  const base::PathId& now) {
  if (log == nullptr) return;
  char from[socket::kPathTextBytes], to[socket::kPathTextBytes];
  socket::format_path(before, from);
  socket::format_path(now, to);
  const Connection* entry = find({connection.slot, connection.generation});
  const lattice_conn_info info = entry != nullptr ? entry->info : lattice_conn_info{};
  write_log(LATTICE_LOG_INFO, "path", "peer %llu (connection %016llx) moved from %s to %s",
            static_cast<unsigned long long>(info.peer_id),
            static_cast<unsigned long long>(info.connection_id), from, to);
}

// What is known of a connection can be asked for until the program has seen its end.
size_t WorldInstance::take_events(std::span<lattice_event> out) {
  forget_ended();
  const size_t count = events->take(out);
  for (const lattice_event& event : out.first(count)) {
    if (event.kind == LATTICE_EVENT_DISCONNECTED) ended.push_back(connection_of(event.conn));
  }
  return count;
}

void WorldInstance::forget_ended() {
  for (const ConnectionRef& ref : ended) {
    Connection* connection = find(ref);
    if (connection == nullptr) continue;
    connection->known = false;
    connection->last_stats.reset();
  }
  ended.clear();
}

bool WorldInstance::receive(world::Now now) {
  was_pumped = true;
  forget_ended();
  if (!world->receive(now)) return false;
  refusal_log.flush(now.ns, write_refusal, this);
  return true;
}

void WorldInstance::on_connected(world::ConnectionHandle connection, const reliability::ConnectedInfo& info) {
  Connection& entry = remember(connection);
  entry.info.is_connected = 1;
  entry.info.peer_id = info.peer_id;
  entry.info.connection_id = info.connection_id;
  std::memcpy(entry.info.player, info.player.data(), sizeof entry.info.player);
  std::memcpy(entry.info.session, info.session.data(), sizeof entry.info.session);
  entry.info.user_data_bytes =
      static_cast<uint32_t>(std::min(info.user_data.size(), sizeof entry.info.user_data));
  if (entry.info.user_data_bytes != 0) {
    std::memcpy(entry.info.user_data, info.user_data.data(), entry.info.user_data_bytes);
  }
  note_address(entry);
  write_log(LATTICE_LOG_INFO, "connection", "peer %llu (connection %016llx) connected %s %s",
            static_cast<unsigned long long>(info.peer_id),
            static_cast<unsigned long long>(info.connection_id), connects() ? "to" : "from",
            entry.info.remote_address);
  if (events) {
    events->record(event_of(LATTICE_EVENT_CONNECTED, connection));
  } else if (callbacks.on_connected != nullptr) {
    callbacks.on_connected(callbacks_ctx, handle_of(connection));
  }
}

void WorldInstance::on_schema_differs(world::ConnectionHandle connection,
                                      const std::vector<serialization::SchemaDifference>& differences) {
  constexpr size_t kMostLogged = 16;
  Connection* entry = find({connection.slot, connection.generation});
  if (entry == nullptr) entry = &remember(connection);
  entry->schema_differences.clear();
  for (const serialization::SchemaDifference& difference : differences) {
    const std::string& line = entry->schema_differences.emplace_back(describe_to_client(difference));
    if (entry->schema_differences.size() > kMostLogged) continue;
    write_log(LATTICE_LOG_ERROR, "schema", "%s", line.c_str());
  }
  if (differences.size() <= kMostLogged) return;
  write_log(LATTICE_LOG_ERROR, "schema", "and %zu more differences", differences.size() - kMostLogged);
}

void WorldInstance::on_disconnected(world::ConnectionHandle connection, connection::DisconnectReason reason,
                                    uint64_t remote_schema_id, std::string_view text) {
  Connection* entry = find({connection.slot, connection.generation});
  if (entry == nullptr) entry = &remember(connection);
  note_address(*entry);
  entry->info.is_connected = 0;
  entry->info.remote_schema_id = remote_schema_id;
  const bool is_schema = connects() && reason == connection::DisconnectReason::kSchemaMismatch;
  refused_for = is_schema ? describe_schema_refusal(entry->schema_differences) : "";
  const size_t length = std::min(text.size(), sizeof entry->info.disconnect_text - 1);
  if (length != 0) std::memcpy(entry->info.disconnect_text, text.data(), length);
  entry->info.disconnect_text[length] = '\0';
  const reliability::ConnectionStats* link = world->connection_stats(connection);
  const bool by_peer = link != nullptr && link->ended_by_peer;
  entry->info.ended_by_peer = by_peer ? 1 : 0;
  if (log != nullptr) {
    // A peer cannot raise a warning by what it says: only a fault that this side found is one.
    const bool is_fault = !by_peer && (reason == connection::DisconnectReason::kProtocolError ||
                                       reason == connection::DisconnectReason::kInternalError);
    const bool was_connected = entry->info.peer_id != 0 && link != nullptr;
    write_log(is_fault ? LATTICE_LOG_WARNING : LATTICE_LOG_INFO, "connection",
              "peer %llu (connection %016llx) at %s: %s%s",
              static_cast<unsigned long long>(entry->info.peer_id),
              static_cast<unsigned long long>(entry->info.connection_id), entry->info.remote_address,
              describe_end(by_peer, reason, text).c_str(),
              was_connected ? describe_life(entry->info, *link).c_str() : "");
  }
  if (events) {
    lattice_event event = event_of(LATTICE_EVENT_DISCONNECTED, connection);
    event.reason = static_cast<int32_t>(reason);
    events->record(event, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    if (link != nullptr) entry->last_stats = std::make_unique<reliability::ConnectionStats>(*link);
    return;
  }
  if (callbacks.on_disconnected != nullptr) {
    if (is_schema) tell_callback(LATTICE_ERROR_NOT_CONNECTED, "%s", refused_for.c_str());
    callbacks.on_disconnected(callbacks_ctx, handle_of(connection), static_cast<int>(reason));
  }
  if (Connection* again = find({connection.slot, connection.generation})) again->known = false;
}

void WorldInstance::on_loaded(world::ConnectionHandle connection) {
  if (callbacks.on_loaded != nullptr) callbacks.on_loaded(callbacks_ctx, handle_of(connection));
}

void WorldInstance::on_spawn(uint64_t network_id, uint32_t type_id) {
  if (callbacks.on_spawn != nullptr) callbacks.on_spawn(callbacks_ctx, network_id, type_id);
}

void WorldInstance::on_despawn(uint64_t network_id, replication::DespawnReason reason) {
  despawn_reason = world::public_reason(reason);
  if (callbacks.on_despawn != nullptr) callbacks.on_despawn(callbacks_ctx, network_id);
  despawn_reason = LATTICE_DESPAWN_NONE;
}

void WorldInstance::on_rpc(uint64_t network_id, uint16_t rpc_id, const void* arguments, size_t bytes) {
  if (callbacks.on_rpc != nullptr) callbacks.on_rpc(callbacks_ctx, network_id, rpc_id, arguments, bytes);
}

void WorldInstance::on_authority_changed(uint64_t network_id, uint64_t new_owner) {
  if (callbacks.on_authority_changed != nullptr) {
    callbacks.on_authority_changed(callbacks_ctx, network_id, new_owner);
  }
}

void WorldInstance::on_tick(world::Tick tick, bool resimulating) {
  if (callbacks.on_tick == nullptr) return;
  tick_context.tick = tick;
  tick_context.is_resimulating = resimulating ? 1 : 0;
  callbacks.on_tick(callbacks_ctx, handle, &tick_context);
}

void WorldInstance::on_sample_input(world::Tick tick, void* input, size_t bytes) {
  if (callbacks.on_sample_input != nullptr) {
    callbacks.on_sample_input(callbacks_ctx, handle, tick, input, bytes);
  }
}

void WorldInstance::on_message(world::ConnectionHandle connection, uint8_t channel,
                               std::span<const uint8_t> body) {
  if (events) {
    lattice_event event = event_of(LATTICE_EVENT_MESSAGE, connection);
    event.channel = channel;
    events->record(event, body);
  } else if (callbacks.on_message != nullptr) {
    callbacks.on_message(callbacks_ctx, handle_of(connection), static_cast<lattice_channel>(channel),
                         body.data(), body.size());
  }
}

void WorldInstance::on_receipt(world::ConnectionHandle connection, uint32_t receipt, bool acked) {
  if (events) {
    lattice_event event = event_of(LATTICE_EVENT_RECEIPT, connection);
    event.receipt = receipt;
    event.acked = acked ? 1 : 0;
    events->record(event);
  } else if (callbacks.on_receipt != nullptr) {
    callbacks.on_receipt(callbacks_ctx, handle_of(connection), receipt, acked ? 1 : 0);
  }
}

uint16_t WorldInstance::on_admit(const world::Admission& who) {
  if (callbacks.on_admit == nullptr) return 0;
  lattice_conn_info info{};
  info.struct_size = sizeof info;
  std::memcpy(info.player, who.player.data(), sizeof info.player);
  std::memcpy(info.session, who.session.data(), sizeof info.session);
  info.user_data_bytes = static_cast<uint32_t>(who.user_data.size());
  if (!who.user_data.empty()) std::memcpy(info.user_data, who.user_data.data(), who.user_data.size());
  admit_words = {};
  is_admitting = true;
  const int reason = callbacks.on_admit(callbacks_ctx, handle, &info);
  is_admitting = false;
  const bool legal = reason == 0 || reason == LATTICE_DISCONNECT_SERVER_FULL ||
                     reason == LATTICE_DISCONNECT_KICKED ||
                     (reason >= LATTICE_DISCONNECT_APPLICATION && reason <= UINT16_MAX);
  return static_cast<uint16_t>(legal ? reason : LATTICE_DISCONNECT_KICKED);
}

void WorldInstance::on_resync(world::Tick from, world::Tick to) {
  if (listens()) {
    write_log(LATTICE_LOG_WARNING, "simulation",
              "this program was not pumped for about %.1f s: the ticks from %u to %u never ran",
              static_cast<double>(to - from) / world->config().tick_rate_hz, from + 1, to);
  } else {
    write_log(LATTICE_LOG_INFO, "simulation", "clock resynchronised from tick %u to %u", from, to);
  }
  if (callbacks.on_resync != nullptr) callbacks.on_resync(callbacks_ctx, handle, from, to);
}

void WorldInstance::on_silence(uint64_t silent_ns) {
  write_log(LATTICE_LOG_WARNING, "simulation", "heard nothing from the server for %.1f s",
            static_cast<double>(silent_ns) / 1e9);
}

bool WorldInstance::on_relevant(world::ConnectionHandle connection, uint64_t network_id) {
  if (callbacks.on_relevant == nullptr) return true;
  return callbacks.on_relevant(callbacks_ctx, handle, handle_of(connection), network_id) != 0;
}

void WorldInstance::on_value_clamped(uint64_t network_id, uint16_t prop_id, world::Tick tick) {
  const replication::ObjectTable& objects = world->objects();
  const replication::ObjectType& type = *objects.info(objects.find(network_id)).type;
  write_log(LATTICE_LOG_WARNING, "state",
            "type %u: %s of object %llu does not fit its member in tick %u and was clamped; values_clamped "
            "counts from here on",
            type.type_id, type.layout->member_name(prop_id).c_str(),
            static_cast<unsigned long long>(network_id), tick);
  if (callbacks.on_value_clamped != nullptr) {
    callbacks.on_value_clamped(callbacks_ctx, handle, network_id, prop_id, tick);
  }
}

void WorldInstance::on_argument_clamped(std::optional<uint16_t> rpc_id, std::string_view member) {
  char of[32] = "the input";
  if (rpc_id) std::snprintf(of, sizeof of, "an argument of RPC %u", *rpc_id);
  write_log(LATTICE_LOG_WARNING, "state",
            "%s: %.*s does not fit its member and was clamped; values_clamped counts from here on", of,
            static_cast<int>(member.size()), member.data());
}

}  // namespace lattice::abi
