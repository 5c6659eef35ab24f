/* Code that docs/guide/levels.md shows. Compiled, not run. */
#include "lattice/lattice.h"

enum { kDoorType = 4 };
typedef struct door_state {
  float x, y;
  uint8_t open;
} door_state;
typedef struct level_door {
  uint64_t key; /* from the editor: never 0, and no two are equal */
  float x, y;
} level_door;

lattice_result place_doors(lattice_world* world, const level_door* doors, size_t count);
void find_doors(lattice_world* world, const level_door* doors, size_t count);
void show_door(size_t index, lattice_netid id);
void remove_door(uint64_t key);
void on_despawn(void* ctx, lattice_netid object);

//! [place]
lattice_result place_doors(lattice_world* world, const level_door* doors, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    door_state door = {doors[i].x, doors[i].y, 0};
    const void* states[] = {&door}; /* one for each behaviour of the type */
    lattice_result result = lattice_place(world, doors[i].key, kDoorType, states, 1);
    if (result != LATTICE_OK) return result;
  }
  return LATTICE_OK;
}
//! [place]

void find_doors(lattice_world* world, const level_door* doors, size_t count) {
  //! [find]
  for (size_t i = 0; i < count; ++i) {
    lattice_netid id = lattice_placed(world, doors[i].key); /* on a client in on_connected or later */
    if (id != 0) show_door(i, id);
  }
  //! [find]
}

//! [gone]
void on_despawn(void* ctx, lattice_netid object) {
  lattice_object_info info;
  lattice_object_info_init(&info);
  lattice_object_get_info(ctx, object, &info); /* here the world is the ctx of the callbacks */
  if (info.placed_key != 0) remove_door(info.placed_key);
}
//! [gone]
