/* way.c - in which way an outcome is written: asked once for each settling (see work.h). */
#include "store/rules/place/backlog.h"
#include "store/rules/process/unit_write.h"
#include "store/rules/work/work.h"

/* As what the run created and asked for has it; WAY_UNASKED: that is all the same. */
static enum way way_of_effects(const struct store *store, const struct outcome *outcome) {
    enum way way = outcome->effects ? WAY_CAREFUL : WAY_UNASKED;
    for (const struct job_spec *spec = outcome->created; spec; spec = spec->next) {
        bool keyed = spec->job.unique_key;
        if ((keyed && spec->on_conflict == ON_CONFLICT_REFUSE) ||
            backlog_of(store, spec->job.handler))
            return WAY_CAREFUL;
        way = keyed && way == WAY_UNASKED ? WAY_ASKS : way;
    }
    return way;
}

/* True if nothing but the job as it was taken says what becomes of it after the failure, or where
 * it goes unrun. A run by hand may be of a dead or suspended job. */
static bool goes_back_with_others(const struct store *store, const struct outcome *outcome) {
    const struct job *job = outcome->job;
    bool goes_back = outcome->kind == OUTCOME_FAILURE || outcome->kind == OUTCOME_RETURNED;
    return store->engine->sets && goes_back && !outcome->created && !outcome->stuck &&
           !outcome->lines && !outcome->warning && job->retries > 0 && !job->suspended &&
           !job->conflicts && !store->meta.fair;
}

static bool goes_with_others(const struct store *store, const struct outcome *outcome) {
    const struct job *job = outcome->job;
    return (outcome->kind == OUTCOME_SUCCESS || goes_back_with_others(store, outcome)) &&
           !outcome->refused && (store->self.remote || job->owner == store->self.id) &&
           !outcome->unit && !job->crashes && !job->suspect;
}

enum way settle_way(const struct store *store, const struct outcome *outcome, bool others) {
    const struct job *job = outcome->job;
    enum way way = way_of_effects(store, outcome);
    if (!job->id && way != WAY_CAREFUL)
        return WAY_COMMAND;
    if (way != WAY_UNASKED)
        return way;
    if (job->batch || job->repeat || backlog_counts(store, job->stream))
        return WAY_ALONE;
    if (others && goes_with_others(store, outcome))
        return WAY_OTHERS;
    bool kept = (store->open.capacity || store->self.remote) && outcome->kind == OUTCOME_SUCCESS &&
                !job->unique_key &&
                (!outcome->unit || unit_is_plain(store, outcome->unit, job->id));
    return kept ? WAY_KEPT : WAY_ALONE;
}
