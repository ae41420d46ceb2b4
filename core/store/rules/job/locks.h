/* locks.h - giving back what an executor holds: when it leaves, is dead or is overdue
 * (rules §4, §15). */
#pragma once

#include "store/rules/ground/state.h"

struct locks_free {
    int64_t owner;
    bool expired_only;           /* those extended beyond now stay */
    const struct running *slots; /* what ran when the owner died; NULL: it is not dead */
    bool vanished;               /* nobody knows what ran: its jobs become suspects, */
    bool counted;                /* and those that were, and had begun, have crashed */
    int64_t blamed;              /* the job that the owner's loop died of; 0: none */
    bool remote;                 /* of a worker outside, which was late or has died */
    time_ms now;
    struct store_reaped *reaped; /* counts; may be NULL */
};

/* Counts a crash of the blamed job, unless it is locked. */
bool locks_blame(struct store *store, const struct locks_free *what, struct error *error);
/* A lock of a worker outside that has run out, and of a lane: that goes with it. */
struct lock_late {
    int64_t id, token, owner, stream, lane; /* lane 0: none */
};
/* Takes it away: the job has crashed once more, and goes where it belongs. */
bool lock_expire(struct store *store, const struct lock_late *late, time_ms now,
                 struct error *error);
bool locks_free(struct store *store, const struct locks_free *what, struct error *error);
