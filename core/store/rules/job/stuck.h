/* stuck.h - runs that were given up because nothing ends their handler (rules §8): a row for each
 * as long as it may still act, and one incident for a job that has any. */
#pragma once

#include "job/outcome.h"
#include "store/rules/ground/state.h"

/* A run was given up (outcome->stuck), or one that had been has ended (outcome->outlived). */
bool stuck_note(struct store *store, const struct outcome *outcome, time_ms now,
                struct error *error);
/* Adds the runs of these jobs that do not end. */
bool stuck_among(struct store *store, struct ids ids, struct stuck_runs *stuck,
                 struct error *error);
/* The executor's process has ended, and they with it. */
bool stuck_gone(struct store *store, int64_t owner, time_ms now, struct error *error);
