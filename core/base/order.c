#include "base/order.h"
#include "base/job.h"
#include "base/json.h"
#include "base/text.h"
#include "base/zone.h"
#include <string.h>

enum key {
    KEY_RETRIES = 1,
    KEY_PRIORITY = 2,
    KEY_DUE = 4,
    KEY_CASCADE = 8,
    KEY_INCLUDE_JOBS = 16,
    KEY_NOTE = 32,
    KEY_AT = 64,
    KEY_FROM_CREATION = 128,
    KEY_HISTORY = 256,
    KEY_ENDED = 512,
    KEY_IGNORE_MISSING = 1024,
    KEY_REMOVAL_TIME = 2048,
    KEY_REASON = 4096,
    KEY_CYCLE = 8192,
    KEY_ZONE = 16384,
    KEY_MISFIRE = 32768
};

#define CYCLE_EXAMPLES "\"R/PT2H\" or \"0 3 * * *\""

/* Every verb: its name, what it is done to, what it must and what it may be told. */
static const struct {
    const char *name;
    enum order_target target;
    int needs, takes;
} verbs[ORDER_COUNT] = {
    [ORDER_SET_RETRIES] = {"set_retries", ORDER_JOBS, KEY_RETRIES, KEY_DUE | KEY_IGNORE_MISSING},
    [ORDER_RETRY] = {"retry", ORDER_JOBS, 0, KEY_DUE | KEY_IGNORE_MISSING},
    [ORDER_SET_PRIORITY] = {"set_priority", ORDER_JOBS, KEY_PRIORITY, KEY_IGNORE_MISSING},
    [ORDER_SET_DUE] = {"set_due", ORDER_JOBS, KEY_DUE, KEY_CASCADE | KEY_IGNORE_MISSING},
    [ORDER_RECALCULATE_DUE] = {"recalculate_due", ORDER_JOBS, 0,
                               KEY_FROM_CREATION | KEY_IGNORE_MISSING},
    [ORDER_SET_CYCLE] = {"set_cycle", ORDER_JOBS, KEY_CYCLE,
                         KEY_ZONE | KEY_MISFIRE | KEY_IGNORE_MISSING},
    [ORDER_SUSPEND] = {"suspend", ORDER_JOBS, 0, KEY_IGNORE_MISSING | KEY_REASON},
    [ORDER_ACTIVATE] = {"activate", ORDER_JOBS, 0, KEY_IGNORE_MISSING | KEY_REASON},
    [ORDER_DELETE] = {"delete", ORDER_JOBS, 0, KEY_IGNORE_MISSING},
    [ORDER_CANCEL] = {"cancel", ORDER_JOBS, 0, KEY_IGNORE_MISSING},
    [ORDER_DEAD_LETTER] = {"dead_letter", ORDER_JOBS, 0, KEY_IGNORE_MISSING},
    [ORDER_OVERRIDE_PRIORITY] = {"override_priority", ORDER_DEFINITION, KEY_PRIORITY, KEY_CASCADE},
    [ORDER_CLEAR_OVERRIDE] = {"clear_override", ORDER_DEFINITION, 0, 0},
    [ORDER_SUSPEND_DEFINITION] = {"suspend_definition", ORDER_DEFINITION, 0,
                                  KEY_INCLUDE_JOBS | KEY_AT},
    [ORDER_ACTIVATE_DEFINITION] = {"activate_definition", ORDER_DEFINITION, 0,
                                   KEY_INCLUDE_JOBS | KEY_AT},
    [ORDER_SET_DEFINITION_RETRIES] = {"set_definition_retries", ORDER_DEFINITION, KEY_RETRIES,
                                      KEY_DUE},
    [ORDER_SUSPEND_INSTANCE] = {"suspend_instance", ORDER_INSTANCE, 0, KEY_AT | KEY_INCLUDE_JOBS},
    [ORDER_ACTIVATE_INSTANCE] = {"activate_instance", ORDER_INSTANCE, 0, KEY_AT | KEY_INCLUDE_JOBS},
    [ORDER_ANNOTATE] = {"annotate", ORDER_INCIDENT, KEY_NOTE, 0},
    [ORDER_RESOLVE] = {"resolve", ORDER_INCIDENT, 0, KEY_NOTE},
    [ORDER_SET_REMOVAL_TIME] = {"set_removal_time", ORDER_HISTORY, KEY_REMOVAL_TIME,
                                KEY_IGNORE_MISSING},
    [ORDER_DELETE_HISTORY] = {"delete_history", ORDER_HISTORY, 0, KEY_IGNORE_MISSING},
    [ORDER_CLEAN_HISTORY] = {"clean_history", ORDER_PLAN, 0, 0},
    [ORDER_SUSPEND_BATCH] = {"suspend_batch", ORDER_BATCH, 0, 0},
    [ORDER_ACTIVATE_BATCH] = {"activate_batch", ORDER_BATCH, 0, 0},
    [ORDER_DELETE_BATCH] = {"delete_batch", ORDER_BATCH, 0, KEY_HISTORY},
    [ORDER_RETRY_FAILED] = {"retry_failed", ORDER_BATCH, 0, 0},
    [ORDER_PAUSE_SCHEDULE] = {"pause_schedule", ORDER_SCHEDULE, 0, 0},
    [ORDER_RESUME_SCHEDULE] = {"resume_schedule", ORDER_SCHEDULE, 0, 0},
    [ORDER_RUN_SCHEDULE] = {"run_schedule", ORDER_SCHEDULE, 0, 0},
    [ORDER_BATCH_SEED] = {"batch_seed", ORDER_BATCH, 0, 0},
    [ORDER_BATCH_MONITOR] = {"batch_monitor", ORDER_BATCH, 0, KEY_ENDED},
};

