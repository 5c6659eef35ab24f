// One hosted Depot session: the world, the game, the players, and the server's note in the data folder.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture_file.h"
#include "data_folder.h"
#include "dev_issuer.h"
#include "frame_pacer.h"
#include "game_server.h"
#include "lattice/lattice.h"
#include "rate_meter.h"
#include "tick_timer.h"

namespace app {

using PlayerId = std::array<uint8_t, 16>;

/// Who may join. Can change while the server runs.
struct Admission {
  std::shared_ptr<const std::vector<PlayerId>> players;  // these only, sorted; null: everybody with a token
  std::vector<Key> issuers;  // whose tokens count; empty: the development issuer's
};

struct ServerConfig {
  std::string bind;
  uint32_t tick_rate_hz = 60;
  uint32_t snapshot_rate_hz = 30;
  uint32_t max_players = 64;
  uint32_t connects_per_s = 100;
  uint32_t parcels = depot::kHallParcels;
  uint32_t client_bytes_per_s = 64'000;  // 0: no ceiling
  uint64_t seed = 1;
  std::string data_dir;
  std::string server_key;  // the file with the identity; "": the file in data_dir, if there is one
  std::string impairment;
  Admission admission;
  std::string capture;  // a file, or "" for no capture
};

/// A name that does not repeat over restarts, as peer ids do.
std::string connection_name(const lattice_conn_info& info);

class Server final : private depot::GameListener {
 public:
  Server() = default;
  ~Server() override;

  /// Makes the world and binds its port. Returns kExitOk; or logs the reason and returns another exit code.
  int start(const ServerConfig& config);
  /// Leaves the note for clients of this machine, and logs where the server is. Returns "", or a text that
  /// says what is wrong and what to do.
  std::string tell_where(const std::string& admin_address);
  /// From now on these players may join, and who plays and may not is sent away. Tokens of other issuers let
  /// nobody in any more; who came with one plays on. Returns "", or what is wrong; all stays then.
  std::string admit_by(const Admission& admission);
  /// Closed: nobody is let in.
  void set_closed(bool is_closed) { is_closed_ = is_closed; }
  /// Receives, runs the ticks that are due, and sends. Returns how many ticks ran.
  uint32_t pump();
  /// Ends every connection with the reason HostLeft, and pumps until the clients were told. Returns the exit
  /// code of the program: kExitFailed when a disk did not take all of a capture or the log.
  int stop();

  uint64_t time_to_tick_ns() const { return lattice_world_time_to_tick_ns(world_); }
  depot::GameServer& game() { return *game_; }
  lattice_world_stats stats() const;
  TickTimer& tick_timer() { return tick_timer_; }
  StallWatch& stall_watch() { return stall_watch_; }
  const std::string& address() const { return address_; }
  const ServerConfig& config() const { return config_; }
  /// How many players ever joined.
  uint64_t joins() const { return joins_; }
  /// How many connections ended for which reason.
  const std::map<std::string, uint64_t>& disconnects() const { return disconnects_; }
  uint64_t schema_id() const { return lattice_world_schema_id(world_); }
  /// How long each tick of the last pump that ran some took.
  double last_tick_s() const { return last_tick_s_; }
  uint64_t capture_lost() const { return capture_.lost(); }
  /// Logs a line about each connection.
  void log_connections();
  /// Bytes per second that the server sent to single clients.
  RateMeter& rates() { return rates_; }

  /// Hears of every tick, so that the tick can be compared with the clients' predictions, and of every
  /// message.
  class TickWatcher {
   public:
    virtual void ticked(uint32_t tick) = 0;
    virtual void message(lattice_peer_id peer, std::span<const std::byte> bytes) = 0;

   protected:
    ~TickWatcher() = default;
  };
  void watch_ticks(TickWatcher* watcher) { watcher_ = watcher; }

 private:
  bool is_admitted(const lattice_conn_info& info) const;
  void end_earlier(const lattice_conn_info& info);
  void send_away(const char* text, const std::function<bool(const lattice_conn_info&)>& is_meant);
  int admit(const lattice_conn_info& info) override;
  void connected(lattice_conn* conn) override;
  void disconnected(lattice_conn* conn, int reason) override;
  void ticked(uint32_t tick) override;
  void message(lattice_conn* conn, std::span<const std::byte> bytes) override;
  void read_rates(uint64_t now_ns);
  int refuse_to_start() const;
  std::vector<uint8_t> issuer_bytes(const Admission& admission) const;

  ServerConfig config_;
  DataFolder folder_;
  CaptureFile capture_;
  lattice_world* world_ = nullptr;
  std::unique_ptr<depot::GameServer> game_;
  TickTimer tick_timer_;
  uint64_t joins_ = 0;
  std::map<std::string, uint64_t> disconnects_;
  double last_tick_s_ = 0;
  bool is_closed_ = false;
  Key own_issuer_{};  // of the development issuer
  RateMeter rates_;
  uint64_t rates_read_ns_ = 0;
  StallWatch stall_watch_;
  TickWatcher* watcher_ = nullptr;
  std::string address_;
  bool noted_ = false;
};

}  // namespace app
