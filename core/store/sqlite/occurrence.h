/* occurrence.h - the runs of a schedule that have begun and may not have ended: what an occurrence
 * that falls due meets (rules §20: overlap). */
#ifndef MOONSHIFT_STORE_SQLITE_OCCURRENCE_H
#define MOONSHIFT_STORE_SQLITE_OCCURRENCE_H

#include "store/sqlite/row.h"

/* The job is a run of the schedule from now on: it was locked for the first time, or is to run at
 * once. */
bool occurrence_begin(struct store *store, const char *schedule, int64_t job, time_ms now,
                      struct error *error);
/* It has ended, or is dead; no matter if it was none. */
bool occurrence_end(struct store *store, int64_t job, struct error *error);
/* It runs no more, or its date moved: who waits for it may look again. Ended if it is dead. */
bool occurrence_left(struct store *store, const struct row *row, struct error *error);

/* A run that is under way: locked, or due and waiting. */
struct rival {
    int64_t job;
    time_ms begun;
};
/* The one that began last beside `job`: 1, 0 none, -1 error. */
int occurrence_rival(struct store *store, const char *schedule, int64_t job, time_ms now,
                     struct rival *rival, struct error *error);

#endif
