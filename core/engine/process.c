/* Commands to processes: each is walked on this thread, in the state that runs jobs by hand, and
 * what it does is written in one transaction (docs/processes.md). */
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/process_cause.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WALKS_MAX = 10 }; /* of one command; then other changes were first too often */

/* A job without an id: what the walk is given. */
struct order {
    char handler[JOB_NAME_MAX + 32];
    char *payload;
    json_t *frame; /* of the instance, or NULL; its texts are borrowed */
    char *kept;    /* what handlers did in the walk before, or NULL */
};

static void order_clear(struct order *order) {
    free(order->payload);
    free(order->kept);
    json_decref(order->frame);
}

static bool order_open(struct order *order, const struct process_cause *cause,
                       struct error *error) {
    snprintf(order->handler, sizeof order->handler, "process/%s:command", cause->key);
    order->payload = json_write(cause->object, NULL);
    return order->payload || error_no_memory(error);
}

/* Reads the frame as it is now. */
static bool order_frame(struct order *order, struct engine *engine, int64_t instance,
                        struct error *error) {
    if (!instance)
        return true;
    json_t *question = json_pack("{sI}", "instance", (json_int_t)instance);
    json_decref(order->frame);
    order->frame = question ? engine_ask(engine, ASK_FRAME, question, error) : NULL;
    json_decref(question);
    return order->frame &&
           (!json_is_null(order->frame) ||
            error_set(error, ERROR_NOT_FOUND, "no instance %lld that runs", (long long)instance));
}

static struct job *order_job(const struct order *order, time_ms now) {
    const json_t *frame = order->frame;
    return job_copy(&(struct job){
        .handler = order->handler,
        .payload = order->payload,
        .payload_size = strlen(order->payload),
        .due = TIME_NONE,
        .lock_expiration = TIME_NONE,
        .created = now,
        .attempt = 1,
        .instance_id = json_integer_value(json_object_get(frame, "id")),
        .version = json_integer_value(json_object_get(frame, "version")),
        .frame_rev = json_integer_value(json_object_get(frame, "rev")),
        .parent = json_integer_value(json_object_get(frame, "parent")),
        .frame = json_string_value(json_object_get(frame, "frame")),
        .business_key = json_string_value(json_object_get(frame, "key")),
        .tenant = json_string_value(json_object_get(frame, "tenant")),
        .kept = order->kept,
    });
}

/* The generation that has the process: the folder's, else that of the deployment in the store. */
static struct generation *generation_of(struct engine *engine, const struct order *order,
                                        const char *key, struct error *error) {
    struct generation *generation = NULL;
    const struct definition *definition = NULL;
    if (!engine_find(engine, order->handler, &generation, &definition, error))
        return NULL;
    if (!definition) {
        error_set(error, ERROR_NOT_FOUND, "no script folder has the process \"%s\"", key);
        return NULL;
    }
    return generation;
}

static bool refuse_failure(const struct outcome *outcome, struct error *error) {
    const char *text = outcome->message ? outcome->message : "";
    if (outcome->kind == OUTCOME_FAILURE)
        return error_set(error, ERROR_FAILED, "%s", text);
    return error_set(error, ERROR_CONFLICT, "the command did not come to its end: %s", text);
}

static bool write_unit(struct engine *engine, struct outcome *outcome, struct error *error) {
    return store_begin(engine->store, STORE_COMMAND, error) &&
           engine_end(
               engine,
               store_settle(engine->store, outcome, engine_now(engine), &outcome->settled, error) &&
                   store_settle_end(engine->store, error),
               error);
}

/* Keeps what handlers did for the next walk. */
static bool keep(struct order *order, const struct outcome *outcome, struct error *error) {
    const char *kept = outcome->unit ? outcome->unit->kept : NULL;
    free(order->kept);
    order->kept = kept ? strdup(kept) : NULL;
    return !kept || order->kept || error_no_memory(error);
}

/* One walk. YES: it is written; NO: another change was first. */
static enum answer walk_once(struct engine *engine, struct generation *generation,
                             struct order *order, json_t **answer, struct error *error) {
    struct job *job = order_job(order, engine_now(engine));
    engine->running = true;
    struct outcome *outcome =
        job ? script_run(generation->script, job, engine_now(engine), clock_monotonic()) : NULL;
    engine->running = false;
    generation_freshen(generation);
    if (!outcome) {
        error_no_memory(error);
        return FAILED;
    }
    bool fine = outcome->kind == OUTCOME_SUCCESS && outcome->unit
                    ? write_unit(engine, outcome, error)
                    : refuse_failure(outcome, error);
    enum answer done = fine ? YES : FAILED;
    if (fine && outcome->settled == SETTLED_BEHIND)
        done = keep(order, outcome, error) ? NO : FAILED;
    else if (fine && outcome->result)
        *answer = json_read(outcome->result, strlen(outcome->result), "result", error);
    outcome_free(outcome);
    return done;
}

static bool walk(struct engine *engine, const struct process_cause *cause, struct order *order,
                 json_t **answer, struct error *error) {
    struct generation *generation =
        order_open(order, cause, error) ? generation_of(engine, order, cause->key, error) : NULL;
    enum answer done = generation ? NO : FAILED;
    for (int i = 0; done == NO && i < WALKS_MAX; i++)
        done = order_frame(order, engine, cause->instance, error)
                   ? walk_once(engine, generation, order, answer, error)
                   : FAILED;
    if (done == NO)
        error_set(error, ERROR_CONFLICT, "instance %lld: %d other changes came first",
                  (long long)cause->instance, WALKS_MAX);
    return done == YES;
}

bool engine_process(struct engine *engine, const json_t *command, json_t **answer,
                    struct error *error) {
    struct process_cause cause = {0};
    struct order order = {0};
    *answer = NULL;
    bool done = engine_idle(engine, error) && process_cause_read(&cause, engine, command, error) &&
                walk(engine, &cause, &order, answer, error);
    if (done && !*answer)
        *answer = json_integer(cause.instance);
    process_cause_clear(&cause);
    order_clear(&order);
    return done && (*answer || error_no_memory(error));
}
