/* threads.h - the inside of the pool: workers and their threads, their Lua states, their tasks, and
 * what they share with the clients (rules §6, §13). pool.h says who locks what. Private to pool.c,
 * client.c, deadline.c and the runner's account (the loops' side), and to threads.c and worker.c
 * (the threads' side). */
#pragma once

#include "base/thread.h"
#include "run/pool/client.h"
#include "run/pool/estimate.h"
#include "run/pool/work_item.h"
#include <stdatomic.h>

/* What an urgent outcome counts: more than may come together. An int holds a full queue of them. */
enum { URGENT = 1024 };

enum worker_state {
    WORKER_NONE, /* no thread */
    WORKER_IDLE, /* waits for an item, or opens and closes its scripts */
    WORKER_BUSY, /* has an item */
    WORKER_LOST, /* has been given up: it does not end what it does, and another has its place */
    WORKER_GONE  /* its thread has ended, to be joined */
};

/* Whether the worker or the loop has the end of a run. */
enum run_claim { RUN_NONE, RUN_ON, RUN_GIVEN_UP };

/* The Lua state of a worker for one generation of one engine. It is made when it is first needed,
 * and closed once its engine has left or its generation has been replaced. */
struct lua_slot {
    struct lua_slot *next;
    struct client *client;
    int generation;
    struct script *script;        /* NULL: not open yet, or it could not be opened */
    time_ms retry_at, retry_wait; /* monotonic, ms; 0: it could so far */
};

struct worker {
    struct pool *pool;
    struct worker *next;  /* in the pool's list `lost` */
    int index;            /* of its crash slot */
    struct thread thread; /* guarded by the pool's mutex, as all that follows */
    enum worker_state state;
    bool leaves;              /* asked to end: idle for too long */
    bool awaits;              /* its last item may be followed: waits until that has been settled */
    struct work_item *follow; /* what follows; may be empty; NULL: not settled yet */
    struct lua_slot *lua_slots; /* used by the worker only, changed under the mutex */
    int changes;                /* of the pool, that its Lua states have followed */
    struct client *client;      /* that its item belongs to; NULL: none */
    struct work_item *item;     /* that; its jobs are the thread's own while the claim is RUN_ON */
    struct script *script;      /* what runs it; NULL: nothing */
    int64_t job, token;         /* begun last; 0: idle */
    int64_t seen;               /* token of the job that ran at the last client_cut_lost */
    const struct job *begun;    /* the same; its client's loop may look while the script runs it */
    time_ms idle_since;         /* monotonic */
    int64_t busy_since;         /* monotonic, us: it has had its item since then */
    double expected;            /* ms that the item is expected to run */
    bool stuck;                 /* its run was given up, and no thread could take its place */
    bool looked;                /* for where its run is, once that is past its time */
    time_ms cut_off;            /* the deadline that was acted upon; TIME_NONE: none */
    time_ms cancelled;          /* monotonic; since when its job is to be cut off; TIME_NONE: not */
    time_ms closing;   /* monotonic; since when it closes a script; TIME_NONE: it does not */
    _Atomic int claim; /* enum run_claim; of the job begun last */
};

struct client {
    struct client_options options;
    struct acquire order; /* of the waiting items */
    struct pool *pool;
    /* guarded by the pool's mutex */
    struct queue queue;
    struct queue prompt;   /* items that must begin at once */
    struct queue suspects; /* items with a job that was running in a crash */
    int queued;            /* items in all queues */
    double filled;         /* ms of the workers' time until the horizon that those fill */
    double prompted;       /* of it by the prompt ones */
    int busy;              /* workers that have an item of it */
    int lua_slots;         /* of all workers */
    int blocked;           /* of those: could not be opened */
    bool cutting;          /* running handlers are to end */
    bool leaving;          /* its Lua states are to be closed */
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
    int64_t bytes;                      /* payloads of the jobs inside; the loop's own */
};

struct pool {
    struct pool_options options;
    enum script_hook hook; /* of every script */
    struct mutex mutex;    /* guards everything that follows */
    struct condition work, ended, follow;
    struct client **clients;
    int client_count;
    int turn;               /* the client that is asked for an item first */
    struct client *keeper;  /* one worker is kept free for its prompt items; NULL: none is kept */
    struct worker *suspect; /* runs an item with a suspect; NULL: none does */
    int queued;             /* items of all clients */
    int sleeping, busy, threads;
    int changes;         /* generations or clients came or went: workers look at their Lua states */
    bool ending;         /* threads are to end */
    struct worker *lost; /* workers whose place others have taken */
    int lost_count;
    int unreplaced; /* workers that are stuck in their place: there are as many lost as can be */
    int count;      /* of workers */
    struct worker *workers[];
};

