/* occurrence.h - the runs of a schedule that have begun and may not have ended: what an occurrence
 * that falls due meets (rules §20: overlap). */
#pragma once

#include "store/rules/ground/row.h"

/* The job is a run of the schedule from now on: it was locked for the first time, or is to run at
 * once. */
bool occurrence_begin(struct store *store, const char *schedule, int64_t job, time_ms now,
                      struct error *error);
/* It has ended, or is dead; no matter if it was none. */
bool occurrence_end(struct store *store, int64_t job, struct error *error);
/* An operator took the lock of the running job, which is as the row says: its run goes on until the
 * handler is cut off, and counts so long. */
bool occurrence_cut(struct store *store, const struct job_row *row, struct error *error);
/* The run with this token has really ended, its result refused. */
bool occurrence_over(struct store *store, int64_t job, int64_t token, struct error *error);
/* The executor is gone, and what it had not ended with it. */
bool occurrence_forget(struct store *store, int64_t owner, struct error *error);
/* It runs no more, or its date moved: who waits for it may look again. Ended if it is dead. */
bool occurrence_left(struct store *store, const struct job_row *row, struct error *error);

/* A run that is under way: locked, due and waiting, or without its lock and about to end. */
struct rival {
    int64_t job;
    time_ms begun;
    bool ending;
};
/* The one that began last beside `job`, those that are ending after all others: 1, 0 none, -1
 * error. */
enum answer occurrence_rival(struct store *store, const char *schedule, int64_t job, time_ms now,
                             struct rival *rival, struct error *error);
