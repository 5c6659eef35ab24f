// The players packed by FlatBuffers.
#include <cstring>

#include "player_generated.h"
#include "serialize/rival_loop.h"

namespace bench::serialize {
namespace {

void build(const Player& p, flatbuffers::FlatBufferBuilder* builder) {
  builder->Clear();
  const flat::Vec3 position(p.position.x, p.position.y, p.position.z);
  const flat::Vec3 velocity(p.velocity.x, p.velocity.y, p.velocity.z);
  const flat::Quat rotation(p.rotation.x, p.rotation.y, p.rotation.z, p.rotation.w);
  builder->Finish(flat::CreatePlayer(*builder, &position, &velocity, &rotation, p.yaw, p.pitch, p.health,
                                     p.armour, p.stamina, p.weapon, p.ammunition, p.magazines, p.team,
                                     p.score, p.deaths, static_cast<uint8_t>(p.stance), p.grounded,
                                     p.sprinting, p.firing, p.aiming, p.target.value));
}

void read(const flat::Player& m, Player* p) {
  p->position = {m.position()->x(), m.position()->y(), m.position()->z()};
  p->velocity = {m.velocity()->x(), m.velocity()->y(), m.velocity()->z()};
  p->rotation = {m.rotation()->x(), m.rotation()->y(), m.rotation()->z(), m.rotation()->w()};
  p->yaw = m.yaw(), p->pitch = m.pitch(), p->health = m.health(), p->armour = m.armour();
  p->stamina = m.stamina(), p->weapon = m.weapon(), p->ammunition = m.ammunition();
  p->magazines = m.magazines(), p->team = m.team(), p->score = m.score(), p->deaths = m.deaths();
  p->stance = static_cast<Stance>(m.stance());
  p->grounded = m.grounded(), p->sprinting = m.sprinting(), p->firing = m.firing(), p->aiming = m.aiming();
  p->target.value = m.target();
}

}  // namespace

RivalCost measure_flatbuffers(std::span<const Player> players, uint32_t rounds) {
  flatbuffers::FlatBufferBuilder builder(256);  // used again, so that nothing is allocated
  const auto pack = [&](const Player& player, uint8_t* out) {
    build(player, &builder);
    std::memcpy(out, builder.GetBufferPointer(), builder.GetSize());
    return size_t{builder.GetSize()};
  };
  const auto unpack = [](const uint8_t* bytes, size_t size, Player* player) {
    flatbuffers::Verifier verifier(bytes, size);
    if (!flat::VerifyPlayerBuffer(verifier)) return false;
    read(*flat::GetPlayer(bytes), player);
    return true;
  };
  return measure_rival(players, rounds, pack, unpack);
}

}  // namespace bench::serialize
