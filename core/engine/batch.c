#include "engine/batch.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/batch_type.h"
#include "engine/engine_state.h"
#include "engine/intake.h"
#include "job/command.h"
#include <string.h>

#define SEED_JOBS 10000 /* execution jobs of one seed at most */

struct reading {
    struct store_batch batch;
    int64_t priority;
};

/* ---- its description ---- */

static const char *const keys[] = {"type",        "config",        "name",
                                   "on_complete", "jobs_per_seed", "invocations",
                                   "retries",     "priority",      NULL};

static bool read_text(const json_t *spec, const char *key, const char **text, struct error *error) {
    const json_t *value = json_object_get(spec, key);
    if (!value || json_is_null(value))
        return true;
    *text = json_string_value(value);
    if (!*text || !**text)
        return json_refuse(key, value, "a text that is not empty", error);
    return json_string_length(value) <= JOB_NAME_MAX ||
           error_set(error, ERROR_INVALID, "%s \"%.40s…\": %zu bytes, at most %d are allowed", key,
                     *text, json_string_length(value), JOB_NAME_MAX);
}

static bool read_count(const json_t *spec, const char *key, int64_t most, int64_t *count,
                       struct error *error) {
    const json_t *value = json_object_get(spec, key);
    char expected[64];
    if (!value || json_is_null(value) || json_whole(value, 1, most, count))
        return true;
    snprintf(expected, sizeof expected, "a whole number from 1 to %lld", (long long)most);
    return json_refuse(key, value, expected, error);
}

static bool read_priority(const json_t *spec, struct reading *reading, struct error *error) {
    const json_t *value = json_object_get(spec, "priority");
    if (!value || json_is_null(value))
        return true;
    reading->batch.priority = &reading->priority;
    return json_whole(value, INT64_MIN, INT64_MAX, &reading->priority) ||
           json_refuse("priority", value, "a whole number of 64 bits", error);
}

/* An empty table of Lua is an object; an absent one counts as one. */
static bool read_config(const json_t *spec, struct reading *reading, struct error *error) {
    const json_t *value = json_object_get(spec, "config");
    reading->batch.config = json_is_null(value) ? NULL : value;
    return !reading->batch.config || json_is_object(value) ||
           json_refuse("config", value, "names with values", error);
}

static bool read_spec(const json_t *spec, struct reading *reading, struct error *error) {
    struct store_batch *batch = &reading->batch;
    *reading = (struct reading){0};
    if (!json_keys(spec, keys, "batch: unknown key", NULL, error) ||
        !read_text(spec, "type", &batch->type, error))
        return false;
    if (!batch->type)
        return error_set(error, ERROR_INVALID,
                         "batch: type is missing (expected one such as \"set-job-retries\")");
    if (!read_text(spec, "name", &batch->name, error) ||
        !read_text(spec, "on_complete", &batch->on_complete, error))
        return false;
    if (!read_count(spec, "jobs_per_seed", SEED_JOBS, &batch->jobs_per_seed, error) ||
        !read_count(spec, "invocations", BATCH_INVOCATIONS, &batch->invocations, error))
        return false;
    return read_count(spec, "retries", INT32_MAX, &batch->retries, error) &&
           read_priority(spec, reading, error) && read_config(spec, reading, error);
}

/* ---- whether it can be ---- */

static bool check_handler(struct engine *engine, const char *handler, struct error *error) {
    struct generation *generation;
    const struct definition *definition;
    struct error cause = {0};
    if (!handler)
        return true;
    const char *prefix = job_reserved(handler);
    if (prefix)
        return error_set(error, ERROR_INVALID,
                         "on_complete: names under %s are reserved (expected another handler)",
                         prefix);
    if (!engine_find(engine, handler, &generation, &definition, error))
        return false;
    if (definition || generation)
        return true;
    engine_unknown(engine, handler, &cause);
    return error_set(error, cause.code, "on_complete: %s", cause.text);
}

/* Fills in absent values: the settings for this type, else its file, else the general settings. */
static void complete(struct engine *engine, struct store_batch *batch,
                     const struct definition *definition) {
    const json_t *by_type = engine->options.settings->invocations_by_type;
    if (!batch->invocations && definition && !json_object_get(by_type, batch->type))
        batch->invocations = definition->invocations;
}

static bool read(struct engine *engine, const json_t *spec, struct reading *reading,
                 struct error *error) {
    const struct definition *definition = NULL;
    struct store_batch *batch = &reading->batch;
    if (!read_spec(spec, reading, error) ||
        !batch_type_find(engine, batch->type, &definition, error) ||
        !batch_type_check(engine, batch->type, batch->config, error) ||
        !check_handler(engine, batch->on_complete, error))
        return false;
    complete(engine, batch, definition);
    return true;
}

bool engine_batch_check(struct engine *engine, const json_t *spec, struct error *error) {
    struct reading reading;
    return read(engine, spec, &reading, error);
}

/* ---- filling ---- */

bool engine_batch_begin(struct engine *engine, const json_t *spec, int64_t *id,
                        struct error *error) {
    struct reading reading;
    return read(engine, spec, &reading, error) &&
           store_begin(engine->store, STORE_COMMAND, error) &&
           engine_end(
               engine,
               store_batch_begin(engine->store, &reading.batch, engine_now(engine), id, error),
               error);
}

