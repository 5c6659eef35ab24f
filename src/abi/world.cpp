// lattice_world: creation, destruction, the pump.
#include <algorithm>
#include <memory>

#include "abi/address_fault.h"
#include "abi/backends.h"
#include "abi/call.h"
#include "abi/config.h"
#include "abi/key_check.h"
#include "abi/netsim_instance.h"
#include "abi/struct_size.h"
#include "abi/version.h"
#include "platform/entropy.h"
#include "transport/crypto/ed25519.h"
#include "transport/socket/path_address.h"
#include "transport/socket/simulated_network.h"
#include "transport/socket/udp_socket.h"

namespace {

using namespace lattice;
using abi::fail;
using abi::WorldInstance;

constexpr const char* kAnyAddress = "0.0.0.0:0";

lattice_result result_of(platform::UdpOpenError error) {
  switch (error) {
    case platform::UdpOpenError::kAddressInUse:
      return LATTICE_ERROR_ADDRESS_IN_USE;
    case platform::UdpOpenError::kPermission:
      return LATTICE_ERROR_PERMISSION;
    case platform::UdpOpenError::kUnsupported:
      return LATTICE_ERROR_ADDRESS;
    case platform::UdpOpenError::kNone:
    case platform::UdpOpenError::kOther:
      break;
  }
  return LATTICE_ERROR_IO;
}

const char* advice(lattice_result result) {
  switch (result) {
    case LATTICE_ERROR_ADDRESS_IN_USE:
      return "Stop the other program or choose another port.";
    case LATTICE_ERROR_PERMISSION:
      return "Choose a port above 1023 or allow this program to open sockets.";
    case LATTICE_ERROR_ADDRESS:
      return "Give an address of this machine, such as 0.0.0.0:27015.";
    default:
      return "See the operating system's message.";
  }
}

std::unique_ptr<socket::DatagramSocket> open_udp(const platform::Address& address, uint32_t buffer_bytes,
                                                 bool is_client, const char* text) {
  platform::UdpOptions options;
  options.report_unreachable =
      is_client;  // A server must answer unknown senders and does not need reports about its answers.
  options.tell_arrivals = true;
  options.receive_buffer_bytes = buffer_bytes;
  options.send_buffer_bytes = buffer_bytes;
  platform::UdpOpenResult opened;
  std::unique_ptr<socket::DatagramSocket> socket = socket::UdpSocket::open(address, &opened, options);
  if (socket == nullptr) {
    const lattice_result result = result_of(opened.error);
    fail(result, "Cannot open UDP %s: %s. %s", text, opened.text, advice(result));
  }
  return socket;
}

/// A socket that reaches servers of both families; null where the system has none.
std::unique_ptr<socket::DatagramSocket> open_for_both_families(uint32_t buffer_bytes) {
  platform::UdpOptions options;
  options.report_unreachable = true;
  options.tell_arrivals = true;
  options.receive_buffer_bytes = buffer_bytes;
  options.send_buffer_bytes = buffer_bytes;
  platform::Address any;
  any.family = 6;
  std::unique_ptr<socket::UdpSocket> socket = socket::UdpSocket::open(any, nullptr, options);
  if (socket != nullptr && !socket->capabilities().dual_stack) socket.reset();
  return socket;
}

std::unique_ptr<socket::DatagramSocket> open_socket(const lattice_world_config& config, bool is_client,
                                                    abi::NetsimInstance* netsim) {
  if (is_client && config.bind_address == nullptr && netsim == nullptr) {
    auto socket = open_for_both_families(config.socket_buffer_bytes);
    if (socket != nullptr) return socket;
  }
  const char* text = config.bind_address == nullptr ? kAnyAddress : config.bind_address;
  platform::Address address;
  platform::AddressError fault = platform::AddressError::kNone;
  if (!platform::parse_address(text, &address, &fault)) {
    fail(LATTICE_ERROR_ADDRESS,
         "lattice_world_config.bind_address '%s': %s. Give an address such as 0.0.0.0:27015.", text,
         abi::address_fault(fault));
    return nullptr;
  }
  if (config.development_tokens != 0 &&
      abi::check_development_address(address, config.netsim) != LATTICE_OK) {
    return nullptr;
  }
  if (netsim == nullptr) return open_udp(address, config.socket_buffer_bytes, is_client, text);
  std::unique_ptr<socket::DatagramSocket> socket = netsim->network.attach(socket::path_of(address));
  if (socket == nullptr) {
    fail(LATTICE_ERROR_ADDRESS_IN_USE,
         "The simulated network already has a world at %s. Choose another address.", text);
  }
  return socket;
}

void make_world(WorldInstance* instance, const world::WorldConfig& config,
                std::unique_ptr<socket::DatagramSocket> socket, uint64_t seed) {
  socket::ImpairedSocketConfig impaired;
  // Clients of one process have the same seed, if the game does not say otherwise, and must not lose the
  // same.
  impaired.seed = seed ^ base::hash_path(socket->local_path());
  impaired.queue_datagrams = 2048;  // one world's own traffic: over 200 ms of it at 10,000 datagrams/s
  auto wrapped = std::make_unique<socket::ImpairedSocket>(std::move(socket), impaired);
  instance->impaired = wrapped.get();
  instance->world = std::make_unique<world::Session>(config, std::move(wrapped), *instance);
}

/// Makes a key pair for this process; returns its public half.
crypto::PublicKey make_development_issuer(crypto::DevelopmentKey* out) {
  platform::fill_entropy(out->issuer_seed.mutable_bytes().data(), LATTICE_KEY_BYTES);
  return crypto::SigningKeyPair::from_seed(out->issuer_seed.bytes()).public_key();
}

bool offer_development_tokens(WorldInstance& instance, crypto::DevelopmentKey key) {
  key.server_public_key = instance.world->public_key();
  const platform::Address address = socket::address_of(instance.world->socket().local_path());
  if (instance.development.publish(address, instance.netsim, std::move(key)) != LATTICE_OK) return false;
  char text[platform::kAddressTextBytes];
  const bool has_file = instance.development.path()[0] != '\0';
  instance.write_log(LATTICE_LOG_WARNING, "tokens", "development tokens: every process %s may join %s%s%s",
                     has_file ? "of this user" : "on the simulated network",
                     platform::format_address(address, text), has_file ? "; the key is in " : "",
                     instance.development.path());
  return true;
}

lattice_result inside_callback(const char* function) {
  return fail(LATTICE_ERROR_OUT_OF_ORDER,
              "%s was called inside a callback of the same world. Call recv, then tick with "
              "lattice_world_next_tick(), then send, all outside of its callbacks.",
              function);
}

lattice_result full_of_events() {
  return fail(
      LATTICE_ERROR_WOULD_BLOCK,
      "The events of this world wait: take them with lattice_world_events() until it returns 0. Nothing "
      "is received before that.");
}

lattice_result no_real_network() {
  return fail(LATTICE_ERROR_UNSUPPORTED,
              "This world is on a simulated network: nothing outside of the process arrives there. Step the "
              "network with lattice_netsim_advance() instead of waiting.");
}

lattice_result no_udp() {
  return fail(LATTICE_ERROR_UNSUPPORTED,
              "This world has no UDP socket. Wait on the descriptors of its back ends, or call "
              "lattice_world_wait().");
}

lattice_result no_ticks() {
  return fail(LATTICE_ERROR_UNSUPPORTED,
              "lattice_world_config.transport_only is 1: this world has no ticks and no objects.");
}

/// Says why `tick` is not the one to run.
lattice_result not_next(const WorldInstance& instance, uint32_t tick) {
  if (instance.world->config().transport_only) return no_ticks();
  const uint32_t next = instance.world->next_tick();
  if (next != 0) {
    return fail(LATTICE_ERROR_OUT_OF_ORDER,
                "The world is to run tick %u, not %u. Give lattice_world_next_tick().", next, tick);
  }
  if (instance.world->local_peer() == 0) {
    return fail(LATTICE_ERROR_OUT_OF_ORDER,
                "This client is not connected and has no tick to run. Pump until on_connected.");
  }
  return fail(LATTICE_ERROR_OUT_OF_ORDER,
              "This client has no tick to run yet. Pump until "
              "lattice_world_next_tick() is not 0.");
}

}  // namespace

