/* locks.h - giving back what an executor holds: when it leaves, is dead or is overdue
 * (rules §4, §15). */
#ifndef MOONSHIFT_STORE_RULES_JOB_LOCKS_H
#define MOONSHIFT_STORE_RULES_JOB_LOCKS_H

#include "store/rules/ground/state.h"

struct locks_free {
    int64_t owner;
    bool expired_only;           /* those extended beyond now stay */
    const struct running *slots; /* what ran when the owner died; NULL: it is not dead */
    bool vanished;               /* nobody knows what ran: its jobs become suspects, */
    bool counted;                /* and those that were, and had begun, have crashed */
    int64_t blamed;              /* the job that the owner's loop died of; 0: none */
    time_ms now;
    struct store_reaped *reaped; /* counts; may be NULL */
};

/* Counts a crash of the blamed job, unless it is locked. */
bool locks_blame(struct store *store, const struct locks_free *what, struct error *error);
bool locks_free(struct store *store, const struct locks_free *what, struct error *error);

#endif
