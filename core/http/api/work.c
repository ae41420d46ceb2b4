#include "http/api/work.h"
#include "base/json.h"
#include "engine/fetch.h"
#include "engine/process/settle_list.h"
#include "http/api/problem.h"
#include "http/api/sight.h"
#include <stdio.h>
#include <stdlib.h>
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
        if (json_is_string(topic_name(entry)))
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
static void give_back(struct call *call, const struct text *jobs) {
    struct error ignored = {0};
    struct text answer = {0};
    size_t i;
    const json_t *job;
    json_t *list = json_array(),
           *fetched = json_read_within(jobs->data, jobs->size, JSON_DEPTH + 2, "jobs", NULL);
    json_array_foreach(fetched, i, job) {
        json_array_append_new(list, json_pack("{sI sI ss}", "id", json_int(job, "id"), "token",
                                              json_int(job, "token"), "outcome", "release"));
    }
    json_t *question = json_pack("{so}", "outcomes", list);
    if (question)
        engine_settle(call->engine, question, &answer, &ignored);
    text_clear(&answer);
    json_decref(question);
    json_decref(fetched);
}

/* The text is taken over. */
static bool tell(struct call *call, struct text *text, bool done, struct error *error) {
    if (done && !text->failed)
        return call_answer_text(call, 200, NULL, text->data, error);
    text_clear(text);
    return done && error_no_memory(error);
}

/* ---- what the clerk writes ---- */

/* What a worker asks for, from its reading to its answer. */
struct work_asked {
    struct settlement settlement; /* first */
    const struct route *route;
    json_t *question; /* of a fetch, as far as it is in sight; NULL: it is none */
    time_ms wait;
    char who[CALLER_WHO_SIZE];
};

static struct work_asked *work_new(const struct call *call, struct error *error) {
    struct work_asked *asked = calloc(1, sizeof *asked);
    if (!asked) {
        error_no_memory(error);
        return NULL;
    }
    asked->route = call->route;
    snprintf(asked->who, sizeof asked->who, "%s", call->caller->who);
    return asked;
}

static void work_free(struct work_asked *asked) {
    settlement_clear(&asked->settlement);
    json_decref(asked->question);
    free(asked);
}

/* It has been read: what moves instances is written then, the rest by the clerk, or at once if that
 * cannot do it. */
static bool go_on(struct call *call, struct work_asked *asked, bool done) {
    asked->settlement.who = asked->who;
    if (!done) {
        work_free(asked);
        return false;
    }
    call->exchange->work = asked;
    return true;
}

/* A fetch waits if nothing is there, and what comes for a client that has gone is given back. */
static bool fetch_tell(struct call *call, struct work_asked *asked, struct error *error) {
    struct exchange *exchange = call->exchange;
    const struct fetched *fetched = &asked->settlement.fetched;
    struct text text = {0};
    if (!fetched->count && !park(exchange, asked->question, asked->wait, error))
        return false;
    if (fetched->count && asked->wait && exchange_gone(exchange))
        give_back(call, &fetched->text);
    text_add(&text, "{\"jobs\":%s}", fetched->text.data);
    return tell(call, &text, true, error);
}

static bool work_tell(struct call *call, struct work_asked *asked, struct error *error) {
    if (!asked->settlement.fine)
        return error_set(error, asked->settlement.error.code, "%s", asked->settlement.error.text);
    if (asked->question)
        return fetch_tell(call, asked, error);
    struct text text = {0};
    bool done = asked->route->key ? settlement_verdict(&asked->settlement, 0, &text, error)
                                  : settlement_answer(&asked->settlement, &text, error);
    return tell(call, &text, done, error);
}

static void work_end(struct engine *engine, struct exchange *exchange) {
    struct call call = {.engine = engine, .exchange = exchange};
    struct work_asked *asked = exchange->work;
    struct error error = {0};
    exchange->work = NULL;
    if (!work_tell(&call, asked, &error))
        problem_answer(exchange, &error);
    work_free(asked);
}

static struct settlement *settlements(struct exchange *list) {
    struct settlement *first = NULL, **end = &first;
    for (; list; list = list->next) {
        *end = &list->work->settlement;
        end = &(*end)->next;
    }
    *end = NULL;
    return first;
}

bool work_joins(const struct exchange *exchange) {
    const struct route *route = exchange->route ? &routes[exchange->route - 1] : NULL;
    return route && (route->run == answer_settle || route->run == answer_settle_one);
}

bool work_walks(const struct exchange *exchange) {
    return settlement_walks(&exchange->work->settlement);
}

void work_walk(struct engine *engine, struct exchange *list) {
    settlements_walk(engine, settlements(list));
    for (; list; list = list->next) {
        struct settlement *asked = &list->work->settlement;
        asked->next = NULL;
        if (!asked->error.code && settlement_stays(asked))
            settlements_write(engine, asked);
        if (asked->error.code || asked->fine)
            work_end(engine, list);
    }
}

void work_write(struct engine *engine, struct exchange *list) {
    settlements_write(engine, settlements(list));
    for (; list; list = list->next)
        work_end(engine, list);
}

void work_give_up(struct exchange *exchange, const struct error *error) {
    exchange->work->settlement.error = *error;
    work_end(NULL, exchange);
}

/* ---- fetching ---- */

/* Nothing is locked for a client that has gone. */
static bool leave_be(struct call *call, const json_t *question, time_ms wait, struct error *error) {
    call->exchange->passes = true;
    if (!park(call->exchange, question, wait, error))
        return false;
    call->exchange->parks_until = 0; /* nobody reads the answer */
    return call_answer(call, 200, json_pack("{s[]}", "jobs"), error);
}

bool answer_fetch(struct call *call, struct error *error) {
    time_ms wait = 0;
    json_t *question = without_wait(call, &wait, error);
    if (question && wait && exchange_gone(call->exchange)) {
        bool left = leave_be(call, question, wait, error);
        json_decref(question);
        return left;
    }
    struct work_asked *asked = question ? work_new(call, error) : NULL;
    if (!asked) {
        json_decref(question);
        return false;
    }
    asked->question = question;
    asked->wait = wait;
    return go_on(call, asked,
                 settlement_read_fetch(&asked->settlement, call->engine, question, error));
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

static bool settle(struct call *call, const json_t *question, struct error *error) {
    json_t *seen = settlement(call, question, error);
    struct work_asked *asked = seen ? work_new(call, error) : NULL;
    bool done =
        asked && go_on(call, asked, settlement_read(&asked->settlement, call->engine, seen, error));
    json_decref(seen);
    return done;
}

bool answer_settle(struct call *call, struct error *error) {
    return settle(call, call->body, error);
}

bool answer_settle_one(struct call *call, struct error *error) {
    json_t *entry = json_copy(call->body);
    json_t *worker = json_incref(json_object_get(entry, "worker"));
    json_object_del(entry, "worker");
    bool put = entry && json_put(entry, "id", json_integer(call->place.id)) &&
               json_put_text(entry, "outcome", call->route->key);
    json_t *question = put ? json_pack("{s[O] so*}", "outcomes", entry, "worker", worker) : NULL;
    bool done = question ? settle(call, question, error) : error_no_memory(error);
    json_decref(entry);
    json_decref(question);
    return done;
}
