// Code that docs/guide/getting-started.md shows. Compiled, not run.
#include "lattice/lattice.hpp"

namespace {

LATTICE_NETWORKED(Square, (position, vec2, BOUNDS(0, 64, 1.0 / 64), POSITION))
LATTICE_NETWORKED(Keys, (right, int8), (down, int8))
constexpr lattice::Type<Square> kSquare{.id = 1, .name = "Square", .flags = LATTICE_TYPE_PREDICTED};

}  // namespace

struct Game {
  lattice::World world;
  Keys keys;

  bool host(const char* address);
  void on_sample_input(uint32_t, Keys& input) { input = keys; }
};

//! [host]
bool Game::host(const char* address) {
  lattice::WorldConfig config;
  config.bind_address = address;
  config.development_tokens = 1;
  world = lattice::World::create(config, LATTICE_ROLE_HOST);
  return world && world.add(kSquare) == LATTICE_OK && world.add_input<Keys>() == LATTICE_OK &&
         world.set_callbacks(*this) == LATTICE_OK && world.spawn(kSquare, world.local_peer()) != 0;
}
//! [host]
