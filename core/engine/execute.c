#include "engine/driver.h"
#include "engine/engine_state.h"
#include "job/stock.h"

/* A handler of an earlier deployment that this engine's settings do not ask for is not run. */
static bool allowed(const struct engine *engine, const struct generation *generation,
                    const struct definition *definition, struct error *error) {
    const struct folder_file *file = folder_find(generation->folder, definition->file);
    return !file || !file->stock || stock_has(engine->options.settings->stock, definition->name) ||
           job_spec_unknown(definition->name, NULL, error);
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
    if (generation && definition->outside) {
        error_set(error, ERROR_CONFLICT, "job %lld: workers outside do the jobs of \"%s\"",
                  (long long)id, handler);
        generation = NULL;
    }
    if (generation && !allowed(engine, generation, definition, error))
        generation = NULL;
    json_decref(row);
    return generation;
}

struct job *engine_take(struct engine *engine, int64_t id, bool force,
                        struct generation **generation, struct error *error) {
    struct job *job = NULL;
    *generation = generation_of(engine, id, error);
    if (!*generation || !store_begin(engine->store, STORE_TURN, error))
        return NULL;
    if (engine_end(engine, store_take(engine->store, id, force, engine_now(engine), &job, error),
                   error))
        return job;
    job_free(job);
    return NULL;
}

struct outcome *engine_run_job(struct engine *engine, struct generation *generation,
                               struct job *job) {
    if (!generation)
        generation = generations_find(engine->generations, job->handler);
    time_ms now = engine_now(engine);
    store_slot_set(engine->store, 0, job->id, job->token, now);
    engine->running = true;
    struct outcome *outcome = script_run(generation->script, job, now, clock_monotonic());
    engine->running = false;
    store_slot_clear(engine->store, 0);
    generation_freshen(generation);
    return outcome;
}

void engine_decide(struct engine *engine, struct generation *generation, struct outcome *outcome) {
    if (!generation)
        generation = generations_find(engine->generations, outcome->job->handler);
    engine->running = true;
    script_decide(generation->script, outcome);
    engine->running = false;
}

void engine_push_raised(struct engine *engine) {
    if (engine->generations)
        script_push_raised(engine->generations->list[0]->script);
}
