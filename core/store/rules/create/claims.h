/* claims.h - the unique keys of many new jobs, asked for and claimed together where an engine has
 * sets (rules §20).
 *
 * The result is that of claiming one after the other: of two jobs with one key the first has it. */
#pragma once

#include "store/rules/place/unique.h"

/* Of a new job. CLAIM_ITSELF: it has no key, or one of a job before it in the list. CLAIM_TAKEN:
 * the key has a row of another one, of which no more is known. */
enum claim_state { CLAIM_ITSELF, CLAIM_DONE, CLAIM_HELD, CLAIM_TAKEN };
struct claim {
    enum claim_state state;
    struct unique_found found; /* of a key that is held */
};

struct claims {
    struct claim *list; /* in the order of the jobs; NULL: each job claims its key by itself */
};

/* Claims the keys that no job holds. Jobs that will be created have their ids then. `deployment` as
 * in store_create. */
bool claims_make(struct store *store, struct job_spec *specs, int64_t deployment, time_ms now,
                 struct claims *claims, struct error *error);
void claims_end(struct claims *claims);
