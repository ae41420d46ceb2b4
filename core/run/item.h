/* item.h - jobs that one worker runs back to back: a single job, or jobs of one lane in acquisition
 * order (rules §4). */
#ifndef MOONSHIFT_RUN_ITEM_H
#define MOONSHIFT_RUN_ITEM_H

#include "base/acquire.h"
#include "base/outcome.h"

struct item {
    struct item *next;
    struct job *jobs;     /* list in order; taken one by one by the worker */
    int count;            /* jobs left in the list */
    int64_t lane_token;   /* fences the lane row: token of the first job, or of the item followed */
    int followed;         /* follow-ups in a row in the lane, the jobs of this item included */
    int worker;           /* 1 + the worker that waits for it, be it empty; 0: anybody's */
    int lapses;           /* of the pool's leases, when it took the item */
    time_ms since;        /* monotonic: in the pool since then */
    double expected;      /* ms that its jobs are expected to run */
    _Atomic int refused;  /* set when an outcome was stale: give the rest back unrun */
    _Atomic int owners;   /* private: the caller, and the executor while it may refuse the rest */
    struct item *watched; /* private: the executor's list of lanes that run */
};

/* Any thread. Frees the jobs left in it too; NULL is fine. */
void item_free(struct item *item);
/* The next job of the item, off its list; NULL: none left. */
struct job *item_take(struct item *item);

/* ---- for the executor ---- */

/* Takes over the acquired jobs, those of one lane side by side. False: no memory, nothing is left
 * of them. */
bool items_build(struct job *jobs, struct item **items);
void items_free(struct item *items);
/* An item of follow-ups (owned; NULL: none) in the lane of a run that has ended. NULL: no memory,
 * nothing is left of them. */
struct item *item_follow(struct job *jobs, const struct outcome *outcome);
/* Both lists, best first, as one. */
struct item *items_merge(const struct acquire *order, struct item *a, struct item *b);
/* Remembers the items of several jobs until their lane ends, so that the rest can be refused. */
void items_watch(struct item **watched, struct item *items);
void items_refuse(struct item *watched, int64_t lane_token);
void items_end(struct item **watched, int64_t lane_token);
void items_forget(struct item **watched);

#endif
