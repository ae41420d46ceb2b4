/* pool.h - the worker threads of an executor, shared by the engines that it serves (rules §6).
 *
 * PARTS. A pool has `workers_max` workers. Each is a thread while there is work for it (threads.h),
 * runs one work item at a time (worker.h) and keeps one Lua state for every generation of every
 * engine that it has met. Each engine has a client in the pool (client.h): the side that the
 * engine's loop sees, with the queues of its work items (work_item.h). Workers take from the
 * clients in turn, so that a long backlog of one engine does not hold up the others.
 *
 * WHAT CROSSES THREADS. Only bytes do, never a Lua value. From the loop to a worker: work items, by
 * client_submit. From a worker to the loop: outcomes, by threads_push. The store belongs to the
 * loop's thread; a worker touches nothing of it but its own crash slot. What a running job asks of
 * the store goes through the script's host, not through the pool.
 *
 * THE MUTEX. One mutex of the pool guards everything in `struct pool`, every `struct worker`, and
 * the part of `struct client` that says so. It is the innermost lock of the executor. While it is
 * held no statement of the store is run, no Lua code and nothing that waits; to start a thread is
 * the slowest there is. Three conditions belong to it:
 *   - work: a worker sleeps on it until there is a task (an item, a Lua state to open or close);
 *   - follow: a worker sleeps on it behind its item until the loop has settled what may follow;
 *   - ended: the loop sleeps on it until threads or Lua states are gone, when a client or the pool
 *     is freed.
 *
 * WITHOUT THE MUTEX. Outcomes are pushed on a list of the client with one atomic exchange, and the
 * loop takes the whole list with another. `woken` saves wake-ups. The order matters: a worker
 * pushes and then looks at `woken`; the loop clears `woken` and then takes the list. Both are
 * sequentially consistent, so either the loop sees the outcome or the worker wakes the loop.
 * `ended` is raised before the push, and the loop lowers `inside` before `ended`: no job is counted
 * as running twice. `lease`, `lapses`, `stopping` and an item's `refused` are flags that the loop
 * sets and a worker reads right before a job begins.
 *
 * A RUN THAT DOES NOT END (deadline.h). Two threads may want the end of a run: the worker that
 * returns from the handler and the loop that gives it up. One atomic exchange of
 * the worker's `claim` decides between them. The thread that got it settles the job and the rest of
 * its item; the other leaves both alone. The loop holds the mutex while it gives a run up, so a
 * worker that has lost waits for the mutex once before it goes on. A fresh worker takes the place;
 * the old one is on the list `lost` and keeps all that it can reach until its thread ends.
 *
 * THE END. client_stop gives back what waits; client_free asks the workers to close the Lua states
 * of the client and waits for them; pool_free ends the threads. A thread that hangs is detached,
 * and what it can reach is never freed. */
#pragma once

#include "script/script.h"

struct pool;

struct pool_options {
    int workers_min, workers_max;
    int queue; /* places for jobs that wait, beside one for each worker; shared by the engines */
    time_ms keep_alive;
    time_ms grace;    /* a handler past its time ends within so long, or is stuck; 0: 1000 */
    time_ms farewell; /* so long the end of threads is waited for; 0: 1000 */
    bool program;     /* signals may be used: they reach a handler at no cost (HOOK_ON_SIGNAL) */
    /* Called on the worker's thread right before a job's handler. May be NULL. */
    void (*begins)(void *arg, const struct job *job);
    void *begins_arg;
};

/* Starts no thread yet: they come with the items, up to workers_max, before any item waits. */
struct pool *pool_new(const struct pool_options *options, struct error *error);
/* Ends the threads and frees what is left; the clients are gone. False: a handler does not end; its
 * thread and the pool are left behind. NULL is fine. */
bool pool_free(struct pool *pool);

int pool_workers(const struct pool *pool);
