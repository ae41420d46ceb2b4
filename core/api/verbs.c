#include "api/engine_state.h"

#define LOG_PAGES 1000 /* the write-ahead log may grow so far */

void engine_tidy(struct engine *engine) {
    store_checkpoint(engine->store, LOG_PAGES, NULL); /* what fails is tried again next time */
}

bool engine_end(struct engine *engine, bool ok, struct error *error) {
    if (!ok || !store_commit(engine->store, error)) {
        store_rollback(engine->store);
        return false;
    }
    engine_tidy(engine);
    return true;
}

/* One step in a transaction of its own; *rest: what is left. */
static bool step(struct engine *engine, json_t **rest, struct engine_operated *operated,
                 struct error *error) {
    struct store_operated now = {0};
    bool ok =
        store_begin(engine->store, error) &&
        engine_end(engine, store_operate(engine->store, *rest, &now, engine_now(engine), error),
                   error);
    json_decref(*rest);
    *rest = ok ? now.rest : NULL;
    if (!ok) {
        json_decref(now.rest);
        return false;
    }
    operated->touched += now.touched;
    operated->job = now.job;
    return true;
}

bool engine_operate(struct engine *engine, json_t *order, struct engine_operated *operated,
                    struct error *error) {
    json_t *rest = json_incref(order);
    operated->touched = 0;
    operated->job = 0;
    while (rest) {
        struct error reason = {0};
        if (!step(engine, &rest, operated, &reason))
            return operated->touched
                       ? error_set(error, reason.code, "%s (%zu jobs before it are done)",
                                   reason.text, operated->touched)
                       : error_set(error, reason.code, "%s", reason.text);
        if (rest && operated->tell)
            operated->tell(operated->arg, operated->touched);
    }
    return true;
}

bool engine_set_registered(struct engine *engine, int64_t deployment, const char *executor,
                           bool registered, size_t *changed, struct error *error) {
    const char *name = executor ? executor : engine->options.settings->name;
    return store_begin(engine->store, error) &&
           engine_end(engine,
                      store_set_registered(engine->store, deployment, name, registered, changed,
                                           engine_now(engine), error),
                      error);
}

bool engine_drain_executor(struct engine *engine, const char *who, bool draining, size_t *touched,
                           struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine,
                      store_drain(engine->store, who, draining, touched, engine_now(engine), error),
                      error);
}

bool engine_clean_history(struct engine *engine, int64_t ids[STORE_CLEANERS], int *count,
                          struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine,
                      store_clean_history(engine->store, ids, count, engine_now(engine), error),
                      error);
}
