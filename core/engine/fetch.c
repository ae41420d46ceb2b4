#include "engine/fetch.h"
#include "base/json.h"
#include "engine/engine_state.h"
#include "time/span.h"
#include <stdio.h>
#include <string.h>

static const char *const keys[] = {"worker", "topics", "max", "lock", "priority", NULL};
static const char *const topic_keys[] = {"topic", "lock", NULL};

static bool check_keys(const json_t *object, const char *const *known, struct error *error) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        const char *const *name = known;
        while (*name && strcmp(*name, key) != 0)
            name++;
        if (!*name)
            return error_unknown(error, ERROR_INVALID, "unknown key", key, known, "expected");
    }
    return true;
}

static bool read_name(const char *what, const json_t *value, const char **name,
                      struct error *error) {
    *name = json_string_value(value);
    const size_t size = *name ? strlen(*name) : 0;
    return (size > 0 && size <= JOB_NAME_MAX) ||
           json_refuse(what, value, "a text of 1 to 255 bytes", error);
}

/* A span above 0; absent: 0. */
static bool read_lock(const json_t *object, time_ms *lock, struct error *error) {
    const json_t *value = json_object_get(object, "lock");
    *lock = 0;
    if (!value || json_is_null(value))
        return true;
    if (!json_is_string(value))
        return json_refuse("lock", value, "a span such as \"PT5M\"", error);
    return span_parse_ms(json_string_value(value), lock, error) &&
           (*lock > 0 || json_refuse("lock", value, "more than nothing", error));
}

static bool read_topic(struct fetch *fetch, json_t *entry, struct error *error) {
    const char *name;
    time_ms lock = 0;
    json_t *value = json_is_object(entry) ? json_object_get(entry, "topic") : entry;
    if (json_is_object(entry) && !check_keys(entry, topic_keys, error))
        return false;
    if (!read_name("topic", value, &name, error) ||
        (value != entry && !read_lock(entry, &lock, error)))
        return false;
    if (json_object_get(fetch->locks, name))
        return json_refuse("topics", value, "each topic once", error);
    return (json_object_set_new(fetch->locks, name, json_integer(lock)) == 0 &&
            json_array_append(fetch->topics, value) == 0) ||
           error_no_memory(error);
}

static bool read_topics(struct fetch *fetch, const json_t *topics, struct error *error) {
    size_t i;
    json_t *entry;
    if (!json_is_array(topics) || !json_array_size(topics))
        return json_refuse("topics", topics, "a list of topics", error);
    json_array_foreach(topics, i, entry) {
        if (!read_topic(fetch, entry, error))
            return false;
    }
    return true;
}

static bool read_bound(const json_t *value, int64_t *bound, struct error *error) {
    return !value || json_is_null(value) || json_whole(value, INT64_MIN, INT64_MAX, bound) ||
           json_refuse("priority", value, "a whole number or nothing", error);
}

static bool read_priority(struct fetch *fetch, const json_t *range, struct error *error) {
    fetch->min = INT64_MIN;
    fetch->max = INT64_MAX;
    if (!range || json_is_null(range))
        return true;
    if (!json_is_array(range) || json_array_size(range) > 2)
        return json_refuse("priority", range, "the least and the highest one", error);
    return read_bound(json_array_get(range, 0), &fetch->min, error) &&
           read_bound(json_array_get(range, 1), &fetch->max, error);
}

static bool read_most(struct fetch *fetch, const json_t *most, struct error *error) {
    int64_t number = 1;
    if (most && !json_is_null(most) && !json_whole(most, 1, FETCH_MAX, &number))
        return json_refuse("max", most, "a whole number from 1 to 1000", error);
    fetch->most = (int)number;
    return true;
}

