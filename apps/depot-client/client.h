// One player's world. It connects, samples input from a pad or a bot, and predicts. It keeps its predictions,
// so that they can be compared with the server's states.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bot.h"
#include "game.h"
#include "press_trace.h"
#include "token_source.h"

namespace app {

struct ClientConfig {
  std::string server;  // "host:port"
  TokenSource tokens;
  uint32_t tick_rate_hz = 60;
  uint64_t seed = 1;  // of the bot, and of all random numbers except keys
  bool is_bot = false;
  depot::BotHabit bot_habit = depot::BotHabit::kCarrier;
};

/// How many objects came and went since the start.
struct Sights {
  uint64_t entered = 0;
  uint64_t left = 0;       // they live on, out of this client's sight
  uint64_t destroyed = 0;  // gone from the game
};

/// The controls that a player holds down.
struct Pad {
  float x = 0, y = 0;
  bool dash = false, fire = false, use = false;
};

struct Toggles {
  bool prediction = true, smoothing = true, interpolation = true;
};

class Client final : private depot::GameListener {
 public:
  enum class State { kIdle, kConnecting, kConnected, kEnded };

  Client() = default;
  ~Client() override;

  /// Makes the world. Returns kExitOk; or logs the reason and returns another exit code.
  int start(const ClientConfig& config);
  /// Obtains a token and starts to connect. Returns as start() does.
  int connect();
  /// Returns how many ticks ran.
  uint32_t pump();
  uint64_t time_to_tick_ns() const { return lattice_world_time_to_tick_ns(world_); }
  /// Starts to end the connection. Call pump() afterwards while is_leaving().
  void leave();
  /// The server has not answered the end of a connection yet. For a second at most.
  bool is_leaving() const { return world_ != nullptr && stats().connections_leaving != 0; }

  State state() const { return state_; }
  /// The exit code for the reason why the connection ended.
  int exit_code() const;
  int end_reason() const { return end_reason_; }
  /// The time from the first datagram to Connected; 0 before.
  double connect_ms() const { return connect_ms_; }

  void set_pad(const Pad& pad);
  /// The next input command holds a key that went down at `pressed_ms` (Unix time).
  void key_pressed(uint32_t press_id, double pressed_ms) { presses_.pressed(press_id, pressed_ms); }
  /// With true the bot plays, with false the pad.
  void set_bot(bool plays) { bot_plays_ = plays; }
  void set_toggles(const Toggles& toggles);
  /// Sets the impairment of one direction. Returns false when a value is refused.
  bool impair(lattice_direction direction, const lattice_impairment& impairment);
  /// Sets both directions by the name of a preset; "none" is a perfect link. Returns false when there is no
  /// such preset.
  bool impair_by_preset(const std::string& name);

  depot::GameClient& game() { return *game_; }
  lattice_world* world() const { return world_; }
  const Toggles& toggles() const { return toggles_; }
  const lattice_impairment& impairment(lattice_direction direction) const { return impairments_[direction]; }
  /// The preset in force; "" when a single value was set after it.
  const std::string& preset() const { return preset_; }
  /// The server tick at which other players' objects are drawn now.
  double drawn_tick() const;
  PressTrace& presses() { return presses_; }
  lattice_world_stats stats() const;
  lattice_conn_stats connection_stats() const;
  lattice_peer_id peer() const { return lattice_local_peer(world_); }

  /// Where the client predicted its own pawn at a tick, when it first simulated that tick.
  struct Prediction {
    uint32_t tick;
    depot::Vec2 position;
    bool disturbed;  // pushed by another pawn, as far as this client saw
  };
  /// Keeps predictions for take_predictions(); off for the clients of a load test.
  void keep_predictions(bool keep) { keep_predictions_ = keep; }
  std::vector<Prediction>& predictions() { return predictions_; }
  const Sights& sights() const { return sights_; }

 private:
  void connected(lattice_conn* conn) override;
  void disconnected(lattice_conn* conn, int reason) override;
  void sample_input(uint32_t tick, depot::PawnInput& input) override;
  void ticked(uint32_t tick) override;
  void appeared(lattice_netid object, uint32_t type_id) override;
  void disappeared(lattice_netid object, lattice_despawn_reason reason) override;
  int refuse(const char* doing) const;
  void use_door_in_reach();

  ClientConfig config_;
  lattice_world* world_ = nullptr;
  lattice_conn* conn_ = nullptr;
  std::unique_ptr<depot::GameClient> game_;
  std::unique_ptr<depot::Bot> bot_;
  State state_ = State::kIdle;
  int end_reason_ = 0;
  uint64_t started_ns_ = 0;
  double connect_ms_ = 0;
  bool was_connected_ = false;
  bool bot_plays_ = false;
  Pad pad_;
  bool use_pressed_ = false;
  Toggles toggles_;
  lattice_impairment impairments_[2] = {};
  std::string preset_ = "none";
  PressTrace presses_;
  Sights sights_;
  bool keep_predictions_ = false;
  std::vector<Prediction> predictions_;
};

}  // namespace app
