/* Commands to processes: each is walked on this thread, in the state that runs jobs by hand, and
 * what it does is written in one transaction (docs/processes.md). */
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/process_cause.h"
#include "engine/process_entry.h"
#include "engine/process_lane.h"
#include "engine/process_later.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WALKS_MAX = 10 }; /* before other changes; then the command takes the lane */

/* A job without an id: what the walk is given. */
struct order {
    const struct process_cause *cause;
    const json_t *command;
    int64_t instance; /* out: what it was done to */
    char handler[JOB_NAME_MAX + 32];
    char *payload;
    json_t *frame; /* of the instance, or NULL; its texts are borrowed */
    char *kept;    /* what handlers did in the walk before, or NULL */
    struct process_lane lane;
};

static void order_clear(struct order *order) {
    free(order->payload);
    free(order->kept);
    json_decref(order->frame);
}

static bool order_open(struct order *order, struct error *error) {
    snprintf(order->handler, sizeof order->handler, "process/%s:command", order->cause->key);
    order->payload = json_write(order->cause->object, NULL);
    return order->payload || error_no_memory(error);
}

/* Reads the frame as it is now. */
static bool order_frame(struct order *order, struct engine *engine, struct error *error) {
    int64_t instance = order->cause->instance;
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

/* ---- writing ---- */

/* Who has commanded what, in the transaction of the unit. */
static bool note(struct engine *engine, const struct order *order, int64_t instance,
                 const json_t *before, struct error *error) {
    struct process_entry made;
    struct process_cause cause = *order->cause;
    cause.instance = instance;
    bool done = process_entry_make(&made, &cause, order->command, before, error);
    const struct store_entry entry = {made.verb, made.entity, made.before, made.after, instance};
    done = done && store_note(engine->store, &entry, engine_now(engine), error);
    process_entry_clear(&made);
    return done;
}

/* A start answers with the id of its instance, a change with the values before it. */
static bool settle(struct engine *engine, struct order *order, struct outcome *outcome,
                   struct error *error) {
    if (!store_settle(engine->store, outcome, engine_now(engine), &outcome->settled, error) ||
        !store_settle_end(engine->store, error))
        return false;
    if (outcome->settled == SETTLED_BEHIND)
        return true;
    const char *text = outcome->result;
    json_t *result = text ? json_read(text, strlen(text), "result", error) : NULL;
    order->instance = json_is_integer(result) ? json_integer_value(result) : order->cause->instance;
    bool done = (result || !text) && note(engine, order, order->instance, result, error);
    json_decref(result);
    return done;
}

static bool write_unit(struct engine *engine, struct order *order, struct outcome *outcome,
                       struct error *error) {
    return store_begin(engine->store, STORE_COMMAND, error) &&
           engine_end(engine, settle(engine, order, outcome, error), error);
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
                             struct order *order, struct error *error) {
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
                    ? write_unit(engine, order, outcome, error)
                    : refuse_failure(outcome, error);
    enum answer done = fine ? YES : FAILED;
    if (fine && outcome->settled == SETTLED_BEHIND)
        done = keep(order, outcome, error) ? NO : FAILED;
    outcome_free(outcome);
    return done;
}

/* Reads the frame behind a run of the instance that has begun. The end of an instance does not
 * wait: what runs loses its lock. */
static bool meet(struct engine *engine, struct order *order, struct error *error) {
    const struct process_cause *cause = order->cause;
    bool waited = true;
    if (!order_frame(order, engine, error))
        return false;
    if (cause->instance && !order->lane.instance)
        process_lane_begin(&order->lane, engine, cause->instance,
                           json_integer_value(json_object_get(order->frame, "root")));
    return !cause->instance || cause->ends ||
           (process_lane_wait(&order->lane, engine, &waited, error) &&
            (!waited || order_frame(order, engine, error)));
}

/* Another change came first once more. */
static bool insist(struct engine *engine, struct order *order, int walks, struct error *error) {
    struct process_lane *lane = &order->lane;
    if (walks < WALKS_MAX)
        return true;
    if (walks > WALKS_MAX && process_lane_late(lane))
        return error_set(error, ERROR_CONFLICT, "instance %lld: %d other changes came first",
                         (long long)order->cause->instance, walks);
    return lane->token || process_lane_take(lane, engine, error);
}

static bool walk(struct engine *engine, struct order *order, struct error *error) {
    struct generation *generation =
        order_open(order, error) ? generation_of(engine, order, order->cause->key, error) : NULL;
    enum answer done = generation ? NO : FAILED;
    for (int walks = 0; done == NO; walks++)
        done = insist(engine, order, walks, error) && meet(engine, order, error)
                   ? walk_once(engine, generation, order, error)
                   : FAILED;
    process_lane_drop(&order->lane, engine);
    return done == YES;
}

/* ---- messages that are kept ---- */

static const char *text_of(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/* YES: it is kept; NO: something waits for it by now. */
static enum answer keep_noted(struct engine *engine, struct order *order, struct error *error) {
    const json_t *object = order->cause->object;
    char *variables = json_dumps(json_object_get(object, "variables"), JSON_COMPACT);
    const struct unit_message one = {
        .name = text_of(object, "name"),
        .key = text_of(object, "key"),
        .variables = variables,
        .instance = json_integer_value(json_object_get(object, "instance")),
        .business_key = text_of(object, "business_key"),
        .until = order->cause->keeps,
    };
    enum answer kept = store_message_keep(engine->store, &one, engine_now(engine), error);
    free(variables);
    return kept == YES && !note(engine, order, 0, NULL, error) ? FAILED : kept;
}

static enum answer keep_message(struct engine *engine, struct order *order, struct error *error) {
    enum answer kept = FAILED;
    if (store_begin(engine->store, STORE_COMMAND, error))
        kept = keep_noted(engine, order, error);
    else
        return FAILED;
    return engine_end(engine, kept != FAILED, error) ? kept : FAILED;
}

/* ---- the command ---- */

/* True if the folder has the process, and no live executor has a newer folder. */
static bool is_ours(struct engine *engine, const struct process_cause *cause) {
    char handler[JOB_NAME_MAX + 32];
    snprintf(handler, sizeof handler, "process/%s:command", cause->key);
    struct generation *generation =
        engine->generations ? generations_find(engine->generations, handler) : NULL;
    return generation && !generation->left_to &&
           definitions_find(&generation->definitions, handler);
}

static bool give(struct engine *engine, struct order *order, struct engine_order *given,
                 struct error *error) {
    const struct process_cause *cause = order->cause;
    order->instance = cause->instance;
    if (given->later || (!given->now && !is_ours(engine, cause)))
        return process_later(engine, cause, order->command, given->retries, &given->job, error);
    return walk(engine, order, error);
}

/* Reads the command and does it. NO: something began to wait for the message meanwhile. */
static enum answer give_once(struct engine *engine, struct order *order,
                             struct process_cause *cause, struct engine_order *given,
                             struct error *error) {
    process_cause_clear(cause);
    if (!process_cause_read(cause, engine, order->command, error))
        return FAILED;
    given->kept = cause->keeps != 0;
    if (cause->keeps)
        return keep_message(engine, order, error);
    return give(engine, order, given, error) ? YES : FAILED;
}

bool engine_order(struct engine *engine, const json_t *command, struct engine_order *given,
                  struct error *error) {
    struct process_cause cause = {0};
    struct order order = {.cause = &cause, .command = command};
    enum answer done = engine_idle(engine, error) ? NO : FAILED;
    while (done == NO)
        done = give_once(engine, &order, &cause, given, error);
    given->instance = order.instance;
    process_cause_clear(&cause);
    order_clear(&order);
    return done == YES;
}

bool engine_process(struct engine *engine, const json_t *command, json_t **answer,
                    struct error *error) {
    struct engine_order order = {.now = true};
    bool done = engine_order(engine, command, &order, error);
    *answer = done ? json_integer(order.instance) : NULL;
    return done && (*answer || error_no_memory(error));
}
