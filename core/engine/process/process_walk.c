#include "engine/process/process_walk.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/process/process_entry.h"
#include "store/outside.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WALKS_MAX = 10 }; /* at least, before other changes; then it insists */

void process_walk_clear(struct process_walk *walk) {
    free(walk->payload);
    free(walk->kept);
    json_decref(walk->frame);
    outcome_free(walk->outcome);
    outcome_lines_free(walk->lines);
    process_cause_clear(&walk->cause);
    walk->lines = NULL;
    walk->payload = walk->kept = NULL;
    walk->frame = NULL;
    walk->outcome = NULL;
}

/* Before any handler is called. A suspended instance may be cancelled and may migrate, and
 * variables may be set. */
static bool may(const struct process_walk *walk, struct error *error) {
    const char *kind = json_string_value(json_object_get(walk->command, "kind"));
    bool rests = kind && (strcmp(kind, "set") == 0 || strcmp(kind, "migrate") == 0);
    return walk->cause.keeps || walk->cause.ends || rests || process_cause_may(&walk->cause, error);
}

bool process_walk_read(struct process_walk *walk, struct engine *engine, struct error *error) {
    process_cause_clear(&walk->cause);
    if (!process_cause_read(&walk->cause, engine, walk->command, error))
        return false;
    json_decref(walk->frame);
    walk->frame = json_incref(walk->cause.frame);
    walk->instance = walk->cause.instance;
    walk->generation = NULL;
    snprintf(walk->handler, sizeof walk->handler, "process/%s:command", walk->cause.key);
    return may(walk, error);
}

bool process_walk_is_ours(const struct process_walk *walk, struct engine *engine) {
    struct generation *generation =
        engine->generations ? generations_find(engine->generations, walk->handler) : NULL;
    return generation && !generation->left_to &&
           definitions_find(&generation->definitions, walk->handler);
}

/* ---- the frame ---- */

static int64_t number_of(const struct process_walk *walk, const char *key) {
    return json_integer_value(json_object_get(walk->frame, key));
}

static const char *text_of(const struct process_walk *walk, const char *key) {
    return json_string_value(json_object_get(walk->frame, key));
}

/* Reads the frame as it is now, and what the command means by now: a task that another command has
 * done is open no longer. */
static bool read_again(struct process_walk *walk, struct engine *engine, struct error *error) {
    struct process_cause now = {0};
    bool fine = process_cause_read(&now, engine, walk->command, error) &&
                (now.instance == walk->cause.instance ||
                 error_set(error, ERROR_CONFLICT, "instance %lld does not wait for it any more",
                           (long long)walk->cause.instance));
    if (!fine) {
        process_cause_clear(&now);
        return false;
    }
    process_cause_clear(&walk->cause);
    walk->cause = now;
    json_decref(walk->frame);
    walk->frame = json_incref(now.frame);
    return may(walk, error);
}

struct process_instance process_walk_instance(const struct process_walk *walk) {
    return (struct process_instance){
        .id = walk->cause.instance,
        .root = number_of(walk, "root"),
        .rev = number_of(walk, text_of(walk, "around") ? "around_rev" : "rev"),
        .ends = walk->cause.ends};
}

int64_t process_walk_lane(const struct process_walk *walk, const struct engine *engine) {
    const struct process_instance at = process_walk_instance(walk);
    return process_lane_of(engine, &at);
}

/* The lane comes first: what another command did before is known, and no other one begins. */
bool process_walk_meet(struct process_walk *walk, struct engine *engine, struct error *error) {
    bool fresh = true;
    if (!walk->cause.instance)
        return !walk->insists || process_lanes_insist(engine, error);
    walk->at = process_walk_instance(walk);
    return process_lane_take(engine, &walk->at, &fresh, error) &&
           (!walk->insists || process_lanes_insist(engine, error)) &&
           ((fresh && walk->frame && !walk->walks) || read_again(walk, engine, error));
}

/* ---- one walk ---- */

/* The generation that has the process: the folder's, else that of the deployment in the store. */
static bool find_generation(struct process_walk *walk, struct engine *engine, struct error *error) {
    const struct definition *definition = NULL;
    if (walk->generation)
        return true;
    if (!engine_find(engine, walk->handler, &walk->generation, &definition, error))
        return false;
    return definition || error_set(error, ERROR_NOT_FOUND,
                                   "no script folder has the process \"%s\"", walk->cause.key);
}

