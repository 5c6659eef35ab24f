// The same frames through the C functions and through lattice.hpp, for a counter of instructions: face_cost
// c|face. check_face_cost.sh compares the two. Everything but the frames is the same code.
#include <cstdio>
#include <string_view>
#include <vector>

#include "lattice/lattice.hpp"

namespace {

LATTICE_NETWORKED(Mover, (position, vec2, BOUNDS(-100, 100, 1.0 / 64), POSITION), (steps, uint32))
LATTICE_NETWORKED(Stick, (right, int8))
constexpr lattice::Type<Mover> kMover{.id = 1, .name = "Mover", .flags = LATTICE_TYPE_PREDICTED};
constexpr int kObjects = 100, kFrames = 100;

struct Game {
  lattice::World world;
  bool by_face = false;
  std::vector<lattice_netid> ids = std::vector<lattice_netid>(kObjects);

  void on_sample_input(uint32_t, Stick& stick) { stick.right = 1; }
  void on_tick(const lattice_tick_context&) {
    if (by_face) {
      world.each_simulated(kMover, [](lattice_netid, Mover& mover) { step(mover); });
      return;
    }
    const size_t count = lattice_simulated_objects(world.get(), kMover.id, ids.data(), ids.size());
    for (size_t i = 0; i < count; ++i) {
      if (void* state = lattice_object_state(world.get(), ids[i], 0)) step(*static_cast<Mover*>(state));
    }
  }
  static void step(Mover& mover) { ++mover.steps; }

  /// What a renderer does: a sum stands for the drawing.
  double draw() {
    double sum = 0;
    if (by_face) {
      world.each(kMover, [&](lattice_netid id, const Mover&) {
        if (const auto seen = world.view<Mover>(id)) sum += double(seen->position.x) + seen->steps;
      });
      return sum;
    }
    const size_t count = lattice_objects(world.get(), kMover.id, ids.data(), ids.size());
    for (size_t i = 0; i < count; ++i) {
      Mover seen;
      if (lattice_object_read(world.get(), ids[i], 0) != nullptr &&
          lattice_object_view(world.get(), ids[i], 0, &seen, sizeof seen) == sizeof seen) {
        sum += double(seen.position.x) + seen.steps;
      }
    }
    return sum;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const bool by_face = argc == 2 && std::string_view(argv[1]) == "face";
  const lattice::Netsim network(1);
  Game server, client;
  for (Game* game : {&server, &client}) {
    const bool is_server = game == &server;
    lattice::WorldConfig config;
    config.bind_address = is_server ? "10.0.0.1:1" : "10.0.0.2:1";
    config.development_tokens = is_server ? 1 : 0;
    network.attach(config);
    game->world = lattice::World::create(config, is_server ? LATTICE_ROLE_DEDICATED : LATTICE_ROLE_CLIENT);
    game->by_face = by_face;
    if (!game->world || game->world.add(kMover) != LATTICE_OK ||
        game->world.add_input<Stick>() != LATTICE_OK || game->world.set_callbacks(*game) != LATTICE_OK) {
      std::fprintf(stderr, "%s\n", lattice_last_error());
      return 1;
    }
  }
  for (int i = 0; i < kObjects; ++i) server.world.spawn(kMover);
  if (!client.world.connect_for_development("10.0.0.1:1")) return 1;
  double sum = 0;
  for (int frame = 0; frame < kFrames; ++frame) {
    server.world.pump();
    client.world.pump();
    sum += client.draw();
    network.advance(16'666'667);
  }
  std::printf("%.0f\n", sum);
  return sum > 0 ? 0 : 1;
}
