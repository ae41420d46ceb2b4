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

#endif
