/// @file
/// Callbacks as members of one class of the game's. Part of lattice.hpp: World::set_callbacks() takes the
/// object.
///
/// A public member with one of these names is called. A callback without a member stays unset, as if the C
/// pointer were NULL. A member with one of these names and other parameters does not compile, and the message
/// says which parameters are meant.
///
///     void on_connected(lattice::Connection)
///     void on_disconnected(lattice::Connection, int reason)
///     void on_spawn(lattice_netid, uint32_t type_id)
///     void on_despawn(lattice_netid)
///     void on_rpc(const lattice::Call&)
///     void on_authority_changed(lattice_netid, lattice_peer_id new_owner)
///     void on_tick(const lattice_tick_context&)
///     void on_sample_input(uint32_t tick, Input&)            with Input as registered by World::add_input()
///     void on_message(lattice::Connection, lattice_channel, std::span<const uint8_t>)
///     int on_admit(const lattice_conn_info&)                 0, or a disconnect reason
///     void on_resync(uint32_t from_tick, uint32_t to_tick)
///     void on_receipt(lattice::Connection, uint32_t receipt, bool acked)
///     bool on_relevant(lattice::Connection, lattice_netid)   false: the client does not get the object
///     void on_value_clamped(lattice_netid, uint16_t prop_id, uint32_t tick)
///     void on_loaded(lattice::Connection)
///
/// lattice_callbacks says when each is called. An exception that leaves a member ends the program, because it
/// would unwind through the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "lattice/cpp/connection.h"
#include "lattice/cpp/types.h"
#include "lattice/lattice.h"

/// @cond internal
/// How set_callbacks() finds the members and calls them. Not for programs: names here may change.
namespace lattice::callbacks {

/// Defines has_NAME<Game>(): is there any member of that name, whatever its parameters and access? A class
/// that inherits a name twice cannot take its address, overloads and private members included. That needs a
/// base class; of a final class only an accessible member without overloads is seen.
#define LATTICE_HAS_MEMBER(name)              \
  struct Name_##name {                        \
    int name;                                 \
  };                                          \
  template <class Game>                       \
  struct Twice_##name : Game, Name_##name {}; \
  template <class Game>                       \
  constexpr bool has_##name() {               \
    if constexpr (std::is_final_v<Game>) {    \
      return requires {                       \
        &Game::name;                          \
      };                                      \
    } else {                                  \
      return !requires {                      \
        &Twice_##name<Game>::name;            \
      };                                      \
    }                                         \
  }

LATTICE_HAS_MEMBER(on_connected)
LATTICE_HAS_MEMBER(on_disconnected)
LATTICE_HAS_MEMBER(on_spawn)
LATTICE_HAS_MEMBER(on_despawn)
LATTICE_HAS_MEMBER(on_rpc)
LATTICE_HAS_MEMBER(on_authority_changed)
LATTICE_HAS_MEMBER(on_tick)
LATTICE_HAS_MEMBER(on_sample_input)
LATTICE_HAS_MEMBER(on_message)
LATTICE_HAS_MEMBER(on_admit)
LATTICE_HAS_MEMBER(on_resync)
LATTICE_HAS_MEMBER(on_receipt)
LATTICE_HAS_MEMBER(on_relevant)
LATTICE_HAS_MEMBER(on_value_clamped)
LATTICE_HAS_MEMBER(on_loaded)
#undef LATTICE_HAS_MEMBER

/// The second parameter of on_sample_input, without its reference.
template <class Function>
struct SampledInput;
/// The parameter of a member that may throw.
template <class Game, class Result, class Input>
struct SampledInput<Result (Game::*)(uint32_t, Input&)> {
  /// The structure of the input.
  using type = Input;
};
/// The parameter of a member that may not throw.
template <class Game, class Result, class Input>
struct SampledInput<Result (Game::*)(uint32_t, Input&) noexcept> {
  /// The structure of the input.
  using type = Input;
};

