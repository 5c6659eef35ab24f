/// @file
/// Lattice for C++20: a thin face over lattice.h. Header-only, without exceptions and run-time type
/// information.
///
///     inline constexpr lattice::Type<Square> kSquare{.id = 1, .name = "Square"};
///
///     struct Game {
///       lattice::World world;
///       void on_connected(lattice::Connection conn);  // called because it is there
///       void on_tick(const lattice_tick_context& tick);
///     };
///
///     game.world = lattice::World::create(config, LATTICE_ROLE_CLIENT);
///     if (!game.world) return fail(lattice_last_error());
///     game.world.add(kSquare);
///     game.world.set_callbacks(game);
///     while (playing) game.world.pump();
///
/// Every function here calls the C function that its description names, with types instead of pointers and
/// sizes. The C function says what it refuses, on which thread it may be called, and what a callback may do.
/// A World and a Connection convert to the handle, so every C function takes them too.
///
/// A call that fails returns its lattice_result, or something empty: a World or Connection that is false, an
/// id of 0, an empty optional. lattice_last_result() and lattice_last_error() say why.
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
#include "lattice/cpp/backend.h"
#include "lattice/cpp/callbacks.h"
#include "lattice/cpp/connection.h"
#include "lattice/cpp/types.h"
#include "lattice/lattice.h"

/// Lattice for C++.
namespace lattice {

/// The handle of a world that somebody else owns, as cheap to copy as a pointer. A handle of no world is
/// false, and every call on it is refused with LATTICE_ERROR_INVALID_ARGUMENT.
class WorldRef {
 public:
  /// A handle of no world.
  WorldRef() = default;
  /// The handle of a world made with the C interface. Takes no ownership.
  explicit WorldRef(lattice_world* handle) : handle_(handle) {}

  /// True when this is the handle of some world, even of one that has ended.
  explicit operator bool() const { return handle_ != nullptr; }
  /// The C handle, so that a C function takes a WorldRef.
  operator lattice_world*() const { return handle_; }
  /// The C handle; null for no world.
  lattice_world* get() const { return handle_; }

  /// The address of the socket, such as "127.0.0.1:27015"; "" on failure. Calls lattice_world_address().
  Text<64> address() const {
    Text<64> text;
    if (lattice_world_address(handle_, text.data, sizeof text.data) != LATTICE_OK) text.data[0] = '\0';
    return text;
  }

  // ---- The pump ----

  /// Receives, runs the ticks that are due, and sends. Returns how many ticks ran. Calls
  /// lattice_world_pump().
  uint32_t pump() const { return lattice_world_pump(handle_); }
  /// First step of the pump: takes what has arrived. Calls lattice_world_recv().
  lattice_result recv() const { return lattice_world_recv(handle_); }
  /// Second step of the pump: runs one tick, which must be next_tick(). Calls lattice_world_tick().
  lattice_result tick(uint32_t tick) const { return lattice_world_tick(handle_, tick); }
  /// Last step of the pump: sends. Calls lattice_world_send().
  lattice_result send() const { return lattice_world_send(handle_); }
  /// The tick that tick() must name; 0 on failure. Calls lattice_world_next_tick().
  uint32_t next_tick() const { return lattice_world_next_tick(handle_); }
  /// How many ticks are due now; uses up the time since the last call. Calls lattice_world_ticks_due().
  uint32_t ticks_due() const { return lattice_world_ticks_due(handle_); }
  /// Nanoseconds until the next tick is due. Calls lattice_world_time_to_tick_ns().
  uint64_t time_to_tick_ns() const { return lattice_world_time_to_tick_ns(handle_); }

