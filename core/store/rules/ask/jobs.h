/* jobs.h - the ids that a query of jobs means, for verbs that change them. */
#ifndef MOONSHIFT_STORE_RULES_ASK_JOBS_H
#define MOONSHIFT_STORE_RULES_ASK_JOBS_H

#include "store/rules/ground/state.h"

struct jobs_range {
    int64_t after, upto; /* ids above the one, at most the other */
    int limit;
};

/* Ascending; `ids` has room for range->limit. */
bool jobs_ids(struct store *store, const json_t *filters, const struct jobs_range *range,
              time_ms now, int64_t *ids, size_t *count, struct error *error);

#endif