extern "C" {

uint32_t lattice_abi_version(void) {
  return LATTICE_ABI_VERSION;
}
const char* lattice_version(void) {
  return abi::kVersion;
}

lattice_world* lattice_world_create(const lattice_world_config* config, const lattice_role_context* role) {
  abi::Call call;
  lattice_world_config value;
  world::WorldConfig world_config;
  lattice_role_context role_context;
  if (abi::read_config(config, role, &value, &role_context, &world_config) != LATTICE_OK) return nullptr;
  abi::NetsimHold hold;
  abi::NetsimInstance* netsim = value.netsim == nullptr ? nullptr : hold.enter(value.netsim);
  if (value.netsim != nullptr && netsim == nullptr) return nullptr;
  abi::Backends backends;
  if (backends.read(value) != LATTICE_OK) return nullptr;
  std::unique_ptr<socket::DatagramSocket> socket;
  if (value.without_udp == 0) {
    socket = open_socket(value, world_config.connects, netsim);
    if (socket == nullptr) return nullptr;
  }
  socket = backends.join(std::move(socket));
  if (netsim != nullptr) world_config.repeatable_entropy = netsim->network.draw_seed() ^ value.seed;

  crypto::DevelopmentKey development;
  auto instance = std::make_unique<WorldInstance>();
  if (value.development_tokens != 0) {
    instance->development_issuer = make_development_issuer(&development);
    world_config.issuers.push_back(*instance->development_issuer);
  }
  instance->netsim = value.netsim;
  instance->role = role_context;
  instance->clock = value.clock;
  instance->clock_ctx = value.clock_ctx;
  instance->unix_seconds = value.unix_seconds;
  instance->unix_seconds_ctx = value.unix_seconds_ctx;
  instance->log = value.log;
  instance->log_ctx = value.log_ctx;
  instance->tick_context.struct_size = sizeof(lattice_tick_context);
  instance->tick_context.tick_rate_hz = value.tick_rate_hz;
  instance->tick_context.dt_s = 1.0 / value.tick_rate_hz;
  instance->tick_context.role = &instance->role;
  if (value.record_events != 0) instance->events.emplace();
  world_config.created_unix_s = instance->now().unix_s;
  make_world(instance.get(), world_config, std::move(socket), value.seed);
  if (value.development_tokens != 0 && !offer_development_tokens(*instance, std::move(development)))
    return nullptr;
  lattice_world* handle = abi::register_world(instance.get());
  if (handle == nullptr) {
    fail(LATTICE_ERROR_LIMIT, "There are already %u worlds in this process. Destroy one first.",
         abi::kMaxWorlds);
    return nullptr;
  }
  instance->handle = handle;
  backends.own();
  if (netsim != nullptr) ++netsim->worlds;
  instance.release();  // owned by the table until lattice_world_destroy
  return handle;
}

lattice_result lattice_world_destroy(lattice_world* world) {
  if (world == nullptr) {
    abi::Call call;
    return call.result();
  }
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (call.is_nested()) {
    return fail(LATTICE_ERROR_OUT_OF_ORDER,
                "The world is inside one of its callbacks. Destroy it outside of its callbacks.");
  }
  abi::NetsimHold hold;
  abi::NetsimInstance* netsim = instance->netsim == nullptr ? nullptr : hold.enter(instance->netsim);
  abi::unregister_world(world);
  call.forget();
  delete instance;
  if (netsim != nullptr) --netsim->worlds;
  return LATTICE_OK;
}

lattice_result lattice_world_address(lattice_world* world, char* out, size_t capacity) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (out == nullptr)
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is nowhere to write the address to.");
  if (capacity < platform::kAddressTextBytes) {
    return fail(LATTICE_ERROR_BUFFER_TOO_SMALL, "An address takes up to %zu bytes.",
                platform::kAddressTextBytes);
  }
  const platform::Address address = socket::address_of(instance->world->socket().local_path());
  if (address.family == 0) {
    return fail(LATTICE_ERROR_UNSUPPORTED,
                "lattice_world_config.without_udp is 1: this world has no UDP address.");
  }
  char text[platform::kAddressTextBytes];
  platform::format_address(address, text);
  std::memcpy(out, text, sizeof text);
  return LATTICE_OK;
}