static bool read_all(struct fetch *fetch, const json_t *question, struct error *error) {
    if (!check_keys(question, keys, error) || !read_lock(question, &fetch->lock, error))
        return false;
    if (!read_name("worker", json_object_get(question, "worker"), &fetch->worker, error))
        return false;
    return read_topics(fetch, json_object_get(question, "topics"), error) &&
           read_priority(fetch, json_object_get(question, "priority"), error) &&
           read_most(fetch, json_object_get(question, "max"), error);
}

/* How long the definition says that a job of the topic may take; else as any lock lasts. */
static time_ms lock_of(struct engine *engine, const char *topic) {
    char handler[JOB_NAME_MAX + 16];
    snprintf(handler, sizeof handler, "topic/%s", topic);
    const struct definition *definition = definitions_find(engine_definitions(engine), handler);
    return definition && definition->timeout ? definition->timeout
                                             : engine->options.settings->lock_time;
}

/* Fills in what the question leaves open. */
static bool fill(struct engine *engine, struct fetch *fetch, struct error *error) {
    size_t i;
    const json_t *topic;
    json_array_foreach(fetch->topics, i, topic) {
        const char *name = json_string_value(topic);
        time_ms lock = json_int(fetch->locks, name);
        lock = lock ? lock : fetch->lock;
        lock = lock ? lock : lock_of(engine, name);
        if (!json_put(fetch->locks, name, json_integer(lock)))
            return error_no_memory(error);
    }
    if (!fetch->lock)
        fetch->lock = engine->options.settings->lock_time;
    return true;
}

bool fetch_read(struct fetch *fetch, struct engine *engine, const json_t *question,
                struct error *error) {
    *fetch = (struct fetch){.topics = json_array(), .locks = json_object()};
    if (!fetch->topics || !fetch->locks)
        return error_no_memory(error);
    return read_all(fetch, question, error) && fill(engine, fetch, error);
}

void fetch_clear(struct fetch *fetch) {
    json_decref(fetch->topics);
    json_decref(fetch->locks);
    fetch->topics = fetch->locks = NULL;
}

/* ---- taking ---- */

static json_t *job_shown(struct engine *engine, const struct job *job, struct error *error) {
    json_t *object = job_to_json(job);
    json_t *variables = object ? store_variables_seen(engine->store, job, error) : NULL;
    if (!object)
        error_no_memory(error);
    if (variables && json_put(object, "variables", variables))
        return object;
    json_decref(object);
    return NULL;
}

/* In the transaction that has locked them. NULL: error. */
static json_t *jobs_shown(struct engine *engine, const struct job *jobs, struct error *error) {
    json_t *list = json_array();
    bool done = list || error_no_memory(error);
    for (; done && jobs; jobs = jobs->next) {
        json_t *object = job_shown(engine, jobs, error);
        done = object && (json_array_append_new(list, object) == 0 || error_no_memory(error));
    }
    return json_kept(list, done);
}

bool fetch_take(struct engine *engine, const struct fetch *fetch, json_t **shown,
                struct error *error) {
    const struct acquire order = acquire_from(engine->options.settings);
    struct job *jobs = NULL;
    if (!store_fetch(engine->store, fetch, &order, engine_now(engine), &jobs, error))
        return false;
    *shown = jobs_shown(engine, jobs, error);
    job_free_list(jobs);
    return *shown != NULL;
}

static bool take(struct engine *engine, const struct fetch *fetch, json_t **answer,
                 struct error *error) {
    return store_begin(engine->store, STORE_TURN, error) &&
           engine_end(engine, fetch_take(engine, fetch, answer, error), error);
}

bool engine_fetch(struct engine *engine, const json_t *question, json_t **answer,
                  struct error *error) {
    struct fetch fetch = {0};
    *answer = NULL;
    bool done = engine_idle(engine, error) && fetch_read(&fetch, engine, question, error) &&
                take(engine, &fetch, answer, error);
    fetch_clear(&fetch);
    if (!done) {
        json_decref(*answer);
        *answer = NULL;
    }
    return done;
}
