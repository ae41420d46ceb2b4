#include "engine/fetch.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include "time/span.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const keys[] = {"worker", "topics", "max", "lock", "priority", NULL};
static const char *const topic_keys[] = {"topic", "lock", "priority", "tenant", "category", NULL};

static bool read_name(const char *what, const json_t *value, const char **name,
                      struct error *error) {
    *name = json_string_value(value);
    const size_t size = *name ? strlen(*name) : 0;
    return (size > 0 && size <= JOB_NAME_MAX) ||
           json_refuse(what, value, "a text of 1 to 255 bytes", error);
}

/* Absent: NULL. */
static bool read_optional(const json_t *object, const char *what, const char **name,
                          struct error *error) {
    const json_t *value = json_object_get(object, what);
    return !value || json_is_null(value) || read_name(what, value, name, error);
}

/* A span above 0; absent: as it is. */
static bool read_lock(const json_t *object, time_ms *lock, struct error *error) {
    const json_t *value = json_object_get(object, "lock");
    struct error why = {0};
    if (!value || json_is_null(value))
        return true;
    if (!json_is_string(value))
        return json_refuse("lock", value, "a span such as \"PT5M\"", error);
    if (!span_parse_ms(json_string_value(value), lock, &why))
        return error_set(error, why.code, "lock: %s", why.text);
    return *lock > 0 || json_refuse("lock", value, "more than nothing", error);
}

static bool read_bound(const json_t *value, int64_t *bound, struct error *error) {
    return !value || json_is_null(value) || json_whole(value, INT64_MIN, INT64_MAX, bound) ||
           json_refuse("priority", value, "a whole number or nothing", error);
}

/* [ least, highest ]; absent: as it is. */
static bool read_priority(const json_t *object, int64_t *least, int64_t *most,
                          struct error *error) {
    const json_t *range = json_object_get(object, "priority");
    if (!range || json_is_null(range))
        return true;
    if (!json_is_array(range) || json_array_size(range) > 2)
        return json_refuse("priority", range, "the least and the highest one", error);
    *least = INT64_MIN;
    *most = INT64_MAX;
    return read_bound(json_array_get(range, 0), least, error) &&
           read_bound(json_array_get(range, 1), most, error) &&
           (*least <= *most ||
            json_refuse("priority", range, "the least one first, then the highest", error));
}

/* How long the definition says that a job of the topic may take; else as any lock lasts. */
static time_ms lock_of(struct engine *engine, const char *topic) {
    char handler[JOB_NAME_MAX + 16];
    snprintf(handler, sizeof handler, "topic/%s", topic);
    const struct definition *definition = definitions_find(engine_definitions(engine), handler);
    return definition && definition->timeout ? definition->timeout
                                             : engine->options.settings->lock_time;
}

/* What an object says of its topic beside the name. */
static bool read_wishes(struct wanted_topic *wanted, const json_t *entry, struct error *error) {
    if (!json_keys(entry, topic_keys, "unknown key", "expected", error) ||
        !read_lock(entry, &wanted->lock, error))
        return false;
    return read_priority(entry, &wanted->priority_min, &wanted->priority_max, error) &&
           read_optional(entry, "tenant", &wanted->tenant, error) &&
           read_optional(entry, "category", &wanted->category, error);
}

static bool is_twice(const struct fetch *fetch, const char *name) {
    for (size_t i = 0; i < fetch->count; i++)
        if (strcmp(fetch->list[i].name, name) == 0)
            return true;
    return false;
}

static bool read_topic(struct fetch *fetch, const struct wanted_topic *all, struct engine *engine,
                       json_t *entry, struct error *error) {
    struct wanted_topic wanted = *all;
    json_t *value = json_is_object(entry) ? json_object_get(entry, "topic") : entry;
    if (!read_name("topic", value, &wanted.name, error) ||
        (value != entry && !read_wishes(&wanted, entry, error)))
        return false;
    if (is_twice(fetch, wanted.name))
        return json_refuse("topics", value, "each topic once", error);
    wanted.lock = wanted.lock ? wanted.lock : lock_of(engine, wanted.name);
    fetch->list[fetch->count++] = wanted;
    fetch->lock = wanted.lock > fetch->lock ? wanted.lock : fetch->lock;
    fetch->least = wanted.priority_min < fetch->least ? wanted.priority_min : fetch->least;
    fetch->most = wanted.priority_max > fetch->most ? wanted.priority_max : fetch->most;
    return json_array_append(fetch->topics, value) == 0 || error_no_memory(error);
}

static bool read_topics(struct fetch *fetch, const struct wanted_topic *all, struct engine *engine,
                        const json_t *topics, struct error *error) {
    size_t i;
    json_t *entry;
    const size_t count = json_array_size(topics);
    if (!count || count > FETCH_TOPICS_MAX)
        return json_refuse("topics", topics, "a list of 1 to 1000 topics", error);
    fetch->list = calloc(count, sizeof *fetch->list);
    if (!fetch->list)
        return error_no_memory(error);
    json_array_foreach(topics, i, entry) {
        if (!read_topic(fetch, all, engine, entry, error))
            return false;
    }
    return true;
}

