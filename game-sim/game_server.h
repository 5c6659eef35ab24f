// The part of Depot that only the authority runs. It furnishes the warehouse, gives each player a pawn and
// takes it away again, turns shots into projectiles, and judges who may use a door.
//
// It also says who sees what (interest.h of Lattice). Objects are seen from near. What is in a vault whose
// door is shut is in a room of its own: nobody outside gets it, and who is inside gets nothing of the hall.
// When the door opens, the vault is a part of the hall. Doors, and the pawns of people, are seen from
// everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "game.h"
#include "parcels.h"

namespace depot {

/// A token whose user data starts with this byte belongs to a bot. The page draws a bot's pawn as one.
inline constexpr uint8_t kBotMark = 'b';

/// How the authority furnishes the warehouse.
struct Furnishing {
  uint32_t parcels = kHallParcels;
  bool has_interest = true;  // the world was made with an interest_kind
};

/// One player, and how often its input had arrived when the tick of the input ran.
struct Player {
  lattice_peer_id peer = 0;
  lattice_netid pawn = 0;
  bool is_bot = false;
  uint64_t inputs_fresh = 0;
  uint64_t inputs_repeated = 0;
  uint64_t inputs_missing = 0;
  bool is_shoved = false;      // the next tick knocks its pawn aside
  uint32_t refused_steps = 0;  // so many ticks of walking are still to be refused
  uint32_t room = 0;           // of its pawn, and from which it sees: 0, or its vault + 1
  // The door it asked for since the last tick; 0: none. Each player has its own, so that no number of
  // requests of one costs another its turn.
  lattice_netid asked_door = 0;
  bool asked_open = false;
};

class GameServer final : public Game {
 public:
  GameServer(lattice_world* world, uint32_t max_actors, uint32_t max_players, GameListener& listener,
             const Furnishing& furnishing);

  /// Players in the order they joined.
  std::span<const Player> players() const { return players_; }
  const Parcels& parcels() const { return parcels_; }
  /// Both make the player's client mispredict, to show what happens then. shove(): the next tick knocks the
  /// pawn aside as a projectile would. refuse_next_steps(): in the next ticks in which the player wants to
  /// walk, the pawn stands still. Return false when there is no such player with a pawn.
  bool shove(lattice_peer_id peer);
  bool refuse_next_steps(lattice_peer_id peer);
  /// The number of refused door requests: the caller was too far away.
  uint64_t doors_refused() const { return doors_refused_; }

 private:
  bool is_authority() const override { return true; }
  void before_tick(uint32_t tick) override;
  void input_taken(lattice_netid pawn, int freshness, PawnInput& input) override;
  void peer_connected(lattice_conn* conn) override;
  void peer_disconnected(lattice_conn* conn) override;
  void door_use_requested(lattice_netid door, bool open) override;

  void fired(lattice_netid pawn, Vec2 position, Vec2 velocity) override;
  void projectile_ended(lattice_netid projectile, Vec2 position) override;
  void pawn_hit(lattice_netid pawn, lattice_netid shooter, Vec2 position) override;
  void picked_up(lattice_netid pawn, ParcelKind kind) override;

  void furnish(uint32_t tick);
  void take_door_requests(uint32_t tick);
  void see_doors(uint32_t tick);
  void place_in_rooms();
  uint32_t room_at(Vec2 position) const;
  void set_room(lattice_netid object, uint32_t room, lattice_relevance relevance);
  void spawn_pawn(Player& player);
  void knock_aside(Player& player, uint32_t tick);
  Player* player_of(lattice_peer_id peer);

  std::vector<Player> players_;
  Furnishing furnishing_;
  Parcels parcels_;
  bool vault_open_[kVaultCount] = {};
  uint64_t doors_refused_ = 0;
  uint32_t next_spawn_point_ = 0;
  bool furnished_ = false;
};

}  // namespace depot
