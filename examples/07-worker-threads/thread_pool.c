#include "thread_pool.h"

#include <pthread.h>
#include <stdlib.h>

enum { MAX_THREADS = 63 };

struct thread_pool {
  pthread_mutex_t mutex; /* guards everything below except `threads` */
  pthread_cond_t work;   /* signals that there are indices to take, or that the pool ends */
  pthread_cond_t done;   /* signals that no taken index is running any more */
  lattice_task_fn run;
  void* task;
  uint32_t next;    /* the next index to take */
  uint32_t count;   /* the indices of the batch are 0 to count - 1 */
  uint32_t running; /* taken indices whose task has not returned */
  int ending;
  uint32_t thread_count;
  pthread_t threads[MAX_THREADS];
};

/* Takes index after index until there is none. The mutex is held at the call and at the return. */
static void work_off(thread_pool* pool) {
  while (pool->next < pool->count) {
    const uint32_t index = pool->next++;
    const lattice_task_fn run = pool->run;
    void* task = pool->task;
    ++pool->running;
    pthread_mutex_unlock(&pool->mutex);
    run(task, index);
    pthread_mutex_lock(&pool->mutex);
    if (--pool->running == 0) pthread_cond_signal(&pool->done);
  }
}

static void* worker(void* ctx) {
  thread_pool* pool = ctx;
  pthread_mutex_lock(&pool->mutex);
  while (!pool->ending) {
    work_off(pool);
    pthread_cond_wait(&pool->work, &pool->mutex);
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

thread_pool* thread_pool_create(uint32_t worker_count) {
  if (worker_count < 1 || worker_count > MAX_THREADS + 1) return NULL;
  thread_pool* pool = calloc(1, sizeof *pool);
  if (pool == NULL) return NULL;
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->done, NULL);
  while (pool->thread_count < worker_count - 1) {
    if (pthread_create(&pool->threads[pool->thread_count], NULL, worker, pool) != 0) {
      thread_pool_destroy(pool);
      return NULL;
    }
    ++pool->thread_count;
  }
  return pool;
}

void thread_pool_destroy(thread_pool* pool) {
  pthread_mutex_lock(&pool->mutex);
  pool->ending = 1;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  for (uint32_t i = 0; i < pool->thread_count; ++i) pthread_join(pool->threads[i], NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}

void* thread_pool_enqueue(void* ctx, lattice_task_fn run, void* task, uint32_t count) {
  thread_pool* pool = ctx;
  pthread_mutex_lock(&pool->mutex);
  pool->run = run;
  pool->task = task;
  pool->next = 0;
  pool->count = count;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  return pool;
}

/* The calling thread works too: a thread that sleeps takes longer to wake than a task takes. */
void thread_pool_finish(void* ctx, void* handle) {
  thread_pool* pool = handle;
  (void)ctx; /* the same pool as `handle`; a pool with several batches at a time would return a batch */
  pthread_mutex_lock(&pool->mutex);
  work_off(pool);
  while (pool->running != 0) pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}
