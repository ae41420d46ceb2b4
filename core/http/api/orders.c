#include "http/api/orders.h"
#include "base/json.h"
#include "http/api/keyed.h"
#include "http/api/sight.h"
#include "run/stepper.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- verbs ---- */

/* True if the header's list has the tag, or the header is a star. */
static bool has_tag(const char *header, const char *tag) {
    for (const char *at = header; *at; at += *at == ',') {
        at += strspn(at, " ");
        const size_t size = strcspn(at, ", ");
        if (size == strlen(tag) && strncmp(at, tag, size) == 0)
            return true;
        at += strcspn(at, ",");
    }
    return strcmp(header, "*") == 0;
}

/* The job must be as the caller has seen it: by its rev, or by its ETag. */
static bool match(const struct call *call, const json_t *job, struct error *error) {
    const char *wanted = exchange_header(call->exchange, "if-match");
    char rev[32], etag[64];
    if (!wanted)
        return true;
    snprintf(rev, sizeof rev, "\"%" PRId64 "\"", json_int(job, "rev"));
    snprintf(etag, sizeof etag, "\"%" PRId64 "-%" PRId64 "\"", json_int(job, "rev"),
             json_int(job, "attempt"));
    return has_tag(wanted, rev) || has_tag(wanted, etag) ||
           error_set(error, ERROR_CHANGED, "job %" PRId64 ": If-Match %.60s, but it is %s by now",
                     call->place.id, wanted, etag);
}

/* One job by its id. Of one that is out of sight nothing is told. */
static bool check_job(struct call *call, struct error *error) {
    if (!exchange_header(call->exchange, "if-match") && !sight_is_narrow(call))
        return true;
    json_t *question = json_pack("{sI}", "id", (json_int_t)call->place.id);
    json_t *job = question ? engine_ask(call->engine, ASK_JOB, question, error) : NULL;
    bool fine = job && (sight_sees(call, job) ||
                        error_set(error, ERROR_NOT_FOUND, "no job %" PRId64, call->place.id));
    fine = fine && match(call, job, error);
    json_decref(question);
    json_decref(job);
    return fine;
}

/* Jobs by their ids: all must be in sight. */
static bool check_ids(struct call *call, const json_t *ids, struct error *error) {
    size_t i;
    const json_t *id;
    bool fine = true;
    if (json_is_integer(ids))
        return sight_job(call, json_integer_value(ids), error);
    json_array_foreach(ids, i, id)
        fine = fine && sight_job(call, json_integer_value(id), error);
    return fine;
}

static bool check_jobs(struct call *call, json_t *command, struct error *error) {
    json_t *query = json_object_get(command, "query");
    if (call->place.id)
        return check_job(call, error);
    if (json_is_object(query))
        return sight_filters(call, ASK_JOBS, query, error);
    return !sight_is_narrow(call) || check_ids(call, json_object_get(command, "ids"), error);
}

/* What it is done to must be in sight. */
static bool check_target(struct call *call, json_t *command, struct error *error) {
    switch (call->route->target) {
    case TARGET_JOBS:
        return check_jobs(call, command, error);
    case TARGET_TASK:
        return sight_task(call, json_int(command, "task"), error);
    case TARGET_DEFINITION:
    case TARGET_INSTANCE:
    case TARGET_INCIDENT:
    case TARGET_BATCH:
    case TARGET_HISTORY:
    case TARGET_PLAN:
    case TARGET_SCHEDULE:
    case TARGET_EXECUTOR:
    case TARGET_DEPLOYMENT:
    case TARGET_PROCESS:
        break;
    }
    return sight_whole(call, error);
}

/* The body's object with the verb, and with what the path names. NULL: error. */
static json_t *command_of(struct call *call, struct error *error) {
    const struct place *place = &call->place;
    const char *key = command_target_key(call->route->target);
    json_t *command = json_copy(call->body);
    bool fine = command && json_put_text(command, "verb", command_name(place->verb));
    json_object_del(command, "dry_run");
    if (fine && (place->id || place->name)) {
        if (json_object_get(command, key) || json_object_get(command, "query")) {
            error_set(error, ERROR_INVALID, "%s: the path says it already", key);
            return json_kept(command, false);
        }
        fine = json_put(command, key,
                        place->name ? json_string(place->name) : json_integer(place->id));
    }
    if (!fine)
        error_no_memory(error);
    return json_kept(command, fine);
}

static bool read_dry_run(const struct call *call, bool *dry_run, struct error *error) {
    const json_t *value = json_object_get(call->body, "dry_run");
    *dry_run = json_is_true(value);
    return !value || json_is_boolean(value) || json_is_null(value) ||
           json_refuse("dry_run", value, "true or false", error);
}

static json_t *made_of(const struct command_run *run) {
    json_t *made = run->made_count ? json_array() : NULL;
    for (int i = 0; made && i < run->made_count; i++)
        json_array_append_new(made, json_integer(run->made[i]));
    return made;
}

