#include "api/engine_state.h"
#include "base/crash_point.h"
#include <stdlib.h>

/* The store's word goes before the function, and spares the call. */
static bool draft_priority(struct engine *engine, struct script *script, struct draft *draft,
                           struct error *error) {
    int overridden = store_overridden(engine->store, draft->job.handler, error);
    return overridden > 0 || (overridden == 0 && script_priority(script, &draft->job, error));
}

/* From what the creator says to a job that can be written; draft_clear in any case. */
static bool draft_complete(struct engine *engine, struct draft *draft, json_t *spec,
                           struct error *error) {
    struct draft_rules rules = draft_rules(engine->options.settings);
    if (!draft_read(draft, spec, &rules, engine_now(engine), error))
        return false;
    struct generation *generation;
    const struct definition *definition;
    const char *handler = draft->job.handler;
    if (!engine_find(engine, handler, &generation, &definition, error))
        return false;
    if (!definition && !generation && !draft->unchecked)
        return engine_unknown(engine, handler, error);
    draft_define(draft, definition, &rules);
    if (!draft_keyed(draft, error))
        return false;
    if (draft->needs_retries)
        script_retries(generation->script, &draft->job);
    return (!draft->needs_priority || draft_priority(engine, generation->script, draft, error)) &&
           (!draft->needs_unique || script_unique(generation->script, draft, error));
}

static bool write_jobs(struct engine *engine, struct job *jobs, struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine, store_create(engine->store, jobs, 0, engine_now(engine), error),
                      error);
}

static struct engine_created created_of(const struct job *job) {
    bool own = job->creation == CREATION_CREATED;
    return (struct engine_created){own ? job->id : job->holder, job->creation};
}

static bool create(struct engine *engine, json_t *specs, struct draft *drafts,
                   struct engine_created *created, struct error *error) {
    size_t count = json_array_size(specs);
    for (size_t i = 0; i < count; i++) {
        if (!draft_complete(engine, &drafts[i], json_array_get(specs, i), error))
            return false;
        drafts[i].job.next = i + 1 < count ? &drafts[i + 1].job : NULL;
    }
    engine->ids_left = 0; /* a handler's next job must not get an id older than these */
    if (!write_jobs(engine, &drafts[0].job, error))
        return false;
    CRASH_POINT("enqueue_committed");
    for (size_t i = 0; i < count; i++)
        created[i] = created_of(&drafts[i].job);
    return true;
}

bool engine_enqueue(struct engine *engine, json_t *specs, struct engine_created *created,
                    struct error *error) {
    size_t count = json_array_size(specs);
    if (count == 0)
        return true;
    CRASH_POINT("enqueue_accepted");
    struct draft *drafts = calloc(count, sizeof *drafts);
    if (!drafts)
        return error_set(error, ERROR_FAILED, "out of memory");
    bool ok = create(engine, specs, drafts, created, error);
    for (size_t i = 0; i < count; i++)
        draft_clear(&drafts[i]);
    free(drafts);
    return ok;
}

bool engine_check_draft(struct engine *engine, json_t *spec, struct error *error) {
    struct draft draft = {0};
    bool ok = draft_complete(engine, &draft, spec, error);
    draft_clear(&draft);
    return ok;
}