const char *order_name(enum order_verb verb) {
    return verbs[verb].name;
}

/* ---- values: each reads one key ---- */

static bool refuse(const struct order *order, const char *key, const json_t *value,
                   const char *expected, struct error *error) {
    char what[64] = "";
    strncat(what, order->name, 40);
    strncat(what, ": ", 3);
    strncat(what, key, 16);
    return json_refuse(what, value, expected, error);
}

static bool read_retries(struct order *order, const json_t *value, struct error *error) {
    int64_t retries = 0;
    if (!json_whole(value, 0, INT32_MAX, &retries))
        return refuse(order, "retries", value, "a whole number from 0", error);
    order->retries = (int32_t)retries;
    return true;
}

static bool read_priority(struct order *order, const json_t *value, struct error *error) {
    return json_whole(value, INT64_MIN, INT64_MAX, &order->priority) ||
           refuse(order, "priority", value, "a whole number of 64 bits", error);
}

static bool read_instant(const struct order *order, const char *key, const json_t *value,
                         time_ms *at, struct error *error) {
    struct error cause;
    if (!json_is_string(value))
        return refuse(order, key, value, "a time such as \"2026-01-31T12:00:00Z\"", error);
    return time_parse(json_string_value(value), at, &cause) ||
           error_set(error, cause.code, "%s: %s: %s", order->name, key, cause.text);
}

static bool read_due(struct order *order, const json_t *value, struct error *error) {
    order->due_given = true;
    return json_is_null(value) || read_instant(order, "due", value, &order->due, error);
}

static bool read_removal_time(struct order *order, const json_t *value, struct error *error) {
    const char *text = json_string_value(value);
    if (text && strcmp(text, "never") == 0)
        order->removal = TIME_NEVER;
    else if (!text || strcmp(text, "computed") != 0)
        return read_instant(order, "removal_time", value, &order->removal, error);
    return true;
}

static bool read_at(struct order *order, const json_t *value, struct error *error) {
    return json_is_null(value) || read_instant(order, "at", value, &order->at, error);
}

static bool read_flag(const struct order *order, const char *key, const json_t *value, bool *flag,
                      struct error *error) {
    *flag = json_is_true(value);
    return json_is_boolean(value) || json_is_null(value) ||
           refuse(order, key, value, "true or false", error);
}

