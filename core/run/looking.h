/* looking.h - what an executor knows of the ready jobs between two turns: whether to acquire at
 * all, and what a new job must stand before to be locked as it is created (rules §4). */
#ifndef MOONSHIFT_RUN_LOOKING_H
#define MOONSHIFT_RUN_LOOKING_H

#include "store/store.h"

struct looking {
    bool look;        /* something may be ready */
    bool blind;       /* and nobody knows what */
    bool left;        /* something was left behind: */
    struct spot best; /* the best of it */
};

/* Anything may be ready. */
void looking_anew(struct looking *looking);
/* What a turn with so many places may lock. */
struct offer looking_offer(const struct looking *looking, const struct acquire *acquire, int room);
/* After the commit of the transaction in which the offer held. */
void looking_after(struct looking *looking, const struct offer *offer);

#endif
