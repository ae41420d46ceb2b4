#include "engine/process/process_restart.h"
#include "base/json.h"
#include <string.h>

static bool is_true(const json_t *command, const char *name) {
    return json_is_true(json_object_get(command, name));
}

/* ---- variables ---- */

/* The first values of the instance's own variables that its first unit has set, before its first
 * activity began. */
static json_t *values_of(const json_t *events) {
    json_t *values = json_object(), *event;
    size_t i;
    json_array_foreach(events, i, event) {
        const char *kind = json_string_value(json_array_get(event, 0));
        const char *name = json_string_value(json_array_get(event, 2));
        if (kind && strcmp(kind, "s") == 0)
            break;
        bool own = kind && strcmp(kind, "v") == 0 && name &&
                   json_integer_value(json_array_get(event, 1)) == 1;
        if (own && !json_object_get(values, name))
            json_object_set(values, name, json_array_get(event, 3));
    }
    return values;
}

/* NULL: error; a trail that was not kept, or not in full, does not know them. */
static json_t *initial_values(struct engine *engine, int64_t id, struct error *error) {
    json_t *rows = engine_ask_of(
        engine, ASK_TRAIL,
        json_pack("{s{sI} si}", "filters", "instance", (json_int_t)id, "limit", 1), error);
    const json_t *events = json_object_get(json_array_get(rows, 0), "events");
    json_t *values = events ? values_of(events) : NULL;
    if (rows && !values)
        error_set(error, ERROR_NOT_FOUND,
                  "instance %lld has left no trail (expected a restart with its last variables)",
                  (long long)id);
    json_decref(rows);
    return values;
}

/* ---- which version ---- */

/* It must have ended, on the version that is expected. */
static bool fits(const json_t *row, int64_t id, const json_t *command, struct error *error) {
    const char *state = json_string_value(json_object_get(row, "state"));
    int64_t expected = json_int(command, "version"), number = json_int(row, "version");
    if (!json_object_get(row, "how") || (state && strcmp(state, "active") == 0))
        return error_set(error, ERROR_CONFLICT, "instance %lld has not ended", (long long)id);
    return !expected || expected == number ||
           error_set(error, ERROR_CONFLICT,
                     "instance %lld ran on version %lld of its process (expected version %lld)",
                     (long long)id, (long long)number, (long long)expected);
}

static bool find_version(struct engine *engine, const json_t *row, const json_t *command,
                         int64_t *version, struct error *error) {
    int64_t into = json_int(command, "into");
    *version = json_int(row, "version_id");
    if (!into)
        return true;
    json_t *found = engine_ask_of(engine, ASK_VERSION,
                                  json_pack("{ss sI sb}", "key", json_text(row, "process"),
                                            "number", (json_int_t)into, "text", 0),
                                  error);
    *version = json_int(found, "id");
    json_decref(found);
    return *version != 0;
}

/* ---- the cause ---- */

static bool copy(struct process_cause *cause, const char *name, const json_t *from,
                 const char *key) {
    json_t *value = json_object_get(from, key);
    return !value || json_is_null(value) || json_object_set(cause->object, name, value) == 0;
}

static bool fill(struct process_cause *cause, const json_t *row, const json_t *command,
                 int64_t id) {
    static const char *const names[] = {"operations", "skip_listeners", "skip_mappings", "dry_run"};
    bool done = json_put_text(cause->object, "kind", "start") &&
                json_put(cause->object, "restarts", json_integer(id)) &&
                (is_true(command, "no_key") || copy(cause, "key", row, "key")) &&
                copy(cause, "tenant", row, "tenant");
    for (size_t i = 0; done && i < sizeof names / sizeof *names; i++)
        done = copy(cause, names[i], command, names[i]);
    return done;
}

/* What the command itself sets goes before. */
static bool put_variables(struct process_cause *cause, struct engine *engine, const json_t *row,
                          const json_t *command, int64_t id, struct error *error) {
    const json_t *given = json_object_get(command, "variables");
    json_t *values = is_true(command, "initial")
                         ? initial_values(engine, id, error)
                         : json_copy(json_unchanged(json_object_get(row, "variables")));
    if (!values && is_true(command, "initial"))
        return false;
    values = values ? values : json_object();
    if (given && json_object_update(values, json_unchanged(given)) != 0) {
        json_decref(values);
        return error_no_memory(error);
    }
    return json_put(cause->object, "variables", values) || error_no_memory(error);
}

bool process_restart_read(struct process_cause *cause, struct engine *engine, const json_t *command,
                          int64_t *version, struct error *error) {
    int64_t id = json_int(command, "instance");
    json_t *row =
        engine_ask_of(engine, ASK_INSTANCE, json_pack("{sI}", "id", (json_int_t)id), error);
    bool done =
        row && fits(row, id, command, error) && find_version(engine, row, command, version, error);
    if (done)
        done = (fill(cause, row, command, id) || error_no_memory(error)) &&
               put_variables(cause, engine, row, command, id, error);
    json_decref(row);
    return done;
}
