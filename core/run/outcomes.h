/* outcomes.h - outcomes on their way into the store (rules §8). They are kept until a commit has
 * them. Then the log, the metrics and the work items of their lanes are told. */
#pragma once

#include "run/metrics.h"
#include "run/pool/work_item.h"
#include "run/turn.h"

enum { OUTCOMES_PAUSE = 20 }; /* ms; those that wait for a lane are settled again that often */
enum { OUTCOMES_INSISTED = 8 };

struct outcomes {
    struct outcome *list, **last;        /* oldest first */
    struct outcome *waiting;             /* for runs that insist on lanes; oldest first */
    time_ms recall;                      /* monotonic; when they are to be settled again */
    int64_t insisted[OUTCOMES_INSISTED]; /* instances for which a run insists on a lane, as the open
                                            transaction has found last */
    struct work_item *watched;           /* items of several jobs whose lane runs */
    struct follow_ups follows;           /* what runs next in lanes whose item has not ended */
    bool following;                      /* outcomes of the open transaction have follow-ups */
};

void outcomes_init(struct outcomes *outcomes);
void outcomes_clear(struct outcomes *outcomes);

/* Takes the list over, behind what is there. */
void outcomes_add(struct outcomes *outcomes, struct outcome *list);

/* Some are neither written nor lost. */
bool outcomes_pending(const struct outcomes *outcomes);
/* Puts those that wait behind the others if it is time (or `now`), or if others are to be settled:
 * the runs for which they wait may be among them. `leaving`: there is no time for that, so their
 * jobs are given back. */
void outcomes_recall(struct outcomes *outcomes, bool now, bool leaving);

/* Keeps at most so many (0: all); the rest, which is the caller's. */
struct outcome *outcomes_cut(struct outcomes *outcomes, int most);
/* The first one, whose run cannot be written, is a failure of its job: the store has set it aside.
 */
void outcomes_aside(struct outcomes *outcomes, struct turn *turn, struct metrics *metrics,
                    const struct error *reason);

/* Settles all of them inside a transaction, in which `capacity` holds; with `follow` also for
 * follow-ups. False with *again: the effects of one outcome are refused for good, and it is a
 * failure of its job from now on. Roll back and write all of them again. */
bool outcomes_write(struct outcomes *outcomes, struct store *store, struct capacity *capacity,
                    bool follow, time_ms now, bool *again, struct error *error);

/* Ends them after the commit: counts into `turn` and `metrics`, logs, refuses the rest of lanes
 * whose lock was lost, puts follow-ups before the turn's items, frees. */
void outcomes_done(struct outcomes *outcomes, struct turn *turn, struct metrics *metrics);
