// One hosted Depot session: the world, the game, the players, and the note about it in the data folder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "capture_file.h"
#include "dev_issuer.h"
#include "frame_pacer.h"
#include "game_server.h"
#include "lattice/lattice.h"
#include "tick_timer.h"

namespace app {

struct ServerConfig {
  std::string bind;
  uint32_t tick_rate_hz = 60;
  uint32_t snapshot_rate_hz = 30;
  uint32_t max_players = 64;
  uint32_t connects_per_s = 100;
  uint64_t seed = 1;
  std::string data_dir;
  std::string server_key;  // file of the identity; "": the one in data_dir, if there is one
  std::string impairment;
  std::string capture;  // file, or "" for none
};

class Server final : private depot::GameListener {
 public:
  Server() = default;
  ~Server() override;

  /// Everything up to listening. kExitOk, or an exit code after the reason has been logged.
  int start(const ServerConfig& config);
  /// recv, the ticks that are due, send.
  /// Returns how many ticks ran.
  uint32_t pump();
  /// Tells every client HostLeft and pumps until that has been said.
  void stop();

  uint64_t time_to_tick_ns() const { return lattice_world_time_to_tick_ns(world_); }
  depot::GameServer& game() { return *game_; }
  lattice_world_stats stats() const;
  TickTimer& tick_timer() { return tick_timer_; }
  StallWatch& stall_watch() { return stall_watch_; }
  const std::string& address() const { return address_; }

  /// Told of every tick, for comparing with what clients predicted, and of every message.
  class TickWatcher {
   public:
    virtual void ticked(uint32_t tick) = 0;
    virtual void message(lattice_peer_id peer, std::span<const std::byte> bytes) = 0;

   protected:
    ~TickWatcher() = default;
  };
  void watch_ticks(TickWatcher* watcher) { watcher_ = watcher; }

 private:
  void connected(lattice_conn* conn) override;
  void disconnected(lattice_conn* conn, int reason) override;
  void ticked(uint32_t tick) override;
  void message(lattice_conn* conn, std::span<const std::byte> bytes) override;
  int refuse_to_start() const;

  ServerConfig config_;
  CaptureFile capture_;
  lattice_world* world_ = nullptr;
  std::unique_ptr<depot::GameServer> game_;
  TickTimer tick_timer_;
  StallWatch stall_watch_;
  TickWatcher* watcher_ = nullptr;
  std::string address_;
  bool noted_ = false;
};

}  // namespace app