/* What a worker outside hands back ends its own job, in the lane that the walk has. */
static void take_job(struct process_walk *walk, const struct engine *engine, struct job *job) {
    const struct job *from = walk->job;
    job->id = from->id;
    job->token = from->token;
    job->owner = from->owner;
    job->stream = from->stream;
    job->definition = from->definition;
    job->priority = from->priority;
    job->retries = from->retries;
    job->attempt = from->attempt;
    job->crashes = from->crashes;
    job->due = from->due;
    job->trace = from->trace;
    job->created = from->created;
    job->activity = from->activity;
    job->execution = from->execution;
    job->lane_id = process_walk_lane(walk, engine);
}

static struct job *job_of(struct process_walk *walk, const struct engine *engine, time_ms now) {
    free(walk->payload);
    walk->payload = json_write(walk->cause.object, NULL);
    if (!walk->payload)
        return NULL;
    struct job job = {
        .handler = walk->handler,
        .payload = walk->payload,
        .payload_size = strlen(walk->payload),
        .due = TIME_NONE,
        .lock_expiration = TIME_NONE,
        .created = now,
        .attempt = 1,
        .instance_id = number_of(walk, "id"),
        .version = number_of(walk, "version"),
        .frame_rev = number_of(walk, "rev"),
        .parent = number_of(walk, "parent"),
        .frame = text_of(walk, "frame"),
        .execution = text_of(walk, "around") ? json_int(walk->cause.object, "token") : 0,
        .around = text_of(walk, "around"),
        .around_rev = number_of(walk, "around_rev"),
        .body = number_of(walk, "body"),
        .body_token = number_of(walk, "body_token"),
        .business_key = text_of(walk, "key"),
        .tenant = text_of(walk, "tenant"),
        .kept = walk->kept,
        .trace = engine->trace,
    };
    if (walk->job)
        take_job(walk, engine, &job);
    return job_copy(&job);
}

/* True, with the error that says so, if what the command names has gone beside the walk. */
static bool gone_meanwhile(const struct process_walk *walk, struct engine *engine,
                           struct error *error) {
    struct process_cause now = {0};
    bool gone = walk->outcome->permanent && walk->cause.instance &&
                !process_cause_read(&now, engine, walk->command, error) &&
                error->code == ERROR_NOT_FOUND;
    process_cause_clear(&now);
    return gone;
}

static bool refuse_failure(const struct process_walk *walk, struct engine *engine,
                           struct error *error) {
    const struct outcome *outcome = walk->outcome;
    const char *text = outcome->message ? outcome->message : "";
    if (engine->lane_refused.code) {
        *error = engine->lane_refused;
        return false;
    }
    if (gone_meanwhile(walk, engine, error))
        return false;
    if (outcome->held)
        return error_set(error, ERROR_CONFLICT, "%s", text);
    if (outcome->kind == OUTCOME_FAILURE)
        return error_set(error, ERROR_FAILED, "%s", text);
    return error_set(error, ERROR_CONFLICT, "the command did not come to its end: %s", text);
}

/* Keeps what the walk before did, for this one: what handlers did, and the instance it began. One
 * that came to no end has kept it already. */
static bool keep(struct process_walk *walk, struct error *error) {
    const struct outcome *before = walk->outcome;
    if (!before || !before->unit)
        return true;
    const char *kept = before->unit->kept, *result = walk->cause.instance ? NULL : before->result;
    free(walk->kept);
    walk->kept = kept ? strdup(kept) : NULL;
    if (kept && !walk->kept)
        return error_no_memory(error);
    return !result || json_put(walk->cause.object, "id", json_integer(strtoll(result, NULL, 10))) ||
           error_no_memory(error);
}

/* Takes over what the last walk printed: a walk that is done again calls its handlers no more. */
static void take_lines(struct process_walk *walk) {
    struct outcome_line **end = &walk->lines;
    while (*end)
        end = &(*end)->next;
    *end = walk->outcome->lines;
    walk->outcome->lines = NULL;
}

