/* crew.h - the inside of the pool: its threads and what they share with the loop. Private to pool.c
 * (the loop's side), crew.c and worker.c (the threads' side). */
#ifndef MOONSHIFT_RUN_CREW_H
#define MOONSHIFT_RUN_CREW_H

#include "run/pool.h"
#include "run/queue.h"
#include "run/thread.h"
#include <stdatomic.h>

enum worker_state {
    WORKER_NONE,    /* no thread */
    WORKER_IDLE,    /* waits for an item */
    WORKER_BUSY,    /* has an item */
    WORKER_BLOCKED, /* could not open its script; tries again by itself */
    WORKER_GONE     /* its thread has ended, to be joined */
};

struct worker {
    struct pool *pool;
    int index;            /* of its crash slot */
    struct thread thread; /* the loop's */
    int generation;       /* the worker's: of `script` */
    /* guarded by the pool's mutex */
    enum worker_state state;
    bool leaves;             /* asked to end: idle for too long */
    bool awaits;             /* what its last item left to follow, until that has been settled */
    struct item *follow;     /* that; may be empty; NULL: not settled yet */
    struct script *script;   /* NULL until its first item; changed by the worker only */
    int64_t job, token;      /* begun last; 0: idle */
    int64_t seen;            /* token of the job that ran at the last pool_lost */
    const struct job *begun; /* the same; the loop may look at it only while the script runs it */
    time_ms idle_since;      /* monotonic */
    time_ms cut_off;         /* the deadline that was acted upon; TIME_NONE: none */
    time_ms complained;      /* monotonic; when a handler that does not end was last logged */
};

struct pool {
    struct pool_options options;
    struct mutex mutex; /* guards everything down to the line */
    struct condition work, ended, recover, follow;
    struct queue queue;
    struct queue suspects;  /* items with a job that was running in a crash: one at a time */
    struct worker *suspect; /* who runs one; NULL: nobody */
    int queued;             /* items in both queues */
    int sleeping, busy, blocked, threads;
    bool cutting;          /* running handlers are to end */
    bool ending;           /* threads are to end */
    struct folder *folder; /* of the newest generation */
    /* ---- */
    _Atomic(struct outcome *) outcomes; /* newest first */
    _Atomic bool woken;                 /* the loop knows that outcomes are there */
    _Atomic bool stopping;              /* what has not begun is given back */
    _Atomic int generation;             /* of `folder` */
    _Atomic time_ms lease;              /* monotonic; nothing begins after it */
    _Atomic int lapses;                 /* an item from before the last one does not begin */
    _Atomic int lost;                   /* jobs without an outcome: memory was out */
    int inside;                         /* the loop's own count: submitted, not yet taken back */
    int count;                          /* of workers */
    struct worker workers[];
};

/* Takes everything out of both queues; the mutex is held. */
struct item *crew_take_all(struct pool *pool);
/* Gives the jobs of all these items back unrun; any thread, the mutex is not held. */
void crew_give_back(struct pool *pool, struct item *items);

/* ---- for worker.c ---- */

/* The next item, its first job begun; waits for one. NULL: the thread is to end. */
struct item *crew_take(struct pool *pool, struct worker *worker);
/* The last outcome of an item, about to be delivered: the worker will ask what follows. */
void crew_await(struct pool *pool, struct worker *worker, struct outcome *outcome);
/* What follows in the lane of the worker's last item, its first job begun; waits until that has
 * been settled. NULL: nothing was awaited, or the pool stops. */
struct item *crew_follow(struct pool *pool, struct worker *worker);
/* Hands an item to the worker that waits for it. The mutex is held. False: nobody does. */
bool crew_hand(struct pool *pool, struct item *item);
/* The next job of an item that is being run begins. */
void crew_begin(struct pool *pool, struct worker *worker, const struct job *job);
/* Hands an outcome over; NULL: there was no memory for it. */
void crew_deliver(struct pool *pool, struct item *item, struct outcome *outcome);
/* Gives the item's remaining jobs back unrun. */
void crew_return(struct pool *pool, struct item *item);
/* The worker cannot run anything until monotonic instant `until`; if nobody can, all that waits is
 * given back. False: the thread is to end. */
bool crew_pause(struct pool *pool, struct worker *worker, time_ms until);
/* It can again. */
void crew_resume(struct pool *pool, struct worker *worker);
/* Its thread ends; the last call. */
void crew_leave(struct pool *pool, struct worker *worker);

#endif
