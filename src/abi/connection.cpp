// lattice_conn: keys, connecting, disconnecting, messages of the application.
#include <algorithm>
#include <cstring>

#include "abi/address_fault.h"
#include "abi/backend_socket.h"
#include "abi/call.h"
#include "abi/struct_size.h"
#include "platform/clock.h"
#include "transport/socket/path_address.h"
#include "transport/wire/utf8.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

static_assert(LATTICE_DISCONNECT_SCHEMA_MISMATCH ==
              static_cast<int>(connection::DisconnectReason::kSchemaMismatch));
static_assert(LATTICE_MESSAGE_MAX_BYTES == fragment::kMaxMessageBytes);
static_assert(LATTICE_DISCONNECT_HOST_LEFT == static_cast<int>(connection::DisconnectReason::kHostLeft));

lattice_result not_a_client() {
  return fail(LATTICE_ERROR_NOT_ALLOWED, "Only a client world connects; this one is the authority.");
}

/// Shared by the two ways to send; `receipt` may be null.
lattice_result send_message(lattice_conn* conn, lattice_channel channel, const void* data, size_t bytes,
                            uint32_t* receipt) {
  abi::ConnectionCall call(conn);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  const world::ConnectionHandle connection = call.connection();
  const int number = static_cast<int>(channel);
  if (number < 0 || number > LATTICE_CHANNEL_RELIABLE_ORDERED) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "Channel %d is not one of the four.", number);
  }
  if (data == nullptr && bytes != 0) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "The message has %zu bytes, and data is NULL.", bytes);
  }
  switch (instance->world->send_message(connection, static_cast<wire::Channel>(channel),
                                        {static_cast<const uint8_t*>(data), bytes}, receipt)) {
    case reliability::SendResult::kOk:
      return LATTICE_OK;
    case reliability::SendResult::kWouldBlock:
      return fail(
          LATTICE_ERROR_WOULD_BLOCK,
          "The queue of channel %d is full, or the memory for what waits. Send again after the next pump.",
          number);
    case reliability::SendResult::kTooLarge:
      return fail(LATTICE_ERROR_LIMIT,
                  "The message has %zu bytes; at most %u fit. Send more with lattice_transfer_start().",
                  bytes, LATTICE_MESSAGE_MAX_BYTES);
    case reliability::SendResult::kNotConnected:
      return abi::fail_not_established(*instance, call.entry());
    case reliability::SendResult::kInvalidChannel:
      break;
  }
  return fail(LATTICE_ERROR_INVALID_ARGUMENT, "Channel %d takes no application messages.", number);
}

/// Whether a peer may be told this text, which goes to `words`.
lattice_result check_text(const char* text, std::string_view* words) {
  constexpr size_t kMaxTextBytes = 64;
  const size_t text_bytes = text == nullptr ? 0 : strnlen(text, kMaxTextBytes + 1);
  *words = {text, text_bytes};
  if (text_bytes > kMaxTextBytes) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "The disconnect text is longer than %zu bytes. Shorten it.",
                kMaxTextBytes);
  }
  if (!wire::is_valid_reason_text({reinterpret_cast<const uint8_t*>(words->data()), words->size()})) {
    return fail(
        LATTICE_ERROR_INVALID_ARGUMENT,
        "The disconnect text is not UTF-8, or it holds a control character such as a line break, or an "
        "invisible one that turns or hides text.");
  }
  return LATTICE_OK;
}

/// Whether this side may end connections for that reason with that text, which goes to `words`.
lattice_result check_end(const WorldInstance& instance, int reason, const char* text,
                         std::string_view* words) {
  const bool is_authority = instance.listens();
  const auto teller = is_authority ? crypto::Role::kServer : crypto::Role::kClient;
  const bool built_in = reason >= LATTICE_DISCONNECT_REQUESTED && reason <= LATTICE_DISCONNECT_HOST_LEFT &&
                        connection::is_reason_of_a_peer(teller, static_cast<uint16_t>(reason));
  if (!built_in && (reason < LATTICE_DISCONNECT_APPLICATION || reason > UINT16_MAX)) {
    return fail(
        LATTICE_ERROR_INVALID_ARGUMENT,
        "Disconnect reason %d is not the application's to give. Give one in 256..65535, or a built-in "
        "one: %s.",
        reason,
        is_authority ? "1..13 other than 2 (timeout)"
                     : "on a client 1 (requested), 10 (protocol_error), 11 (resource_limit) or 12 "
                       "(internal_error)");
  }
  return check_text(text, words);
}

