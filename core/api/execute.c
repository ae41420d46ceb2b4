#include "api/engine_state.h"
#include "base/json.h"
#include "base/stock.h"
#include <stdlib.h>
#include <string.h>

/* A handler of an earlier deployment that this engine's settings do not ask for is not run. */
static bool allowed(const struct engine *engine, const struct generation *generation,
                    const struct definition *definition, struct error *error) {
    const struct folder_file *file = folder_find(generation->folder, definition->file);
    return !file || !file->stock || stock_has(engine->options.settings->stock, definition->name) ||
           draft_unknown(definition->name, NULL, error);
}

/* The generation that can run this job; ERROR_NOT_FOUND if there is no such job or handler. */
static struct generation *generation_of(struct engine *engine, int64_t id, struct error *error) {
    json_t *row = store_job(engine->store, id, engine_now(engine), error);
    const char *handler = json_string_value(json_object_get(row, "handler"));
    struct generation *generation = NULL;
    const struct definition *definition;
    if (handler && engine_find(engine, handler, &generation, &definition, error) && !definition) {
        engine_unknown(engine, handler, error);
        generation = NULL;
    }
    if (generation && !allowed(engine, generation, definition, error))
        generation = NULL;
    json_decref(row);
    return generation;
}

static struct job *take(struct engine *engine, int64_t id, bool force, struct error *error) {
    struct job *job = NULL;
    if (store_begin(engine->store, error) &&
        engine_end(engine, store_take(engine->store, id, force, engine_now(engine), &job, error),
                   error))
        return job;
    job_free(job);
    return NULL;
}

/* What the caller is told, read before the outcome is handed over to the turn. */
static bool tell(const struct outcome *outcome, json_t **result, struct error *error) {
    *result = NULL;
    const char *text = outcome->stack ? outcome->stack : outcome->message;
    if (outcome->kind == OUTCOME_FAILURE || outcome->kind == OUTCOME_CONFLICT)
        return error_set(error, ERROR_FAILED, "%s: %s", outcome->job->handler, text ? text : "");
    if (outcome->result)
        *result = json_read(outcome->result, strlen(outcome->result), "result", NULL);
    return true;
}

static bool settle(struct engine *engine, struct outcome *outcome, int64_t id,
                   struct error *error) {
    struct turn turn = {.outcomes = outcome};
    if (!executor_turn(engine->executor, &turn, error))
        return false;
    if (turn.stale == 0)
        return true;
    return error_set(error, ERROR_CONFLICT,
                     "job %lld lost its lock while it ran: its result was refused", (long long)id);
}

static bool execute(struct engine *engine, int64_t id, bool force, json_t **result,
                    struct error *error) {
    struct generation *generation = generation_of(engine, id, error);
    struct job *job = generation ? take(engine, id, force, error) : NULL;
    struct outcome *outcome = job ? engine_run_job(engine, generation, job) : NULL;
    if (!outcome)
        return job ? error_set(error, ERROR_FAILED, "out of memory") : false;
    outcome->lane_ends = true;
    outcome->lane_token = outcome->job->token;
    struct error failure = {0};
    bool ok = tell(outcome, result, &failure);
    if (!settle(engine, outcome, id, error))
        return false;
    if (!ok && error)
        *error = failure;
    return ok;
}

bool engine_execute(struct engine *engine, int64_t id, bool force, json_t **result,
                    struct error *error) {
    *result = NULL;
    if (!engine_idle(engine, error) || !engine_join(engine, engine->options.settings, error))
        return false;
    engine->ids_left = 0;
    bool ok = execute(engine, id, force, result, error);
    engine_rest(engine);
    if (ok)
        return true;
    json_decref(*result);
    *result = NULL;
    return false;
}
