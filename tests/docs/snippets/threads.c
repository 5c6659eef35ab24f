/* Code that docs/threads.md shows. Compiled, not run. */
#include "../../../examples/thread_pool.h"
#include "lattice/lattice.h"

lattice_world* make_threaded_world(const lattice_role_context* role);

lattice_world* make_threaded_world(const lattice_role_context* role) {
  //! [pool]
  thread_pool* pool = thread_pool_create(2);
  lattice_world_config config;
  lattice_world_config_init(&config);
  config.worker_count = 2;
  config.enqueue_tasks = thread_pool_enqueue;
  config.finish_tasks = thread_pool_finish;
  config.tasks_ctx = pool;
  //! [pool]
  return lattice_world_create(&config, role);
}