lattice_result check_settings(int channel, const lattice_channel_settings& wanted) {
  constexpr uint32_t kMostWaitMs = 60'000;
  const bool is_reliable = channel >= LATTICE_CHANNEL_RELIABLE_UNORDERED;
  const struct {
    const char* member;
    uint32_t value, min, max;
  } bounds[] = {{"weight", wanted.weight, 1, reliability::ChannelTurns::kMaxWeight},
                {"is_urgent", wanted.is_urgent, 0, 1},
                {"max_wait_ms", wanted.max_wait_ms, 0, is_reliable ? 0 : kMostWaitMs}};
  for (const auto& bound : bounds) {
    if (bound.value >= bound.min && bound.value <= bound.max) continue;
    return fail(LATTICE_ERROR_CONFIG, "lattice_channel_settings.%s is %u. Give a value in %u..%u%s.",
                bound.member, bound.value, bound.min, bound.max, is_reliable ? " on a reliable channel" : "");
  }
  return LATTICE_OK;
}

/// How far the client has come with the objects that were in its set when it joined.
void tell_joining(const WorldInstance& instance, const world::ConnectionHandle& connection,
                  lattice_conn_info* out) {
  const world::StateReceiver::Joining joining = instance.world->joining(connection);
  out->join_objects = joining.count.objects;
  out->join_objects_received = joining.count.objects - joining.count.missing;
  out->is_loaded = joining.loaded ? 1 : 0;
}

/// What keeps a client from connecting to a path, or null. `is_routed`: a route of the world leads there.
const char* problem_of(const lattice_path& path, bool is_routed) {
  const bool is_ip = path.form == LATTICE_PATH_IPV4 || path.form == LATTICE_PATH_IPV6;
  if (!is_ip && path.form != LATTICE_PATH_OPAQUE) {
    return "There is no such form: give LATTICE_PATH_OPAQUE, LATTICE_PATH_IPV4 or LATTICE_PATH_IPV6.";
  }
  if (!base::is_path(abi::path_from(path))) {
    return path.form == LATTICE_PATH_IPV4
               ? "The bytes are no IPv4-mapped address: ten bytes 0, two bytes 255, the four of the address."
               : "The bytes are an IPv4-mapped address: its form is LATTICE_PATH_IPV4.";
  }
  if (is_ip && path.number == 0) return "The number is the port, and there is no port 0.";
  if (path.form == LATTICE_PATH_OPAQUE && path.route == 0) {
    return "Route 0 is UDP, which has addresses only: give the place of a back end in the list, from 1 on.";
  }
  return is_routed ? nullptr : "No route of this world leads there: give the place of a back end, from 1 on.";
}

/// The rest of the ways to connect. Null with the error set on failure.
lattice_conn* begin_connect(WorldInstance& instance, const base::PathId& server, const uint8_t* token,
                            size_t token_bytes) {
  const char* error = "";
  world::ConnectionHandle connection;
  switch (instance.world->connect(server, {token, std::min<size_t>(token_bytes, LATTICE_TOKEN_MAX_BYTES + 1)},
                                  &connection, &error)) {
    case world::OpResult::kOk:
      break;
    case world::OpResult::kNotAllowed:
      fail(LATTICE_ERROR_NOT_ALLOWED, "%s", error);
      return nullptr;
    case world::OpResult::kWouldBlock:
      fail(LATTICE_ERROR_WOULD_BLOCK, "%s", error);
      return nullptr;
    case world::OpResult::kNotFound:
      fail(LATTICE_ERROR_ADDRESS, "%s", error);
      return nullptr;
    default:
      fail(LATTICE_ERROR_TOKEN, "%s", error);
      return nullptr;
  }
  instance.refused_for.clear();
  instance.note_address(instance.remember(connection));
  return instance.handle_of(connection);
}

}  // namespace

extern "C" {

lattice_result lattice_world_public_key(lattice_world* world, uint8_t out[LATTICE_KEY_BYTES]) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (out == nullptr) return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is nowhere to write the key to.");
  if (!instance->listens()) {
    return fail(LATTICE_ERROR_NOT_ALLOWED, "Only an authority has a public key that tokens can name.");
  }
  std::memcpy(out, instance->world->public_key().data(), LATTICE_KEY_BYTES);
  return LATTICE_OK;
}

lattice_result lattice_world_new_client_key(lattice_world* world, uint8_t out[LATTICE_KEY_BYTES]) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (out == nullptr) return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is nowhere to write the key to.");
  if (!instance->connects()) return not_a_client();
  const crypto::PublicKey key = instance->world->new_client_key();
  std::memcpy(out, key.data(), key.size());
  return LATTICE_OK;
}

