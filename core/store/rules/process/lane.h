/* lane.h - the lane of an instance as commands and units use it that are not in it (rules §23). */
#pragma once

#include "job/outcome.h"
#include "store/rules/ground/state.h"

/* Of a unit in a row; then its run insists on the lane. One that has read what it writes does so
 * with the first conflict: only then its handler is called twice at most. */
enum { LANE_CONFLICTS = 10 };

/* Frees those that a command holds longer than it said: it has died. *changed: some were. */
bool lanes_expire(struct store *store, time_ms now, bool *changed, struct error *error);

/* The number of the lane of an instance. NO: that is not there. */
enum answer lane_of(struct store *store, int64_t instance, int64_t *lane, struct error *error);
/* Insists on the lane of its instance for `job`, whose unit is behind once more; a run outside of
 * the lane takes it. Then no other unit of the instance comes first. NO: the unit must not walk
 * again before the run that has the lane has ended. */
enum answer lane_insist(struct store *store, const struct outcome *outcome, struct job *job,
                        struct error *error);
/* Insists no more as the run ends. */
bool lane_give_back(struct store *store, const struct outcome *outcome, struct error *error);
