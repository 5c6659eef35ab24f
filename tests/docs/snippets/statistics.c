/* Code that docs/guide/statistics.md and docs/guide/troubleshooting.md show. Compiled, not run. */
#include <inttypes.h>
#include <stdio.h>

#include "lattice/lattice.h"

void print_statistics(lattice_world* world, lattice_conn* conn);
void print_refusals(lattice_world* world);

void print_statistics(lattice_world* world, lattice_conn* conn) {
  //! [read]
  lattice_conn_stats link;
  lattice_conn_stats_init(&link);
  lattice_world_stats game;
  lattice_world_stats_init(&game);
  if (lattice_conn_get_stats(conn, &link) != LATTICE_OK) return;
  if (lattice_world_get_stats(world, &game) != LATTICE_OK) return;
  printf("%.0f ms, %.1f %% lost, quality %u, %" PRIu64 " rollbacks\n", link.rtt_ms,
         link.send_loss_recent_percent, link.quality, game.rollbacks);
  //! [read]
}

void print_refusals(lattice_world* world) {
  //! [refusals]
  uint64_t count = 0;
  const char* name;
  for (uint32_t i = 0; (name = lattice_world_refusal(world, i, &count)) != NULL; ++i) {
    if (count != 0) printf("%s %" PRIu64 "\n", name, count);
  }
  //! [refusals]
}
