// A whole Depot session in one process and in virtual time: a server world, client worlds with bots, a seeded
// network between them. Everything follows from the seed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bot.h"
#include "game_server.h"
#include "lattice/lattice.h"

namespace depot::test {

struct Spot {
  Vec2 position;
  bool disturbed = false;
};

struct SessionConfig {
  uint64_t seed = 1;
  size_t clients = 4;
  uint32_t snapshot_rate_hz = 30;
  uint32_t parcels = 0;
  double interest_radius = 0;       // 0: everybody sees everything
  bool record = true;               // keep predictions and truth; off where allocations are counted
  lattice_impairment impairment{};  // of every link; filled by perfect() or a preset
};

lattice_impairment perfect_link();
lattice_impairment preset_link(const char* name);

class Session {
 public:
  struct Client : GameListener {
    void connected(lattice_conn*) override { is_connected = true; }
    void disconnected(lattice_conn*, int reason) override { end_reason = reason; }
    void sample_input(uint32_t tick, PawnInput& input) override;
    void ticked(uint32_t tick) override;
    void effect(lattice_netid, Vec2) override { ++effects; }
    void picked_up(ParcelKind) override { ++parcels; }

    ~Client() override;
    const PawnState* own() const { return game->pawn(game->own_pawn()); }
    lattice_world_stats stats() const;

    lattice_world* world = nullptr;
    lattice_conn* conn = nullptr;
    std::unique_ptr<GameClient> game;
    std::unique_ptr<Bot> bot;
    PawnInput pad;  // used while `bot` is null
    bool is_connected = false;
    int end_reason = 0;
    uint32_t effects = 0, parcels = 0;
    bool record = true;
    std::map<uint32_t, Spot> predicted;  // by tick, as first simulated
  };

  explicit Session(const SessionConfig& config);
  ~Session();

  /// Moves virtual time on, pumping every world each millisecond.
  void run_ms(uint32_t ms);
  bool everyone_is_in() const;
  uint32_t server_tick() const;

  std::vector<std::unique_ptr<Client>> clients;
  GameServer& server() { return *server_game_; }
  lattice_netsim* network() { return network_; }
  /// Where the server had a pawn at each tick.
  const std::map<uint32_t, Spot>& truth(lattice_netid pawn) { return truth_[pawn]; }

 private:
  struct ServerListener : GameListener {
    explicit ServerListener(Session& s) : session(s) {}
    void ticked(uint32_t tick) override;
    Session& session;
  };

  void start_server(const SessionConfig& config);
  void add_client(const SessionConfig& config, size_t index);

  bool record_;
  lattice_netsim* network_ = nullptr;
  lattice_world* server_world_ = nullptr;
  ServerListener listener_{*this};
  std::unique_ptr<GameServer> server_game_;
  std::array<uint8_t, LATTICE_KEY_BYTES> issuer_seed_{};
  std::map<lattice_netid, std::map<uint32_t, Spot>> truth_;
};

/// How far predictions were from the truth, over ticks in [from, to).
struct ErrorReport {
  uint32_t compared = 0, judged = 0, beyond_step = 0;
  double mean_mm = 0, max_mm = 0;
  double beyond_percent() const { return judged == 0 ? 100.0 : 100.0 * beyond_step / judged; }
};
/// A tick within `settle` ticks after a disturbance on either side is compared but not judged.
ErrorReport compare(const std::map<uint32_t, Spot>& predicted, const std::map<uint32_t, Spot>& truth,
                    uint32_t from, uint32_t to, uint32_t settle);

}  // namespace depot::test
