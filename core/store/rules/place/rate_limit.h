/* rate_limit.h - the starts of the definitions that have a rate (rules §20).
 *
 * The table rate has a row for each instant at which something was started, with the number of
 * starts up to it, counted from any number. So two rows say how many starts there were between
 * them. A job may be locked while there were fewer in the last window than its rate allows: the
 * window slides, over all executors, and what a dead process had locked counts. Of a rate of more
 * than RATE_EXACT starts the instants are the ends of parts of the window: its rows are few, and it
 * is never exceeded.
 *
 * A start counts as of the latest instant at which the job can have begun: the time of its lock
 * plus the grace of its rate. A worker that comes to the job later gives it back, and the start is
 * none. If a run has ended before that instant by far, its start counts as of its end.
 *
 * Instants are those of the machine's steady clock, moved to where the wall clock stood when it was
 * first asked after a boot: steps of the wall clock change nothing. A virtual clock is taken as it
 * is. What a transaction changes is written at its end. A definition without a rate costs nothing.
 */
#pragma once

#include "store/rules/ground/state.h"

/* The definition of the stream if it has a rate, else NULL. */
const struct catalog_definition *rate_limit_find(const struct store *store, int64_t stream);
static inline const struct catalog_definition *rate_limit_of(const struct store *store,
                                                             int64_t stream) {
    return store->catalog.paced ? rate_limit_find(store, stream) : NULL;
}

/* Before the next two, in one transaction or look: it is `now` by the wall clock. */
bool rate_limit_start(struct store *store, time_ms now, struct error *error);
static inline bool rate_limit_begin(struct store *store, time_ms now, struct error *error) {
    store->rate_clock.wall = store->rate_clock.now = now;
    return !store->catalog.paced || rate_limit_start(store, now, error);
}
/* How many jobs may be locked now: *left. If none, the next may not before *at (wall clock). */
bool rate_limit_left(struct store *store, const struct catalog_definition *definition,
                     int64_t *left, time_ms *at, struct error *error);
/* The job is being locked with its token; says until when it has to begin. `brief`: its run is
 * going to end soon. */
bool rate_limit_add(struct store *store, const struct catalog_definition *definition,
                    struct job *job, bool brief, struct error *error);

/* A run of the stream has ended: one that never began has not been a start. */
bool rate_limit_ended(struct store *store, const struct catalog_definition *definition,
                      const struct outcome *outcome, struct error *error);
static inline bool rate_limit_end(struct store *store, const struct outcome *outcome,
                                  struct error *error) {
    const struct catalog_definition *definition = rate_limit_of(store, outcome->job->stream);
    return !definition || rate_limit_ended(store, definition, outcome, error);
}

/* Begins to count the starts of a definition whose rate is new, or ends it. */
bool rate_limit_count(struct store *store, const struct catalog_definition *definition,
                      struct error *error);

extern const struct txn_hook rate_limit_hook;
