/* tally.h - the counters of a batch (rules §17). They change in the transaction that changes its
 * jobs: noted as struct tally, written before the commit. */
#pragma once

#include "store/rules/ground/row.h"

/* A job that has this row is gone; `started`: of the run that ended it, or TIME_NONE. The last one
 * wakes the monitor. Nothing happens for jobs that do not count. */
bool batch_gone(struct store *store, const struct job_row *row, time_ms started, time_ms now,
                struct error *error);
/* The retries of a job are others now. */
bool batch_retries(struct store *store, const struct job_row *old, const struct job_row *row,
                   struct error *error);

/* Writes what those two have noted: once for many jobs, before anybody can see it. */
bool batch_write(struct store *store, struct error *error);
static inline bool batch_settle(struct store *store, struct error *error) {
    return !store->tally.batch || batch_write(store, error);
}
extern const struct txn_hook batch_hook; /* … before the commit at the latest */
