/* turn.h - one turn: settle, reap, promote, acquire, in one transaction. Outcomes go in, work items
 * come out; there are no threads in it, no waiting and no Lua. `struct turns` is the executor of
 * one store as the store knows it, from joining to leaving. The caller's thread uses the store. */
#pragma once

#include "engine/job_requests.h"
#include "job/outcome.h"
#include "run/back_off.h"
#include "run/durations.h"
#include "run/pool/work_item.h"
#include "store/store.h"

struct turn {
    /* in */
    struct outcome *outcomes; /* list to settle; owned by the turn once it commits, else kept by it
                                 for the next */
    int room;                 /* jobs that may be acquired (free places of the queue); 0: none */
    int64_t bytes;            /* of payloads that may be acquired; 0: any number */
    int idle;                 /* workers that begin at once: jobs with a rate wait for one */
    struct horizon horizon;   /* how far ahead they may be filled */
    bool probes;              /* say what is ready and left behind, even without room */
    bool acquiring;           /* false while stopping or paused */
    bool following;           /* follow-ups may be locked even where `acquiring` is false */
    bool leaving;             /* what waits for a lane is given back: no turn may follow */
    bool drains;              /* say what a limit or a rate alone holds back */
    bool quiet;               /* no bell rang since the last turn: look only if work is known of */
    time_ms grace;            /* a handler that no executor serves is reported after so long */
    struct job_requests
        *requests;               /* what running jobs asked for; NULL: they are served elsewhere */
    struct durations *durations; /* of runs that are settled; NULL: none are kept */
    /* out */
    struct work_item *items; /* list, best first; the caller's */
    int settled, done, failed, stale, acquired, promoted, freed;
    time_ms next; /* wall-clock instant of the next turn if no bell rings; TIME_NEVER: none */
    bool again; /* work was left behind for lack of room or bounds: turn again when there is room */
    bool left;  /* after a probe: something is ready that was not acquired: */
    struct sort_key best; /* the best of it */
    bool held;            /* a ready job waits for nothing but its limit or its rate */
    bool starved;         /* a job with a rate could start, but no worker is idle for it */
    bool written;         /* a transaction was committed */
    double commit;        /* ms that it took to commit it */
    bool draining;        /* told to take nothing more */
    bool outbox;          /* rows of it waited to become jobs when that was last looked at */
    int64_t unreadable;   /* a job that was locked unread, whose row cannot be read; 0: none */
    struct error unreadable_why;
    bool lapsed; /* the lease had run out before it was renewed: earlier items may be lost */
};

struct turns;

/* Joins the store under settings->name. The store, the settings and the clock must outlive the
 * turns. `workers`: crash slots wanted, one for each thread that may run jobs. */
struct turns *turns_new(struct store *store, const struct settings *settings, struct clock *clock,
                        int workers, struct error *error);
/* Leaves the store, so that every lock goes back. Settles nothing. NULL is fine. */
void turns_free(struct turns *turns);

/* Sets the handlers that are served from now on (a new generation). `definitions` must outlive the
 * turns or the next call. */
void turns_serve(struct turns *turns, const struct definitions *definitions);

/* Takes one turn, whose error is not NULL, in one transaction; in none if there is nothing to write
 * and nothing to look for. False: rolled back; the outcomes are kept and settled by the next turn
 * that works. An outcome whose effects the store refuses (ERROR_INVALID, _NOT_FOUND, _CONFLICT)
 * becomes a failure of its job. */
bool turns_take(struct turns *turns, struct turn *turn, struct error *error);
/* Writes the metrics that were not due yet, in a transaction of its own. */
bool turns_flush(struct turns *turns, struct error *error);

/* Returns the monotonic instant at which the lease runs out unless it is renewed. */
time_ms turns_lease(const struct turns *turns);
/* Returns the monotonic instant at which a turn renews it. */
time_ms turns_renewal(const struct turns *turns);

/* True if outcomes wait inside after a failed turn. */
bool turns_pending(const struct turns *turns);
/* True if a turn with room would look for jobs: some may be ready. */
bool turns_looks(const struct turns *turns);

/* Returns the executor's id in the store. */
int64_t turns_id(const struct turns *turns);
