// A schema in a file of its own: camp.lattice, which latticec compiles. The program shows how its structures
// are used, and that they travel. --selftest says nothing when all is well.
#include <lattice/lattice.hpp>

#include <cstdio>
#include <cstring>
#include <span>

#include "camp.lattice.h"

namespace {

camp::CamperState ann() {
  camp::CamperState state;
  state.name = "Ann";
  state.place = {3, 4};
  state.bag.insert({camp::Food::fish, 2});
  state.bag.insert({camp::Food::bread, 12});
  state.task.set_walk_to() = {-20, 7.5f};
  return state;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_quiet = argc > 1 && std::strcmp(argv[1], "--selftest") == 0;
  const camp::CamperState state = ann();
  uint8_t bytes[256];
  const size_t size = lattice::serialize_to(state, bytes);
  camp::CamperState copy;
  if (!lattice::deserialize_from(std::span<const uint8_t>(bytes, size), copy)) return 1;
  if (copy.bag.find(camp::Food::bread)->portions != 12 || copy.task.which != camp::Task::Which::walk_to)
    return 1;

  lattice::WorldConfig config;
  config.bind_address = "127.0.0.1:0";
  const lattice_role_context role = lattice::role_context(LATTICE_ROLE_CLIENT);
  lattice_world* world = lattice_world_create(&config, &role);
  if (world == nullptr || camp::register_schema(world) != LATTICE_OK) {
    std::fprintf(stderr, "%s\n", lattice_last_error());
    return 1;
  }
  if (!is_quiet) {
    std::printf("%s carries %zu kinds of food in %zu bytes; the schema is %016llx\n", copy.name.c_str(),
                copy.bag.size(), size, static_cast<unsigned long long>(lattice_world_schema_id(world)));
  }
  lattice_world_destroy(world);
  return 0;
}
