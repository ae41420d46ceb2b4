/* crew.h - the inside of the pool: its threads, its clients, and what they share (rules §6).
 * Private to pool.c and client.c (the loops' side), crew.c, seat.c and worker.c (the threads'
 * side).
 *
 * One mutex guards it all, no other lock is held with it; outcomes go through a list of their own
 * without a lock. */
#ifndef MOONSHIFT_RUN_CREW_H
#define MOONSHIFT_RUN_CREW_H

#include "run/client.h"
#include "run/estimate.h"
#include "run/queue.h"
#include "run/thread.h"
#include <stdatomic.h>

enum { PATIENCE = 16 }; /* outcomes that the loop lets come together at most */

enum worker_state {
    WORKER_NONE, /* no thread */
    WORKER_IDLE, /* waits for an item, or opens and closes its scripts */
    WORKER_BUSY, /* has an item */
    WORKER_LOST, /* has been given up: it does not end what it does, and another has its place */
    WORKER_GONE  /* its thread has ended, to be joined */
};

/* Who has the end of a run: exactly one of the two, whoever says so first. */
enum run_claim { RUN_NONE, RUN_ON, RUN_GIVEN_UP };

struct seat; /* see seat.h */

struct worker {
    struct pool *pool;
    struct worker *next;  /* of the pool's list of those that were lost */
    int index;            /* of its crash slot */
    struct thread thread; /* guarded by the pool's mutex, as all that follows */
    enum worker_state state;
    bool leaves;             /* asked to end: idle for too long */
    bool awaits;             /* what its last item left to follow, until that has been settled */
    struct item *follow;     /* that; may be empty; NULL: not settled yet */
    struct seat *seats;      /* used by the worker only, changed under the mutex */
    int changes;             /* of the pool, as its seats are */
    struct client *client;   /* whose item it has; NULL: none */
    struct item *item;       /* that; its jobs are the thread's own while the claim is RUN_ON */
    struct script *script;   /* what runs it; NULL: nothing */
    int64_t job, token;      /* begun last; 0: idle */
    int64_t seen;            /* token of the job that ran at the last client_cut_lost */
    const struct job *begun; /* the same; its client's loop may look while the script runs it */
    time_ms idle_since;      /* monotonic */
    time_ms busy_since;      /* monotonic: it has had its item since then */
    double expected;         /* ms that the item is expected to run */
    bool stuck;              /* its run was given up, and nobody could take its place */
    bool looked;             /* for where its run is, once that is past its time */
    time_ms cut_off;         /* the deadline that was acted upon; TIME_NONE: none */
    time_ms cancelled;       /* monotonic; since when its job is to be cut off; TIME_NONE: not */
    time_ms closing;         /* monotonic; since when it closes a script; TIME_NONE: it does not */
    _Atomic int claim;       /* enum run_claim; of the job begun last */
};

struct client {
    struct client_options options;
    struct acquire order; /* of what waits */
    struct pool *pool;
    /* guarded by the pool's mutex */
    struct queue queue;
    struct queue prompt;   /* items that must begin at once */
    struct queue suspects; /* items with a job that was running in a crash */
    int queued;            /* items in all queues */
    double filled;         /* ms of the workers' time until the horizon that those fill */
    int busy;              /* workers that have an item of it */
    int seats;             /* there are for it */
    int blocked;           /* of those: could not be opened */
    bool cutting;          /* running handlers are to end */
    bool leaving;          /* its seats are to be closed */
    const struct generations *generations;
    /* ---- */
    _Atomic bool several;               /* there is more than one generation */
    _Atomic(struct outcome *) outcomes; /* newest first */
    _Atomic bool woken;                 /* the loop knows that outcomes are there */
    _Atomic int pressing;               /* how many are, about; see client_patient */
    _Atomic int patience;               /* so many wake it again; 0: it takes them now */
    _Atomic bool stopping;              /* what has not begun is given back */
    _Atomic time_ms lease;              /* monotonic; nothing begins after it */
    _Atomic int lapses;                 /* an item from before the last one does not begin */
    _Atomic int lost;                   /* jobs without an outcome: memory was out */
    _Atomic int inside;                 /* jobs submitted and not yet taken back; by the loop */
    _Atomic int ended;                  /* of those: their outcomes wait to be taken */
    struct estimate estimate;           /* the loop's own */
};