lattice_result lattice_world_recv(lattice_world* world) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (call.is_nested()) return inside_callback("lattice_world_recv");
  if (instance->is_full_of_events()) return full_of_events();
  return instance->receive(instance->now()) ? LATTICE_OK : inside_callback("lattice_world_recv");
}

lattice_result lattice_world_tick(lattice_world* world, uint32_t tick) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (call.is_nested()) return inside_callback("lattice_world_tick");
  return instance->world->tick(tick, instance->now()) ? LATTICE_OK : not_next(*instance, tick);
}

lattice_result lattice_world_send(lattice_world* world) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (call.is_nested() || !instance->world->send(instance->now()))
    return inside_callback("lattice_world_send");
  return LATTICE_OK;
}

uint32_t lattice_world_next_tick(lattice_world* world) {
  abi::WorldCall call(world);
  if (call.world() == nullptr) return 0;
  const uint32_t tick = call.world()->world->next_tick();
  if (tick == 0 && call.world()->world->config().transport_only) {
    no_ticks();
  } else if (tick == 0) {
    abi::fail_not_connected(*call.world(),
                            "A client has ticks to run once it is connected. Pump until on_connected.");
  }
  return tick;
}

uint32_t lattice_world_ticks_due(lattice_world* world) {
  abi::WorldCall call(world);
  return call.world() == nullptr ? 0 : call.world()->world->ticks_due(call.world()->now());
}