static bool read_cascade(struct order *order, const json_t *value, struct error *error) {
    return read_flag(order, "cascade", value, &order->cascade, error);
}

static bool read_from_creation(struct order *order, const json_t *value, struct error *error) {
    return read_flag(order, "from_creation", value, &order->from_creation, error);
}

static bool read_include_jobs(struct order *order, const json_t *value, struct error *error) {
    return read_flag(order, "include_jobs", value, &order->include_jobs, error);
}

static bool read_history(struct order *order, const json_t *value, struct error *error) {
    return read_flag(order, "history", value, &order->history, error);
}

static bool read_ended(struct order *order, const json_t *value, struct error *error) {
    return read_flag(order, "ended", value, &order->ended, error);
}

static bool read_ignore_missing(struct order *order, const json_t *value, struct error *error) {
    return read_flag(order, "ignore_missing", value, &order->ignore_missing, error);
}

/* A process has no verb of its own yet: nothing would take it away again. */
static bool read_reason(struct order *order, const json_t *value, struct error *error) {
    order->reason = suspension_find(json_string_value(value)) & ~SUSPENDED_PROCESS;
    return order->reason || json_is_null(value) ||
           refuse(order, "reason", value, "job, definition, instance, batch or schedule", error);
}

static bool read_note(struct order *order, const json_t *value, struct error *error) {
    order->note = json_string_value(value);
    return order->note || json_is_null(value) || refuse(order, "note", value, "a text", error);
}

/* A text that a column of names takes. */
static bool read_term(const struct order *order, const char *key, const json_t *value,
                      const char *expected, const char **text, struct error *error) {
    *text = json_string_value(value);
    return (*text && **text && strlen(*text) <= JOB_NAME_MAX) ||
           refuse(order, key, value, expected, error);
}

static bool read_cycle(struct order *order, const json_t *value, struct error *error) {
    return read_term(order, "cycle", value, "a text such as " CYCLE_EXAMPLES, &order->cycle, error);
}

static bool read_zone(struct order *order, const json_t *value, struct error *error) {
    return json_is_null(value) ||
           read_term(order, "zone", value, "a name such as \"Europe/Berlin\"", &order->zone, error);
}

static bool read_misfire(struct order *order, const json_t *value, struct error *error) {
    const char *text = NULL;
    struct error cause;
    if (json_is_null(value))
        return true;
    if (!read_term(order, "misfire", value, "once, all or skip", &text, error))
        return false;
    order->misfire_given = true;
    return misfire_parse(text, &order->misfire, &cause) ||
           error_set(error, cause.code, "%s: %s", order->name, cause.text);
}

static const struct {
    const char *name;
    enum key bit;
    bool (*read)(struct order *order, const json_t *value, struct error *error);
} keys[] = {
    {"retries", KEY_RETRIES, read_retries},
    {"priority", KEY_PRIORITY, read_priority},
    {"due", KEY_DUE, read_due},
    {"cascade", KEY_CASCADE, read_cascade},
    {"include_jobs", KEY_INCLUDE_JOBS, read_include_jobs},
    {"note", KEY_NOTE, read_note},
    {"at", KEY_AT, read_at},
    {"from_creation", KEY_FROM_CREATION, read_from_creation},
    {"removal_time", KEY_REMOVAL_TIME, read_removal_time},
    {"history", KEY_HISTORY, read_history},
    {"ended", KEY_ENDED, read_ended},
    {"ignore_missing", KEY_IGNORE_MISSING, read_ignore_missing},
    {"reason", KEY_REASON, read_reason},
    {"cycle", KEY_CYCLE, read_cycle},
    {"zone", KEY_ZONE, read_zone},
    {"misfire", KEY_MISFIRE, read_misfire},
};
#define KEYS (sizeof keys / sizeof *keys)

/* ---- targets ---- */

