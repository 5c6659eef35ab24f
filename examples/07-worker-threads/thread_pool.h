/* A thread pool for lattice_world_config.enqueue_tasks and finish_tasks; docs/threads.md explains it. One
 * pool serves any number of worlds that are pumped by the same thread. */
#ifndef EXAMPLES_THREAD_POOL_H
#define EXAMPLES_THREAD_POOL_H

#include "lattice/config.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct thread_pool thread_pool;

/* Starts `worker_count` - 1 threads: the pumping thread is the other worker. `worker_count` is 1..64. NULL
 * when the system gives no more threads. */
thread_pool* thread_pool_create(uint32_t worker_count);
/* Ends the threads. No world may still use the pool. */
void thread_pool_destroy(thread_pool* pool);

/* The functions for enqueue_tasks and finish_tasks; `ctx` is the pool. */
void* thread_pool_enqueue(void* ctx, lattice_task_fn run, void* task, uint32_t count);
void thread_pool_finish(void* ctx, void* handle);

#ifdef __cplusplus
}
#endif
#endif