/* NULL: no memory. */
struct worker *threads_worker(struct pool *pool, int index);

/* ---- for the loops' side; the mutex is held unless it says otherwise ---- */

/* Starts one thread for every item that no idle thread is there for. */
void threads_grow(struct pool *pool);
/* Ends threads that idled for longer than keep_alive. */
void threads_shrink(struct pool *pool, time_ms now);
/* Claims the end of the worker's run, or of the script that it closes, with the jobs left in its
 * item. False: it has just ended. */
bool threads_give_up(struct worker *worker);
/* Puts another thread in the place of one that does not end what it does, up to `count` of them.
 * The old one ends when it comes back. False: there is none left. */
bool threads_replace(struct pool *pool, struct worker *worker);
/* Frees the lost workers that have ended after all. */
void threads_reap(struct pool *pool);
/* Counts the Lua states of the client that lost workers have. */
int threads_lost_slots(const struct client *client);
/* Counts the workers that have a Lua state of the client's newest generation. */
int threads_newest_slots(const struct client *client);
/* Takes everything out of the client's queues. */
struct work_item *threads_take_all(struct client *client);
/* Hands an item to the worker that waits for it. False: no worker does. */
bool threads_hand(struct pool *pool, struct work_item *item);
/* Gives the jobs of all these items back unrun, `late` or not. Any thread, without the mutex. */
void threads_give_back(struct client *client, struct work_item *items, bool late);

/* ---- for the worker's thread; the mutex is not held ---- */

enum task_kind {
    TASK_RUN,   /* run `item` on `slot` */
    TASK_OPEN,  /* open `slot` on `folder` (a reference) */
    TASK_CLOSE, /* close `slot` and free it */
    TASK_END    /* the thread is to end */
};

struct task {
    enum task_kind kind;
    struct work_item *item;
    struct lua_slot *slot;
    struct folder *folder;
};

/* Waits for what the worker does next. Of an item to run, the first job has begun. */
struct task threads_next(struct pool *pool, struct worker *worker);
/* Marks the last outcome of an item, about to be delivered: the worker will ask what follows. Not
 * so if brief work waits: the worker does that meanwhile, and what follows is queued before the
 * rest. */
void threads_await(struct worker *worker, const struct client *client, struct outcome *outcome);
/* Waits until the worker's last item has been settled. What follows in its lane is returned, its
 * first job begun. NULL: nothing was awaited, or its engine stops. */
struct work_item *threads_follow(struct worker *worker, const struct client *client);
/* Notes that the next job of an item that is being run begins. */
void threads_begin(struct worker *worker, const struct job *job);
/* Called before and after the run of a job. False: the run was given up meanwhile; its job and the
 * rest of its item have been settled without it. */
void threads_run(struct worker *worker);
bool threads_ran(struct worker *worker);
/* Notes that the worker's thread ends; the last call. */
void threads_leave(struct worker *worker);

/* Finds the Lua state that serves a handler; makes it if there is none. While it is not open,
 * *folder is a reference to what it is to be opened on, else NULL. NULL: no memory. */
struct lua_slot *lua_slot_serving(struct worker *worker, struct client *client, const char *handler,
                                  struct folder **folder);
/* Hands over a script for this Lua state that was loaded ahead. NULL: there is none. */
struct script *lua_slot_ready(struct worker *worker, const struct lua_slot *slot);
/* Notes that the script was opened, or could not be (NULL). It is then tried again later, and if no
 * thread can open it all that waits is given back. `runs`: the item in hand is run on it. */
void lua_slot_opened(struct worker *worker, struct lua_slot *slot, struct script *script,
                     bool runs);
/* Hides the script from all others before the caller closes it, with the rest of this item still to
 * run (NULL: none). */
struct script *lua_slot_closing(struct worker *worker, struct lua_slot *slot,
                                struct work_item *item);
/* Takes the closed Lua state off the worker and frees it. */
void lua_slot_closed(struct worker *worker, struct lua_slot *slot);

/* ---- what comes back; any thread ---- */

/* Hands an outcome over to the loop as it is. NULL: there was no memory for it. */
void threads_push(struct client *client, struct outcome *outcome);
/* Hands an outcome of the item over. NULL: there was no memory for it. */
void threads_deliver(struct client *client, struct work_item *item, struct outcome *outcome);
/* Gives the item's remaining jobs back unrun. */
void threads_return(struct client *client, struct work_item *item, bool late);
