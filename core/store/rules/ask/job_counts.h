/* job_counts.h - how many jobs of each definition are in each state, by counters that are kept as
 * jobs move (place/occupancy.h) and by looks at what is few (rules §16). */
#pragma once

#include "store/rules/ground/state.h"

/* A count for each state. A new reference; NULL: no memory. */
json_t *job_counts_zero(void);

/* { definition id as text = counts }, and adds the sums to `total`. *rough: there is more than is
 * looked at, so some stand in another state than a list of jobs says; may be NULL. NULL: error. */
json_t *job_counts(struct store *store, json_t *total, time_ms now, bool *rough,
                   struct error *error);

/* How many jobs these filters find, as long as they are states and handlers alone. NO: counters do
 * not say so. */
enum answer job_counts_of(struct store *store, const json_t *filters, time_ms now, int64_t *count,
                          struct error *error);
