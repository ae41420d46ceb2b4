#include "run/pool.h"
#include "run/crew.h"
#include "run/worker.h"
#include <stdlib.h>

enum { FAREWELL = 1000 };

/* Sanitizers hold signals back until the handler's next system call. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) ||                               \
    __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
enum { PROGRAM_HOOK = HOOK_ALWAYS };
#else
enum { PROGRAM_HOOK = HOOK_ON_SIGNAL };
#endif

struct pool *pool_new(const struct pool_options *options, struct error *error) {
    int count = options->workers_max;
    struct pool *pool = calloc(1, sizeof *pool + (size_t)count * sizeof *pool->workers);
    if (!pool) {
        error_set(error, ERROR_FAILED, "out of memory");
        return NULL;
    }
    pool->options = *options;
    pool->hook = options->program ? (enum script_hook)PROGRAM_HOOK : HOOK_ALWAYS;
    pool->count = count;
    mutex_init(&pool->mutex);
    condition_init(&pool->work);
    condition_init(&pool->ended);
    condition_init(&pool->follow);
    for (int i = 0; i < count; i++) {
        pool->workers[i].pool = pool;
        pool->workers[i].index = i;
    }
    if (pool->hook == HOOK_ON_SIGNAL)
        thread_on_interrupt(worker_interrupted);
    return pool;
}

int pool_workers(const struct pool *pool) {
    return pool->count;
}

static bool all_gone(const struct pool *pool) {
    for (int i = 0; i < pool->count; i++)
        if (pool->workers[i].state != WORKER_NONE && pool->workers[i].state != WORKER_GONE)
            return false;
    return true;
}

/* Threads are asked to end; a script's finalizers may hang, so nobody is joined before it is gone.
 */
static bool end_threads(struct pool *pool) {
    time_ms until = clock_monotonic() + FAREWELL;
    mutex_lock(&pool->mutex);
    pool->ending = true;
    condition_broadcast(&pool->work);
    condition_broadcast(&pool->follow);
    while (!all_gone(pool) && clock_monotonic() < until)
        condition_wait_until(&pool->ended, &pool->mutex, until);
    bool gone = all_gone(pool);
    mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->count; i++)
        if (gone)
            thread_join(&pool->workers[i].thread);
        else
            thread_detach(&pool->workers[i].thread);
    return gone;
}

bool pool_free(struct pool *pool) {
    if (!pool)
        return true;
    if (!end_threads(pool))
        return false;
    free(pool->clients);
    condition_free(&pool->work);
    condition_free(&pool->ended);
    condition_free(&pool->follow);
    mutex_free(&pool->mutex);
    free(pool);
    return true;
}
