/* client.h - one engine's side of the worker pool: work items go in, outcomes come out (rules §13:
 * several engines, one pool; §6: what is refused). The thread of the engine's loop calls all of it,
 * unless it says otherwise. */
#pragma once

#include "engine/generations.h"
#include "run/pool/pool.h"
#include "run/pool/work_item.h"

struct client;

struct client_options {
    struct pool *pool;
    const struct generations *generations; /* see client_renew */
    const struct settings *settings;
    struct clock *clock;
    struct script_host host;
    struct store *store;     /* crash slots only */
    void (*wake)(void *arg); /* any worker thread: outcomes or requests are there; must not block */
    void *wake_arg;
};

/* Joins the pool. NULL: no memory. */
struct client *client_new(const struct client_options *options, struct error *error);
/* Leaves the pool: its Lua states are closed. It must have been stopped and be quiet. False if it
 * is not, or if a finalizer hangs: the client is left behind with all that its threads can reach
 * (store, host, settings), and none of that may be freed. NULL is fine. */
bool client_free(struct client *client);

/* ---- work ---- */

/* What an engine may acquire now. */
struct client_room {
    int places; /* free ones of its share: all places of the pool (queue and workers) divided by the
                   engines, one at least; 0 while no worker can load the folder */
    int64_t bytes; /* of payloads and frames that may be held in memory besides */
    int idle;      /* workers that begin an item at once, the one that is kept free included */
    struct horizon
        horizon; /* how far ahead the places may be filled, by the runs measured so far */
};
struct client_room client_room(struct client *client);
/* Takes the items over; no more jobs than client_room has places. */
void client_submit(struct client *client, struct work_item *items);
/* Keeps the next worker that gets free from other items, until the next call or until items come
 * that must begin at once: it wakes the loop instead. `keep` false: keeps no worker any more.
 * Returns false if none is kept, as such items wait and go before the others anyway. */
bool client_keep(struct client *client, bool keep);
/* Takes every outcome since the last call, in order of completion. They are the caller's. */
struct outcome *client_outcomes(struct client *client);
/* True if outcomes may wait for others to share a commit: the workers have more to do, few outcomes
 * have come, and none is urgent. When enough have come, or an urgent one, `wake` is called again.
 * `more`: the store has jobs for every free place. At most `most` outcomes wait. */
bool client_patient(struct client *client, bool more, int most);
/* Counts the jobs that run this moment and those that wait in memory. Any thread. */
void client_load(struct client *client, int *running, int *waiting);
/* True if an item waits for a worker. */
bool client_waits(struct client *client);
/* True if an item has waited for longer than the horizon, and no worker will be free for it within
 * another, or if it waits behind the instant by which it was to begin. */
bool client_late(struct client *client);
/* Gives such items back as OUTCOME_RETURNED, the former if `wanted` is true for their first job.
 * Returns the number of items. */
int client_yield(struct client *client, bool (*wanted)(void *arg, const struct job *job),
                 void *arg);
/* Gives those that wait back, however long they have, of which `wanted` is true for a job. */
void client_return(struct client *client, bool (*wanted)(void *arg, const struct job *job),
                   void *arg);
/* Lets jobs begin until this monotonic instant. Later they are given back, as their locks may be
 * lost. */
void client_lease(struct client *client, time_ms until);
/* Gives back as OUTCOME_RETURNED what was submitted so far and has not begun: the lease ran out. */
void client_lapse(struct client *client);

/* Counts the Lua states of the newest generation, with those that wait for a worker: so many are
 * worth loading ahead for the next one. */
int client_states(struct client *client);
/* Sets the generations for the next item of each worker. Running jobs finish on the generation they
 * began with. Borrowed until the next call or the client's end. */
void client_renew(struct client *client, const struct generations *generations);

/* ---- runs past their time (deadline.c) ---- */

/* Cuts off handlers past their time, and gives up those that do not end: their outcome is a failure
 * by timeout that says so, and their worker is replaced. Ends threads that idled for longer than
 * keep_alive. Called once a second and at client_deadline. */
void client_tick(struct client *client);
/* Cuts off what cannot commit any more, once a second. One call of `ask` is about each job that ran
 * at the last call already (`any`: each that runs) and each that waits. If the lock of a job is
 * lost, its run is cancelled, or it does not begin. `ask` works as store_ask_lost does and is
 * called without the pool's mutex; if it returns false nothing happens. */
void client_cut_lost(struct client *client, bool any,
                     bool (*ask)(void *arg, struct store_claim *claims, size_t count), void *arg);
/* Returns the monotonic instant of the earliest handler deadline that client_tick has to act on.
 * TIME_NEVER: there is none. */
time_ms client_deadline(struct client *client);
/* Counts the runs of all engines that were given up and go on: *stuck. True: no further worker can
 * be replaced, so there is no room until one of them ends. */
bool client_exhausted(struct client *client, int *stuck);

/* ---- the end ---- */

/* Lets nothing begin any more; client_stop follows. Any thread. */
void client_halt(struct client *client);
/* Stops taking items; those not begun come back as OUTCOME_RETURNED. With `cut` running handlers
 * are cut off too, again at each client_tick. Returns at once; the outcomes follow. */
void client_stop(struct client *client, bool cut);
/* True when every job has come back and every outcome has been taken. */
bool client_quiet(struct client *client);
