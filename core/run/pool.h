/* pool.h - the worker threads of an executor, shared by the engines it serves (rules §6). They take
 * from the engines in turn, so that a long backlog of one does not hold up the others. */
#ifndef MOONSHIFT_RUN_POOL_H
#define MOONSHIFT_RUN_POOL_H

#include "script/script.h"

struct pool;

struct pool_options {
    int workers_min, workers_max;
    int queue; /* places for jobs that wait, beside one for each worker; shared by the engines */
    time_ms keep_alive;
    time_ms grace;    /* a handler past its time ends within so long, or is stuck; 0: 1000 */
    time_ms farewell; /* so long the end of threads is waited for; 0: 1000 */
    bool program;     /* signals may be used: they reach a handler at no cost (HOOK_ON_SIGNAL) */
    /* A job's handler is about to be called; on the worker's thread. NULL: nobody wants to know. */
    void (*begins)(void *arg, const struct job *job);
    void *begins_arg;
};

/* Starts no thread yet: they come with the items, up to workers_max, before any item waits. */
struct pool *pool_new(const struct pool_options *options, struct error *error);
/* Ends the threads and frees what is left; the clients are gone. False: a handler does not end; its
 * thread and the pool are left behind. NULL is fine. */
bool pool_free(struct pool *pool);

int pool_workers(const struct pool *pool);

#endif