/* Takes the lanes that the walk needs, and keeps what it did: the next one begins with both. */
static enum answer go_back(struct process_walk *walk, struct engine *engine, struct error *error) {
    char *kept = script_kept(walk->generation->script);
    if (kept) {
        free(walk->kept);
        walk->kept = kept;
    }
    return process_lanes_order(engine, error) ? NO : FAILED;
}

/* No handler is called for what a power cut may take back. Most walks rest on one instance alone:
 * others are not on the disk yet where many clients give commands. */
static bool is_durable(const struct process_walk *walk, struct engine *engine,
                       struct error *error) {
    const char *kind = json_text(walk->cause.object, "kind");
    bool others = !walk->cause.instance && !(kind && strcmp(kind, "start") == 0);
    bool more = others || walk->cause.broadcast || text_of(walk, "around") ||
                json_is_true(json_object_get(walk->command, "unique"));
    return more ? store_seen(engine->store, error)
                : store_seen_of(engine->store, walk->cause.instance, error);
}

enum answer process_walk_go(struct process_walk *walk, struct engine *engine, struct error *error) {
    if (!find_generation(walk, engine, error) || !is_durable(walk, engine, error) ||
        !keep(walk, error))
        return FAILED;
    struct job *job = job_of(walk, engine, engine_now(engine));
    const time_ms began = clock_monotonic();
    engine->running = true;
    engine->lane_refused = (struct error){0};
    outcome_free(walk->outcome);
    process_lanes_keep(engine);
    walk->outcome =
        job ? script_run(walk->generation->script, job, engine_now(engine), began) : NULL;
    process_lanes_rest(engine);
    walk->took += clock_monotonic() - began;
    engine->running = false;
    generation_freshen(walk->generation);
    walk->walks++;
    if (!walk->outcome)
        return error_no_memory(error) ? YES : FAILED;
    take_lines(walk);
    if (walk->outcome->kind == OUTCOME_SUCCESS && walk->outcome->unit)
        return YES;
    if (process_lanes_want(engine))
        return go_back(walk, engine, error);
    return refuse_failure(walk, engine, error) ? YES : FAILED;
}

/* Other changes may come first once more. */
static bool may_again(struct process_walk *walk, struct engine *engine, struct error *error) {
    if (!walk->until)
        walk->until = clock_monotonic() + engine->options.settings->patience;
    return walk->walks <= WALKS_MAX || clock_monotonic() < walk->until ||
           error_set(error, ERROR_CONFLICT, "instance %lld: %d other changes came first",
                     (long long)walk->cause.instance, walk->walks);
}

bool process_walk_run(struct process_walk *walk, struct engine *engine, struct error *error) {
    enum answer done = NO;
    while (done == NO)
        done = may_again(walk, engine, error) && process_walk_meet(walk, engine, error)
                   ? process_walk_go(walk, engine, error)
                   : FAILED;
    return done == YES;
}

/* ---- writing ---- */

/* Who has commanded what. */
static bool make_entry(struct process_entry *made, const struct process_walk *walk,
                       const json_t *before, struct error *error) {
    struct process_cause cause = walk->cause;
    cause.instance = walk->instance;
    return process_entry_make(made, &cause, walk->command, before, error);
}

/* A start answers with the id of its instance, a change with the values before it. */
static bool read_result(struct process_walk *walk, json_t **result, struct error *error) {
    const char *text = walk->outcome->result;
    *result = text ? json_read(text, strlen(text), "result", error) : NULL;
    walk->instance = json_is_integer(*result) ? json_integer_value(*result) : walk->cause.instance;
    return *result || !text;
}

enum answer process_walk_settle(struct process_walk *walk, struct engine *engine, bool alone,
                                struct error *error) {
    json_t *result;
    struct process_entry made = {0};
    enum answer done = FAILED;
    if (read_result(walk, &result, error) && make_entry(&made, walk, result, error)) {
        struct store_entry entry = {made.verb,
                                    made.entity,
                                    made.before,
                                    made.after,
                                    walk->cause.broadcast ? 0 : walk->instance,
                                    {{0}}};
        if (alone)
            process_lanes_enter(engine, &entry);
        done = store_unit(engine->store, walk->outcome, &entry, engine_now(engine), error);
        if (done == NO)
            walk->insists =
                walk->insists || walk->outcome->unit->contends || walk->walks >= WALKS_MAX;
    }
    process_entry_clear(&made);
    json_decref(result);
    return done;
}

