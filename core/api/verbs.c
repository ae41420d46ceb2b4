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

bool engine_set_retries(struct engine *engine, struct ids ids, int32_t retries, bool set_due,
                        time_ms due, struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine,
                      store_set_retries(engine->store, ids, retries, set_due, due,
                                        engine_now(engine), error),
                      error);
}

bool engine_retry(struct engine *engine, struct ids ids, struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine,
                      store_retry(engine->store, ids, engine_definitions(engine),
                                  engine_now(engine), error),
                      error);
}

bool engine_set_priority(struct engine *engine, struct ids ids, int64_t priority,
                         struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine,
                      store_set_priority(engine->store, ids, priority, engine_now(engine), error),
                      error);
}

bool engine_set_due(struct engine *engine, struct ids ids, time_ms due, bool cascade,
                    struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine,
                      store_set_due(engine->store, ids, due, cascade, engine_now(engine), error),
                      error);
}

bool engine_recalculate_due(struct engine *engine, struct ids ids, bool from_creation,
                            struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(
               engine,
               store_recalculate_due(engine->store, ids, from_creation, engine_now(engine), error),
               error);
}

bool engine_set_suspended(struct engine *engine, struct ids ids, bool suspended,
                          struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine,
                      store_set_suspended(engine->store, ids, suspended, engine_now(engine), error),
                      error);
}

bool engine_delete(struct engine *engine, struct ids ids, struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine, store_delete(engine->store, ids, engine_now(engine), error), error);
}

bool engine_cancel(struct engine *engine, struct ids ids, struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine, store_cancel(engine->store, ids, engine_now(engine), error), error);
}

bool engine_override_priority(struct engine *engine, const struct store_override *override,
                              size_t *touched, struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(
               engine,
               store_override_priority(engine->store, override, touched, engine_now(engine), error),
               error);
}

bool engine_suspend_definition(struct engine *engine, int64_t definition, bool suspended,
                               bool include_jobs, size_t *touched, struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine,
                      store_suspend_definition(engine->store, definition, suspended, include_jobs,
                                               touched, engine_now(engine), error),
                      error);
}

bool engine_annotate(struct engine *engine, int64_t incident, const char *note,
                     struct error *error) {
    return store_begin(engine->store, error) &&
           engine_end(engine,
                      store_annotate(engine->store, incident, note, engine_now(engine), error),
                      error);
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