static bool is_list_of_ids(const json_t *value) {
    size_t i;
    json_t *id;
    if (json_is_integer(value) || (json_is_object(value) && json_object_size(value) == 0))
        return true; /* one; an empty list of Lua */
    json_array_foreach(value, i, id)
        if (!json_is_integer(id))
            return false;
    return json_is_array(value);
}

static bool read_jobs(struct order *order, const json_t *object, struct error *error) {
    order->ids = json_object_get(object, "ids");
    order->query = json_object_get(object, "query");
    if (order->ids && !is_list_of_ids(order->ids))
        return refuse(order, "ids", order->ids, "an integer or a list of integers", error);
    if (order->query && !json_is_object(order->query) && json_array_size(order->query))
        return refuse(order, "query", order->query, "filters by name", error);
    if (!order->ids != !order->query)
        return true;
    return error_set(error, ERROR_INVALID, "%s: expected either ids or a query", order->name);
}

static bool read_text(const struct order *order, const json_t *object, const char *key,
                      const char **text, struct error *error) {
    const json_t *value = json_object_get(object, key);
    if (!value)
        return error_set(error, ERROR_INVALID, "%s: %s is missing", order->name, key);
    *text = json_string_value(value);
    if (!*text || !**text)
        return refuse(order, key, value, "a text that is not empty", error);
    return strlen(*text) <= JOB_NAME_MAX ||
           error_set(error, ERROR_INVALID, "%s: %s \"%.40s…\": %zu bytes, at most %d are allowed",
                     order->name, key, *text, strlen(*text), JOB_NAME_MAX);
}

static bool read_id(const struct order *order, const json_t *object, const char *key, int64_t *id,
                    struct error *error) {
    const json_t *value = json_object_get(object, key);
    if (!value)
        return error_set(error, ERROR_INVALID, "%s: %s is missing", order->name, key);
    return json_whole(value, 1, INT64_MAX, id) || refuse(order, key, value, "an id", error);
}

static bool read_plan(struct order *order, const json_t *object, struct error *error) {
    order->plan = json_object_get(object, "plan");
    return json_is_object(order->plan) ||
           error_set(error, ERROR_INVALID, "%s: plan is missing", order->name);
}

static bool read_target(struct order *order, const json_t *object, struct error *error) {
    switch (order->target) {
    case ORDER_PLAN:
        return read_plan(order, object, error);
    case ORDER_HISTORY:
    case ORDER_JOBS:
        return read_jobs(order, object, error);
    case ORDER_DEFINITION:
        return read_text(order, object, "definition", &order->definition, error);
    case ORDER_INSTANCE:
        return read_text(order, object, "instance", &order->instance, error);
    case ORDER_SCHEDULE:
        return read_text(order, object, "schedule", &order->schedule, error);
    case ORDER_BATCH:
        return read_id(order, object, "batch", &order->batch, error);
    default:
        return read_id(order, object, "incident", &order->incident, error);
    }
}

static bool is_target(enum order_target target, const char *key) {
    static const char *const names[][2] = {{"ids", "query"}, {"definition", ""}, {"instance", ""},
                                           {"incident", ""}, {"batch", ""},      {"ids", "query"},
                                           {"plan", ""},     {"schedule", ""}};
    return strcmp(key, names[target][0]) == 0 || strcmp(key, names[target][1]) == 0;
}

/* ---- the whole ---- */

static bool unknown_key(const struct order *order, const char *key, int known,
                        struct error *error) {
    const char *names[KEYS + 1];
    size_t count = 0;
    for (size_t i = 0; i < KEYS; i++)
        if (known & keys[i].bit)
            names[count++] = keys[i].name;
    names[count] = NULL;
    const char *meant = suggest(key, names);
    if (meant)
        return error_set(error, ERROR_INVALID, "%s: unknown key \"%.100s\" (did you mean \"%s\"?)",
                         order->name, key, meant);
    return error_set(error, ERROR_INVALID, "%s: unknown key \"%.100s\"", order->name, key);
}

