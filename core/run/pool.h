/* pool.h - worker threads behind a bounded queue. Items in, outcomes out; only bytes cross. One
 * mutex guards the queue and the workers' states, no other lock is held with it; outcomes go
 * through a list of their own without a lock. */
#ifndef MOONSHIFT_RUN_POOL_H
#define MOONSHIFT_RUN_POOL_H

#include "run/executor.h"
#include "script/script.h"

struct pool;

struct pool_options {
    const struct settings *settings;
    struct clock *clock;
    struct script_options
        script;              /* folder of the first generation, host, hook; copied per worker */
    struct store *store;     /* crash slots only */
    void (*wake)(void *arg); /* any worker thread: outcomes (or notes) are there; must not block */
    void *wake_arg;
};

/* Starts no thread yet: they come with the items, up to workers_max. */
struct pool *pool_new(const struct pool_options *options, struct error *error);
/* Ends the threads (they must have been stopped) and frees what is queued. False: a handler does
 * not end; its thread and all it can reach (pool, store, host) are left behind and must not be
 * freed. */
bool pool_free(struct pool *pool);

/* Takes the items over. Only as many jobs as pool_room said. This and all below: the loop's thread.
 */
void pool_submit(struct pool *pool, struct item *items);
/* Free places: queue + idle workers - jobs waiting. Never negative; 0 while no worker can load the
 * folder. */
int pool_room(struct pool *pool);
/* Every outcome since the last call, in order of completion; the caller's. */
struct outcome *pool_outcomes(struct pool *pool);
/* Jobs running now, jobs waiting in memory. */
void pool_load(struct pool *pool, int *running, int *waiting);
/* Until then (monotonic) jobs may begin; later they are given back: their locks may be lost. */
void pool_lease(struct pool *pool, time_ms until);
/* The lease ran out: what was submitted so far and has not begun comes back as OUTCOME_RETURNED. */
void pool_lapse(struct pool *pool);

/* Workers open this folder before their next item; running jobs finish on the old one. */
void pool_renew(struct pool *pool, struct folder *folder);

/* Once a second or at pool_deadline: cuts off handlers past their time, logs those that do not end,
 * ends threads that idled longer than keep_alive. */
void pool_tick(struct pool *pool);
/* Once a second: asks about each job that ran at the last call already, and about those that wait;
 * one for which `holds` says 0 (its lock is lost, it cannot commit) is cut off as cancelled, or not
 * begun. */
void pool_cut_lost(struct pool *pool, int (*holds)(void *arg, int64_t job, int64_t token),
                   void *arg);
/* Monotonic instant of the earliest handler deadline that pool_tick has to act on; TIME_NEVER:
 * none.
 */
time_ms pool_deadline(struct pool *pool);

/* Stops taking items; those not begun come back as OUTCOME_RETURNED. With `cut` running handlers
 * are cut off too, again at each pool_tick. Returns at once; the outcomes follow. */
void pool_stop(struct pool *pool, bool cut);
/* True when every job has come back and every outcome has been taken. */
bool pool_quiet(struct pool *pool);

#endif
