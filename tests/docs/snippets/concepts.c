/* Code that docs/guide/concepts.md shows. Compiled, not run. */
#include "lattice/lattice.h"

enum { kSquareType = 1, kMaxSquares = 64, kHealthMember = 2 };
typedef struct square {
  float x, y;
} square;
typedef struct move {
  int8_t right, down;
} move;

void draw_square(const square* s);
void on_tick(void* ctx, lattice_world* world, const lattice_tick_context* tick);
void draw(lattice_world* world);

//! [tick]
void on_tick(void* ctx, lattice_world* world, const lattice_tick_context* tick) {
  lattice_netid ids[kMaxSquares];
  size_t count = lattice_simulated_objects(world, kSquareType, ids, kMaxSquares);
  for (size_t i = 0; i < count && i < kMaxSquares; ++i) {
    lattice_object_info info;
    lattice_object_info_init(&info);
    lattice_object_get_info(world, ids[i], &info);
    move input = {0, 0};
    lattice_get_input(world, info.owner, &input, sizeof input);
    square* s = lattice_object_state(world, ids[i], 0);
    s->x += (float)input.right * 3.0f * (float)tick->dt_s;
    s->y += (float)input.down * 3.0f * (float)tick->dt_s;
  }
  (void)ctx;
}
//! [tick]

void add_sprite(lattice_netid id);
void remove_sprite(lattice_netid id);
void show_health(lattice_netid id);
void follow(lattice_world* world);

void follow(lattice_world* world) {
  //! [frame]
  lattice_frame frame;
  lattice_frame_init(&frame);
  lattice_frame_begin(world);
  lattice_frame_get(world, &frame);
  for (uint32_t i = 0; i < frame.left_count; ++i) remove_sprite(frame.left[i].object);
  for (uint32_t i = 0; i < frame.spawned_count; ++i) add_sprite(frame.spawned[i].object);
  for (uint32_t i = 0; i < frame.changed_count; ++i) {
    if (frame.changed[i].members & 1ull << kHealthMember) show_health(frame.changed[i].object);
  }
  //! [frame]
}

void draw(lattice_world* world) {
  //! [draw]
  lattice_frame_begin(world); /* one moment for all views of this frame */
  lattice_netid ids[kMaxSquares];
  size_t count = lattice_objects(world, kSquareType, ids, kMaxSquares);
  for (size_t i = 0; i < count && i < kMaxSquares; ++i) {
    square shown;
    if (lattice_object_view(world, ids[i], 0, &shown, sizeof shown) != 0) draw_square(&shown);
  }
  //! [draw]
}