/* Whether it can be read is known before any job is looked at; its dates are the job's matter. */
static bool check_cycle(const struct order *order, struct error *error) {
    struct cycle cycle;
    struct error cause = {0};
    const struct zone *zone = zone_find(order->zone, &cause);
    if (!zone)
        return error_set(error, cause.code, "%s: %s", order->name, cause.text);
    return cycle_parse(order->cycle, zone, 0, &cycle, &cause) ||
           error_set(error, cause.code, "%s: %s; a cycle is such as " CYCLE_EXAMPLES, order->name,
                     cause.text);
}

/* True if the key belongs to the order itself and is read elsewhere. */
static bool is_own(const struct order *order, const char *key) {
    return strcmp(key, "verb") == 0 || strcmp(key, "goes_on") == 0 || is_target(order->target, key);
}

static bool read_keys(struct order *order, const json_t *object, struct error *error) {
    const int known = verbs[order->verb].needs | verbs[order->verb].takes;
    int given = 0;
    order->include_jobs = order->target == ORDER_INSTANCE; /* of a definition only when told */
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        size_t i = 0;
        if (is_own(order, key))
            continue;
        while (i < KEYS && (strcmp(keys[i].name, key) != 0 || !(known & keys[i].bit)))
            i++;
        if (i == KEYS)
            return unknown_key(order, key, known, error);
        if (!keys[i].read(order, value, error))
            return false;
        given |= (int)keys[i].bit;
    }
    if (order->verb == ORDER_SET_DUE)
        given |= KEY_DUE; /* none: the due date goes */
    for (size_t i = 0; i < KEYS; i++)
        if (verbs[order->verb].needs & ~given & keys[i].bit)
            return error_set(error, ERROR_INVALID, "%s: %s is missing", order->name, keys[i].name);
    return order->verb != ORDER_SET_CYCLE || check_cycle(order, error);
}

static bool read_verb(struct order *order, const json_t *object, struct error *error) {
    const char *names[ORDER_COUNT + 1] = {NULL};
    const json_t *verb = json_object_get(object, "verb");
    if (!json_is_string(verb))
        return error_set(error, ERROR_INVALID,
                         "order: expected an object with a verb, such as \"set_retries\"");
    const char *name = json_string_value(verb);
    for (int i = 0; i < ORDER_COUNT; i++) {
        names[i] = verbs[i].name;
        if (strcmp(names[i], name) != 0)
            continue;
        order->verb = (enum order_verb)i;
        order->name = names[i];
        order->target = verbs[i].target;
        return true;
    }
    const char *meant = suggest(name, names);
    if (meant)
        return error_set(error, ERROR_INVALID,
                         "order: unknown verb \"%.100s\" (did you mean "
                         "\"%s\"?)",
                         name, meant);
    return error_set(error, ERROR_INVALID, "order: unknown verb \"%.100s\"", name);
}

bool order_read(struct order *order, const json_t *object, struct error *error) {
    *order = (struct order){.due = TIME_NONE, .at = TIME_NONE, .removal = TIME_NONE};
    const json_t *on = json_object_get(object, "goes_on");
    order->entry = json_integer_value(json_object_get(on, "entry"));
    order->after = json_integer_value(json_object_get(on, "after"));
    order->upto = json_integer_value(json_object_get(on, "upto"));
    order->done = (size_t)json_integer_value(json_object_get(on, "done"));
    order->goes_on = on != NULL;
    held_from_json(&order->held, json_object_get(on, "held"));
    return read_verb(order, object, error) && read_target(order, object, error) &&
           read_keys(order, object, error);
}

json_t *order_rest(const json_t *object, const struct order *order) {
    json_t *rest = json_copy((json_t *)(uintptr_t)object);
    json_t *on = json_pack("{s:I, s:I, s:I, s:I, s:o*}", "entry", (json_int_t)order->entry, "after",
                           (json_int_t)order->after, "upto", (json_int_t)order->upto, "done",
                           (json_int_t)order->done, "held",
                           order->held.jobs ? held_to_json(&order->held) : NULL);
    if (rest && on && json_object_set_new(rest, "goes_on", on) == 0)
        return rest;
    json_decref(rest);
    return NULL;
}
