// A player that plays by itself. It walks from waypoint to waypoint, opens the doors on its way, dashes on
// long legs, and fires at pawns that come close. A carrier brings parcels to a bay of the dock; a wanderer
// roams the whole hall. Its decisions follow from the seed and from the views it is given, so a run can be
// repeated. Bots are clients: nothing here is networked state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rules.h"
#include "state.h"
#include "waypoints.h"

namespace depot {

/// What a bot sees: its own pawn and the scene as its client knows it.
struct BotView {
  uint32_t tick = 0;
  lattice_netid own_id = 0;
  const PawnState* own = nullptr;
  Scene scene;
};

struct BotDecision {
  PawnInput input;
  int use_door = kNoDoor;  // the door to ask to open (an arena index)
};

enum class BotHabit : uint8_t { kCarrier, kWanderer };

class Bot {
 public:
  explicit Bot(uint64_t seed, BotHabit habit = BotHabit::kCarrier);

  /// Decides for one tick. Call it once per tick, in order of ticks. It allocates nothing.
  BotDecision decide(const BotView& view);

 private:
  uint32_t next_below(uint32_t bound);
  bool chance_once_in(uint32_t ticks) { return next_below(ticks) == 0; }
  void choose_target(const PawnState& own);
  void notice_being_stuck(const BotView& view);
  Vec2 avoid_others(const BotView& view, Vec2 move) const;
  void shoot(const BotView& view, BotDecision& decision);

  uint64_t random_state_;
  BotHabit habit_;
  bool has_way_ = false;
  size_t at_ = 0;      // the waypoint that the bot comes from or stands at
  size_t next_ = 0;    // the waypoint that the bot walks to
  size_t target_ = 0;  // the waypoint at the end of the way
  Vec2 last_position_;
  uint32_t last_moved_tick_ = 0;
  uint32_t asked_door_tick_ = 0;
  uint32_t rest_until_tick_ = 0;
};

}  // namespace depot