bool engine_batch_add(struct engine *engine, int64_t id, const json_t *ids, struct error *error) {
    return store_begin(engine->store, STORE_COMMAND, error) &&
           engine_end(engine, store_batch_add(engine->store, id, ids, error), error);
}

static bool no_ids(struct error *error) {
    return error_set(error, ERROR_INVALID, "no ids (a batch needs at least one)");
}

static void batch_tell(struct command_run *run, size_t more) {
    run->touched += more;
    if (run->tell)
        run->tell(run->arg, run->touched);
}

static bool fill_ids(struct engine *engine, int64_t id, const json_t *ids, struct command_run *run,
                     struct error *error) {
    size_t count = json_array_size(ids);
    bool fine = true;
    for (size_t at = 0; fine && at < count;) {
        json_t *part = json_array();
        while (at < count && json_array_size(part) < BATCH_PART)
            json_array_append(part, json_array_get(ids, at++));
        fine = engine_batch_add(engine, id, part, error);
        batch_tell(run, json_array_size(part));
        json_decref(part);
    }
    return fine;
}

/* The next rows of a list, of which only the ids are read. NULL: error. */
static json_t *rows_ask(struct engine *engine, enum ask_kind of, const json_t *query, int64_t after,
                        int limit, struct error *error) {
    json_t *question = json_pack("{sO sI si sb}", "filters", query, "after", (json_int_t)after,
                                 "limit", limit, "ids", 1);
    return engine_ask_of(engine, of, question, error);
}

static bool find_rows(struct engine *engine, int64_t id, enum ask_kind of, const json_t *query,
                      int64_t *after, bool *more, struct error *error) {
    json_t *rows = rows_ask(engine, of, query, *after, BATCH_PART, error);
    bool done =
        rows && store_begin(engine->store, STORE_COMMAND, error) &&
        engine_end(engine, store_batch_found(engine->store, id, query, rows, after, more, error),
                   error);
    json_decref(rows);
    return done;
}

bool engine_batch_find(struct engine *engine, int64_t id, enum ask_kind of, const json_t *query,
                       int64_t *after, bool *more, struct error *error) {
    if (of != ASK_JOBS)
        return find_rows(engine, id, of, query, after, more, error);
    return store_begin(engine->store, STORE_COMMAND, error) &&
           engine_end(
               engine,
               store_batch_find(engine->store, id, query, after, more, engine_now(engine), error),
               error);
}

static bool fill_found(struct engine *engine, int64_t id, enum ask_kind of, const json_t *query,
                       struct command_run *run, struct error *error) {
    int64_t after = 0;
    bool more = true;
    while (more) {
        if (!engine_batch_find(engine, id, of, query, &after, &more, error))
            return false;
        json_t *batch = store_batch(engine->store, id, error);
        size_t found = (size_t)json_integer_value(json_object_get(batch, "ids"));
        json_decref(batch);
        batch_tell(run, found - run->touched);
    }
    return true;
}

void engine_batch_abandon(struct engine *engine, int64_t id) {
    struct error error = {0}; /* ignored: the batch stays as it is, and can be deleted */
    if (store_begin(engine->store, STORE_COMMAND, &error))
        engine_end(engine, store_batch_abandon(engine->store, id, &error), &error);
}

bool engine_batch_start(struct engine *engine, int64_t id, struct error *error) {
    return once_begin(engine, error) &&
           once_end(engine, store_batch_start(engine->store, id, engine_now(engine), error), error);
}

/* ---- all at once ---- */

static bool check_ids(const json_t *spec, const json_t *ids, struct error *error) {
    const char *noun = batch_ids_of(json_text(spec, "type"));
    size_t i;
    const json_t *id;
    json_array_foreach(ids, i, id) {
        char what[32], expected[64];
        snprintf(what, sizeof what, "ids[%zu]", i + 1);
        snprintf(expected, sizeof expected, "the number of a %.40s", noun ? noun : "");
        if (noun && !json_is_integer(id))
            return json_refuse(what, id, expected, error);
    }
    return json_array_size(ids) > 0 || no_ids(error);
}

/* Before anything is written. */
static bool check_some(struct engine *engine, const json_t *spec, const json_t *ids,
                       enum ask_kind of, const json_t *query, struct error *error) {
    if (!query)
        return check_ids(spec, ids, error);
    json_t *rows = rows_ask(engine, of, query, 0, 1, error);
    bool fine = rows && (json_array_size(rows) > 0 || no_ids(error));
    json_decref(rows);
    return fine;
}

bool engine_batch_create(struct engine *engine, const json_t *spec, const json_t *ids,
                         enum ask_kind of, const json_t *query, struct command_run *run,
                         struct error *error) {
    int64_t id = 0;
    run->touched = 0;
    if (!engine_batch_check(engine, spec, error) ||
        !check_some(engine, spec, ids, of, query, error) ||
        !engine_batch_begin(engine, spec, &id, error))
        return false;
    run->batch = id;
    bool fine = (query ? fill_found(engine, id, of, query, run, error)
                       : fill_ids(engine, id, ids, run, error)) &&
                engine_batch_start(engine, id, error);
    if (!fine)
        engine_batch_abandon(engine, id);
    run->batch = fine ? id : 0;
    return fine;
}
