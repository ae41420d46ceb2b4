/* repeat.h - how a job repeats: what its creator said of it, and the dates that follow from that.
 * Pure. (rules §14) */
#ifndef MOONSHIFT_BASE_REPEAT_H
#define MOONSHIFT_BASE_REPEAT_H

#include "base/cycle.h"

struct repeat {
    const char *text; /* as given: an ISO 8601 repetition or a cron expression */
    const char *zone; /* NULL: UTC */
    time_ms origin;   /* where the grid was fixed */
    bool starts;      /* the grid begins at the origin itself: the creator named it (at, after) */
};

/* False: the text or the zone is not readable, or `starts` and the text names a start as well. */
bool repeat_open(const struct repeat *repeat, struct cycle *cycle, struct error *error);

/* The first date of a cycle created at `now`: not before it; TIME_NEVER: none is left. */
time_ms repeat_first(const struct repeat *repeat, const struct cycle *cycle, time_ms now);

#endif
