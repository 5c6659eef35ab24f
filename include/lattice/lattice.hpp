// Lattice for C++20: a thin face over lattice.h. Header-only, without exceptions and run-time type
// information.
//
//   inline constexpr lattice::Type<Square> kSquare{.id = 1, .name = "Square", .flags =
//   LATTICE_TYPE_PREDICTED};
//
//   struct Game {
//     lattice::World world;
//     void on_connected(lattice::Connection conn);         // wired because it is there
//     void on_tick(const lattice_tick_context& tick);
//   };
//
//   game.world = lattice::World::create(config, LATTICE_ROLE_CLIENT);
//   if (!game.world) return fail(lattice_last_error());
//   game.world.add(kSquare);
//   game.world.set_callbacks(game);
//   while (playing) game.world.pump();
//
// Every function here is a call of the C function with the same name, with types instead of pointers and
// sizes. What the C function does, what it refuses, its threads and its callbacks' rules hold here; lattice.h
// says them. A World and a Connection may be given to every C function, also to one that the face does not
// have. Results are a lattice_result, or empty (a World, a Connection, an id of 0) with lattice_last_result()
// and lattice_last_error().
#pragma once

#if __cplusplus < 202002L
#error "lattice/lattice.hpp needs C++20. With CMake: target_compile_features(your_target PRIVATE cxx_std_20)"
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "lattice/authoring/networked.h"
#include "lattice/cpp/callbacks.h"
#include "lattice/cpp/connection.h"
#include "lattice/cpp/types.h"
#include "lattice/lattice.h"

namespace lattice {

/// The handle of a world that somebody else owns, as cheap to copy as a pointer. May be given to every C
/// function. A handle of none is false, and every call on it is refused.
class WorldRef {
 public:
  WorldRef() = default;
  explicit WorldRef(lattice_world* handle) : handle_(handle) {}

  explicit operator bool() const { return handle_ != nullptr; }
  operator lattice_world*() const { return handle_; }
  lattice_world* get() const { return handle_; }

  /// "127.0.0.1:27015", or "" on failure.
  Text<64> address() const {
    Text<64> text;
    if (lattice_world_address(handle_, text.data, sizeof text.data) != LATTICE_OK) text.data[0] = '\0';
    return text;
  }

  // ---- The pump ----

  uint32_t pump() const { return lattice_world_pump(handle_); }
  lattice_result recv() const { return lattice_world_recv(handle_); }
  lattice_result tick(uint32_t tick) const { return lattice_world_tick(handle_, tick); }
  lattice_result send() const { return lattice_world_send(handle_); }
  uint32_t next_tick() const { return lattice_world_next_tick(handle_); }
  uint32_t ticks_due() const { return lattice_world_ticks_due(handle_); }
  uint64_t time_to_tick_ns() const { return lattice_world_time_to_tick_ns(handle_); }

  // ---- Schema and callbacks: before the first pump or connect ----

  /// Registers an object type with its RPCs.
  template <class... Behaviours, class... Arguments>
  lattice_result add(const Type<Behaviours...>& type, const Rpc<Arguments>&... rpcs) const {
    const lattice_behaviour_desc behaviours[] = {behaviour_desc<Behaviours>()...};
    lattice_type_desc desc;
    lattice_type_desc_init(&desc);
    desc.type_id = type.id;
    desc.name = type.name;
    desc.flags = type.flags;
    desc.base_priority = type.base_priority;
    desc.behaviours = behaviours;
    desc.behaviour_count = static_cast<uint32_t>(sizeof...(Behaviours));
    if constexpr (sizeof...(Arguments) != 0) {
      const lattice_rpc_desc list[] = {rpcs.desc()...};
      desc.rpcs = list;
      desc.rpc_count = static_cast<uint32_t>(sizeof...(Arguments));
      return lattice_register_type(handle_, &desc);
    } else {
      return lattice_register_type(handle_, &desc);
    }
  }
  /// Registers the input command.
  template <authoring::Declared Input>
  lattice_result add_input() const {
    const lattice_input_desc desc = input_desc<Input>();
    return lattice_register_input(handle_, &desc);
  }
  uint64_t schema_id() const { return lattice_world_schema_id(handle_); }

  /// Calls the members of `game` that lattice/cpp/callbacks.h names, until replaced. `game` is not copied: it
  /// outlives the world or the next set_callbacks().
  template <class Game>
  lattice_result set_callbacks(Game& game) const {
    return callbacks::wire(handle_, game);
  }

