/* process_picture.c - what a picture of a process needs from the store, handed to the script that
 * draws it. */
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/process/process_question.h"
#include "script/script.h"
#include <stdio.h>
#include <string.h>

enum {
    HEAT_INSTANCES = 1000, /* that run, and as many that have ended: the newest */
    HEAT_AT_ONCE = 100,    /* whose trails are read together */
    HEAT_ROWS = 100000,    /* of all trails */
    PAGE = 1000
};

/* A value that is shared; NULL: there is none. */
static bool put(json_t *request, const char *key, json_t *value) {
    return !value || json_put(request, key, json_incref(value));
}

/* ---- heat ---- */

/* How often each activity has begun. Turns and bodies count at their activity. */
struct heat {
    json_t *counts;
    int64_t instances, rows;
};

static bool heat_count(struct heat *heat, const json_t *event) {
    const char *kind = json_string_value(json_array_get(event, 0));
    const char *at = json_string_value(json_array_get(event, 2));
    if (!kind || strcmp(kind, "s") != 0 || !at)
        return true;
    size_t size = strcspn(at, "#");
    int64_t count = json_integer_value(json_object_getn(heat->counts, at, size));
    return at[size] || json_object_setn_new(heat->counts, at, size, json_integer(count + 1)) == 0;
}

static bool heat_rows(struct heat *heat, const json_t *rows, struct error *error) {
    size_t i, j;
    json_t *row, *event;
    bool done = true;
    json_array_foreach(rows, i, row)
        json_array_foreach(json_object_get(row, "events"), j, event)
            done = done && heat_count(heat, event);
    heat->rows += (int64_t)json_array_size(rows);
    return done || error_no_memory(error);
}

/* Reads the trails of these instances, page by page. */
static bool heat_trails(struct engine *engine, struct heat *heat, json_t *ids,
                        struct error *error) {
    int64_t after = 0;
    size_t count = PAGE;
    while (count == PAGE && heat->rows < HEAT_ROWS) {
        json_t *rows = process_ask(engine, ASK_TRAIL,
                                   json_pack("{s{sO} sI si}", "filters", "instance", ids, "after",
                                             (json_int_t)after, "limit", PAGE),
                                   error);
        bool done = rows && heat_rows(heat, rows, error);
        count = json_array_size(rows);
        after = json_int(json_array_get(rows, count ? count - 1 : 0), "id");
        json_decref(rows);
        if (!done)
            return false;
    }
    return true;
}

/* Adds the newest instances of a list that are of the version. */
static bool heat_list(struct engine *engine, struct heat *heat, enum ask_kind kind, int64_t version,
                      struct error *error) {
    json_t *rows =
        process_ask(engine, kind,
                    json_pack("{s{sI} ss sb si}", "filters", "version_id", (json_int_t)version,
                              "sort", "id", "descending", 1, "limit", HEAT_INSTANCES),
                    error);
    bool done = rows != NULL;
    size_t count = json_array_size(rows);
    for (size_t from = 0; done && from < count; from += HEAT_AT_ONCE) {
        json_t *ids = json_array();
        for (size_t i = from; i < count && i < from + HEAT_AT_ONCE; i++)
            json_array_append(ids, json_object_get(json_array_get(rows, i), "id"));
        done = heat_trails(engine, heat, ids, error);
        json_decref(ids);
    }
    heat->instances += (int64_t)count;
    json_decref(rows);
    return done;
}

/* Adds `heat` and `heated`, how many instances it is of. */
static bool heat_add(struct engine *engine, json_t *request, int64_t version, int64_t instance,
                     struct error *error) {
    struct heat heat = {.counts = json_object()};
    bool done;
    if (instance) {
        json_t *ids = json_pack("[I]", (json_int_t)instance);
        done = ids && heat_trails(engine, &heat, ids, error);
        heat.instances = 1;
        json_decref(ids);
    } else {
        done = heat_list(engine, &heat, ASK_PROCESS_INSTANCES, version, error) &&
               heat_list(engine, &heat, ASK_PAST, version, error);
    }
    done = done && json_put(request, "heated", json_integer(heat.instances)) &&
           json_put(request, "heat", json_incref(heat.counts));
    json_decref(heat.counts);
    return done;
}

/* ---- what stands where ---- */