  /// Ends all connections and pumps until the peers were told, up to a second. Calls lattice_world_leave().
  lattice_result leave(int reason, const char* text = nullptr) const {
    return lattice_world_leave(handle_, reason, text);
  }
  /// The issuers whose tokens are honoured from now on: 1 or 2 keys of LATTICE_KEY_BYTES bytes, back to back.
  /// Calls lattice_world_set_issuers().
  lattice_result set_issuers(std::span<const uint8_t> keys) const {
    return lattice_world_set_issuers(handle_, keys.data(),
                                     static_cast<uint32_t>(keys.size() / LATTICE_KEY_BYTES));
  }

  /// Sleeps until the pump has something to do; false after the timeout. Calls lattice_world_wait().
  bool wait(uint64_t timeout_ns) const { return lattice_world_wait(handle_, timeout_ns) != 0; }
  /// How many nanoseconds the pump has nothing to do, if no datagram comes; 0 on failure. Calls
  /// lattice_world_idle_ns().
  uint64_t idle_ns() const {
    uint64_t out = 0;
    lattice_world_idle_ns(handle_, &out);
    return out;
  }
  /// The descriptor of the socket, for a loop of the program's own; -1 on failure. Calls
  /// lattice_world_descriptor().
  intptr_t descriptor() const {
    intptr_t out = -1;
    return lattice_world_descriptor(handle_, &out) == LATTICE_OK ? out : -1;
  }
  /// Takes the oldest events that have room in `room`, and returns them: none when none wait. With
  /// lattice_world_config.record_events. Calls lattice_world_events().
  ///
  ///     std::array<lattice_event, 64> room;
  ///     for (auto events = world.events(room); !events.empty(); events = world.events(room)) handle(events);
  std::span<const lattice_event> events(std::span<lattice_event> room) const {
    return room.first(lattice_world_events(handle_, room.data(), room.size()));
  }

  // ---- Schema and callbacks: before the first pump, connect(), spawn() or set_input() ----