  // ---- Connecting ----

  /// A token for a server of the same user on this machine: lattice_dev_token(). Empty on failure.
  Token dev_token(const char* server, const lattice_token_request* request = nullptr) const {
    Token token;
    const lattice_result result =
        lattice_dev_token(handle_, server, request, token.data, sizeof token.data, &token.size);
    if (result != LATTICE_OK) token.size = 0;
    return token;
  }
  Connection connect(const char* endpoint, std::span<const uint8_t> token) const {
    return Connection(lattice_connect(handle_, endpoint, token.data(), token.size()));
  }
  /// dev_token() and connect() in one.
  Connection connect_for_development(const char* server) const {
    const Token token = dev_token(server);
    return token ? connect(server, token) : Connection();
  }
  Connection connection_of(lattice_peer_id peer) const {
    return Connection(lattice_peer_conn(handle_, peer));
  }
  lattice_peer_id local_peer() const { return lattice_local_peer(handle_); }

  // ---- Objects ----

  /// Spawns an object, owned by `owner` if that is not 0. 0 on failure.
  template <class... Behaviours>
  lattice_netid spawn(const Type<Behaviours...>& type, lattice_peer_id owner = 0) const {
    return owner == 0 ? lattice_spawn(handle_, type.id, LATTICE_AUTHORITY_SERVER)
                      : lattice_spawn_for(handle_, type.id, LATTICE_AUTHORITY_SERVER, owner);
  }
  lattice_result despawn(lattice_netid object) const { return lattice_despawn(handle_, object); }
  lattice_object_info info(lattice_netid object) const {
    lattice_object_info info = sized<lattice_object_info>();
    lattice_object_get_info(handle_, object, &info);
    return info;
  }

  /// The host structure of a behaviour, or null. `State` is what the object's type was registered with: the
  /// library cannot tell. Until the object despawns.
  template <authoring::Declared State>
  State* state(lattice_netid object, uint32_t behaviour = 0) const {
    return static_cast<State*>(lattice_object_state(handle_, object, behaviour));
  }
  /// Fixes the moment that every view() shows until the next call.
  lattice_result begin_frame() const { return lattice_frame_begin(handle_); }
  /// What to draw now.
  template <authoring::Declared State>
  std::optional<State> view(lattice_netid object, uint32_t behaviour = 0) const {
    std::optional<State> out(std::in_place);
    if (lattice_object_view(handle_, object, behaviour, &*out, sizeof(State)) != sizeof(State)) out.reset();
    return out;
  }
  /// The newest authoritative state, and its tick where the caller wants it.
  template <authoring::Declared State>
  std::optional<State> confirmed(lattice_netid object, uint32_t* tick = nullptr,
                                 uint32_t behaviour = 0) const {
    std::optional<State> out(std::in_place);
    uint32_t ignored = 0;
    const size_t bytes = lattice_object_confirmed(handle_, object, behaviour, &*out, sizeof(State),
                                                  tick != nullptr ? tick : &ignored);
    if (bytes != sizeof(State)) out.reset();
    return out;
  }

  // ---- Input and RPCs ----

  template <authoring::Declared Input>
  lattice_result set_input(const Input& input) const {
    return lattice_set_input(handle_, &input, sizeof input);
  }
  /// Inside on_tick: 1 fresh, 2 repeated, 0 none; `out` is then the default input, as lattice_get_input()
  /// says.
  template <authoring::Declared Input>
  int get_input(lattice_peer_id peer, Input& out) const {
    return lattice_get_input(handle_, peer, &out, sizeof out);
  }

  /// Calls an RPC on an object, by its declared target and channel.
  template <class Arguments>
  lattice_result call(lattice_netid object, const Rpc<Arguments>& rpc, const Arguments& arguments) const {
    return call_raw(object, rpc.id, rpc.target, rpc.channel, &arguments, sizeof arguments);
  }
  lattice_result call(lattice_netid object, const Rpc<void>& rpc) const {
    return call_raw(object, rpc.id, rpc.target, rpc.channel, nullptr, 0);
  }
  /// Calls an RPC whose target is LATTICE_RPC_TO_PEER or LATTICE_RPC_TO_ALL, on one client.
  template <class Arguments>
  lattice_result call_peer(lattice_netid object, const Rpc<Arguments>& rpc, lattice_peer_id peer,
                           const Arguments& arguments) const {
    return lattice_rpc_to(handle_, object, rpc.id, peer, rpc.channel, &arguments, sizeof arguments);
  }
  /// Inside on_rpc: who sent it, and the tick the sender stamped.
  lattice_peer_id rpc_sender() const { return lattice_rpc_sender(handle_); }
  uint32_t rpc_tick() const { return lattice_rpc_tick(handle_); }

