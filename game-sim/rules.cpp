#include "rules.h"

#include "arena.h"
#include "vec2.h"

namespace depot {
namespace {

/// True when fewer than `ticks` ticks have passed since tick `since`. Ticks wrap. False when `since` is 0:
/// never.
bool within(uint32_t since, uint32_t ticks, uint32_t now) {
  return since != 0 && now - since < ticks;
}

struct Push {
  Vec2 offset;
  Vec2 normal;
};

/// Finds how far, and in which direction, a circle must move to leave `box`. False when they do not touch.
bool push_out_of(const Box& box, Vec2 point, float radius, Push& push) {
  const Vec2 nearest = {point.x < box.x0 ? box.x0 : (point.x > box.x1 ? box.x1 : point.x),
                        point.y < box.y0 ? box.y0 : (point.y > box.y1 ? box.y1 : point.y)};
  const Vec2 away = point - nearest;
  const float gap_squared = length_squared(away);
  if (gap_squared >= radius * radius) return false;
  if (gap_squared > 0.0f) {
    const float gap = std::sqrt(gap_squared);
    push.normal = {away.x / gap, away.y / gap};
    push.offset = push.normal * (radius - gap);
    return true;
  }
  // The centre is inside, as when a door shuts on a pawn: leave by the nearest side.
  const float left = point.x - box.x0, right = box.x1 - point.x;
  const float down = point.y - box.y0, up = box.y1 - point.y;
  const float across = left < right ? left : right;
  const float along = down < up ? down : up;
  if (across <= along) {
    push.normal = left < right ? Vec2{-1, 0} : Vec2{1, 0};
  } else {
    push.normal = down < up ? Vec2{0, -1} : Vec2{0, 1};
  }
  push.offset = push.normal * ((across <= along ? across : along) + radius);
  return true;
}

void resolve_box(const Box& box, PawnState& pawn) {
  Push push;
  if (!push_out_of(box, pawn.position, kPawnRadius, push)) return;
  pawn.position = pawn.position + push.offset;
  // Slide: keep the part of the velocity that runs along the wall.
  const float into = dot(pawn.velocity, push.normal);
  if (into < 0.0f) pawn.velocity = pawn.velocity - push.normal * into;
}

void resolve_boxes(const Scene& scene, PawnState& pawn, uint32_t tick) {
  // Twice, so that a corner between two walls settles within the tick.
  for (int pass = 0; pass < 2; ++pass) {
    for (const Box& wall : walls_near(pawn.position)) resolve_box(wall, pawn);
    for (const Actor<DoorState>& door : scene.doors) {
      if (door_is_open(*door.state, tick)) continue;
      resolve_box(arena_doors()[static_cast<size_t>(door.state->index)], pawn);
    }
  }
}

/// Moves the pawn away from each pawn it overlaps, by half the overlap. The other moves the other half in its
/// own step. True when the pawn touched another.
bool resolve_pawns(const Scene& scene, const Actor<PawnState>& pawn) {
  bool touched = false;
  for (const Actor<PawnState>& other : scene.pawns) {
    if (other.id == pawn.id) continue;
    const Vec2 apart = pawn.state->position - other.state->position;
    const float reach = 2.0f * kPawnRadius;
    if (length_squared(apart) >= reach * reach) continue;
    const Vec2 fallback = pawn.id < other.id ? Vec2{-1, 0} : Vec2{1, 0};
    const float overlap = reach - length(apart);
    pawn.state->position = pawn.state->position + direction_or(apart, fallback) * (overlap * 0.5f);
    touched = true;
  }
  return touched;
}

void steer(PawnState& pawn, const PawnInput& input, TickTime time) {
  const bool stunned = pawn_is_stunned(pawn, time.tick);
  const Vec2 move = stunned ? Vec2{0, 0} : limited(input.move, 1.0f);
  pawn.facing = direction_or(input.aim, direction_or(move, pawn.facing));
  if (input.dash && !stunned && pawn_can_dash(pawn, time.tick)) {
    pawn.dash_tick = time.tick;
    pawn.velocity = direction_or(move, direction_or(pawn.facing, {1, 0})) * kDashSpeed;
  }
  if (pawn_is_dashing(pawn, time.tick)) return;
  const Vec2 wanted = move * kWalkSpeed + belt_velocity(pawn.position);
  pawn.velocity = pawn.velocity + limited(wanted - pawn.velocity, kWalkAcceleration * time.dt_s);
}

void fire(const Actor<PawnState>& pawn, const PawnInput& input, TickTime time, SceneEvents& events) {
  PawnState& state = *pawn.state;
  if (!input.fire || pawn_is_stunned(state, time.tick)) return;
  if (within(state.fire_tick, kFireCooldownTicks, time.tick)) return;
  state.fire_tick = time.tick;
  const Vec2 aim = direction_or(state.facing, {1, 0});
  events.fired(pawn.id, state.position + aim * (kPawnRadius + kProjectileRadius), aim * kProjectileSpeed);
}

void deliver(PawnState& pawn) {
  if (pawn.carried == ParcelKind::kNone) return;
  for (const Box& bay : arena_bays()) {
    if (!contains(bay, pawn.position)) continue;
    pawn.carried = ParcelKind::kNone;
    if (pawn.score < kMaxScore) ++pawn.score;
  }
}

bool blocked(const Scene& scene, Vec2 point, uint32_t tick) {
  Push ignored;
  for (const Box& wall : walls_near(point)) {
    if (push_out_of(wall, point, kProjectileRadius, ignored)) return true;
  }
  for (const Actor<DoorState>& door : scene.doors) {
    if (door_is_open(*door.state, tick)) continue;
    if (push_out_of(arena_doors()[static_cast<size_t>(door.state->index)], point, kProjectileRadius,
                    ignored)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool door_is_open(const DoorState& door, uint32_t tick) {
  return tick - door.open_from_tick < door.open_until_tick - door.open_from_tick;
}

void use_door(DoorState& door, bool want_open, uint32_t tick) {
  const uint32_t effective = tick + kDoorNoticeTicks;
  const bool will_be_open = door_is_open(door, effective);
  if (want_open) {
    if (!will_be_open) door.open_from_tick = effective;
    door.open_until_tick = effective + kDoorOpenTicks;
  } else if (will_be_open) {
    door.open_until_tick = effective;
  }
}

bool pawn_is_stunned(const PawnState& pawn, uint32_t tick) {
  return within(pawn.hit_tick, kStunTicks, tick);
}
bool pawn_is_dashing(const PawnState& pawn, uint32_t tick) {
  return within(pawn.dash_tick, kDashTicks, tick) && !within(pawn.hit_tick, kDashTicks, tick);
}
bool pawn_can_dash(const PawnState& pawn, uint32_t tick) {
  return !within(pawn.dash_tick, kDashCooldownTicks, tick);
}

void step_pawn(const Scene& scene, const Actor<PawnState>& pawn, const PawnInput& input, TickTime time,
               SceneEvents& events) {
  PawnState& state = *pawn.state;
  steer(state, input, time);
  state.position = state.position + state.velocity * time.dt_s;
  resolve_boxes(scene, state, time.tick);
  if (resolve_pawns(scene, pawn)) {
    resolve_boxes(scene, state, time.tick);
    events.pushed(pawn.id);
  }
  fire(pawn, input, time, events);
  deliver(state);
}

void step_projectile(const Scene& scene, const Actor<ProjectileState>& projectile, TickTime time,
                     SceneEvents& events) {
  ProjectileState& state = *projectile.state;
  state.position = state.position + state.velocity * time.dt_s;
  if (time.tick - state.fired_tick >= kProjectileLifeTicks || blocked(scene, state.position, time.tick)) {
    events.projectile_ended(projectile.id, state.position);
    return;
  }
  for (const Actor<PawnState>& pawn : scene.pawns) {
    if (pawn.id == state.shooter) continue;
    const float reach = kPawnRadius + kProjectileRadius;
    if (length_squared(pawn.state->position - state.position) >= reach * reach) continue;
    pawn.state->velocity = direction_or(state.velocity, {1, 0}) * kKnockbackSpeed;
    pawn.state->hit_tick = time.tick;
    pawn.state->carried = ParcelKind::kNone;
    events.pawn_hit(pawn.id, state.shooter, state.position);
    events.projectile_ended(projectile.id, state.position);
    return;
  }
}

void step_pickup(const Scene& scene, const Actor<PickupState>& pickup, TickTime time, SceneEvents& events) {
  PickupState& state = *pickup.state;
  if (state.taken) {
    if (time.tick - state.taken_tick >= kPickupRespawnTicks) state.taken = false;
    return;
  }
  for (const Actor<PawnState>& pawn : scene.pawns) {
    if (pawn.state->carried != ParcelKind::kNone || pawn_is_stunned(*pawn.state, time.tick)) continue;
    const float reach = kPawnRadius + kPickupRadius;
    if (length_squared(pawn.state->position - state.position) >= reach * reach) continue;
    pawn.state->carried = state.kind;
    state.taken = true;
    state.taken_tick = time.tick;
    events.picked_up(pawn.id, state.kind);
    return;
  }
}

}  // namespace depot