  /// Registers an object type with its RPCs. Calls lattice_register_type().
  ///
  ///     world.add(kBoard, kWrite, kWritten);
  template <class... Behaviours, class... Arguments>
  lattice_result add(const Type<Behaviours...>& type, const Rpc<Arguments>&... rpcs) const {
    const lattice_behaviour_desc behaviours[] = {behaviour_desc<Behaviours>()...};
    lattice_type_desc desc;
    lattice_type_desc_init(&desc);
    desc.type_id = type.type_id();
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
  /// Registers `Input` as the input command. Calls lattice_register_input().
  template <authoring::Declared Input>
  lattice_result add_input() const {
    const lattice_input_desc desc = input_desc<Input>();
    return lattice_register_input(handle_, &desc);
  }
  /// The hash of everything that is registered. Calls lattice_world_schema_id().
  uint64_t schema_id() const { return lattice_world_schema_id(handle_); }

  /// Calls the members of `game` that lattice/cpp/callbacks.h names, until the next set_callbacks(). `game`
  /// is borrowed: it must live as long as the world, or until the next set_callbacks(). Calls
  /// lattice_set_callbacks().
  template <class Game>
  lattice_result set_callbacks(Game& game) const {
    return callbacks::wire(handle_, game);
  }

  // ---- Connecting ----

  /// Makes a token for a server of the same user on this machine. `request` may be null. An empty token on
  /// failure. Calls lattice_dev_token().
  Token dev_token(const char* server, const lattice_token_request* request = nullptr) const {
    Token token;
    const lattice_result result =
        lattice_dev_token(handle_, server, request, token.data, sizeof token.data, &token.size);
    if (result != LATTICE_OK) token.size = 0;
    return token;
  }
  /// Connects a client to the authority at `endpoint`. The token is copied. A false Connection on failure.
  /// Calls lattice_connect().
  Connection connect(const char* endpoint, std::span<const uint8_t> token) const {
    return Connection(lattice_connect(handle_, endpoint, token.data(), token.size()));
  }
  /// The same, to an authority at `server`, a path of a back end. Calls lattice_connect_path().
  Connection connect(const lattice_path& server, std::span<const uint8_t> token) const {
    return Connection(lattice_connect_path(handle_, &server, token.data(), token.size()));
  }
  /// Makes a token with dev_token() and connects with it. A false Connection on failure.
  ///
  ///     if (!world.connect_for_development("127.0.0.1:27015")) return fail(lattice_last_error());
  Connection connect_for_development(const char* server) const {
    const Token token = dev_token(server);
    return token ? connect(server, token) : Connection();
  }
  /// Authority: the live connection of `peer`; false when there is none. Calls lattice_peer_conn().
  Connection connection_of(lattice_peer_id peer) const {
    return Connection(lattice_peer_conn(handle_, peer));
  }
  /// The peer id of this world; 0 on a client that is not connected. Calls lattice_local_peer().
  lattice_peer_id local_peer() const { return lattice_local_peer(handle_); }

  // ---- Objects ----

  /// Spawns an object, owned by `owner` if that is not 0, and returns its id; 0 on failure. Authority only.
  /// Calls lattice_spawn() or lattice_spawn_for().
  ///
  ///     lattice_netid crate = world.spawn(kCrate);
  ///     if (Crate* state = world.state<Crate>(crate)) state->position = {10, 0};
  template <class... Behaviours>
  lattice_netid spawn(const Type<Behaviours...>& type, lattice_peer_id owner = 0) const {
    return owner == 0 ? lattice_spawn(handle_, type.type_id(), LATTICE_AUTHORITY_SERVER)
                      : lattice_spawn_for(handle_, type.type_id(), LATTICE_AUTHORITY_SERVER, owner);
  }
  /// Places an object of the level before the session, as it is at the start, on both sides. Calls
  /// lattice_place().
  ///
  ///     for (const auto& [key, place] : level.doors) world.place(key, kDoor, Door{place, false});
  template <class... Behaviours>
  lattice_result place(uint64_t key, const Type<Behaviours...>& type, const Behaviours&... states) const {
    const void* const pointers[] = {&states...};
    return lattice_place(handle_, key, type.type_id(), pointers, sizeof...(states));
  }
  /// The id of a placed object; 0 when it is not here. Calls lattice_placed().
  lattice_netid placed(uint64_t key) const { return lattice_placed(handle_, key); }
  /// Forgets all placed objects, to place those of another level. Calls lattice_clear_placed().
  lattice_result clear_placed() const { return lattice_clear_placed(handle_); }
  /// Removes an object. Authority only. Calls lattice_despawn().
  ///
  ///     world.despawn(crate);
  lattice_result despawn(lattice_netid object) const { return lattice_despawn(handle_, object); }
  /// Inside on_despawn: why the object disappears. Calls lattice_object_despawn_reason().
  lattice_despawn_reason despawn_reason() const { return lattice_object_despawn_reason(handle_); }
  /// What is known of an object; all zero but for struct_size on failure. Calls lattice_object_get_info().
  lattice_object_info info(lattice_netid object) const {
    lattice_object_info info = sized<lattice_object_info>();
    lattice_object_get_info(handle_, object, &info);
    return info;
  }

  /// The peer that writes the object, whose state of it is the true one; 0 on failure. The first tick of its
  /// tenure is written to `since_tick` if that is not null. Calls lattice_object_writer().
  ///
  ///     const bool is_mine = world.writer(crate) == world.local_peer();
  lattice_peer_id writer(lattice_netid object, uint32_t* since_tick = nullptr) const {
    return lattice_object_writer(handle_, object, since_tick);
  }

  /// The host structure of a behaviour to write, or null when there is none. Valid until the object despawns;
  /// wake() announces later writes. `State` must be the structure that the behaviour was registered with: the
  /// library cannot tell. Calls lattice_object_state().
  template <authoring::Declared State>
  State* state(lattice_netid object, uint32_t behaviour = 0) const {
    return static_cast<State*>(lattice_object_state(handle_, object, behaviour));
  }
  /// The same structure, to read only: that announces no write. Calls lattice_object_read().
  template <authoring::Declared State>
  const State* read(lattice_netid object, uint32_t behaviour = 0) const {
    return static_cast<const State*>(lattice_object_read(handle_, object, behaviour));
  }
  /// Announces a write through a pointer that the game keeps. Calls lattice_object_wake().
  lattice_result wake(lattice_netid object) const { return lattice_object_wake(handle_, object); }
  /// Authority: no tick looks at the object until it is written or woken. Calls lattice_object_sleep().
  lattice_result sleep(lattice_netid object) const { return lattice_object_sleep(handle_, object); }
  /// Fixes the moment that every view() shows until the next call. Calls lattice_frame_begin().
  lattice_result begin_frame() const { return lattice_frame_begin(handle_); }
  /// What happened between the last two calls of begin_frame(); no objects on failure. Calls
  /// lattice_frame_get().
  ///
  ///     world.begin_frame();
  ///     const lattice::Frame frame = world.frame();
  ///     for (const lattice_frame_object& gone : frame.gone()) sprites.erase(gone.object);
  ///     for (const lattice_frame_object& added : frame.appeared()) sprites.insert(added.object);
  Frame frame() const {
    Frame frame;
    lattice_frame_get(handle_, &frame);
    return frame;
  }
  /// What to draw now; empty on failure. `State` as for state(). Calls lattice_object_view().
  ///
  ///     world.begin_frame();
  ///     if (const auto pose = world.view<Pawn>(id)) draw(*pose);
  template <authoring::Declared State>
  std::optional<State> view(lattice_netid object, uint32_t behaviour = 0) const {
    std::optional<State> out(std::in_place);
    if (lattice_object_view(handle_, object, behaviour, &*out, sizeof(State)) != sizeof(State)) out.reset();
    return out;
  }
  /// The newest authoritative state, empty on failure. Its tick is written to `tick` if that is not null.
  /// `State` as for state(). Calls lattice_object_confirmed().
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

  // ---- Interest: authority only ----

  /// Says who may see an object. Calls lattice_object_set_interest().
  ///
  ///     lattice::ObjectInterest interest;
  ///     interest.team_mask = 1u << kRedTeam;
  ///     world.set_interest(flag, interest);
  lattice_result set_interest(lattice_netid object, const lattice_object_interest& interest) const {
    return lattice_object_set_interest(handle_, object, &interest);
  }
  /// What set_interest() last said, or the default; empty on failure. Calls lattice_object_get_interest().
  std::optional<lattice_object_interest> interest(lattice_netid object) const {
    std::optional<lattice_object_interest> out(sized<lattice_object_interest>());
    if (lattice_object_get_interest(handle_, object, &*out) != LATTICE_OK) out.reset();
    return out;
  }
  /// Says where an object is. Calls lattice_object_set_position().
  lattice_result set_position(lattice_netid object, double x, double y, double z = 0) const {
    return lattice_object_set_position(handle_, object, x, y, z);
  }
  /// Attaches an object to another: it comes and goes with it. Calls lattice_object_attach().
  lattice_result attach(lattice_netid object, lattice_netid parent) const {
    return lattice_object_attach(handle_, object, parent);
  }
  /// Ends an attachment. Calls lattice_object_attach().
  lattice_result detach(lattice_netid object) const { return lattice_object_attach(handle_, object, 0); }

  // ---- Input and RPCs ----

  /// Sets the input of the local player for the ticks to come. Calls lattice_set_input().
  template <authoring::Declared Input>
  lattice_result set_input(const Input& input) const {
    return lattice_set_input(handle_, &input, sizeof input);
  }
  /// Inside on_tick: copies the input of `peer` for this tick to `out`. Returns 1 for one made for this tick,
  /// 2 for an earlier one that is repeated, 0 for none; `out` is the default input then. Calls
  /// lattice_get_input().
  ///
  ///     Keys keys;
  ///     world.get_input(world.info(id).owner, keys);
  template <authoring::Declared Input>
  int get_input(lattice_peer_id peer, Input& out) const {
    return lattice_get_input(handle_, peer, &out, sizeof out);
  }

  /// Inside on_tick: what `peer` saw when it made that input; empty when there is none. Calls
  /// lattice_get_input_sight().
  std::optional<lattice_input_sight> input_sight(lattice_peer_id peer) const {
    std::optional<lattice_input_sight> out(sized<lattice_input_sight>());
    if (lattice_get_input_sight(handle_, peer, &*out) != LATTICE_OK) out.reset();
    return out;
  }

  /// Calls an RPC on an object, by its declared target and channel. Calls lattice_rpc().
  template <class Arguments>
  lattice_result call(lattice_netid object, const Rpc<Arguments>& rpc, const Arguments& arguments) const {
    return call_raw(object, rpc.id, rpc.target, rpc.channel, &arguments, sizeof arguments);
  }
  /// Calls an RPC without arguments. Calls lattice_rpc().
  lattice_result call(lattice_netid object, const Rpc<void>& rpc) const {
    return call_raw(object, rpc.id, rpc.target, rpc.channel, nullptr, 0);
  }
  /// Calls an RPC on one client. Its target is LATTICE_RPC_TO_PEER or LATTICE_RPC_TO_ALL. Calls
  /// lattice_rpc_to().
  template <class Arguments>
  lattice_result call_peer(lattice_netid object, const Rpc<Arguments>& rpc, lattice_peer_id peer,
                           const Arguments& arguments) const {
    return lattice_rpc_to(handle_, object, rpc.id, peer, rpc.channel, &arguments, sizeof arguments);
  }
  /// Calls an RPC without arguments on one client. Calls lattice_rpc_to().
  lattice_result call_peer(lattice_netid object, const Rpc<void>& rpc, lattice_peer_id peer) const {
    return lattice_rpc_to(handle_, object, rpc.id, peer, rpc.channel, nullptr, 0);
  }
  /// Inside on_rpc: the peer id of the caller. Calls lattice_rpc_sender().
  lattice_peer_id rpc_sender() const { return lattice_rpc_sender(handle_); }
  /// Inside on_rpc: the tick that the caller was at. Calls lattice_rpc_tick().
  uint32_t rpc_tick() const { return lattice_rpc_tick(handle_); }

  // ---- Switches, bad networks, statistics ----

  /// Switches an option on or off. Calls lattice_set_option().
  lattice_result set_option(lattice_option option, bool enabled) const {
    return lattice_set_option(handle_, option, enabled ? 1 : 0);
  }
  /// Impairs the datagrams of this world in one direction. Calls lattice_set_impairment().
  ///
  ///     lattice::Impairment bad;
  ///     bad.delay_ms = 50;
  ///     world.set_impairment(LATTICE_DIRECTION_SEND, bad);
  lattice_result set_impairment(lattice_direction direction, const lattice_impairment& impairment) const {
    return lattice_set_impairment(handle_, direction, &impairment);
  }
  /// A hash of the authoritative state of all objects. Calls lattice_world_state_hash().
  uint64_t state_hash() const { return lattice_world_state_hash(handle_); }
  /// The statistics of the world; all zero but for struct_size on failure. Calls lattice_world_get_stats().
  ///
  ///     std::printf("%u objects\n", world.stats().objects);
  lattice_world_stats stats() const {
    lattice_world_stats stats = sized<lattice_world_stats>();
    lattice_world_get_stats(handle_, &stats);
    return stats;
  }
  /// Calls `visit(name, count)` for each counter of what was not acted on or could not be sent.
  /// lattice_refusal_text() says what a name means. Calls lattice_world_refusal().
  ///
  ///     world.each_refusal([](const char* name, uint64_t count) {
  ///       if (count != 0) std::printf("%s: %llu\n", name, static_cast<unsigned long long>(count));
  ///     });
  template <class Visit>
  void each_refusal(Visit visit) const {
    uint64_t count = 0;
    const char* name = nullptr;
    for (uint32_t i = 0; (name = lattice_world_refusal(handle_, i, &count)) != nullptr; ++i)
      visit(name, count);
  }
  /// Client: calls `visit(const lattice_prediction_error&)` for each member that was predicted wrong since
  /// the last call, which begins to count anew. Calls lattice_world_take_prediction_error().
  ///
  ///     world.take_prediction_errors([](const lattice_prediction_error& error) {
  ///       std::printf("%s was up to %g off\n", error.member, error.worst);
  ///     });
  template <class Visit>
  void take_prediction_errors(Visit visit) const {
    lattice_prediction_error error = sized<lattice_prediction_error>();
    while (lattice_world_take_prediction_error(handle_, &error) == LATTICE_OK) visit(std::as_const(error));
  }
  /// Authority: calls `visit(const char*)` for each difference between the schemas of this world and of a
  /// client that it refused. `visit` must not receive. Calls lattice_world_schema_difference().
  template <class Visit>
  void each_schema_difference(Visit visit) const {
    const char* difference = nullptr;
    for (uint32_t i = 0; (difference = lattice_world_schema_difference(handle_, i)) != nullptr; ++i)
      visit(difference);
  }
  /// What a client received about the objects of one type; all zero but for struct_size on failure. Calls
  /// lattice_world_get_type_stats().
  lattice_type_stats type_stats(uint32_t type_id) const {
    lattice_type_stats stats = sized<lattice_type_stats>();
    lattice_world_get_type_stats(handle_, type_id, &stats);
    return stats;
  }

 private:
  lattice_result call_raw(lattice_netid object, uint16_t rpc_id, lattice_rpc_target target,
                          lattice_channel channel, const void* arguments, size_t bytes) const {
    return lattice_rpc(handle_, object, rpc_id, target, channel, arguments, bytes);
  }

 protected:
  /// The C handle; null for no world.
  lattice_world* handle_ = nullptr;
};

/// A world that this object owns: its destructor destroys the world. Move-only.
class World : public WorldRef {
 public:
  /// No world.
  World() = default;
  /// Takes the world of `other`, which has none afterwards.
  World(World&& other) noexcept : WorldRef(other.release()), ids_(std::move(other.ids_)) {}
  /// Destroys the world of this object, if any, and takes that of `other`.
  ///
  /// `world = World::create(...)` makes the new world first, while the old one still holds its port. The
  /// destruction of the old one then resets lattice_last_error(), so why the new one failed is lost. To
  /// replace a world, call reset() first.
  World& operator=(World&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  /// A world has one owner.
  World(const World&) = delete;
  /// A world has one owner.
  World& operator=(const World&) = delete;
  /// Destroys the world. Not inside one of its callbacks: it would stay alive without an owner.
  ~World() { reset(); }

  /// Makes a world with the given role. A false World on failure. Calls lattice_world_create(). Where the
  /// result replaces another World, call reset() on that one first: operator=() says why.
  static World create(const lattice_world_config& config, lattice_role role) {
    const lattice_role_context context = role_context(role);
    return World(lattice_world_create(&config, &context));
  }

  /// Gives the world away and returns its handle: the caller destroys it with lattice_world_destroy().
  lattice_world* release() { return std::exchange(handle_, nullptr); }
  /// Destroys the world, if any, and owns `other` from now on.
  void reset(lattice_world* other = nullptr) {
    if (handle_ != nullptr) lattice_world_destroy(handle_);
    handle_ = other;
  }

  /// Calls visit(id, state) for each object of `type`, in ascending order of ids. `state` is const: reading
  /// announces no write and wakes nobody. To write one, take state<State>(id). `visit` may spawn and despawn;
  /// what it spawns is not visited.
  ///
  ///     world.each(kPawn, [&](lattice_netid id, const Pawn& pawn) { report(id, pawn); });
  template <class State, class... More, class Visit>
  void each(const Type<State, More...>& type, Visit&& visit) const {
    visit_all(type.type_id(), lattice_objects, [&](lattice_netid id) {
      if (const State* object = read<State>(id)) visit(id, *object);
    });
  }
  /// As each(), for the objects that on_tick steps here and now. `state` may be written, and each visit
  /// announces a write.
  template <class State, class... More, class Visit>
  void each_simulated(const Type<State, More...>& type, Visit&& visit) const {
    visit_all(type.type_id(), lattice_simulated_objects, [&](lattice_netid id) {
      if (State* object = state<State>(id)) visit(id, *object);
    });
  }

 private:
  explicit World(lattice_world* handle) : WorldRef(handle) {}

  template <class List, class Visit>
  void visit_all(uint32_t type_id, List list, Visit visit) const {
    // Taken out while it is used: a visit may visit.
    std::vector<lattice_netid> ids = std::move(ids_);
    size_t count = list(handle_, type_id, ids.data(), ids.size());
    if (count > ids.size()) {
      ids.resize(count);
      count = list(handle_, type_id, ids.data(), ids.size());
    }
    for (size_t i = 0; i < count; ++i) visit(ids[i]);
    ids_ = std::move(ids);
  }

  mutable std::vector<lattice_netid>
      ids_;  // scratch of visit_all(); grows to the most objects there ever were
};

/// A seeded network in virtual time, which this object owns. It must outlive the worlds on it.
class Netsim {
 public:
  /// Makes a network. Every loss and delay follows from `seed`. False when there are too many. Calls
  /// lattice_netsim_create().
  explicit Netsim(uint64_t seed) : handle_(lattice_netsim_create(seed)) {}
  /// A network has one owner.
  Netsim(const Netsim&) = delete;
  /// A network has one owner.
  Netsim& operator=(const Netsim&) = delete;
  /// Destroys the network. Destroy the worlds on it first: while there are any, it stays alive without an
  /// owner.
  ~Netsim() { lattice_netsim_destroy(handle_); }