static bool read_max(struct fetch *fetch, const json_t *max, struct error *error) {
    int64_t number = 1;
    if (max && !json_is_null(max) && !json_whole(max, 1, FETCH_MAX, &number))
        return json_refuse("max", max, "a whole number from 1 to 1000", error);
    fetch->max = (int)number;
    return true;
}

/* What stands beside the topics is of those that say nothing else. */
static bool read_all(struct fetch *fetch, struct engine *engine, const json_t *question,
                     struct error *error) {
    struct wanted_topic all = {.priority_min = INT64_MIN, .priority_max = INT64_MAX};
    const json_t *worker = json_object_get(question, "worker");
    if (!json_keys(question, keys, "unknown key", "expected", error) ||
        !read_lock(question, &all.lock, error))
        return false;
    if (!read_name("worker", worker, &fetch->worker, error) ||
        !read_priority(question, &all.priority_min, &all.priority_max, error))
        return false;
    return read_max(fetch, json_object_get(question, "max"), error) &&
           read_topics(fetch, &all, engine, json_object_get(question, "topics"), error);
}

bool fetch_read(struct fetch *fetch, struct engine *engine, const json_t *question,
                struct error *error) {
    *fetch = (struct fetch){.topics = json_array(), .least = INT64_MAX, .most = INT64_MIN};
    if (!fetch->topics)
        return error_no_memory(error);
    return read_all(fetch, engine, question, error);
}

void fetch_clear(struct fetch *fetch) {
    json_decref(fetch->topics);
    free(fetch->list);
    *fetch = (struct fetch){0};
}

/* ---- taking ---- */

/* With what the activity of its instance sees. In the transaction that has locked it. */
static bool add_job(struct engine *engine, const struct job *job, struct text *out,
                    struct error *error) {
    json_t *variables = store_variables_seen(engine->store, job, error);
    if (!variables)
        return false;
    text_push(out, "{", 1);
    job_write(job, out);
    text_add(out, ",\"variables\":");
    json_add_value(out, variables);
    text_push(out, "}", 1);
    json_decref(variables);
    return !out->failed || error_no_memory(error);
}

static bool add_jobs(struct engine *engine, const struct job *jobs, struct fetched *fetched,
                     struct error *error) {
    struct text *out = &fetched->text;
    bool done = true;
    text_push(out, "[", 1);
    for (; done && jobs; jobs = jobs->next) {
        if (fetched->count++)
            text_push(out, ",", 1);
        done = add_job(engine, jobs, out, error);
    }
    text_push(out, "]", 1);
    return done && (!out->failed || error_no_memory(error));
}

bool fetch_take(struct engine *engine, struct fetch *fetch, struct fetched *fetched,
                struct error *error) {
    const struct acquire order = acquire_from(engine->options.settings);
    struct job *jobs = NULL;
    if (!store_fetch(engine->store, fetch, &order, engine_now(engine), &jobs, error))
        return false;
    bool done = add_jobs(engine, jobs, fetched, error);
    job_free_list(jobs);
    return done;
}

void fetched_clear(struct fetched *fetched) {
    text_clear(&fetched->text);
    fetched->count = 0;
}

static bool take(struct engine *engine, struct fetch *fetch, struct fetched *fetched,
                 struct error *error) {
    return store_begin(engine->store, STORE_TURN, error) &&
           engine_end(engine, fetch_take(engine, fetch, fetched, error), error);
}

bool engine_fetch(struct engine *engine, const json_t *question, struct text *answer,
                  struct error *error) {
    struct fetch fetch = {0};
    struct fetched fetched = {0};
    bool done = engine_idle(engine, error) && fetch_read(&fetch, engine, question, error) &&
                take(engine, &fetch, &fetched, error);
    fetch_clear(&fetch);
    if (done)
        *answer = fetched.text;
    else
        fetched_clear(&fetched);
    return done;
}

/* ---- for those who wait ---- */

bool engine_listen(struct engine *engine, const json_t *topics, struct error *error) {
    return store_listen(engine->store, engine->options.settings->name, topics, engine_now(engine),
                        error);
}

int engine_bell(const struct engine *engine) {
    return store_bell(engine->store);
}

bool engine_heard(struct engine *engine) {
    return store_has_changes(engine->store);
}

bool engine_awaited(struct engine *engine, const json_t *topics, json_t **found, time_ms *wait,
                    struct error *error) {
    time_ms next = TIME_NEVER;
    const time_ms now = engine_now(engine);
    const bool done = store_listeners_tidy(engine->store, error) &&
                      store_awaited(engine->store, topics, now, found, &next, error);
    *wait = next == TIME_NEVER ? TIME_NEVER : next - now;
    return done;
}