static bool is_behind(enum settled settled) {
    return settled == SETTLED_BEHIND || settled == SETTLED_WAITS;
}

/* The lanes go with the units; of a single one not, if it walks again. */
static bool end_write(struct process_walk *const *walks, size_t count, struct engine *engine,
                      struct error *error) {
    struct outcome *first = walks[0]->outcome;
    return store_settle_outside(engine->store, first, NULL, engine_now(engine), error) &&
           ((count == 1 && is_behind(first->settled)) || process_lanes_write(engine, error));
}

/* Puts the outcomes into a chain, or takes them out of it. */
static void chain(struct process_walk *const *walks, size_t count, bool on) {
    for (size_t i = 0; i < count; i++)
        walks[i]->outcome->next = on && i + 1 < count ? walks[i + 1]->outcome : NULL;
}

bool process_walks_end(struct process_walk *const *walks, size_t count, struct engine *engine,
                       struct error *error) {
    for (size_t i = 0; i < count; i++) { /* the command insists, not the job */
        walks[i]->contends = walks[i]->outcome->unit->contends;
        walks[i]->outcome->unit->contends = false;
    }
    chain(walks, count, true);
    bool done = store_begin(engine->store, STORE_COMMAND, error) &&
                engine_end(engine, end_write(walks, count, engine, error), error);
    CRASH_POINT("externals_committed");
    chain(walks, count, false);
    if (done && (count > 1 || !is_behind(walks[0]->outcome->settled)))
        process_lanes_forget(engine);
    return done;
}

enum answer process_walk_ended(struct process_walk *walk, struct error *error) {
    const struct outcome *outcome = walk->outcome;
    if (is_behind(outcome->settled)) {
        walk->insists = walk->insists || walk->contends || walk->walks >= WALKS_MAX;
        return NO;
    }
    if (outcome->kind == OUTCOME_SUCCESS)
        return YES;
    /* a suspended caller would go on: it waits */
    error_set(error, ERROR_CONFLICT, "%s", outcome->message ? outcome->message : "");
    return FAILED;
}

bool process_walk_note(struct process_walk *walk, struct engine *engine, struct error *error) {
    struct process_entry made;
    bool done = make_entry(&made, walk, NULL, error);
    const struct store_entry entry = {made.verb, made.entity, made.before, made.after, 0, {{0}}};
    done = done && store_note(engine->store, &entry, engine_now(engine), error);
    process_entry_clear(&made);
    return done;
}

struct unit_message process_walk_message(const struct process_walk *walk, char **variables) {
    const json_t *object = walk->cause.object;
    *variables = json_dumps(json_object_get(object, "variables"), JSON_COMPACT);
    return (struct unit_message){
        .name = json_string_value(json_object_get(object, "name")),
        .key = json_string_value(json_object_get(object, "key")),
        .variables = *variables,
        .instance = json_integer_value(json_object_get(object, "instance")),
        .business_key = json_string_value(json_object_get(object, "business_key")),
        .until = walk->cause.keeps,
    };
}

enum answer process_walk_keep(struct process_walk *walk, struct engine *engine,
                              struct error *error) {
    char *variables;
    size_t at = 0;
    const struct unit_message one = process_walk_message(walk, &variables);
    enum answer kept = store_messages_keep(engine->store, &one, 1, &at, engine_now(engine), error);
    free(variables);
    return kept == YES && !process_walk_note(walk, engine, error) ? FAILED : kept;
}

bool process_walk_signal(struct process_walk *walk, struct engine *engine, struct error *error) {
    const json_t *object = walk->cause.object;
    char *variables = json_dumps(json_object_get(object, "variables"), JSON_COMPACT);
    const struct unit_signal one = {
        .name = json_text(object, "name"),
        .variables = variables,
        .tenant = json_text(object, "tenant"),
        .only = json_int(object, "only"),
        .message = json_is_true(json_object_get(object, "message")),
        .key = json_text(object, "key"),
        .business_key = json_text(object, "business_key"),
        .until = TIME_NONE,
    };
    bool done = (!walk->cause.receivers ||
                 store_signal(engine->store, &one, NULL, engine_now(engine), error)) &&
                process_walk_note(walk, engine, error);
    free(variables);
    return done;
}
