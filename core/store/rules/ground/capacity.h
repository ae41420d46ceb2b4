/* capacity.h - what the joined executor can begin at once (struct capacity), as the open
 * transaction changes it. */
#pragma once

#include "store/rules/ground/state.h"

/* YES: with a capacity, the executor takes jobs of this stream and priority. */
enum answer capacity_takes(struct store *store, int64_t stream, int64_t priority,
                           struct error *error);

/* Notes a job that has become ready: a job that stands behind it is not next any more. */
void capacity_ready(struct store *store, int64_t stream, int64_t priority, time_ms place,
                    int64_t id);
/* Notes that some unknown job may be takable now. */
void capacity_blind(struct store *store);

/* It goes with the transaction. */
extern const struct txn_hook capacity_hook;