lattice_conn* lattice_connect(lattice_world* world, const char* endpoint, const uint8_t* connect_token,
                              size_t token_bytes) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return nullptr;
  if (endpoint == nullptr || connect_token == nullptr) {
    fail(LATTICE_ERROR_INVALID_ARGUMENT, "lattice_connect needs an address and a connect token.");
    return nullptr;
  }
  if (!instance->connects()) {
    not_a_client();
    return nullptr;
  }
  platform::Address address;
  platform::AddressError fault = platform::AddressError::kNone;
  if (!platform::parse_address(endpoint, &address, &fault)) {
    fail(LATTICE_ERROR_ADDRESS, "'%s': %s. Give the server's address, such as 127.0.0.1:27015.", endpoint,
         abi::address_fault(fault));
    return nullptr;
  }
  const base::PathId path = socket::path_of(address);
  const socket::DatagramSocket& socket = instance->world->socket();
  const platform::Address own = socket::address_of(socket.local_path());
  if (own.family != 0 && own.family != address.family && socket.largest_datagram(path) == 0) {
    char text[platform::kAddressTextBytes];
    fail(LATTICE_ERROR_ADDRESS,
         "'%s' is an IPv%d address, and this world is bound to %s. Leave bind_address NULL, or bind an "
         "address of the same family.",
         endpoint, address.family, platform::format_address(own, text));
    return nullptr;
  }
  return begin_connect(*instance, path, connect_token, token_bytes);
}

lattice_conn* lattice_connect_path(lattice_world* world, const lattice_path* path,
                                   const uint8_t* connect_token, size_t token_bytes) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return nullptr;
  if (path == nullptr || connect_token == nullptr) {
    fail(LATTICE_ERROR_INVALID_ARGUMENT, "lattice_connect_path needs a path and a connect token.");
    return nullptr;
  }
  if (!instance->connects()) {
    not_a_client();
    return nullptr;
  }
  const base::PathId to = abi::path_from(*path);
  if (const char* problem = problem_of(*path, instance->world->socket().largest_datagram(to) != 0)) {
    fail(LATTICE_ERROR_ADDRESS, "path.form is %u, path.route %u, path.number %u. %s", path->form, path->route,
         path->number, problem);
    return nullptr;
  }
  return begin_connect(*instance, to, connect_token, token_bytes);
}

lattice_result lattice_conn_get_path(lattice_conn* conn, lattice_path* out) {
  abi::ConnectionCall call(conn);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (out == nullptr) return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is nowhere to write the path to.");
  const base::PathId path = instance->world->remote_path(call.connection());
  if (!base::is_path(path)) {
    return abi::fail_not_connected(*instance, "The peer of this connection is gone.");
  }
  *out = abi::public_path(path);
  return LATTICE_OK;
}

lattice_result lattice_disconnect(lattice_conn* conn) {
  abi::ConnectionCall call(conn);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  const world::ConnectionHandle connection = call.connection();
  const auto reason =
      instance->listens() ? connection::DisconnectReason::kKicked : connection::DisconnectReason::kRequested;
  instance->world->disconnect(connection, reason, {}, instance->now());
  return LATTICE_OK;
}

lattice_result lattice_disconnect_with(lattice_conn* conn, int reason, const char* text) {
  abi::ConnectionCall call(conn);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  std::string_view words;
  if (const lattice_result checked = check_end(*instance, reason, text, &words); checked != LATTICE_OK) {
    return checked;
  }
  instance->world->disconnect(call.connection(), static_cast<connection::DisconnectReason>(reason), words,
                              instance->now());
  return LATTICE_OK;
}

lattice_result lattice_set_admit_text(lattice_world* world, const char* text) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (text == nullptr)
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is no text. Give one, or do not call.");
  std::string_view words;
  if (const lattice_result checked = check_text(text, &words); checked != LATTICE_OK) return checked;
  if (!instance->is_admitting) {
    return fail(LATTICE_ERROR_OUT_OF_ORDER,
                "lattice_set_admit_text says why on_admit refuses. Call it inside on_admit.");
  }
  instance->admit_words = connection::ReasonText(words);
  return LATTICE_OK;
}

lattice_result lattice_world_leave(lattice_world* world, int reason, const char* text) {
  constexpr uint64_t kMostNs = 1'200'000'000;  // The grace of a peer that is gone, and some.
  constexpr uint64_t kStepNs = 5'000'000;
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (call.is_nested()) {
    return fail(
        LATTICE_ERROR_OUT_OF_ORDER,
        "lattice_world_leave was called inside a callback of the same world. Call it after the pump.");
  }
  if (instance->netsim != nullptr) {
    return fail(
        LATTICE_ERROR_UNSUPPORTED,
        "This world is on a simulated network, where time does not pass by itself. End the connections "
        "with lattice_disconnect_with(), and pump until connections_leaving of lattice_world_stats is 0.");
  }
  std::string_view words;
  if (const lattice_result checked = check_end(*instance, reason, text, &words); checked != LATTICE_OK) {
    return checked;
  }
  const uint64_t until_ns = platform::monotonic_ns() + kMostNs;
  instance->world->set_closing(true);
  do {  // Each time: a client that had been admitted is told as soon as it confirms.
    instance->world->disconnect_all(static_cast<connection::DisconnectReason>(reason), words);
    if (!instance->is_full_of_events()) instance->receive(instance->now());
    instance->world->send(instance->now());
    if (!instance->world->has_connections()) break;
    instance->world->socket().wait_readable(kStepNs);
  } while (platform::monotonic_ns() < until_ns);
  instance->world->set_closing(false);
  return LATTICE_OK;
}