uint32_t lattice_world_pump(lattice_world* world) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  if (call.is_nested()) {
    inside_callback("lattice_world_pump");
    return 0;
  }
  if (instance->is_full_of_events()) {
    full_of_events();
    return 0;
  }
  const world::Now now = instance->now();
  if (!instance->receive(now)) {
    inside_callback("lattice_world_pump");
    return 0;
  }
  const uint32_t due = instance->world->ticks_due(now);
  for (uint32_t i = 0; i < due; ++i) instance->world->tick(instance->world->next_tick(), now);
  instance->world->send(now);
  return due;
}

uint64_t lattice_world_time_to_tick_ns(lattice_world* world) {
  abi::WorldCall call(world);
  return call.world() == nullptr ? 0 : call.world()->world->time_to_tick_ns(call.world()->now());
}

uint32_t lattice_world_wait(lattice_world* world, uint64_t timeout_ns) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  if (call.is_nested()) {
    inside_callback("lattice_world_wait");
    return 0;
  }
  if (instance->netsim != nullptr) {
    no_real_network();
    return 0;
  }
  const uint64_t idle_ns = instance->idle_ns();
  if (idle_ns == 0) return 1;
  const uint64_t sleep_ns = std::min(timeout_ns, idle_ns);
  const bool has_datagram = instance->world->socket().wait_readable(sleep_ns);
  return has_datagram || idle_ns <= sleep_ns ? 1 : 0;
}

lattice_result lattice_world_idle_ns(lattice_world* world, uint64_t* out) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (out == nullptr) return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is nowhere to write the time to.");
  *out = instance->idle_ns();
  return LATTICE_OK;
}

lattice_result lattice_world_descriptor(lattice_world* world, intptr_t* out) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (out == nullptr)
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is nowhere to write the descriptor to.");
  const intptr_t descriptor = instance->world->socket().descriptor();
  if (descriptor < 0) return instance->netsim != nullptr ? no_real_network() : no_udp();
  *out = descriptor;
  return LATTICE_OK;
}

