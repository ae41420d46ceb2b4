/* client.h - one engine's side of the worker pool: items in, outcomes out; only bytes cross
 * (rules §13: several engines, one pool; §6: what is refused). All of it on the thread of the
 * engine's loop. */
#ifndef MOONSHIFT_RUN_CLIENT_H
#define MOONSHIFT_RUN_CLIENT_H

#include "run/generations.h"
#include "run/item.h"
#include "run/pool.h"

struct client;

struct client_options {
    struct pool *pool;
    const struct generations *generations; /* see client_renew */
    const struct settings *settings;
    struct clock *clock;
    struct script_host host;
    struct store *store;     /* crash slots only */
    void (*wake)(void *arg); /* any worker thread: outcomes (or notes) are there; must not block */
    void *wake_arg;
};

/* Takes part in the pool from now on. NULL: no memory. */
struct client *client_new(const struct client_options *options, struct error *error);
/* Leaves the pool: its Lua states are closed. It must have been stopped and be quiet; else, or if a
 * finalizer hangs: false, and the client with all its threads can reach (store, host, settings) is
 * left behind and must not be freed. NULL is fine. */
bool client_free(struct client *client);

/* Takes the items over. Only as many jobs as client_room said. */
void client_submit(struct client *client, struct item *items);
/* Free places of its share: all places of the pool (queue and workers) divided by the engines, one
 * at least. Never negative; 0 while no worker can load the folder. */
int client_room(struct client *client);
/* How far ahead so many places may be filled, by the runs measured so far. */
struct horizon client_horizon(struct client *client, int places);
/* Workers that begin an item of its at once; those that are kept free for it count. */
int client_idle(struct client *client);
/* Keeps the next worker that gets free from other items, until the next call or items that must
 * begin at once: it wakes the loop instead. False: nobody is kept any more. */
void client_keep(struct client *client, bool keep);
/* Every outcome since the last call, in order of completion; the caller's. */
struct outcome *client_outcomes(struct client *client);
/* Outcomes have come, but may wait for others to share a commit: the workers have more to do, few
 * have come, and none is urgent. When enough have come, or an urgent one, `wake` is called again.
 * `more`: the store has jobs for every free place. */
bool client_patient(struct client *client, bool more);
/* Jobs running this moment, jobs waiting in memory; any thread. */
void client_load(struct client *client, int *running, int *waiting);
/* Something waits for a worker. */
bool client_waits(struct client *client);
/* Something has waited for longer than the horizon, and no worker will be free for it within
 * another. */
bool client_late(struct client *client);
/* Gives such items back of whose first job `wanted` says true: they come back as OUTCOME_RETURNED.
 * The number of items. */
int client_yield(struct client *client, bool (*wanted)(void *arg, const struct job *job),
                 void *arg);
/* Until then (monotonic) jobs may begin; later they are given back: their locks may be lost. */
void client_lease(struct client *client, time_ms until);
/* The lease ran out: what was submitted so far and has not begun comes back as OUTCOME_RETURNED. */
void client_lapse(struct client *client);

/* From their next item on workers run jobs on these; running jobs finish on the generation they
 * began with. Borrowed until the next call or the client's end. */
void client_renew(struct client *client, const struct generations *generations);

/* Once a second or at client_deadline: cuts off handlers past their time; gives those up that do
 * not end, whose outcome is then a failure by timeout that says so, and whose worker is replaced;
 * ends threads that idled longer than keep_alive. */
void client_tick(struct client *client);
/* Once a second: asks about each job that ran at the last call already (`any`: about each that
 * runs), and about those that wait; one for which `holds` says 0 (its lock is lost, it cannot
 * commit) is cut off as cancelled, or not begun. */
void client_cut_lost(struct client *client, bool any,
                     int (*holds)(void *arg, int64_t job, int64_t token), void *arg);
/* Monotonic instant of the earliest handler deadline that client_tick has to act on; TIME_NEVER:
 * none. */
time_ms client_deadline(struct client *client);
/* *stuck: runs that were given up and go on, of all engines. True: as many as can be replaced and
 * more, so there is no room until one of them ends. */
bool client_exhausted(struct client *client, int *stuck);

/* Any thread: nothing begins any more; client_stop follows. */
void client_halt(struct client *client);
/* Stops taking items; those not begun come back as OUTCOME_RETURNED. With `cut` running handlers
 * are cut off too, again at each client_tick. Returns at once; the outcomes follow. */
void client_stop(struct client *client, bool cut);
/* True when every job has come back and every outcome has been taken. */
bool client_quiet(struct client *client);

#endif
