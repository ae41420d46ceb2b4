#include "api/crowd.h"
#include "api/engine_state.h"
#include "base/instant.h"

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

/* One step in a transaction of its own; *rest: what is left. Nothing is done, and *crowd is true,
 * if something would be left that a batch can do. */
static bool step(struct engine *engine, json_t **rest, bool *crowd,
                 struct engine_operated *operated, struct error *error) {
    struct store_operated now = {0};
    json_t *order = *rest;
    bool may = *crowd;
    *rest = NULL;
    *crowd = false;
    bool ok = store_begin(engine->store, error) &&
              store_operate(engine->store, order, &now, engine_now(engine), error);
    *crowd = ok && may && now.rest;
    ok = engine_end(engine, ok && !*crowd, error) || *crowd;
    json_decref(order);
    if (!ok || *crowd) {
        json_decref(now.rest);
        return ok;
    }
    *rest = now.rest;
    operated->touched += now.touched;
    operated->job = now.job;
    operated->held = now.held;
    if (operated->stuck.count == 0)
        operated->stuck = now.stuck;
    else
        operated->stuck.count += now.stuck.count;
    return true;
}

static bool steps(struct engine *engine, json_t *order, bool *crowd,
                  struct engine_operated *operated, struct error *error) {
    json_t *rest = json_incref(order);
    while (rest) {
        struct error reason = {0};
        if (!step(engine, &rest, crowd, operated, &reason))
            return operated->touched
                       ? error_set(error, reason.code, "%s (%zu jobs before it are done)",
                                   reason.text, operated->touched)
                       : error_set(error, reason.code, "%s", reason.text);
        if (rest && operated->tell)
            operated->tell(operated->arg, operated->touched);
    }
    return true;
}

bool engine_settle(struct engine *engine, json_t *object, struct error *error) {
    const struct zone *zone = zone_find(engine->options.settings->zone, error);
    return zone && instants_settle(object, zone, engine_now(engine), error);
}

bool engine_operate(struct engine *engine, json_t *order, struct engine_operated *operated,
                    struct error *error) {
    operated->touched = 0;
    operated->job = operated->batch = 0;
    operated->held = (struct held){0};
    operated->stuck.count = 0;
    if (!engine_settle(engine, order, error))
        return false;
    bool crowd = crowd_is(order);
    return steps(engine, order, &crowd, operated, error) &&
           (!crowd || crowd_operate(engine, order, operated, error));
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

static bool delete_deployments(struct engine *engine, const int64_t *ids, size_t count, bool try,
                               struct error *error) {
    for (size_t i = 0; i < count; i++)
        if (!store_delete_deployment(engine->store, ids[i], try, engine_now(engine), error))
            return false;
    return true;
}

bool engine_delete_deployments(struct engine *engine, const int64_t *ids, size_t count, bool try,
                               struct error *error) {
    if (try)
        return delete_deployments(engine, ids, count, try, error);
    return store_begin(engine->store, error) &&
           engine_end(engine, delete_deployments(engine, ids, count, try, error), error);
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
