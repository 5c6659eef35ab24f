/* Code that docs/guide/interest.md shows. Compiled, not run. */
#include <stdio.h>

#include "lattice/lattice.h"

enum { kRedTeam = 1 };

void configure(lattice_world_config* config);
void hide_flag(lattice_world* world, lattice_netid flag);
void load_boot(lattice_world* world, lattice_netid chest, lattice_netid car);
void enter_match(lattice_conn* conn, uint32_t match);
void on_despawn(void* ctx, lattice_netid object);
void explain(lattice_conn* conn, lattice_netid chest);
void play_explosion(lattice_netid object);

void configure(lattice_world_config* config) {
  //! [configure]
  config->interest_kind = LATTICE_INTEREST_GRID;
  config->interest_radius = 60.0;       /* objects come within 60 m ... */
  config->interest_leave_radius = 72.0; /* ... and go beyond 72 m */
  //! [configure]
  //! [rates]
  config->interest_near_radius = 20.0; /* within 20 m 30 states a second, with the default snapshot rate ... */
  config->interest_far_rate_hz = 5;    /* ... and 5 at 60 m: at 40 m one every 117 ms */
  //! [rates]
}

void hide_flag(lattice_world* world, lattice_netid flag) {
  //! [rule]
  lattice_object_interest interest;
  lattice_object_interest_init(&interest);
  interest.relevance = LATTICE_RELEVANCE_ALWAYS; /* from everywhere ... */
  interest.team_mask = 1u << kRedTeam;           /* ... but by this team only */
  lattice_object_set_interest(world, flag, &interest);
  //! [rule]
}

void load_boot(lattice_world* world, lattice_netid chest, lattice_netid car) {
  //! [attach]
  lattice_object_attach(world, chest, car); /* who gets the car gets the chest */
  //! [attach]
}

void enter_match(lattice_conn* conn, uint32_t match) {
  //! [viewer]
  lattice_viewer viewer;
  lattice_viewer_init(&viewer); /* looks from the object that the client owns */
  viewer.room = match;
  viewer.team_mask = 1u << kRedTeam;
  lattice_conn_set_viewer(conn, &viewer);
  //! [viewer]
}

//! [despawn]
void on_despawn(void* ctx, lattice_netid object) {
  lattice_world* world = ctx;
  if (lattice_object_despawn_reason(world) == LATTICE_DESPAWN_DESTROYED) play_explosion(object);
}
//! [despawn]

void explain(lattice_conn* conn, lattice_netid chest) {
  //! [why]
  lattice_why_info why;
  lattice_why_info_init(&why);
  char text[LATTICE_WHY_TEXT_BYTES];
  if (lattice_conn_why(conn, chest, &why) != LATTICE_OK) return;
  if (lattice_why_text(&why, text, sizeof text) == LATTICE_OK) puts(text);
  //! [why]
}
