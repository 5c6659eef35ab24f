#include "serialize/player.h"

#include <cmath>

#include "base/random.h"

namespace bench::serialize {
namespace {

/// A number in [low, high).
float between(lattice::base::Random& random, float low, float high) {
  return low + (high - low) * static_cast<float>(random.next_u64() >> 40) * 0x1.0p-24f;
}
/// A whole number in 1..most.
template <class Number>
Number up_to(lattice::base::Random& random, uint32_t most) {
  return static_cast<Number>(1 + random.next_u64() % most);
}

}  // namespace

std::vector<Player> some_players(size_t count) {
  lattice::base::Random random(1);
  std::vector<Player> players(count);
  for (Player& p : players) {
    p.position = {between(random, 1, 4000), between(random, 1, 4000), between(random, 1, 200)};
    p.velocity = {between(random, 1, 60), between(random, -60, -1), between(random, 1, 10)};
    const float turn = between(random, 0.1f, 3.0f);
    p.rotation = {0, 0, std::sin(turn / 2), std::cos(turn / 2)};
    p.yaw = turn;
    p.pitch = between(random, 0.1f, 1.5f);
    p.health = up_to<uint16_t>(random, 1000);
    p.armour = up_to<uint16_t>(random, 1000);
    p.stamina = between(random, 0.1f, 1);
    p.weapon = up_to<uint8_t>(random, 31);
    p.ammunition = up_to<uint16_t>(random, 500);
    p.magazines = up_to<uint8_t>(random, 15);
    p.team = up_to<uint8_t>(random, 3);
    p.score = up_to<int32_t>(random, 5000);
    p.deaths = up_to<uint16_t>(random, 60);
    p.stance = up_to<Stance>(random, 4);
    p.grounded = p.sprinting = p.firing = p.aiming = true;
    p.target = lattice::NetId{up_to<uint64_t>(random, 100000)};
  }
  return players;
}

Player with_one_changed(Player p, size_t member) {
  switch (static_cast<Player::Member>(member)) {
    case Player::Member::position:
      p.position.x -= 0.5f;
      break;
    case Player::Member::velocity:
      p.velocity.x -= 0.5f;
      break;
    case Player::Member::rotation:
      p.rotation = {0, 1, 0, 0};
      break;
    case Player::Member::yaw:
      p.yaw -= 0.05f;
      break;
    case Player::Member::pitch:
      p.pitch -= 0.05f;
      break;
    case Player::Member::health:
      p.health ^= 1;
      break;
    case Player::Member::armour:
      p.armour ^= 1;
      break;
    case Player::Member::stamina:
      p.stamina -= 0.05f;
      break;
    case Player::Member::weapon:
      p.weapon ^= 1;
      break;
    case Player::Member::ammunition:
      p.ammunition ^= 1;
      break;
    case Player::Member::magazines:
      p.magazines ^= 1;
      break;
    case Player::Member::team:
      p.team ^= 1;
      break;
    case Player::Member::score:
      p.score ^= 1;
      break;
    case Player::Member::deaths:
      p.deaths ^= 1;
      break;
    case Player::Member::stance:
      p.stance = Stance::standing;
      break;
    case Player::Member::grounded:
      p.grounded = false;
      break;
    case Player::Member::sprinting:
      p.sprinting = false;
      break;
    case Player::Member::firing:
      p.firing = false;
      break;
    case Player::Member::aiming:
      p.aiming = false;
      break;
    case Player::Member::target:
      p.target.value ^= 1;
      break;
  }
  return p;
}

}  // namespace bench::serialize