  /// True when there is a network.
  explicit operator bool() const { return handle_ != nullptr; }
  /// The C handle; null when the network could not be made.
  lattice_netsim* get() const { return handle_; }
  /// Puts a world on this network instead of a UDP socket, with the clock of the network. config.bind_address
  /// is then an address on the network.
  ///
  ///     lattice::Netsim network(42);
  ///     lattice::WorldConfig config;
  ///     network.attach(config);
  void attach(lattice_world_config& config) const {
    config.netsim = handle_;
    config.clock = lattice_netsim_clock;
    config.clock_ctx = handle_;
  }
  /// Moves virtual time forward by `ns` nanoseconds. Calls lattice_netsim_advance().
  lattice_result advance(uint64_t ns) const { return lattice_netsim_advance(handle_, ns); }
  /// Virtual time in nanoseconds; it starts at 0. Calls lattice_netsim_now().
  uint64_t now_ns() const { return lattice_netsim_now(handle_); }
  /// Sets the link between all addresses that have none of their own. Calls lattice_netsim_set_impairment().
  lattice_result set_impairment(const lattice_impairment& impairment) const {
    return lattice_netsim_set_impairment(handle_, &impairment);
  }
  /// Sets the link for datagrams from one address, such as "10.0.0.2:1000", to another. Calls
  /// lattice_netsim_set_link().
  lattice_result set_link(const char* from, const char* to, const lattice_impairment& impairment) const {
    return lattice_netsim_set_link(handle_, from, to, &impairment);
  }

 private:
  lattice_netsim* handle_;
};

}  // namespace lattice