size_t lattice_world_events(lattice_world* world, lattice_event* out, size_t capacity) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return 0;
  if (out == nullptr && capacity != 0) {
    fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is nowhere to write %zu events to.", capacity);
    return 0;
  }
  if (!instance->events) {
    fail(LATTICE_ERROR_NOT_ALLOWED,
         "This world calls callbacks and records no events. Set lattice_world_config.record_events to 1.");
    return 0;
  }
  if (call.is_nested()) {
    fail(LATTICE_ERROR_OUT_OF_ORDER,
         "lattice_world_events was called inside a callback of the same world. Call it after the pump.");
    return 0;
  }
  return instance->take_events({out, capacity});
}

lattice_result lattice_world_set_issuers(lattice_world* world, const uint8_t* keys, uint32_t count) {
  constexpr uint32_t kMostIssuers = 2;
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (call.is_nested()) return inside_callback("lattice_world_set_issuers");
  if (keys == nullptr || count < 1 || count > kMostIssuers) {
    return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There are %u keys at %s. Give 1 or 2.", count,
                keys == nullptr ? "NULL" : "that address");
  }
  if (!instance->listens()) {
    return fail(LATTICE_ERROR_NOT_ALLOWED, "Only an authority has issuers; this world is a client.");
  }
  std::vector<crypto::PublicKey> issuers(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (abi::is_all_zero(keys + i * LATTICE_KEY_BYTES)) {
      return fail(LATTICE_ERROR_INVALID_ARGUMENT, "Key %u is all zero, which no issuer has.", i);
    }
    std::memcpy(issuers[i].data(), keys + i * LATTICE_KEY_BYTES, LATTICE_KEY_BYTES);
  }
  if (instance->development_issuer) issuers.push_back(*instance->development_issuer);
  instance->world->set_issuers(issuers);
  return LATTICE_OK;
}

lattice_result lattice_set_option(lattice_world* world, lattice_option option, int enabled) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  if (option == LATTICE_OPTION_TIMEOUT_PAUSED) {
    instance->world->set_timeout_paused(enabled != 0, instance->now());
    return LATTICE_OK;
  }
  const bool is_known = option == LATTICE_OPTION_PREDICTION || option == LATTICE_OPTION_SMOOTHING ||
                        option == LATTICE_OPTION_INTERPOLATION;
  if (is_known && !instance->connects()) {
    return fail(LATTICE_ERROR_NOT_ALLOWED, "Prediction, smoothing and interpolation are a client's options.");
  }
  using Option = world::Session::Option;
  switch (option) {
    case LATTICE_OPTION_PREDICTION:
      instance->world->set_option(Option::kPrediction, enabled != 0);
      return LATTICE_OK;
    case LATTICE_OPTION_SMOOTHING:
      instance->world->set_option(Option::kSmoothing, enabled != 0);
      return LATTICE_OK;
    case LATTICE_OPTION_INTERPOLATION:
      instance->world->set_option(Option::kInterpolation, enabled != 0);
      return LATTICE_OK;
    case LATTICE_OPTION_TIMEOUT_PAUSED:
      break;  // Above.
  }
  return fail(LATTICE_ERROR_INVALID_ARGUMENT, "There is no option %d.", static_cast<int>(option));
}

lattice_result lattice_set_callbacks(lattice_world* world, const lattice_callbacks* callbacks, void* ctx) {
  abi::WorldCall call(world);
  WorldInstance* instance = call.world();
  if (instance == nullptr) return call.result();
  lattice_callbacks value{};
  if (callbacks != nullptr) {
    if (const lattice_result bad = abi::read_struct(callbacks, &value, "lattice_callbacks")) return bad;
  }
  instance->callbacks = value;
  instance->callbacks_ctx = ctx;
  return LATTICE_OK;
}

}  // extern "C"
