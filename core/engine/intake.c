#include "engine/intake.h"
#include "base/crash_point.h"
#include "engine/engine_state.h"
#include <stdlib.h>

/* The parts of the last transaction beside the jobs. */
struct ending {
    struct store_intake *intake; /* NULL: none */
    struct engine_request *request;
    bool more; /* places are left to give */
};

/* YES: it was asked for before. */
static enum answer request_find(struct engine *engine, struct engine_request *request,
                                struct error *error) {
    if (!request || !request->asked.key)
        return NO;
    return store_request_find(engine->store, &request->asked, &request->found, engine_now(engine),
                              error);
}

bool engine_request_find(struct engine *engine, struct engine_request *request,
                         struct error *error) {
    return request_find(engine, request, error) != FAILED;
}

bool engine_request_keep(struct engine *engine, const struct engine_request *request,
                         const struct created *created, size_t count, struct error *error) {
    json_t *answer = request->answer(request->arg, created, count);
    bool done = answer ? store_request_keep(engine->store, &request->asked, answer,
                                            engine_now(engine), error)
                       : error_no_memory(error);
    json_decref(answer);
    return done;
}

static bool request_keep(struct engine *engine, struct engine_request *request,
                         const struct job_spec *specs, struct error *error) {
    if (!request || !request->asked.key)
        return true;
    size_t count = 0;
    for (const struct job_spec *spec = specs; spec; spec = spec->next)
        count++;
    struct created *created = calloc(count + 1, sizeof *created);
    for (size_t i = 0; created && i < count; i++, specs = specs->next)
        created[i] = specs->reply;
    bool done = created ? store_requests_purge(engine->store, engine_now(engine), error) &&
                              engine_request_keep(engine, request, created, count, error)
                        : error_no_memory(error);
    free(created);
    return done;
}

/* ---- commands ---- */

void engine_ask_under(struct engine *engine, struct engine_request *request) {
    engine->request = request;
}

/* Others may have come first while this one was walked. */
static bool is_new(struct engine *engine, struct error *error) {
    struct engine_request *request = engine->request;
    if (!request)
        return true;
    return engine_request_find(engine, request, error) &&
           (!request->found ||
            error_set(error, ERROR_CONFLICT, "request \"%s\": it is done", request->asked.key));
}

bool once_begin(struct engine *engine, struct error *error) {
    if (!store_begin(engine->store, STORE_COMMAND, error))
        return false;
    return is_new(engine, error) || engine_end(engine, false, error);
}

bool once_end(struct engine *engine, bool ok, struct error *error) {
    if (ok && engine->request)
        ok = store_requests_purge(engine->store, engine_now(engine), error) &&
             engine_request_keep(engine, engine->request, NULL, 0, error);
    return engine_end(engine, ok, error);
}

/* ---- at once ---- */

static bool write_once(struct engine *engine, struct job_spec *specs, void *arg,
                       struct error *error) {
    struct engine_request *request = arg;
    if (!store_begin(engine->store, STORE_TURN, error))
        return false;
    enum answer found = request_find(engine, request, error);
    bool done = found == YES ||
                (found == NO && store_create(engine->store, specs, 0, engine_now(engine), error) &&
                 request_keep(engine, request, specs, error));
    return engine_end(engine, done, error);
}

bool engine_enqueue_once(struct engine *engine, const struct engine_spec *specs, size_t count,
                         struct created *created, size_t *refused, struct engine_request *request,
                         struct error *error) {
    return engine_create(engine, specs, count, created, refused, write_once, request, error);
}

/* ---- in steps ---- */

bool engine_intake_begin(struct engine *engine, struct store_intake *intake, int64_t count,
                         struct error *error) {
    engine_ids_drop(engine);
    return store_intake_begin(engine->store, intake, count, engine_now(engine), error);
}

static bool write_intake(struct engine *engine, struct job_spec *specs, void *arg,
                         struct error *error) {
    return store_begin(engine->store, STORE_TURN, error) &&
           engine_end(engine,
                      store_intake_add(engine->store, arg, specs, engine_now(engine), error),
                      error);
}

bool engine_intake_add(struct engine *engine, struct store_intake *intake,
                       const struct engine_spec *specs, size_t count, struct created *created,
                       size_t *refused, struct error *error) {
    int64_t next = intake->next;
    bool done = engine_create(engine, specs, count, created, refused, write_intake, intake, error);
    intake->next = done ? intake->next : next;
    return done;
}

static bool write_end(struct engine *engine, struct job_spec *specs, void *arg,
                      struct error *error) {
    struct ending *ending = arg;
    time_ms now = engine_now(engine);
    if (!store_begin(engine->store, STORE_TURN, error))
        return false;
    enum answer found = request_find(engine, ending->request, error);
    bool done = found == YES ||
                (found == NO && (!specs || store_create(engine->store, specs, 0, now, error)) &&
                 store_intake_release(engine->store, ending->intake, &ending->more, now, error) &&
                 request_keep(engine, ending->request, specs, error));
    return engine_end(engine, done, error) && CRASH_POINT("intake_committed");
}

/* Gives the jobs their places. They are durable by now: if this fails, the next process to open the
 * store does it. */
static void place_rest(struct engine *engine, const struct store_intake *intake, bool more) {
    struct error error = {0};
    while (more && store_begin(engine->store, STORE_TURN, &error) &&
           engine_end(engine,
                      store_intake_step(engine->store, intake, &more, engine_now(engine), &error),
                      &error))
        continue;
}

bool engine_intake_end(struct engine *engine, struct store_intake *intake,
                       const struct engine_spec *specs, size_t count, struct created *created,
                       struct engine_request *request, struct error *error) {
    struct ending ending = {.intake = intake, .request = request};
    bool done = count
                    ? engine_create(engine, specs, count, created, NULL, write_end, &ending, error)
                    : write_end(engine, NULL, &ending, error);
    if (!done || (request && request->found)) {
        engine_intake_abandon(engine, intake);
        return done;
    }
    place_rest(engine, intake, ending.more);
    store_intake_leave(engine->store, intake);
    return true;
}

void engine_intake_abandon(struct engine *engine, struct store_intake *intake) {
    place_rest(engine, intake, intake->id != 0);
    store_intake_leave(engine->store, intake);
}
