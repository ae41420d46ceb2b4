#include "run/pool/pool.h"
#include "run/pool/threads.h"
#include "run/pool/worker.h"
#include <stdlib.h>

enum { FAREWELL = 1000, GRACE = 1000 };

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

static bool make_workers(struct pool *pool, int count) {
    for (int i = 0; i < count; i++) {
        pool->workers[i] = threads_worker(pool, i);
        if (!pool->workers[i])
            return false;
        pool->count = i + 1;
    }
    return true;
}

static void free_workers(struct pool *pool) {
    for (int i = 0; pool && i < pool->count; i++)
        free(pool->workers[i]);
    free(pool);
}

struct pool *pool_new(const struct pool_options *options, struct error *error) {
    int count = options->workers_max;
    struct pool *pool = calloc(1, sizeof *pool + (size_t)count * sizeof *pool->workers);
    if (!pool || !make_workers(pool, count)) {
        free_workers(pool);
        return error_null(error_no_memory(error));
    }
    pool->options = *options;
    pool->options.grace = options->grace > 0 ? options->grace : GRACE;
    pool->options.farewell = options->farewell > 0 ? options->farewell : FAREWELL;
    pool->hook = options->program ? (enum script_hook)PROGRAM_HOOK : HOOK_ALWAYS;
    mutex_init(&pool->mutex);
    condition_init(&pool->work);
    condition_init(&pool->ended);
    condition_init(&pool->follow);
    if (pool->hook == HOOK_ON_SIGNAL) {
        script_guard();
        thread_on_interrupt(worker_interrupted);
    }
    return pool;
}

int pool_workers(const struct pool *pool) {
    return pool->count;
}

static bool gone(const struct worker *worker) {
    return worker->state == WORKER_NONE || worker->state == WORKER_GONE;
}

/* True if every thread has ended; lost workers do not count. */
static bool all_gone(const struct pool *pool) {
    for (int i = 0; i < pool->count; i++)
        if (!gone(pool->workers[i]))
            return false;
    return true;
}

static void join_or_detach(struct worker *worker) {
    if (gone(worker))
        thread_join(&worker->thread);
    else
        thread_detach(&worker->thread);
}

/* Asks the threads to end. A script's finalizers may hang, so no thread is joined before it is
 * gone. */
static bool end_threads(struct pool *pool) {
    time_ms until = clock_monotonic() + pool->options.farewell;
    mutex_lock(&pool->mutex);
    pool->ending = true;
    condition_broadcast(&pool->work);
    condition_broadcast(&pool->follow);
    while (!all_gone(pool) && clock_monotonic() < until)
        condition_wait_until(&pool->ended, &pool->mutex, until);
    threads_reap(pool);
    bool all = all_gone(pool) && !pool->lost;
    for (int i = 0; i < pool->count; i++)
        join_or_detach(pool->workers[i]);
    for (struct worker *worker = pool->lost; worker; worker = worker->next)
        thread_detach(&worker->thread);
    mutex_unlock(&pool->mutex);
    return all;
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
    free_workers(pool);
    return true;
}
