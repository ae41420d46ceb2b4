/* settling.h - outcomes on their way into the store: kept until a commit has them, then told to the
 * log, the metrics and the items whose lane they belong to (rules §8). */
#ifndef MOONSHIFT_RUN_SETTLING_H
#define MOONSHIFT_RUN_SETTLING_H

#include "run/executor.h"
#include "run/follow.h"
#include "run/metrics.h"

struct settling {
    struct outcome *list, **last; /* oldest first */
    unsigned char *verdicts;      /* enum settled, one for each outcome of the open transaction */
    size_t room;                  /* of verdicts */
    struct item *watched;         /* items of several jobs whose lane runs */
    struct follows follows;       /* what runs next in lanes whose item has not ended */
    bool following;               /* outcomes of the open transaction have follow-ups */
};

void settling_init(struct settling *settling);
void settling_clear(struct settling *settling);

/* Takes the list over. */
void settling_add(struct settling *settling, struct outcome *outcomes);

/* Inside a transaction, in which `offer` holds; with `follow` also for follow-ups. False with
 * *again: the effects of one outcome are refused for good, it is a failure of its job from now on;
 * roll back and write all of them again. */
bool settling_write(struct settling *settling, struct store *store, struct offer *offer,
                    bool follow, time_ms now, bool *again, struct error *error);

/* After the commit: counts into `turn` and `metrics`, logs, refuses the rest of lanes whose lock
 * was lost, puts follow-ups before the turn's items, frees. */
void settling_done(struct settling *settling, struct turn *turn, struct metrics *metrics);

#endif
