/* Code that docs/guide/bad-networks.md shows. Compiled, not run. */
#include "lattice/capture.h"
#include "lattice/lattice.h"

int use_preset(lattice_world* world);
int make_link(lattice_world* world);
lattice_world* join_netsim(lattice_netsim* netsim, const lattice_role_context* role);
int run_netsim(lattice_world* server, lattice_world* client, lattice_netsim* netsim);
lattice_netsim* make_netsim(void);

int use_preset(lattice_world* world) {
  //! [preset]
  lattice_impairment up, down;
  lattice_impairment_init(&up);
  lattice_impairment_init(&down);
  if (lattice_impairment_preset("wifi-busy", LATTICE_DIRECTION_SEND, &up) != LATTICE_OK) return 0;
  if (lattice_impairment_preset("wifi-busy", LATTICE_DIRECTION_RECEIVE, &down) != LATTICE_OK) return 0;
  lattice_set_impairment(world, LATTICE_DIRECTION_SEND, &up);
  lattice_set_impairment(world, LATTICE_DIRECTION_RECEIVE, &down);
  //! [preset]
  return 1;
}

int make_link(lattice_world* world) {
  //! [own]
  lattice_impairment link;
  lattice_impairment_init(&link);
  link.delay_ms = 100;
  link.jitter_ms = 10;
  link.loss_percent = 2;
  return lattice_set_impairment(world, LATTICE_DIRECTION_RECEIVE, &link) == LATTICE_OK;
  //! [own]
}

lattice_netsim* make_netsim(void) {
  //! [netsim]
  lattice_netsim* netsim = lattice_netsim_create(42); /* the seed: the same run each time */
  lattice_impairment link;
  lattice_impairment_init(&link);
  link.delay_ms = 100;
  link.loss_percent = 5;
  lattice_netsim_set_impairment(netsim, &link);
  //! [netsim]
  return netsim;
}

lattice_world* join_netsim(lattice_netsim* netsim, const lattice_role_context* role) {
  //! [attach]
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.netsim = netsim;
  config.clock = lattice_netsim_clock;
  config.clock_ctx = netsim;
  config.bind_address = "10.0.0.2:1000"; /* a virtual address of your choice */
  lattice_world* world = lattice_world_create(&config, role);
  //! [attach]
  return world;
}

int run_netsim(lattice_world* server, lattice_world* client, lattice_netsim* netsim) {
  //! [run]
  for (int ms = 0; ms < 60000; ++ms) { /* a minute of play, in much less */
    lattice_world_pump(server);
    lattice_world_pump(client);
    lattice_netsim_advance(netsim, 1000000u);
  }
  //! [run]
  return 1;
}