lattice_result lattice_conn_get_info(lattice_conn* conn, lattice_conn_info* out) {
  abi::ConnectionCall call(conn);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  const world::ConnectionHandle connection = call.connection();
  WorldInstance::Connection& entry = *instance->find({connection.slot, connection.generation});
  instance->note_address(entry);
  lattice_conn_info info = entry.info;
  tell_joining(*instance, connection, &info);
  return lattice::abi::write_struct(info, out, "lattice_conn_info");
}

const char* lattice_conn_schema_difference(lattice_conn* conn, uint32_t index) {
  abi::ConnectionCall call(conn);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return nullptr;
  const world::ConnectionHandle connection = call.connection();
  const WorldInstance::Connection& entry = *instance->find({connection.slot, connection.generation});
  if (index < entry.schema_differences.size()) return entry.schema_differences[index].c_str();
  fail(LATTICE_ERROR_NOT_FOUND, "There are %zu schema differences.", entry.schema_differences.size());
  return nullptr;
}

const char* lattice_world_schema_difference(lattice_world* world, uint32_t index) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return nullptr;
  if (!instance->listens()) {
    fail(LATTICE_ERROR_NOT_ALLOWED,
         "Only an authority refuses clients. On a client, lattice_conn_schema_difference() says what "
         "differs.");
    return nullptr;
  }
  const std::vector<std::string>& told = instance->schema_told.sentences;
  if (index < told.size()) return told[index].c_str();
  fail(LATTICE_ERROR_NOT_FOUND, "There are %zu schema differences.", told.size());
  return nullptr;
}

lattice_conn* lattice_peer_conn(lattice_world* world, lattice_peer_id peer) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return nullptr;
  if (!instance->listens()) {
    fail(LATTICE_ERROR_NOT_ALLOWED, "Only an authority knows its peers' connections.");
    return nullptr;
  }
  const world::ConnectionHandle connection = instance->world->connection_of(peer);
  if (connection.generation != 0) return instance->handle_of(connection);
  fail(LATTICE_ERROR_NOT_FOUND, "Peer %llu is not connected.", static_cast<unsigned long long>(peer));
  return nullptr;
}

lattice_peer_id lattice_local_peer(lattice_world* world) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  const lattice_peer_id peer = instance->world->local_peer();
  if (peer == 0) abi::fail_not_connected(*instance, "A client has a peer id while it is connected.");
  return peer;
}

lattice_result lattice_send(lattice_conn* conn, lattice_channel channel, const void* data, size_t bytes) {
  return send_message(conn, channel, data, bytes, nullptr);
}

lattice_result lattice_channel_settings_init_sized(lattice_channel_settings* settings, uint32_t struct_size) {
  const abi::Call call;
  lattice_channel_settings value{};
  value.weight = 1;
  return abi::write_defaults(value, settings, struct_size);
}

lattice_result lattice_conn_set_channel(lattice_conn* conn, lattice_channel channel,
                                        const lattice_channel_settings* settings) {
  abi::ConnectionCall call(conn);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  lattice_channel_settings wanted;
  lattice_channel_settings_init_sized(&wanted, sizeof wanted);
  if (const lattice_result bad = abi::read_struct(settings, &wanted, "lattice_channel_settings")) return bad;
  const int number = static_cast<int>(channel);
  if (number < 0 || number > LATTICE_CHANNEL_RELIABLE_ORDERED) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "Channel %d is not one of the four.", number);
  }
  if (const lattice_result bad = check_settings(number, wanted)) return bad;
  instance->world->set_channel(call.connection(), static_cast<wire::Channel>(number),
                               {wanted.weight, wanted.is_urgent != 0, wanted.max_wait_ms});
  return LATTICE_OK;
}

lattice_result lattice_send_with_receipt(lattice_conn* conn, lattice_channel channel, const void* data,
                                         size_t bytes, uint32_t* receipt) {
  if (receipt == nullptr) {
    abi::ConnectionCall call(conn);
    if (call.world() == nullptr) return call.result();
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is nowhere to write the receipt to.");
  }
  return send_message(conn, channel, data, bytes, receipt);
}

}  // extern "C"
