#include "bot.h"

#include "arena.h"

namespace depot {
namespace {

constexpr float kArrivedWithin = 0.7f;
constexpr float kAvoidWithin = 1.6f;
constexpr float kShootWithin = 10.0f;
constexpr uint32_t kAskDoorEveryTicks = 45;
constexpr uint32_t kStuckAfterTicks = 150;

bool tick_reached(uint32_t tick, uint32_t now) {
  return static_cast<int32_t>(now - tick) >= 0;
}

const DoorState* find_door(const Scene& scene, int index) {
  for (const Actor<DoorState>& door : scene.doors) {
    if (door.state->index == index) return door.state;
  }
  return nullptr;
}

}  // namespace

Bot::Bot(uint64_t seed, BotHabit habit) : random_state_(seed), habit_(habit) {}

uint32_t Bot::next_below(uint32_t bound) {
  // splitmix64.
  uint64_t z = (random_state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<uint32_t>((z ^ (z >> 31)) % bound);
}

void Bot::choose_target(const PawnState& own) {
  const auto any_of = [&](std::span<const Vec2> points) {
    return static_cast<size_t>(next_below(static_cast<uint32_t>(points.size())));
  };
  if (habit_ == BotHabit::kWanderer) {
    target_ = any_of(waypoints());
    return;
  }
  if (own.carried != ParcelKind::kNone) {
    // Walk to the nearer bay.
    Vec2 bay = centre(arena_bays()[0]);
    for (const Box& other : arena_bays()) {
      if (length_squared(centre(other) - own.position) < length_squared(bay - own.position))
        bay = centre(other);
    }
    target_ = waypoint_near(bay);
    return;
  }
  target_ =
      next_below(3) != 0 ? waypoint_near(arena_pickups()[any_of(arena_pickups())]) : any_of(dock_waypoints());
}

void Bot::notice_being_stuck(const BotView& view) {
  const Vec2 position = view.own->position;
  if (length_squared(position - last_position_) > 0.5f * 0.5f) {
    last_position_ = position;
    last_moved_tick_ = view.tick;
  } else if (view.tick - last_moved_tick_ > kStuckAfterTicks) {
    last_moved_tick_ = view.tick;
    has_way_ = false;
  }
}

Vec2 Bot::avoid_others(const BotView& view, Vec2 move) const {
  for (const Actor<PawnState>& other : view.scene.pawns) {
    if (other.id == view.own_id) continue;
    const Vec2 to_other = other.state->position - view.own->position;
    if (length_squared(to_other) > kAvoidWithin * kAvoidWithin || dot(to_other, move) <= 0.0f) continue;
    // Pass a pawn ahead on its right.
    const Vec2 right = {move.y, -move.x};
    return direction_or(move * 0.4f + right, move);
  }
  return move;
}

void Bot::shoot(const BotView& view, BotDecision& decision) {
  if (!chance_once_in(150)) return;
  for (const Actor<PawnState>& other : view.scene.pawns) {
    if (other.id == view.own_id) continue;
    const Vec2 to_other = other.state->position - view.own->position;
    if (length_squared(to_other) > kShootWithin * kShootWithin) continue;
    decision.input.aim = direction_or(to_other, {1, 0});
    decision.input.fire = true;
    return;
  }
}

BotDecision Bot::decide(const BotView& view) {
  BotDecision decision;
  if (view.own == nullptr) return decision;
  notice_being_stuck(view);
  shoot(view, decision);
  if (!tick_reached(rest_until_tick_, view.tick)) return decision;

  if (!has_way_) {
    at_ = next_ = waypoint_near(view.own->position);
    choose_target(*view.own);
    has_way_ = true;
  }
  if (length_squared(waypoints()[next_] - view.own->position) < kArrivedWithin * kArrivedWithin) {
    at_ = next_;
    if (at_ == target_) {
      choose_target(*view.own);
      if (next_below(4) == 0) rest_until_tick_ = view.tick + 20 + next_below(60);
    }
    next_ = next_waypoint(at_, target_);
  }

  const int door_index = door_between(at_, next_);
  if (door_index != kNoDoor) {
    const DoorState* door = find_door(view.scene, door_index);
    // Go only while the door stays open long enough to get through.
    const bool passable =
        door != nullptr && door_is_open(*door, view.tick + 1) && door_is_open(*door, view.tick + 50);
    const Box& box = arena_doors()[static_cast<size_t>(door_index)];
    const bool inside = distance(box, view.own->position) < kPawnRadius;
    if (!passable && !inside) {
      if (view.tick - asked_door_tick_ > kAskDoorEveryTicks) {
        asked_door_tick_ = view.tick;
        decision.use_door = door_index;
      }
      return decision;
    }
  }

  const Vec2 way = waypoints()[next_] - view.own->position;
  const Vec2 move = avoid_others(view, direction_or(way, {0, 0}));
  decision.input.move = move;
  decision.input.dash = length_squared(way) > 6.0f * 6.0f && chance_once_in(90);
  return decision;
}

}  // namespace depot