  // ---- Switches, bad networks, statistics ----

  lattice_result set_option(lattice_option option, bool enabled) const {
    return lattice_set_option(handle_, option, enabled ? 1 : 0);
  }
  lattice_result set_impairment(lattice_direction direction, const lattice_impairment& impairment) const {
    return lattice_set_impairment(handle_, direction, &impairment);
  }
  uint64_t state_hash() const { return lattice_world_state_hash(handle_); }
  lattice_world_stats stats() const {
    lattice_world_stats stats = sized<lattice_world_stats>();
    lattice_world_get_stats(handle_, &stats);
    return stats;
  }

 private:
  lattice_result call_raw(lattice_netid object, uint16_t rpc_id, lattice_rpc_target target,
                          lattice_channel channel, const void* arguments, size_t bytes) const {
    return lattice_rpc(handle_, object, rpc_id, target, channel, arguments, bytes);
  }

 protected:
  lattice_world* handle_ = nullptr;
};

/// A world of the caller's own, destroyed with this object. Move-only.
class World : public WorldRef {
 public:
  World() = default;
  World(World&& other) noexcept : WorldRef(other.release()), ids_(std::move(other.ids_)) {}
  World& operator=(World&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() { reset(); }

  /// Empty on failure.
  static World create(const lattice_world_config& config, lattice_role role) {
    const lattice_role_context context = role_context(role);
    return World(lattice_world_create(&config, &context));
  }

  /// Gives the world away: the caller destroys it.
  lattice_world* release() { return std::exchange(handle_, nullptr); }
  void reset(lattice_world* other = nullptr) {
    if (handle_ != nullptr) lattice_world_destroy(handle_);
    handle_ = other;
  }

  /// Calls visit(id, state) for each object of `type` in ascending order of ids. `visit` may spawn and
  /// despawn; what it spawns is not visited.
  template <class State, class... More, class Visit>
  void each(const Type<State, More...>& type, Visit&& visit) const {
    visit_all<State>(type.id, lattice_objects, visit);
  }
  /// As each(), but only what on_tick steps here and now.
  template <class State, class... More, class Visit>
  void each_simulated(const Type<State, More...>& type, Visit&& visit) const {
    visit_all<State>(type.id, lattice_simulated_objects, visit);
  }

 private:
  explicit World(lattice_world* handle) : WorldRef(handle) {}

  template <class State, class List, class Visit>
  void visit_all(uint32_t type_id, List list, Visit& visit) const {
    // Taken out while it is used: a visit may visit.
    std::vector<lattice_netid> ids = std::move(ids_);
    size_t count = list(handle_, type_id, ids.data(), ids.size());
    if (count > ids.size()) {
      ids.resize(count);
      count = list(handle_, type_id, ids.data(), ids.size());
    }
    for (size_t i = 0; i < count; ++i) {
      if (State* object = state<State>(ids[i])) visit(ids[i], *object);
    }
    ids_ = std::move(ids);
  }

  mutable std::vector<lattice_netid>
      ids_;  // scratch of visit_all(); grows to the most objects there ever were
};

/// A seeded network in virtual time: owns it. Outlives the worlds on it.
class Netsim {
 public:
  explicit Netsim(uint64_t seed) : handle_(lattice_netsim_create(seed)) {}
  Netsim(const Netsim&) = delete;
  Netsim& operator=(const Netsim&) = delete;
  ~Netsim() { lattice_netsim_destroy(handle_); }

  explicit operator bool() const { return handle_ != nullptr; }
  lattice_netsim* get() const { return handle_; }
  /// Puts a world on this network instead of a UDP socket, with the network's clock. config.bind_address
  /// becomes an address of the network.
  void attach(lattice_world_config& config) const {
    config.netsim = handle_;
    config.clock = lattice_netsim_clock;
    config.clock_ctx = handle_;
  }
  lattice_result advance(uint64_t ns) const { return lattice_netsim_advance(handle_, ns); }
  uint64_t now_ns() const { return lattice_netsim_now(handle_); }
  lattice_result set_impairment(const lattice_impairment& impairment) const {
    return lattice_netsim_set_impairment(handle_, &impairment);
  }

 private:
  lattice_netsim* handle_;
};

}  // namespace lattice
