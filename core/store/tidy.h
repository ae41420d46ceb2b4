/* tidy.h - what an executor does to its store behind everything else: files what has ended, sweeps
 * rows that nobody needs. */
#ifndef MOONSHIFT_STORE_TIDY_H
#define MOONSHIFT_STORE_TIDY_H

#include "store/store.h"

/* Behind everything else: files at most `limit` ended jobs by their number, so that the log of one
 * job is found at once. *more: there are others. Questions are right in between. */
bool store_file_ended(struct store *store, int limit, bool *more, struct error *error);

/* ---- rows of jobs that have succeeded (rules §1) ---- */

/* From now on, until it leaves, the joined executor leaves such rows behind; nobody sees them, and
 * they go by whole ranges of ids with store_sweep. */
void store_sweep_behind(struct store *store);
/* In a turn: what can go at once; `idle`: a step of about a thousand rows of the rest. */
bool store_sweep(struct store *store, bool idle, struct error *error);
bool store_owes(const struct store *store); /* something is left to sweep */
/* store_file_ended and an idle store_sweep in one transaction. *more: call again. */
bool store_tidy(struct store *store, int limit, bool *more, struct error *error);

/* ---- deployments (rules §13) ---- */

/* A step in search of a deployment that nobody needs: a newer one of its name has been there for a
 * day, no definition comes from it, no executor has it loaded or is registered for it alone, and no
 * job of it is left. It looks at a thousand jobs at most. *retired: the one that it has removed; 0:
 * none. *more: call again soon, else the search has come round. */
bool store_retire(struct store *store, int64_t *retired, bool *more, time_ms now,
                  struct error *error);

#endif