/* { touched, batch, jobs, held, stuck }: what there is of it. */
static bool tell_run(struct call *call, const struct command_run *run, struct error *error) {
    const struct stuck_runs *stuck = &run->stuck;
    json_t *answer = json_pack("{sI so* so* so* so*}", "touched", (json_int_t)run->touched, "batch",
                               run->batch ? json_integer(run->batch) : NULL, "jobs", made_of(run),
                               "held", run->held.jobs ? held_to_json(&run->held) : NULL, "stuck",
                               stuck->count ? json_pack("{si sI ss}", "runs", stuck->count, "job",
                                                        (json_int_t)stuck->job, "text", stuck->at)
                                            : NULL);
    if (run->batch) {
        char location[64];
        snprintf(location, sizeof location, "/v1/batches/%" PRId64, run->batch);
        call->exchange->location = strdup(location);
    }
    return call_answer(call, run->batch ? 202 : 200, answer, error);
}

bool order_verb(struct call *call, struct error *error) {
    struct command_run run = {0};
    json_t *command = command_of(call, error);
    bool done =
        command && read_dry_run(call, &run.dry_run, error) && check_target(call, command, error);
    done =
        done && engine_command(call->engine, command, &run, error) && tell_run(call, &run, error);
    json_decref(command);
    return done;
}

/* ---- by hand ---- */

bool order_execution(struct call *call, struct error *error) {
    const bool force = json_is_true(json_object_get(call->body, "force"));
    json_t *result = NULL;
    if (!sight_job(call, call->place.id, error))
        return false;
    struct stepper *stepper = stepper_new(call->engine, error);
    bool done = stepper && stepper_execute(stepper, call->place.id, force, &result, error);
    stepper_free(stepper);
    if (!done)
        return false;
    json_t *answer = json_pack("{so}", "result", result ? result : json_null());
    sight_hide(call, answer);
    return call_answer(call, 200, answer, error);
}

/* ---- commands to processes ---- */

/* What it is about must be in sight; of a start it is the tenant, which the caller's stands for. */
static bool sees(struct call *call, json_t *command, struct error *error) {
    const json_t *tenant = json_object_get(command, "tenant");
    if (!sight_is_narrow(call))
        return true;
    if (json_object_get(command, "task"))
        return sight_task(call, json_int(command, "task"), error);
    if (json_object_get(command, "instance"))
        return sight_instance(call, json_int(command, "instance"), error);
    if (strcmp(call->route->order, "start") != 0)
        return sight_whole(call, error);
    if (call->caller->tenant && !tenant && !json_put_text(command, "tenant", call->caller->tenant))
        return error_no_memory(error);
    return sight_sees(call, command) ||
           error_set(error, ERROR_FORBIDDEN,
                     "process \"%.255s\": the caller may not start it for this tenant",
                     json_text(command, "process"));
}

/* The body's object with the kind, and with what the path names. NULL: error. */
static json_t *order_of(struct call *call, struct error *error) {
    const struct place *place = &call->place;
    json_t *command = json_copy(call->body);
    bool fine = command && json_put_text(command, "kind", call->route->order);
    json_object_del(command, "later");
    if (fine && call->route->key)
        fine = json_put(command, call->route->key,
                        place->name ? json_string(place->name) : json_integer(place->id));
    if (!fine)
        error_no_memory(error);
    return json_kept(command, fine);
}

static json_t *lines_of(const struct outcome_line *line) {
    json_t *lines = line ? json_array() : NULL;
    for (; lines && line; line = line->next)
        json_array_append_new(lines, json_string(line->text));
    return lines;
}

/* { instance, job, kept, told, lines }: what there is of it. */
static bool tell_order(struct call *call, const void *result, struct error *error) {
    const struct engine_order *order = result;
    const bool later = order->job || order->by_jobs;
    json_t *answer = json_pack(
        "{so* so* so* sO* so*}", "instance", order->instance ? json_integer(order->instance) : NULL,
        "job", order->job ? json_integer(order->job) : NULL, "kept",
        order->kept ? json_true() : NULL, "told", order->told, "lines",
        caller_may(call->caller, SCOPE_PAYLOAD) ? lines_of(order->lines) : NULL);
    char location[64];
    snprintf(location, sizeof location, "/v1/jobs/%" PRId64, order->job);
    call->exchange->location = order->job ? strdup(location) : NULL;
    return call_answer(call, later ? 202 : 200, answer, error);
}

bool order_process(struct call *call, struct error *error) {
    struct engine_order order = {.later = json_is_true(json_object_get(call->body, "later"))};
    json_t *command = order_of(call, error);
    keyed_tells(call, tell_order, &order);
    bool done = command && sees(call, command, error) &&
                engine_order(call->engine, command, &order, error) && keyed_tell(call, error);
    json_decref(command);
    json_decref(order.told);
    outcome_lines_free(order.lines);
    return done;
}