/// Sets on_connected, on_loaded and on_disconnected.
template <class Game>
void wire_session([[maybe_unused]] lattice_callbacks& out) {
  if constexpr (has_on_connected<Game>()) {
    static_assert(
        requires(Game & game, Connection conn) { game.on_connected(conn); },
        "on_connected must be public: void on_connected(lattice::Connection)");
    out.on_connected = [](void* ctx, lattice_conn* conn) noexcept {
      static_cast<Game*>(ctx)->on_connected(Connection(conn));
    };
  }
  if constexpr (has_on_loaded<Game>()) {
    static_assert(
        requires(Game & game, Connection conn) { game.on_loaded(conn); },
        "on_loaded must be public: void on_loaded(lattice::Connection)");
    out.on_loaded = [](void* ctx, lattice_conn* conn) noexcept {
      static_cast<Game*>(ctx)->on_loaded(Connection(conn));
    };
  }
  if constexpr (has_on_disconnected<Game>()) {
    static_assert(
        requires(Game & game, Connection conn, int reason) { game.on_disconnected(conn, reason); },
        "on_disconnected must be public: void on_disconnected(lattice::Connection, int reason)");
    out.on_disconnected = [](void* ctx, lattice_conn* conn, int reason) noexcept {
      static_cast<Game*>(ctx)->on_disconnected(Connection(conn), reason);
    };
  }
}

/// Sets on_spawn, on_despawn, on_rpc and on_authority_changed.
template <class Game>
void wire_objects([[maybe_unused]] lattice_callbacks& out) {
  if constexpr (has_on_spawn<Game>()) {
    static_assert(
        requires(Game & game, lattice_netid id, uint32_t type_id) { game.on_spawn(id, type_id); },
        "on_spawn must be public: void on_spawn(lattice_netid, uint32_t type_id)");
    out.on_spawn = [](void* ctx, lattice_netid id, uint32_t type_id) noexcept {
      static_cast<Game*>(ctx)->on_spawn(id, type_id);
    };
  }
  if constexpr (has_on_despawn<Game>()) {
    static_assert(
        requires(Game & game, lattice_netid id) { game.on_despawn(id); },
        "on_despawn must be public: void on_despawn(lattice_netid)");
    out.on_despawn = [](void* ctx, lattice_netid id) noexcept { static_cast<Game*>(ctx)->on_despawn(id); };
  }
  if constexpr (has_on_rpc<Game>()) {
    static_assert(
        requires(Game & game, const Call& call) { game.on_rpc(call); },
        "on_rpc must be public: void on_rpc(const lattice::Call&)");
    out.on_rpc = [](void* ctx, lattice_netid id, uint16_t rpc_id, const void* data, size_t bytes) noexcept {
      static_cast<Game*>(ctx)->on_rpc(Call{id, rpc_id, data, bytes});
    };
  }
  if constexpr (has_on_authority_changed<Game>()) {
    static_assert(
        requires(Game & game, lattice_netid id, lattice_peer_id owner) {
          game.on_authority_changed(id, owner);
        },
        "on_authority_changed must be public: void on_authority_changed(lattice_netid, lattice_peer_id)");
    out.on_authority_changed = [](void* ctx, lattice_netid id, lattice_peer_id owner) noexcept {
      static_cast<Game*>(ctx)->on_authority_changed(id, owner);
    };
  }
}

/// Sets on_tick, on_sample_input and on_resync.
template <class Game>
void wire_simulation([[maybe_unused]] lattice_callbacks& out) {
  if constexpr (has_on_tick<Game>()) {
    static_assert(
        requires(Game & game, const lattice_tick_context& tick) { game.on_tick(tick); },
        "on_tick must be public: void on_tick(const lattice_tick_context&)");
    out.on_tick = [](void* ctx, lattice_world*, const lattice_tick_context* tick) noexcept {
      static_cast<Game*>(ctx)->on_tick(*tick);
    };
  }
  if constexpr (has_on_sample_input<Game>()) {
    static_assert(
        requires { typename SampledInput<decltype(&Game::on_sample_input)>::type; },
        "on_sample_input must be public: void on_sample_input(uint32_t tick, Input&)");
    out.on_sample_input = [](void* ctx, lattice_world*, uint32_t tick, void* input, size_t bytes) noexcept {
      using Input = typename SampledInput<decltype(&Game::on_sample_input)>::type;
      // Another size is another type than World::add_input() registered.
      if (bytes == sizeof(Input)) static_cast<Game*>(ctx)->on_sample_input(tick, *static_cast<Input*>(input));
    };
  }
  if constexpr (has_on_resync<Game>()) {
    static_assert(
        requires(Game & game, uint32_t tick) { game.on_resync(tick, tick); },
        "on_resync must be public: void on_resync(uint32_t from_tick, uint32_t to_tick)");
    out.on_resync = [](void* ctx, lattice_world*, uint32_t from, uint32_t to) noexcept {
      static_cast<Game*>(ctx)->on_resync(from, to);
    };
  }
}