/* Adds where one instance stands, with its incidents; *version is its own. */
static bool instance_add(struct engine *engine, json_t *request, int64_t id, int64_t *version,
                         struct error *error) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)id);
    json_t *row = process_ask(engine, ASK_INSTANCE, json_pack("{sI}", "id", (json_int_t)id), error);
    json_t *incidents = row ? process_ask(engine, ASK_INCIDENTS,
                                          json_pack("{s{ss sb} si}", "filters", "instance", text,
                                                    "open", 1, "limit", PAGE),
                                          error)
                            : NULL;
    bool done = incidents && put(request, "row", row) &&
                put(request, "at", json_object_get(row, "at")) &&
                put(request, "incidents", incidents);
    *version = json_int(row, "version_id");
    json_decref(row);
    json_decref(incidents);
    return done;
}

/* Adds where the instances of a version stand. */
static bool standing_add(struct engine *engine, json_t *request, const json_t *version,
                         struct error *error) {
    json_t *found = process_ask(engine, ASK_STANDING,
                                json_pack("{ss sO}", "name", json_text(version, "key"), "number",
                                          json_object_get(version, "number")),
                                error);
    bool done = found && put(request, "instances", json_object_get(found, "instances")) &&
                put(request, "at", json_object_get(found, "at")) &&
                put(request, "incidents", json_object_get(found, "incidents"));
    json_decref(found);
    return done;
}

/* ---- the model ---- */

/* Of a file in Lua, the other files of its deployment, too: it may require them. */
static bool version_add(struct engine *engine, json_t *request, json_t *version,
                        struct error *error) {
    const char *path = json_text(version, "path");
    size_t size = path ? strlen(path) : 0;
    if (!json_put(request, "version", json_incref(version)))
        return error_no_memory(error);
    if (size < 4 || strcmp(path + size - 4, ".lua") != 0)
        return true;
    json_t *files =
        process_ask(engine, ASK_FILES,
                    json_pack("{sO}", "deployment", json_object_get(version, "deployment")), error);
    return files && (json_put(request, "files", files) || error_no_memory(error));
}

static json_t *version_ask(struct engine *engine, const json_t *question, int64_t id,
                           struct error *error) {
    json_t *of = id ? json_pack("{sI}", "id", (json_int_t)id)
                    : json_pack("{ss so*}", "key", json_text(question, "process"), "number",
                                json_incref(json_object_get(question, "version")));
    return process_ask(engine, ASK_VERSION, of, error);
}

/* Fills the request. *version: a new reference. */
static bool collect(struct engine *engine, const json_t *question, json_t *request,
                    json_t **version, struct error *error) {
    int64_t instance = json_int(question, "instance"), id = 0;
    if (instance && !instance_add(engine, request, instance, &id, error))
        return false;
    *version = version_ask(engine, question, id, error);
    return *version && version_add(engine, request, *version, error) &&
           (instance || standing_add(engine, request, *version, error)) &&
           (!json_is_true(json_object_get(question, "heat")) ||
            heat_add(engine, request, json_int(*version, "id"), instance, error));
}

/* The script of the folder that has the process, else of its deployment. */
static struct generation *drawer(struct engine *engine, const char *key, struct error *error) {
    char handler[JOB_NAME_MAX + 1];
    struct generation *generation = NULL;
    const struct definition *definition = NULL;
    snprintf(handler, sizeof handler, "process/%s:command", key);
    if (!engine_find(engine, handler, &generation, &definition, error))
        return NULL;
    if (!generation)
        error_set(error, ERROR_NOT_FOUND, "no script folder has the process \"%s\"", key);
    return generation;
}

static json_t *draw(struct engine *engine, const json_t *request, const char *key,
                    struct error *error) {
    struct generation *generation = drawer(engine, key, error);
    json_t *answer = generation ? script_picture(generation->script, request, error) : NULL;
    if (generation)
        generation_freshen(generation);
    return answer;
}

json_t *engine_picture(struct engine *engine, const json_t *question, struct error *error) {
    json_t *request = json_copy(json_unchanged(question)), *version = NULL;
    bool found = engine_idle(engine, error) && (request || error_no_memory(error)) &&
                 collect(engine, question, request, &version, error);
    json_t *answer = found ? draw(engine, request, json_text(version, "key"), error) : NULL;
    json_decref(version);
    json_decref(request);
    return answer;
}
