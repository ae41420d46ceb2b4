/* executor.h - one turn: settle, bury, promote, acquire. No threads, no waiting, no Lua: outcomes
 * in, work items out. The store is used by the caller's thread. */
#ifndef MOONSHIFT_RUN_EXECUTOR_H
#define MOONSHIFT_RUN_EXECUTOR_H

#include "base/outcome.h"
#include "run/item.h"
#include "run/notes.h"
#include "run/strategy.h"
#include "store/store.h"

struct turn {
    /* in */
    struct outcome *outcomes; /* list to settle; owned by the turn once it commits, else kept by it
                                 for the next */
    int room;                 /* jobs that may be acquired (free places of the queue); 0: none */
    int idle;                 /* workers that begin at once: jobs with a rate wait for one */
    struct horizon horizon;   /* how far ahead they may be filled */
    bool probes;              /* say what is ready and left behind, even without room */
    bool acquiring;           /* false while stopping or paused */
    bool following;           /* follow-ups may be locked even where `acquiring` is false */
    bool quiet;               /* nobody rang since the last turn: look only if work is known of */
    time_ms grace;            /* a handler that nobody serves is told of after so long */
    struct notes *notes;      /* what running jobs asked for; NULL: they are served elsewhere */
    /* out */
    struct item *items; /* list, best first; the caller's */
    int settled, done, failed, stale, acquired, promoted, freed;
    time_ms next; /* wall-clock instant of the next turn if nobody rings; TIME_NEVER: none */
    bool again; /* work was left behind for lack of room or bounds: turn again when there is room */
    bool left;  /* after a probe: something is ready that was not acquired: */
    struct spot best; /* the best of it */
    bool starved;     /* a job with a rate could start, but no worker is idle for it */
    bool written;     /* a transaction was committed */
    bool draining;    /* told to take nothing more */
    bool lapsed;      /* the lease had run out before it was renewed: earlier items may be lost */
};

struct executor;

/* `store` is joined under settings->name; it, the settings and the clock must outlive the executor.
 * `workers`: crash slots wanted, one for each thread that may run jobs. */
struct executor *executor_new(struct store *store, const struct settings *settings,
                              struct clock *clock, int workers, struct error *error);
/* Settles nothing; leaves the store (every lock goes back). */
void executor_free(struct executor *executor);

/* The handlers this executor serves from now on (a new generation). `definitions` must outlive the
 * executor or the next call. */
void executor_serve(struct executor *executor, const struct definitions *definitions);

/* One turn in one transaction (none if there is nothing to write and nothing to look for). False:
 * rolled back; outcomes are kept inside and settled by the next turn that works. An outcome whose
 * effects the store refuses (ERROR_INVALID, _NOT_FOUND, _CONFLICT) becomes a failure of its job. */
bool executor_turn(struct executor *executor, struct turn *turn, struct error *error);
/* Writes the metrics that were not due yet, in a transaction of its own. */
bool executor_flush(struct executor *executor, struct error *error);

/* The monotonic instant at which the lease runs out unless it is renewed. */
time_ms executor_lease(const struct executor *executor);
/* The monotonic instant at which a turn renews it. */
time_ms executor_renewal(const struct executor *executor);

/* True if outcomes wait inside after a failed turn. */
bool executor_pending(const struct executor *executor);
/* True if a turn with room would look for jobs: some may be ready. */
bool executor_looks(const struct executor *executor);

/* Its id in the store. */
int64_t executor_id(const struct executor *executor);

/* { name, id, acquired, done, failed, stale, … } for status. A new reference. */
json_t *executor_status(const struct executor *executor);

#endif