/// Sets on_message, on_admit and on_receipt.
template <class Game>
void wire_messages([[maybe_unused]] lattice_callbacks& out) {
  if constexpr (has_on_message<Game>()) {
    static_assert(
        requires(Game & game, Connection conn, lattice_channel channel, std::span<const uint8_t> message) {
          game.on_message(conn, channel, message);
        },
        "on_message must be public: void on_message(lattice::Connection, lattice_channel, "
        "std::span<const uint8_t>)");
    out.on_message = [](void* ctx, lattice_conn* conn, lattice_channel channel, const void* data,
                        size_t bytes) noexcept {
      const std::span<const uint8_t> message(static_cast<const uint8_t*>(data), bytes);
      static_cast<Game*>(ctx)->on_message(Connection(conn), channel, message);
    };
  }
  if constexpr (has_on_admit<Game>()) {
    static_assert(
        requires(Game & game, const lattice_conn_info& info) { int{game.on_admit(info)}; },
        "on_admit must be public: int on_admit(const lattice_conn_info&)");
    out.on_admit = [](void* ctx, lattice_world*, const lattice_conn_info* info) noexcept -> int {
      return static_cast<Game*>(ctx)->on_admit(*info);
    };
  }
  if constexpr (has_on_receipt<Game>()) {
    static_assert(
        requires(Game & game, Connection conn, uint32_t receipt, bool acked) {
          game.on_receipt(conn, receipt, acked);
        },
        "on_receipt must be public: void on_receipt(lattice::Connection, uint32_t receipt, bool acked)");
    out.on_receipt = [](void* ctx, lattice_conn* conn, uint32_t receipt, int acked) noexcept {
      static_cast<Game*>(ctx)->on_receipt(Connection(conn), receipt, acked != 0);
    };
  }
}

/// Sets on_relevant.
template <class Game>
void wire_interest([[maybe_unused]] lattice_callbacks& out) {
  if constexpr (has_on_relevant<Game>()) {
    static_assert(
        requires(Game & game, Connection conn, lattice_netid object) {
          bool{game.on_relevant(conn, object)};
        },
        "on_relevant must be public: bool on_relevant(lattice::Connection, lattice_netid)");
    out.on_relevant = [](void* ctx, lattice_world*, lattice_conn* conn,
                         lattice_netid object) noexcept -> int {
      return static_cast<Game*>(ctx)->on_relevant(Connection(conn), object) ? 1 : 0;
    };
  }
}

/// Sets on_value_clamped.
template <class Game>
void wire_state([[maybe_unused]] lattice_callbacks& out) {
  if constexpr (has_on_value_clamped<Game>()) {
    static_assert(
        requires(Game & game, lattice_netid object, uint16_t prop_id, uint32_t tick) {
          game.on_value_clamped(object, prop_id, tick);
        },
        "on_value_clamped must be public: void on_value_clamped(lattice_netid, uint16_t prop_id, "
        "uint32_t tick)");
    out.on_value_clamped = [](void* ctx, lattice_world*, lattice_netid object, uint16_t prop_id,
                              uint32_t tick) noexcept {
      static_cast<Game*>(ctx)->on_value_clamped(object, prop_id, tick);
    };
  }
}

/// Fills the C callbacks of a class; a callback without a member stays NULL.
template <class Game>
void fill(lattice_callbacks& callbacks) {
  lattice_callbacks_init(&callbacks);
  wire_session<Game>(callbacks);
  wire_objects<Game>(callbacks);
  wire_simulation<Game>(callbacks);
  wire_messages<Game>(callbacks);
  wire_interest<Game>(callbacks);
  wire_state<Game>(callbacks);
}

/// Sets the callbacks of `world` to the members of `game`, which is borrowed.
template <class Game>
lattice_result wire(lattice_world* world, Game& game) {
  lattice_callbacks callbacks;
  fill<Game>(callbacks);
  return lattice_set_callbacks(world, &callbacks, &game);
}

}  // namespace lattice::callbacks
/// @endcond
