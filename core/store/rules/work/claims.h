/* claims.h - the unique keys of many new jobs, claimed together where an engine has sets (rules
 * §20).
 *
 * The result is that of claiming one after the other: of two jobs with one key the first has it. */
#ifndef MOONSHIFT_STORE_RULES_WORK_CLAIMS_H
#define MOONSHIFT_STORE_RULES_WORK_CLAIMS_H

#include "store/rules/state.h"

struct claim {  /* of a new job */
    bool given; /* its id was there before */
    bool asked, claimed;
};

struct claims {
    struct claim *list; /* in the order of the jobs; NULL: each job claims its key by itself */
};

/* Gives all jobs of the list their ids, and claims the keys. Left to themselves are jobs without a
 * stream so far, and those that a backlog may refuse. `deployment` as in store_create. */
bool claims_make(struct store *store, struct job_spec *specs, int64_t deployment, time_ms now,
                 struct claims *claims, struct error *error);
void claims_end(struct claims *claims);

#endif
