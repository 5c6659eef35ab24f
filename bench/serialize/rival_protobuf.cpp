// The players packed by protobuf.
#include "player.pb.h"
#include "serialize/rival_loop.h"

namespace bench::serialize {
namespace {

void fill(const Player& p, proto::Player* m) {
  m->set_position_x(p.position.x), m->set_position_y(p.position.y), m->set_position_z(p.position.z);
  m->set_velocity_x(p.velocity.x), m->set_velocity_y(p.velocity.y), m->set_velocity_z(p.velocity.z);
  m->set_rotation_x(p.rotation.x), m->set_rotation_y(p.rotation.y);
  m->set_rotation_z(p.rotation.z), m->set_rotation_w(p.rotation.w);
  m->set_yaw(p.yaw), m->set_pitch(p.pitch);
  m->set_health(p.health), m->set_armour(p.armour), m->set_stamina(p.stamina);
  m->set_weapon(p.weapon), m->set_ammunition(p.ammunition), m->set_magazines(p.magazines);
  m->set_team(p.team), m->set_score(p.score), m->set_deaths(p.deaths);
  m->set_stance(static_cast<uint32_t>(p.stance));
  m->set_grounded(p.grounded), m->set_sprinting(p.sprinting);
  m->set_firing(p.firing), m->set_aiming(p.aiming);
  m->set_target(p.target.value);
}

void read(const proto::Player& m, Player* p) {
  p->position = {m.position_x(), m.position_y(), m.position_z()};
  p->velocity = {m.velocity_x(), m.velocity_y(), m.velocity_z()};
  p->rotation = {m.rotation_x(), m.rotation_y(), m.rotation_z(), m.rotation_w()};
  p->yaw = m.yaw(), p->pitch = m.pitch();
  p->health = static_cast<uint16_t>(m.health()), p->armour = static_cast<uint16_t>(m.armour());
  p->stamina = m.stamina();
  p->weapon = static_cast<uint8_t>(m.weapon()), p->ammunition = static_cast<uint16_t>(m.ammunition());
  p->magazines = static_cast<uint8_t>(m.magazines()), p->team = static_cast<uint8_t>(m.team());
  p->score = m.score(), p->deaths = static_cast<uint16_t>(m.deaths());
  p->stance = static_cast<Stance>(m.stance());
  p->grounded = m.grounded(), p->sprinting = m.sprinting();
  p->firing = m.firing(), p->aiming = m.aiming();
  p->target.value = m.target();
}

}  // namespace

RivalCost measure_protobuf(std::span<const Player> players, uint32_t rounds) {
  proto::Player message;  // used again, so that nothing is allocated
  const auto pack = [&](const Player& player, uint8_t* out) {
    fill(player, &message);
    const size_t size = message.ByteSizeLong();
    message.SerializeWithCachedSizesToArray(out);
    return size;
  };
  const auto unpack = [&](const uint8_t* bytes, size_t size, Player* player) {
    if (!message.ParseFromArray(bytes, static_cast<int>(size))) return false;
    read(message, player);
    return true;
  };
  return measure_rival(players, rounds, pack, unpack);
}

}  // namespace bench::serialize
