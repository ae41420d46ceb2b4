#include "http/api/work.h"
#include "base/json.h"
#include "engine/fetch.h"
#include "engine/process/settle_list.h"
#include "http/api/sight.h"
#include <stdio.h>
#include <string.h>

#define NO_TOKEN INT64_MAX /* of no lock */

/* A worker of some handlers asks for their topics alone. */
static bool sees_topic(const struct call *call, const json_t *entry, struct error *error) {
    char handler[JOB_NAME_MAX + 16];
    const char *topic =
        json_is_object(entry) ? json_text(entry, "topic") : json_string_value(entry);
    snprintf(handler, sizeof handler, "topic/%s", topic ? topic : "");
    return caller_sees_handler(call->caller, handler) ||
           error_set(error, ERROR_FORBIDDEN, "topic \"%.255s\": the caller may not ask for it",
                     topic ? topic : "");
}

/* The same entry, of the caller's tenant alone. NULL: error. */
static json_t *of_tenant(const struct call *call, const json_t *entry, struct error *error) {
    const char *tenant = call->caller->tenant;
    json_t *object = json_is_object(entry) ? json_copy(json_unchanged(entry))
                                           : json_pack("{sO}", "topic", json_unchanged(entry));
    const char *asked = json_text(object, "tenant");
    bool fine = object || error_no_memory(error);
    if (fine && asked && strcmp(asked, tenant) != 0)
        fine = error_set(error, ERROR_FORBIDDEN, "tenant \"%.255s\": the caller may not ask for it",
                         asked);
    return json_kept(object, fine && json_put_text(object, "tenant", tenant));
}

/* Refuses topics that are out of sight; a caller of one tenant gets jobs of it alone. */
static bool narrow_topics(const struct call *call, json_t *topics, struct error *error) {
    size_t i;
    json_t *entry;
    bool fine = true;
    json_array_foreach(topics, i, entry) {
        fine = fine && sees_topic(call, entry, error);
        json_t *own = fine && call->caller->tenant ? of_tenant(call, entry, error) : NULL;
        if (fine && call->caller->tenant)
            fine = own && json_array_set_new(topics, i, own) == 0;
    }
    return fine;
}

/* What is asked for as far as it is in sight, the caller's. NULL: error. */
static json_t *narrowed(const struct call *call, const json_t *question, struct error *error) {
    json_t *copy = json_copy(json_unchanged(question));
    json_t *topics = json_copy(json_object_get(question, "topics"));
    bool fine = copy || error_no_memory(error);
    if (fine && topics)
        fine = narrow_topics(call, topics, error) && json_object_set(copy, "topics", topics) == 0;
    json_decref(topics);
    return json_kept(copy, fine);
}

/* The question without how long it may wait, which the door knows about. NULL: error. */
static json_t *without_wait(const struct call *call, time_ms *wait, struct error *error) {
    json_t *question = narrowed(call, call->body, error);
    bool fine = question && call_wait(json_object_get(question, "wait"), wait, error);
    json_object_del(question, "wait");
    return json_kept(question, fine);
}

static const json_t *topic_name(const json_t *entry) {
    return json_is_object(entry) ? json_object_get(entry, "topic") : entry;
}

static json_t *topic_names(const json_t *topics) {
    json_t *names = json_array();
    size_t i;
    json_t *entry;
    json_array_foreach(topics, i, entry)
        json_array_append(names, json_unchanged(topic_name(entry)));
    return names;
}

/* Nothing is there: the door asks again once there may be. */
static bool park(struct exchange *exchange, const json_t *question, time_ms wait,
                 struct error *error) {
    const time_ms until = exchange->began / 1000 + wait;
    const json_t *topics = json_object_get(question, "topics");
    if (until <= clock_monotonic())
        return true;
    json_t *wants = json_pack("[OO*]", topics, json_object_get(question, "priority"));
    exchange->wants = wants ? json_write(wants, NULL) : NULL;
    exchange->topics = topic_names(topics);
    exchange->parks_until = until;
    json_decref(wants);
    return (exchange->wants && exchange->topics) || error_no_memory(error);
}

/* Its client has gone meanwhile. */
static void give_back(struct call *call, const json_t *jobs) {
    struct error ignored = {0};
    size_t i;
    const json_t *job;
    json_t *list = json_array(), *answer = NULL;
    json_array_foreach(jobs, i, job) {
        json_array_append_new(list, json_pack("{sI sI ss}", "id", json_int(job, "id"), "token",
                                              json_int(job, "token"), "outcome", "release"));
    }
    json_t *question = json_pack("{so}", "outcomes", list);
    if (question && engine_settle(call->engine, question, &answer, &ignored))
        json_decref(answer);
    json_decref(question);
}

/* Nothing is locked for a client that has gone. */
bool answer_fetch(struct call *call, struct error *error) {
    struct exchange *exchange = call->exchange;
    json_t *jobs = NULL;
    time_ms wait = 0;
    json_t *question = without_wait(call, &wait, error);
    bool done = question != NULL;
    exchange->passes = done && wait && exchange_gone(exchange);
    if (exchange->passes)
        jobs = json_array();
    else
        done = done && engine_fetch(call->engine, question, &jobs, error);
    if (done && !json_array_size(jobs))
        done = park(exchange, question, wait, error);
    else if (done && wait && exchange_gone(exchange))
        give_back(call, jobs);
    json_decref(question);
    return done && call_answer(call, 200, json_pack("{so}", "jobs", jobs), error);
}