struct pool {
    struct pool_options options;
    enum script_hook hook; /* of every script */
    struct mutex mutex;    /* guards everything that follows */
    struct condition work, ended, follow;
    struct client **clients;
    int client_count;
    int turn;               /* whose item is looked for first */
    struct client *keeper;  /* for whose prompt items one worker is kept free; NULL: nobody's */
    struct worker *suspect; /* who runs an item with a suspect; NULL: nobody */
    int queued;             /* items of all clients */
    int sleeping, busy, threads;
    int changes;         /* generations or clients came or went: workers look at their seats */
    bool ending;         /* threads are to end */
    struct worker *lost; /* whose place others have taken */
    int lost_count;
    int unreplaced; /* workers that are stuck in their place: there are as many lost as can be */
    int count;      /* of workers */
    struct worker *workers[];
};

/* NULL: no memory. */
struct worker *crew_worker(struct pool *pool, int index);
/* One thread for every item that no idle thread is there for; threads that idled too long leave;
 * the mutex is held. */
void crew_grow(struct pool *pool);
void crew_shrink(struct pool *pool, time_ms now);
/* The run that this worker is in, or the script that it closes, is given up: the caller has its
 * end, and the jobs left in its item. False: it has just ended. */
bool crew_give_up(struct worker *worker);
/* Another thread takes the place of one that does not end what it does, up to `count` of them; this
 * one is retired when it does. The mutex is held. False: there is none left. */
bool crew_replace(struct pool *pool, struct worker *worker);
/* Frees those that were lost and have ended after all; the mutex is held. */
void crew_bury(struct pool *pool);
/* Seats of the client that workers have who were lost; the mutex is held. */
int crew_lost_seats(const struct client *client);
/* Takes everything out of its queues; the mutex is held. */
struct item *crew_take_all(struct client *client);
/* Gives the jobs of all these items back unrun, `late` or not; any thread, the mutex is not held.
 */
void crew_give_back(struct client *client, struct item *items, bool late);

/* ---- for worker.c ---- */

enum duty_kind {
    DUTY_RUN,   /* run `item` on `seat` */
    DUTY_OPEN,  /* open `seat` on `folder` (a reference) */
    DUTY_CLOSE, /* close `seat` and free it */
    DUTY_END    /* the thread is to end */
};

struct duty {
    enum duty_kind kind;
    struct item *item;
    struct seat *seat;
    struct folder *folder;
};

/* What the worker does next; waits for it. Of an item to run, the first job has begun. */
struct duty crew_next(struct pool *pool, struct worker *worker);
/* The last outcome of an item, about to be delivered: the worker will ask what follows. */
void crew_await(struct worker *worker, struct outcome *outcome);
/* What follows in the lane of the worker's last item, its first job begun; waits until that has
 * been settled. NULL: nothing was awaited, or its engine stops. */
struct item *crew_follow(struct worker *worker, const struct client *client);
/* Hands an item to the worker that waits for it. The mutex is held. False: nobody does. */
bool crew_hand(struct pool *pool, struct item *item);
/* The next job of an item that is being run begins. */
void crew_begin(struct worker *worker, const struct job *job);
/* Around the run of a job. False: the run was given up meanwhile, its job and the rest of its item
 * have been settled without it. */
void crew_run(struct worker *worker);
bool crew_ran(struct worker *worker);
/* Hands an outcome over as it is; NULL: there was no memory for it. */
void crew_push(struct client *client, struct outcome *outcome);
/* Hands an outcome of the item over; NULL: there was no memory for it. */
void crew_deliver(struct client *client, struct item *item, struct outcome *outcome);
/* Gives the item's remaining jobs back unrun. */
void crew_return(struct client *client, struct item *item, bool late);
/* Its thread ends; the last call. */
void crew_leave(struct worker *worker);

#endif
