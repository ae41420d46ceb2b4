/* tidy.h - what an executor does to its store behind everything else: files what has ended, purges
 * rows that nothing needs. */
#ifndef MOONSHIFT_STORE_TIDY_H
#define MOONSHIFT_STORE_TIDY_H

#include "store/store.h"

/* Behind everything else: files at most `limit` ended jobs by their number, so that the log of one
 * job is found at once. *more: there are others. Questions are right in between. */
bool store_file_ended(struct store *store, int limit, bool *more, struct error *error);

/* ---- deployments (rules §13) ---- */

/* Does a step in the search for a deployment that is not needed. A newer one of its name has been
 * there for a day. No definition comes from it. No executor has it loaded or is registered for it
 * alone. No job of it is left. A step reads a thousand jobs at most. *retired: the one that it has
 * removed; 0: none. *more: call again soon, else the search has come round. */
bool store_retire(struct store *store, int64_t *retired, bool *more, time_ms now,
                  struct error *error);

#endif
