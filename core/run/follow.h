/* follow.h - follow-ups (rules §4): exclusive jobs that a run of the same lane created, locked with
 * its result. They wait here until their work item ends and then run next on its worker; the lane
 * is not released in between. */
#ifndef MOONSHIFT_RUN_FOLLOW_H
#define MOONSHIFT_RUN_FOLLOW_H

#include "run/item.h"

struct follow; /* those of one lane */

struct follows {
    struct follow *list;
};

void follows_clear(struct follows *follows);

/* How many wait for the item that `lane_token` fences. */
int follows_waiting(const struct follows *follows, int64_t lane_token);
/* After the commit: takes over what the run left to follow. False: no memory, it is lost until the
 * locks of this executor end. */
bool follows_add(struct follows *follows, struct outcome *outcome);
/* The lock of a job of their item was lost: they are given back unrun. */
void follows_refuse(struct follows *follows, int64_t lane_token);
/* After the commit of an item's last outcome: what runs next on its worker. Empty if the worker
 * waits but nothing follows; NULL if nothing follows. */
struct item *follows_end(struct follows *follows, const struct outcome *outcome);

#endif
