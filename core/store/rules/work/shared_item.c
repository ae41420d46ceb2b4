/* shared_item.c - short jobs of a definition that has a limit: items whose jobs share a place. */
#include "store/rules/place/limit.h"
#include "store/rules/work/taking.h"

#define SHARED_SPAN 20 /* ms that such an item is expected to run at most */

/* True if the job may run behind the last one of the item: that takes not too long, and no job of
 * another definition that stands between them waits for it. */
static bool shared_fits(const struct taking *taking, const struct shared *shared,
                        const struct job *job) {
    const struct horizon *horizon = &taking->acquire->horizon;
    double after = shared->item.time + horizon->run(horizon->arg, job->definition);
    bool next = shared->changes == taking->changes;
    return shared->definition == job->definition && after <= SHARED_SPAN &&
           (next || shared->item.last->priority == job->priority);
}

struct shared *shared_find(struct taking *taking, const struct job *job, int *count) {
    struct shared *best = NULL;
    *count = 0;
    for (struct shared *at = taking->shared; at < taking->shared + taking->shared_count; at++) {
        if (!shared_fits(taking, at, job))
            continue;
        (*count)++;
        if (!best || at->item.time < best->item.time)
            best = at;
    }
    return best;
}

bool shared_begin(struct taking *taking, struct store *store, const struct job *job,
                  struct shared **begun, struct error *error) {
    struct limits *limits = &taking->merge.limits;
    if (taking->shared_count == SHARED_MAX || !limits_has(limits, job->definition))
        return true;
    limits_share(limits, job->definition);
    *begun = &taking->shared[taking->shared_count++];
    **begun = (struct shared){.definition = job->definition, .permit = meta_token(store)};
    return place_permit(store, job->definition, (*begun)->permit, error);
}

void shared_append(struct taking *taking, struct shared *shared, struct job *job) {
    const struct horizon *horizon = &taking->acquire->horizon;
    job->permit = shared->permit;
    taking_append(taking, job, shared->item.last ? &shared->item : NULL);
    shared->changes = taking->changes;
    if (shared->item.last)
        return;
    shared->item.last = job;
    shared->item.count = 1;
    shared->item.time = horizon->run(horizon->arg, job->definition);
}
