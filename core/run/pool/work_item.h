/* work_item.h - work items, lines of them, and follow-ups (rules §4, §6).
 *
 * A work item is what one worker runs back to back: a single job, jobs of one lane in acquisition
 * order, or short jobs that share a place under their limit. Follow-ups are exclusive jobs that a
 * run of the same lane created, locked with its result. They wait until the work item ends and then
 * run next, on its worker unless that does brief work meanwhile. The lane is not released in
 * between. Nothing in here has a lock of its own. */
#pragma once

#include "job/acquire.h"
#include "run/pool/lane_frames.h"

struct work_item {
    struct work_item *next;
    struct job *jobs;          /* list in order; taken one by one by the worker */
    struct lane_frames frames; /* private: where its runs have left instances of jobs in the list */
    int count;                 /* jobs left in the list */
    int64_t lane_token;        /* fences the lane row: token of the first job, or of the item that
                                  this one follows */
    int followed;              /* follow-ups in a row in the lane, the jobs of this item included */
    int worker;                /* 1 + the worker that waits for it, be it empty; 0: any worker */
    bool goes_on;              /* it is not the last of its lane: jobs of the first item follow */
    struct outcome *undecided; /* of its one job, which has run: the retry is asked for alone. It
                                  has no job meanwhile. NULL: the jobs are to be run. Owned */
    int lapses;                /* leases of the pool that had lapsed when it was submitted */
    time_ms since;             /* monotonic: in the pool since then */
    double expected;           /* ms that its jobs are expected to run */
    _Atomic int refused;       /* set when an outcome was stale: the rest is given back unrun */
    _Atomic int owners; /* private: the caller, and the turns while they may refuse the rest */
    struct work_item *watched; /* private: the turns' list of lanes that run */
};

/* Frees the item with the jobs left in it. Any thread. NULL is fine. */
void work_item_free(struct work_item *item);
/* Takes the next job off the item's list, with the frame where the runs before it have left its
 * instance. NULL: none is left. */
struct job *work_item_take(struct work_item *item);

/* Takes the outcome whose retry is to be decided, with its job. NULL: the jobs are to be run. */
struct outcome *work_item_undecided(struct work_item *item);

/* Notes the frames that the unit of a run leaves, for the jobs that are left, before the outcome is
 * handed back. */
void work_item_hand_on(struct work_item *item, const struct outcome *outcome);

/* ---- for the turns ---- */

/* Makes items of acquired jobs, which it takes over; those of one lane stand side by side. False:
 * no memory, nothing is left of them. */
bool work_items_build(struct job *jobs, struct work_item **items);
void work_items_free(struct work_item *items);
/* Makes an item of an outcome that the store has refused, and takes it over: a worker decides when
 * the job runs again. NULL: no memory, the outcome is the caller's. */
struct work_item *work_item_of_refused(struct outcome *outcome);
/* Merges two lists, each best first, into one. */
struct work_item *work_items_merge(const struct acquire *order, struct work_item *a,
                                   struct work_item *b);
/* Remembers the items of several jobs until their lane ends, so that the rest can be refused. */
void work_items_watch(struct work_item **watched, struct work_item *items);
void work_items_refuse(struct work_item *watched, int64_t lane_token);
void work_items_end(struct work_item **watched, int64_t lane_token);
void work_items_forget(struct work_item **watched);

/* ---- follow-ups ---- */

struct lane_follow_ups; /* those of one lane */

struct follow_ups {
    struct lane_follow_ups *list;
};

void follow_ups_clear(struct follow_ups *follows);
/* Notes the frames that the unit of a run of the lane has left, after its commit and after
 * follow_ups_add. */
void follow_ups_move(struct follow_ups *follows, const struct outcome *outcome);
/* Counts those that wait for the item which `lane_token` fences. */
int follow_ups_waiting(const struct follow_ups *follows, int64_t lane_token);
/* Takes over the follow-ups of a run, after the commit. False: no memory, they are lost until the
 * locks of this executor end. */
bool follow_ups_add(struct follow_ups *follows, struct outcome *outcome);
/* Has them given back unrun, as the lock of a job of their item was lost. */
void follow_ups_refuse(struct follow_ups *follows, int64_t lane_token);
/* Takes what runs next on the worker of an item, after the commit of the item's last outcome. The
 * item is empty if the worker waits but nothing follows. NULL: nothing follows. */
struct work_item *follow_ups_end(struct follow_ups *follows, const struct outcome *outcome);
/* Lets the worker go that waits for what follows, as the outcome is settled later: an empty item.
 * NULL: none waits. */
struct work_item *follow_ups_later(struct outcome *outcome);

/* ---- items in line ---- */

struct queue {
    struct work_item *first, *last;
    struct work_item *inserted; /* private: by the last queue_insert; NULL: it is gone */
};

void queue_init(struct queue *queue);
/* Puts an item at the end. */
void queue_push(struct queue *queue, struct work_item *item);
/* Puts an item where it stands in the order of rules §3, behind its equals and behind follow-ups. A
 * job that is acquired late but is to run early overtakes what waits. Items that come best first
 * cost one walk through the queue, however many they are. */
void queue_insert(struct queue *queue, const struct acquire *order, struct work_item *item);
/* Puts an item before all others. */
void queue_unshift(struct queue *queue, struct work_item *item);
/* Takes the first item. NULL: the queue is empty. */
struct work_item *queue_shift(struct queue *queue);
/* Moves everything in `from` to the end of `queue`. */
void queue_append(struct queue *queue, struct queue *from);
/* Moves the items for which `test` returns true to the end of `to`. It is called for each, from the
 * first to the last. */
void queue_pull(struct queue *queue, bool (*test)(void *arg, const struct work_item *item),
                void *arg, struct queue *to);
/* Takes everything, as a list. */
struct work_item *queue_take(struct queue *queue);
