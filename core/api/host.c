#include "api/engine_state.h"

#define IDS_AHEAD 64 /* reserved at once for jobs that handlers create */

static int64_t next_id(void *arg, struct error *error) {
    struct engine *engine = arg;
    if (engine->ids_left == 0) {
        engine->next_id = store_reserve_ids(engine->store, IDS_AHEAD, error);
        if (engine->next_id == 0)
            return 0;
        engine->ids_left = IDS_AHEAD;
    }
    engine->ids_left--;
    return engine->next_id++;
}

static int knows(void *arg, const char *handler, struct error *error) {
    struct engine *engine = arg;
    return store_knows(engine->store, handler, NULL, error);
}

static int overridden(void *arg, const char *handler, struct error *error) {
    struct engine *engine = arg;
    return store_overridden(engine->store, handler, error);
}

static bool extend(void *arg, const struct job *job, time_ms until, struct error *error) {
    struct engine *engine = arg;
    return store_begin(engine->store, error) &&
           engine_end(engine, store_extend(engine->store, job->id, job->token, until, error),
                      error);
}

static bool progress(void *arg, const struct job *job, double fraction, const char *text,
                     struct error *error) {
    struct engine *engine = arg;
    time_ms now = engine_now(engine);
    return store_begin(engine->store, error) &&
           engine_end(engine, store_progress(engine->store, job->id, fraction, text, now, error),
                      error);
}

/* Whoever cancels or suspends a running job takes its lock away. */
static bool cancelled(void *arg, const struct job *job) {
    struct engine *engine = arg;
    return store_holds(engine->store, job->id, job->token, NULL) == 0;
}

static json_t *query(void *arg, const char *kind, const json_t *question, struct error *error) {
    struct engine *engine = arg;
    if (!engine_settle(engine, (json_t *)(uintptr_t)question, error))
        return NULL;
    return store_ask(engine->store, kind, question, engine_now(engine), error);
}

struct script_host engine_host(struct engine *engine) {
    struct script_host host = {.arg = engine,
                               .next_id = next_id,
                               .knows = knows,
                               .overridden = overridden,
                               .extend = extend,
                               .progress = progress,
                               .cancelled = cancelled,
                               .query = query};
    return host;
}
