#include "http/api/sight.h"
#include "base/json.h"
#include <string.h>

enum { NAMES_MOST = 10000 }; /* definitions that patterns are held against */

bool sight_is_narrow(const struct call *call) {
    return call->caller->tenant || call->caller->handlers;
}

bool sight_whole(const struct call *call, struct error *error) {
    return !sight_is_narrow(call) ||
           error_set(error, ERROR_FORBIDDEN,
                     "%.300s: it tells of all tenants and handlers (expected a caller of all)",
                     call->exchange->path);
}

static bool sees_handler(const struct call *call, const char *handler) {
    return caller_sees_handler(call->caller, handler);
}

/* A process is in sight with all of its activities. */
static bool sees_process(const struct call *call, const char *key) {
    char activities[JOB_NAME_MAX + 16] = "process/";
    size_t i;
    const json_t *pattern;
    if (!call->caller->handlers)
        return true;
    strncat(activities, key ? key : "", JOB_NAME_MAX);
    strcat(activities, "/");
    json_array_foreach(call->caller->handlers, i, pattern) {
        const char *text = json_string_value(pattern);
        const size_t size = strlen(text);
        if (key && size && text[size - 1] == '*' && size - 1 <= strlen(activities) &&
            strncmp(text, activities, size - 1) == 0)
            return true;
    }
    return false;
}

bool sight_sees(const struct call *call, const json_t *row) {
    return caller_sees_tenant(call->caller, json_text(row, "tenant")) &&
           (json_object_get(row, "handler") ? sees_handler(call, json_text(row, "handler"))
                                            : sees_process(call, json_text(row, "process")));
}

/* ---- lists ---- */

/* The names in a column of a list that are in sight. */
static json_t *names_seen(const struct call *call, enum ask_kind kind, const char *column,
                          bool (*sees)(const struct call *call, const char *name),
                          struct error *error) {
    size_t i;
    const json_t *row;
    json_t *question = json_pack("{si}", "limit", NAMES_MOST), *names = json_array();
    json_t *rows = question ? engine_ask(call->engine, kind, question, error) : NULL;
    bool done = rows && names;
    json_array_foreach(rows, i, row)
        if (sees(call, json_text(row, column)))
            done = done && json_array_append(names, json_object_get(row, column)) == 0;
    json_decref(question);
    json_decref(rows);
    return json_kept(names, done);
}

/* What is asked for must be in sight: nothing else is told of. */
static bool only(json_t *filters, const char *name, json_t *seen, struct error *error) {
    const json_t *asked = json_object_get(filters, name), *one;
    size_t i, j;
    json_t *list = json_is_array(asked) ? json_copy(json_unchanged(asked))
                                        : json_pack("[O*]", json_unchanged(asked));
    json_t *both = asked ? json_array() : json_incref(seen), *value;
    if (asked)
        json_array_foreach(list, i, one)
            json_array_foreach(seen, j, value)
                if (json_equal(one, value))
                    json_array_append(both, value);
    json_decref(list);
    json_decref(seen);
    return (both && json_object_set_new(filters, name, both) == 0) || error_no_memory(error);
}

static bool has_filter(enum ask_kind kind, const char *name) {
    const struct ask_table *table = engine_ask_table(kind);
    for (const struct filter *filter = table->filters; filter && filter->name; filter++)
        if (strcmp(filter->name, name) == 0)
            return true;
    for (const struct ask_column *column = table->columns; column && column->name; column++)
        if (strcmp(column->name, name) == 0)
            return column->use == ASK_FIND || column->use == ASK_BOTH;
    return false;
}

static bool narrow_handlers(const struct call *call, enum ask_kind kind, json_t *filters,
                            struct error *error) {
    const bool processes = !has_filter(kind, "handler");
    json_t *seen = processes ? names_seen(call, ASK_PROCESSES, "key", sees_process, error)
                             : names_seen(call, ASK_DEFINITIONS, "name", sees_handler, error);
    return seen && only(filters, processes ? "process" : "handler", seen, error);
}

/* What looks into payloads tells of them. */
static bool may_search(const struct call *call, const json_t *filters, struct error *error) {
    const char *sort = json_text(call->options, "sort");
    sort = sort && *sort == '-' ? sort + 1 : sort;
    bool looks = json_object_get(filters, "payload") || json_object_get(filters, "variables") ||
                 (sort && strcmp(sort, "payload") == 0);
    return !looks || caller_may(call->caller, SCOPE_PAYLOAD) ||
           error_set(error, ERROR_FORBIDDEN,
                     "payload: the caller may not look into it (expected the scope payload)");
}

bool sight_filters(const struct call *call, enum ask_kind kind, json_t *filters,
                   struct error *error) {
    if (!may_search(call, filters, error))
        return false;
    if (!sight_is_narrow(call))
        return true;
    bool narrows =
        (!call->caller->tenant || has_filter(kind, "tenant")) &&
        (!call->caller->handlers || has_filter(kind, "handler") || has_filter(kind, "process"));
    if (!narrows)
        return sight_whole(call, error);
    return (!call->caller->tenant ||
            only(filters, "tenant", json_pack("[s]", call->caller->tenant), error)) &&
           (!call->caller->handlers || narrow_handlers(call, kind, filters, error));
}

/* ---- payloads ---- */

static const char *const hidden[] = {"payload", "result", "lines",  "variables",
                                     "config",  "frame",  "events", NULL};

static void hide(json_t *value) {
    const char *const *name;
    const char *key;
    json_t *inner;
    size_t i;
    void *next;
    json_array_foreach(value, i, inner)
        hide(inner);
    json_object_foreach_safe(value, next, key, inner) {
        for (name = hidden; *name && strcmp(*name, key) != 0; name++)
            continue;
        if (*name)
            json_object_set_new(value, key, json_null());
        else
            hide(inner);
    }
}

void sight_hide(const struct call *call, json_t *answer) {
    if (!caller_may(call->caller, SCOPE_PAYLOAD))
        hide(answer);
}

/* ---- single things ---- */

static bool sees_one(const struct call *call, enum ask_kind kind, int64_t id, const char *what,
                     struct error *error) {
    if (!sight_is_narrow(call))
        return true;
    json_t *question = kind == ASK_TASKS
                           ? json_pack("{s{sI} si}", "filters", "id", (json_int_t)id, "limit", 1)
                           : json_pack("{sI}", "id", (json_int_t)id);
    json_t *found = question ? engine_ask(call->engine, kind, question, error) : NULL;
    const json_t *row = json_is_array(found) ? json_array_get(found, 0) : found;
    bool fine = found && ((row && sight_sees(call, row)) ||
                          error_set(error, ERROR_NOT_FOUND, "no %s %lld", what, (long long)id));
    json_decref(question);
    json_decref(found);
    return fine;
}

bool sight_job(const struct call *call, int64_t id, struct error *error) {
    return sees_one(call, ASK_JOB, id, "job", error);
}

bool sight_instance(const struct call *call, int64_t id, struct error *error) {
    return sees_one(call, ASK_INSTANCE, id, "instance", error);
}

bool sight_task(const struct call *call, int64_t id, struct error *error) {
    return sees_one(call, ASK_TASKS, id, "task", error);
}