/* What a worker creates with an outcome must be in sight of a caller who may create. Without a
 * tenant it gets that of the worker's job. */
static bool may_create(const struct call *call, const json_t *job, struct error *error) {
    const struct caller *caller = call->caller;
    const char *handler = json_text(job, "handler"), *tenant = json_text(job, "tenant");
    if (!caller_may(caller, SCOPE_ENQUEUE))
        return error_set(error, ERROR_FORBIDDEN,
                         "create: the caller may not create jobs (expected the scope enqueue)");
    if (tenant && !caller_sees_tenant(caller, tenant))
        return error_set(error, ERROR_FORBIDDEN,
                         "tenant: the caller may not create jobs of another one");
    return !handler || caller_sees_handler(caller, handler) ||
           error_set(error, ERROR_FORBIDDEN,
                     "handler \"%.255s\": the caller may not create its jobs", handler);
}

static bool may_create_all(const struct call *call, const json_t *outcomes, struct error *error) {
    size_t i, j;
    const json_t *entry, *job;
    bool fine = true;
    json_array_foreach(outcomes, i, entry)
        json_array_foreach(json_object_get(entry, "create"), j, job)
            fine = fine && may_create(call, job, error);
    return fine;
}

/* A job is its worker's by its token. Where it is out of sight no token is: the entry is refused as
 * one whose lock is lost. NULL: error. */
static json_t *outcome_seen(const struct call *call, json_t *entry, struct error *error) {
    struct error why = {0};
    json_t *id = json_object_get(entry, "id");
    if (!sight_is_narrow(call) || !json_is_integer(id) ||
        sight_job(call, json_integer_value(id), &why))
        return json_incref(entry);
    json_t *copy = why.code == ERROR_NOT_FOUND ? json_copy(entry) : NULL;
    bool fine = copy ? json_put(copy, "token", json_integer(NO_TOKEN)) || error_no_memory(error)
                     : error_set(error, why.code, "%s", why.text);
    return json_kept(copy, fine);
}

static json_t *outcomes_seen(const struct call *call, const json_t *outcomes, struct error *error) {
    size_t i;
    json_t *entry, *list = json_array();
    bool fine = list || error_no_memory(error);
    json_array_foreach(json_unchanged(outcomes), i, entry) {
        json_t *seen = fine ? outcome_seen(call, entry, error) : NULL;
        fine = seen && json_array_append_new(list, seen) == 0;
    }
    return json_kept(list, fine);
}

/* What is in sight of it; the fetch in it is a question of its own. NULL: error. */
static json_t *settlement(const struct call *call, const json_t *question, struct error *error) {
    const json_t *fetch = json_object_get(question, "fetch");
    const json_t *outcomes = json_object_get(question, "outcomes");
    json_t *copy = json_copy(json_unchanged(question)), *own = NULL;
    bool fine = copy || error_no_memory(error);
    if (fine && json_is_array(outcomes))
        fine = may_create_all(call, outcomes, error) &&
               (own = outcomes_seen(call, outcomes, error)) && json_put(copy, "outcomes", own);
    if (fine && json_is_object(fetch))
        fine = (own = narrowed(call, fetch, error)) && json_put(copy, "fetch", own);
    return json_kept(copy, fine);
}

static bool settle(struct call *call, const json_t *question, json_t **answer,
                   struct error *error) {
    json_t *asked = settlement(call, question, error);
    bool done = asked && engine_settle(call->engine, asked, answer, error);
    json_decref(asked);
    return done;
}

bool answer_settle(struct call *call, struct error *error) {
    json_t *answer = NULL;
    return settle(call, call->body, &answer, error) && call_answer(call, 200, answer, error);
}

/* The code of a verdict. */
static enum error_code code_of(const char *name) {
    int code = ERROR_FAILED;
    while (code < ERROR_RATE && strcmp(error_code_name((enum error_code)code), name) != 0)
        code++;
    return (enum error_code)code;
}

bool answer_settle_one(struct call *call, struct error *error) {
    json_t *entry = json_copy(call->body), *answer = NULL;
    json_t *worker = json_incref(json_object_get(entry, "worker"));
    json_object_del(entry, "worker");
    bool put = entry && json_put(entry, "id", json_integer(call->place.id)) &&
               json_put_text(entry, "outcome", call->route->key);
    json_t *question = put ? json_pack("{s[O] so*}", "outcomes", entry, "worker", worker) : NULL;
    bool done = question ? settle(call, question, &answer, error) : error_no_memory(error);
    json_t *verdict = json_array_get(json_object_get(answer, "outcomes"), 0);
    const char *code = json_text(verdict, "code");
    if (done && code)
        done = error_set(error, code_of(code), "%s", json_text(verdict, "message"));
    done = done && call_answer(call, 200, json_incref(verdict), error);
    json_decref(entry);
    json_decref(question);
    json_decref(answer);
    return done;
}
