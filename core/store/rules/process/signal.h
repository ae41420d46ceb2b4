/* signal.h - signals that jobs give to all that wait for them (rules §23): each receiver has a job
 * `process/<key>:command` of its own (store_signal). */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"

/* [{ instance, token, version, activity, process, root }]: the first `limit` that wait for it,
 * start events first, with instance 0. What is suspended gets none. NULL: error. */
json_t *signal_receivers(struct store *store, const struct unit_signal *one, int limit,
                         struct error *error);

/* What waits for a signal or a message migrates: jobs that bring it one follow. */
bool signals_follow(struct store *store, const struct unit_move *move, struct error *error);
