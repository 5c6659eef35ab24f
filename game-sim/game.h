// Depot on a Lattice world. Server, host and client run this same class, and the same object code (§18).
//
// on_tick() gathers the scene, then steps it type by type and in ascending id: the authority all objects, a
// client its own pawn. Parcels are not among them: the authority moves those on belts, and the others rest.
// GameServer does what only the authority can do: it spawns, judges RPCs, and overrides the events of the
// rules. Here the events only note disturbed pawns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lattice/lattice.hpp"
#include "rules.h"
#include "schema.h"

namespace depot {

/// The events that a program may listen to. They are called inside the pump.
class GameListener {
 public:
  virtual ~GameListener() = default;
  /// On the authority: may the bearer of this token join? 0, or a reason as for on_admit.
  virtual int admit(const lattice_conn_info&) { return 0; }
  virtual void connected(lattice_conn*) {}
  virtual void disconnected(lattice_conn*, int /*reason*/) {}
  /// On a client: fill the input command for `tick`. The command holds the values of the last one.
  virtual void sample_input(uint32_t /*tick*/, PawnInput&) {}
  /// A tick was simulated for the first time, not resimulated. The networked state is the result of the tick.
  virtual void ticked(uint32_t /*tick*/) {}
  /// A message of lattice_send() arrived.
  virtual void message(lattice_conn*, std::span<const std::byte>) {}
  /// A hit flash at `where`.
  virtual void effect(lattice_netid /*pawn*/, Vec2 /*where*/) {}
  /// This peer's own pawn picked something up.
  virtual void picked_up(ParcelKind) {}
  /// On a client: an object appeared, or disappeared for the reason given.
  virtual void appeared(lattice_netid, uint32_t /*type_id*/) {}
  virtual void disappeared(lattice_netid, lattice_despawn_reason) {}
};

class Game : protected SceneEvents {
 public:
  /// `max_actors` bounds the pawns, projectiles, doors and pickups of each kind that take part. All memory is
  /// allocated here.
  Game(lattice_world* world, uint32_t max_actors, GameListener& listener);
  Game(const Game&) = delete;
  Game& operator=(const Game&) = delete;

  /// Registers the schema and installs the callbacks. Call it right after the world is made.
  lattice_result attach();

  lattice::WorldRef world() const { return world_; }
  /// The pawn this peer owns, 0 when there is none.
  lattice_netid own_pawn() const { return own_pawn_; }
  const PawnState* pawn(lattice_netid id) const;
  /// The pawns and doors as this world knows them now. Valid until the next pump.
  Scene scene();
  /// The pawns that another pawn pushed, or a projectile hit, in the last new tick. No client can foresee
  /// either.
  std::span<const lattice_netid> disturbed_pawns() const { return disturbed_; }

  /// Asks the authority to open or shut a door, by its place in arena_doors(). The own pawn must be near the
  /// door.
  void request_door(int door_index, bool open);
  /// The first door within reach of the own pawn, or kNoDoor (-1).
  int door_in_reach();

 protected:
  ~Game() = default;

  void fired(lattice_netid, Vec2, Vec2) override {}
  void projectile_ended(lattice_netid, Vec2) override {}
  void pawn_hit(lattice_netid pawn, lattice_netid, Vec2) override { note_disturbed(pawn); }
  void picked_up(lattice_netid, ParcelKind) override {}
  void pushed(lattice_netid pawn) override { note_disturbed(pawn); }

  // GameServer overrides these.
  virtual bool is_authority() const { return false; }
  virtual void before_tick(uint32_t /*tick*/) {}
  /// The input of a pawn was read. `freshness` is the result of lattice_get_input(). May change the input.
  virtual void input_taken(lattice_netid /*pawn*/, int /*freshness*/, PawnInput&) {}
  virtual void peer_connected(lattice_conn*) {}
  virtual void peer_disconnected(lattice_conn*) {}
  virtual void door_use_requested(lattice_netid /*door*/, bool /*open*/) {}

  void note_disturbed(lattice_netid pawn);
  /// Call when objects appear or go, now or at the end of this phase: the gathered scene must not be used
  /// again.
  void objects_changed() { gathered_ = false; }
  uint32_t current_tick() const { return tick_; }
  GameListener& listener() { return listener_; }
  std::span<const Actor<PawnState>> pawns() const { return pawns_; }
  std::span<const Actor<DoorState>> doors() const { return doors_; }
  std::span<const Actor<ProjectileState>> projectiles() const { return projectiles_; }

 private:
  void gather();
  template <class State>
  void gather_type(uint32_t type_id, std::vector<Actor<State>>& out);
  void on_tick(const lattice_tick_context& tick);
  void step_all(TickTime time);
  void step_predicted(TickTime time);
  void step_pawn_of(const Actor<PawnState>& pawn, TickTime time);
  void step_pickup_of(const Actor<PickupState>& pickup, TickTime time);
  void on_spawn(lattice_netid id, uint32_t type_id);
  void on_despawn(lattice_netid id);
  void on_rpc(const lattice::Call& call);
  lattice_result install_callbacks();

  lattice::WorldRef world_;
  GameListener& listener_;
  lattice_netid own_pawn_ = 0;
  uint32_t tick_ = 0;
  bool resimulating_ = false;
  bool gathered_ = false;
  std::vector<lattice_netid> ids_;
  std::vector<lattice_netid> simulated_;
  std::vector<Actor<PawnState>> pawns_;
  std::vector<Actor<ProjectileState>> projectiles_;
  std::vector<Actor<DoorState>> doors_;
  std::vector<Actor<PickupState>> pickups_;
  std::vector<lattice_netid> disturbed_;
};

/// A client's game: it adds nothing to Game.
class GameClient final : public Game {
 public:
  using Game::Game;
};

}  // namespace depot
