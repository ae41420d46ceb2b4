#include "job/command.h"
#include "base/json.h"
#include "base/text.h"
#include "job/job.h"
#include "time/zone.h"
#include <stddef.h>
#include <stdio.h>
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
    KEY_MISFIRE = 32768,
    KEY_EXECUTOR = 65536,
    KEY_JOBS_ONLY = 131072,
    KEY_VERSION = 262144,
    KEY_INCLUDE_INSTANCES = 524288,
    KEY_ASSIGNEE = 1048576,
    KEY_CLAIM = 2097152,
    KEY_HIERARCHY = 4194304,
    KEY_TERMS = 8388608,
    KEY_NAME = 16777216,
    KEY_LIMIT = 33554432,
    KEY_RATE = 67108864
};

#define CYCLE_EXAMPLES "\"R/PT2H\" or \"0 3 * * *\""

/* Every verb: its name, what it is done to, what it must and what it may be told. */
static const struct {
    const char *name;
    enum command_target target;
    int needs, takes;
} verbs[COMMAND_COUNT] = {
    [COMMAND_SET_RETRIES] = {"set_retries", TARGET_JOBS, KEY_RETRIES, KEY_DUE | KEY_IGNORE_MISSING},
    [COMMAND_RETRY] = {"retry", TARGET_JOBS, 0, KEY_DUE | KEY_IGNORE_MISSING},
    [COMMAND_SET_PRIORITY] = {"set_priority", TARGET_JOBS, KEY_PRIORITY, KEY_IGNORE_MISSING},
    [COMMAND_SET_DUE] = {"set_due", TARGET_JOBS, KEY_DUE, KEY_CASCADE | KEY_IGNORE_MISSING},
    [COMMAND_RECALCULATE_DUE] = {"recalculate_due", TARGET_JOBS, 0,
                                 KEY_FROM_CREATION | KEY_IGNORE_MISSING | KEY_TERMS},
    [COMMAND_SET_CYCLE] = {"set_cycle", TARGET_JOBS, KEY_CYCLE,
                           KEY_ZONE | KEY_MISFIRE | KEY_IGNORE_MISSING},
    [COMMAND_SUSPEND] = {"suspend", TARGET_JOBS, 0, KEY_IGNORE_MISSING | KEY_REASON},
    [COMMAND_ACTIVATE] = {"activate", TARGET_JOBS, 0, KEY_IGNORE_MISSING | KEY_REASON},
    [COMMAND_DELETE] = {"delete", TARGET_JOBS, 0, KEY_IGNORE_MISSING},
    [COMMAND_CANCEL] = {"cancel", TARGET_JOBS, 0, KEY_IGNORE_MISSING},
    [COMMAND_DEAD_LETTER] = {"dead_letter", TARGET_JOBS, 0, KEY_IGNORE_MISSING},
    [COMMAND_OVERRIDE_PRIORITY] = {"override_priority", TARGET_DEFINITION, KEY_PRIORITY,
                                   KEY_CASCADE},
    [COMMAND_CLEAR_OVERRIDE] = {"clear_override", TARGET_DEFINITION, 0, 0},
    [COMMAND_OVERRIDE_LIMIT] = {"override_limit", TARGET_DEFINITION, KEY_LIMIT, 0},
    [COMMAND_CLEAR_LIMIT] = {"clear_limit", TARGET_DEFINITION, 0, 0},
    [COMMAND_OVERRIDE_RATE] = {"override_rate", TARGET_DEFINITION, KEY_RATE, 0},
    [COMMAND_CLEAR_RATE] = {"clear_rate", TARGET_DEFINITION, 0, 0},
    [COMMAND_SUSPEND_DEFINITION] = {"suspend_definition", TARGET_DEFINITION, 0,
                                    KEY_INCLUDE_JOBS | KEY_AT},
    [COMMAND_ACTIVATE_DEFINITION] = {"activate_definition", TARGET_DEFINITION, 0,
                                     KEY_INCLUDE_JOBS | KEY_AT},
    [COMMAND_SET_DEFINITION_RETRIES] = {"set_definition_retries", TARGET_DEFINITION, KEY_RETRIES,
                                        KEY_DUE},
    [COMMAND_SUSPEND_INSTANCE] = {"suspend_instance", TARGET_INSTANCE, 0,
                                  KEY_AT | KEY_INCLUDE_JOBS | KEY_HIERARCHY | KEY_IGNORE_MISSING},
    [COMMAND_ACTIVATE_INSTANCE] = {"activate_instance", TARGET_INSTANCE, 0,
                                   KEY_AT | KEY_INCLUDE_JOBS | KEY_HIERARCHY | KEY_IGNORE_MISSING},
    [COMMAND_SUSPEND_PROCESS] = {"suspend_process", TARGET_PROCESS, 0,
                                 KEY_VERSION | KEY_INCLUDE_INSTANCES | KEY_AT},
    [COMMAND_ACTIVATE_PROCESS] = {"activate_process", TARGET_PROCESS, 0,
                                  KEY_VERSION | KEY_INCLUDE_INSTANCES | KEY_AT},
    [COMMAND_SET_ASSIGNEE] = {"set_assignee", TARGET_TASK, 0, KEY_ASSIGNEE | KEY_CLAIM},
    [COMMAND_ANNOTATE] = {"annotate", TARGET_INCIDENT, KEY_NOTE, 0},
    [COMMAND_RESOLVE] = {"resolve", TARGET_INCIDENT, 0, KEY_NOTE},
    [COMMAND_SET_REMOVAL_TIME] = {"set_removal_time", TARGET_HISTORY, KEY_REMOVAL_TIME,
                                  KEY_IGNORE_MISSING},
    [COMMAND_DELETE_HISTORY] = {"delete_history", TARGET_HISTORY, 0, KEY_IGNORE_MISSING},
    [COMMAND_CLEAN_HISTORY] = {"clean_history", TARGET_PLAN, 0, 0},
    [COMMAND_SET_INCIDENT_REMOVAL_TIME] = {"set_incident_removal_time", TARGET_INCIDENT,
                                           KEY_REMOVAL_TIME, 0},
    [COMMAND_SUSPEND_BATCH] = {"suspend_batch", TARGET_BATCH, 0, KEY_JOBS_ONLY},
    [COMMAND_ACTIVATE_BATCH] = {"activate_batch", TARGET_BATCH, 0, 0},
    [COMMAND_DELETE_BATCH] = {"delete_batch", TARGET_BATCH, 0, KEY_HISTORY},
    [COMMAND_RETRY_FAILED] = {"retry_failed", TARGET_BATCH, 0, 0},
    [COMMAND_SET_BATCH_PRIORITY] = {"set_batch_priority", TARGET_BATCH, KEY_PRIORITY, 0},
    [COMMAND_SET_BATCH_REMOVAL_TIME] = {"set_batch_removal_time", TARGET_BATCH, KEY_REMOVAL_TIME,
                                        0},
    [COMMAND_PAUSE_SCHEDULE] = {"pause_schedule", TARGET_SCHEDULE, 0, 0},
    [COMMAND_RESUME_SCHEDULE] = {"resume_schedule", TARGET_SCHEDULE, 0, 0},
    [COMMAND_RUN_SCHEDULE] = {"run_schedule", TARGET_SCHEDULE, 0, 0},
    [COMMAND_DRAIN] = {"drain", TARGET_EXECUTOR, 0, 0},
    [COMMAND_RESUME] = {"resume", TARGET_EXECUTOR, 0, 0},
    [COMMAND_REGISTER] = {"register", TARGET_DEPLOYMENT, 0, KEY_EXECUTOR},
    [COMMAND_UNREGISTER] = {"unregister", TARGET_DEPLOYMENT, 0, KEY_EXECUTOR},
    [COMMAND_DELETE_DEPLOYMENT] = {"delete_deployment", TARGET_DEPLOYMENT, 0, 0},
    [COMMAND_RENAME_DEPLOYMENT] = {"rename_deployment", TARGET_DEPLOYMENT, KEY_NAME, 0},
    [COMMAND_BATCH_SEED] = {"batch_seed", TARGET_BATCH, 0, 0},
    [COMMAND_BATCH_MONITOR] = {"batch_monitor", TARGET_BATCH, 0, KEY_ENDED},
};

const char *command_name(enum command_verb verb) {
    return verbs[verb].name;
}

enum command_target command_target(enum command_verb verb) {
    return verbs[verb].target;
}

bool command_is_given(enum command_verb verb) {
    return verb != COMMAND_BATCH_SEED && verb != COMMAND_BATCH_MONITOR;
}

bool command_is_for_jobs(const struct command *command) {
    return command->target != TARGET_EXECUTOR && command->target != TARGET_DEPLOYMENT &&
           (command->target != TARGET_PLAN || command->plan);
}

/* ---- values: each reads one key ---- */

static bool refuse(const struct command *command, const char *key, const json_t *value,
                   const char *expected, struct error *error) {
    char what[64] = "";
    strncat(what, command->name, 40);
    strncat(what, ": ", 3);
    strncat(what, key, 16);
    return json_refuse(what, value, expected, error);
}

static bool read_retries(struct command *command, const json_t *value, struct error *error) {
    int64_t retries = 0;
    if (!json_whole(value, 0, INT32_MAX, &retries))
        return refuse(command, "retries", value, "a whole number from 0", error);
    command->retries = (int32_t)retries;
    return true;
}

static bool read_priority(struct command *command, const json_t *value, struct error *error) {
    return json_whole(value, INT64_MIN, INT64_MAX, &command->priority) ||
           refuse(command, "priority", value, "a whole number of 64 bits", error);
}

static bool is_none(const json_t *value) {
    return json_is_string(value) && strcmp(json_string_value(value), "none") == 0;
}

static bool read_limit(struct command *command, const json_t *value, struct error *error) {
    int64_t limit = 0;
    const json_t *count = json_object_get(value, "cluster");
    command->cluster = count && json_object_size(value) == 1;
    if (!is_none(value) && !json_whole(command->cluster ? count : value, 1, INT32_MAX, &limit))
        return refuse(command, "limit", value,
                      "a whole number from 1, { cluster = 5 }, or \"none\"", error);
    command->limit = (int32_t)limit;
    return true;
}

static bool read_rate(struct command *command, const json_t *value, struct error *error) {
    struct error cause = {0};
    if (is_none(value))
        return true;
    if (!json_is_string(value))
        return refuse(command, "rate", value, "a text such as \"10/PT1M\", or \"none\"", error);
    return rate_parse(json_string_value(value), &command->rate, &cause) ||
           error_set(error, cause.code, "%s: %s", command->name, cause.text);
}

static bool read_instant(const struct command *command, const char *key, const json_t *value,
                         time_ms *at, struct error *error) {
    struct error cause = {0};
    if (!json_is_string(value))
        return refuse(command, key, value, "a time such as \"2026-01-31T12:00:00Z\"", error);
    return time_parse(json_string_value(value), at, &cause) ||
           error_set(error, cause.code, "%s: %s: %s", command->name, key, cause.text);
}

static bool read_due(struct command *command, const json_t *value, struct error *error) {
    command->due_given = true;
    return json_is_null(value) || read_instant(command, "due", value, &command->due, error);
}

static bool read_removal_time(struct command *command, const json_t *value, struct error *error) {
    const char *text = json_string_value(value);
    if (text && strcmp(text, "never") == 0)
        command->removal = TIME_NEVER;
    else if (!text || strcmp(text, "computed") != 0)
        return read_instant(command, "removal_time", value, &command->removal, error);
    return true;
}

static bool read_at(struct command *command, const json_t *value, struct error *error) {
    return json_is_null(value) || read_instant(command, "at", value, &command->at, error);
}

/* `at`: where the flag is in the command. */
static bool read_flag(struct command *command, const char *key, size_t at, const json_t *value,
                      struct error *error) {
    bool *flag = (bool *)((char *)command + at);
    *flag = json_is_true(value);
    return json_is_boolean(value) || json_is_null(value) ||
           refuse(command, key, value, "true or false", error);
}

/* A process and a caller have verbs of their own: no other takes their reasons away. */
static bool read_reason(struct command *command, const json_t *value, struct error *error) {
    command->reason =
        suspension_find(json_string_value(value)) & ~(SUSPENDED_PROCESS | SUSPENDED_CALLER);
    return command->reason || json_is_null(value) ||
           refuse(command, "reason", value, "job, definition, instance, batch or schedule", error);
}

static bool read_note(struct command *command, const json_t *value, struct error *error) {
    command->note = json_string_value(value);
    return command->note || json_is_null(value) || refuse(command, "note", value, "a text", error);
}

/* A text that a column of names takes. */
static bool read_term(const struct command *command, const char *key, const json_t *value,
                      const char *expected, const char **text, struct error *error) {
    *text = json_string_value(value);
    return (*text && **text && strlen(*text) <= JOB_NAME_MAX) ||
           refuse(command, key, value, expected, error);
}

static bool read_cycle(struct command *command, const json_t *value, struct error *error) {
    return read_term(command, "cycle", value, "a text such as " CYCLE_EXAMPLES, &command->cycle,
                     error);
}

static bool read_zone(struct command *command, const json_t *value, struct error *error) {
    return json_is_null(value) ||
           read_term(command, "zone", value, "a name such as \"Europe/Berlin\"", &command->zone,
                     error);
}

static bool read_misfire(struct command *command, const json_t *value, struct error *error) {
    const char *text = NULL;
    struct error cause = {0};
    if (json_is_null(value))
        return true;
    if (!read_term(command, "misfire", value, "once, all or skip", &text, error))
        return false;
    command->misfire_given = true;
    return misfire_parse(text, &command->misfire, &cause) ||
           error_set(error, cause.code, "%s: %s", command->name, cause.text);
}

static bool read_executor(struct command *command, const json_t *value, struct error *error) {
    return json_is_null(value) || read_term(command, "executor", value, "the name of an executor",
                                            &command->executor, error);
}

static bool read_name(struct command *command, const json_t *value, struct error *error) {
    return read_term(command, "name", value, "the name of a deployment", &command->rename, error);
}

static bool read_version(struct command *command, const json_t *value, struct error *error) {
    return json_is_null(value) || json_whole(value, 1, INT64_MAX, &command->version) ||
           refuse(command, "version", value, "a whole number from 1", error);
}

static bool read_assignee(struct command *command, const json_t *value, struct error *error) {
    return json_is_null(value) ||
           read_term(command, "assignee", value, "a name", &command->assignee, error);
}

static bool read_terms(struct command *command, const json_t *value, struct error *error) {
    command->terms = value;
    return json_is_object(value) || json_is_null(value) ||
           refuse(command, "terms", value, "texts by ids of jobs", error);
}

static const struct {
    const char *name;
    enum key bit;
    bool (*read)(struct command *command, const json_t *value, struct error *error);
    const char *type; /* in JSON, of what is not null; NULL: of several */
    size_t flag;      /* where it is; read NULL */
} keys[] = {
    {"retries", KEY_RETRIES, read_retries, "integer", 0},
    {"priority", KEY_PRIORITY, read_priority, "integer", 0},
    {"due", KEY_DUE, read_due, "string", 0},
    {"cascade", KEY_CASCADE, NULL, "boolean", offsetof(struct command, cascade)},
    {"include_jobs", KEY_INCLUDE_JOBS, NULL, "boolean", offsetof(struct command, include_jobs)},
    {"note", KEY_NOTE, read_note, "string", 0},
    {"at", KEY_AT, read_at, "string", 0},
    {"from_creation", KEY_FROM_CREATION, NULL, "boolean", offsetof(struct command, from_creation)},
    {"removal_time", KEY_REMOVAL_TIME, read_removal_time, "string", 0},
    {"history", KEY_HISTORY, NULL, "boolean", offsetof(struct command, history)},
    {"ended", KEY_ENDED, NULL, "boolean", offsetof(struct command, ended)},
    {"jobs_only", KEY_JOBS_ONLY, NULL, "boolean", offsetof(struct command, jobs_only)},
    {"ignore_missing", KEY_IGNORE_MISSING, NULL, "boolean",
     offsetof(struct command, ignore_missing)},
    {"reason", KEY_REASON, read_reason, "string", 0},
    {"cycle", KEY_CYCLE, read_cycle, "string", 0},
    {"zone", KEY_ZONE, read_zone, "string", 0},
    {"misfire", KEY_MISFIRE, read_misfire, "string", 0},
    {"executor", KEY_EXECUTOR, read_executor, "string", 0},
    {"version", KEY_VERSION, read_version, "integer", 0},
    {"include_instances", KEY_INCLUDE_INSTANCES, NULL, "boolean",
     offsetof(struct command, include_instances)},
    {"assignee", KEY_ASSIGNEE, read_assignee, "string", 0},
    {"claim", KEY_CLAIM, NULL, "boolean", offsetof(struct command, claims)},
    {"terms", KEY_TERMS, read_terms, "object", 0},
    {"name", KEY_NAME, read_name, "string", 0},
    {"limit", KEY_LIMIT, read_limit, NULL, 0},
    {"rate", KEY_RATE, read_rate, "string", 0},
    {"hierarchy", KEY_HIERARCHY, NULL, "boolean", offsetof(struct command, hierarchy)},
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

static bool read_jobs(struct command *command, const json_t *object, struct error *error) {
    command->ids = json_object_get(object, "ids");
    command->query = json_object_get(object, "query");
    if (command->ids && !is_list_of_ids(command->ids))
        return refuse(command, "ids", command->ids, "an integer or a list of integers", error);
    if (command->query && !json_is_object(command->query) && json_array_size(command->query))
        return refuse(command, "query", command->query, "filters by name", error);
    if (!command->ids != !command->query)
        return true;
    return error_set(error, ERROR_INVALID, "%s: expected either ids or a query", command->name);
}

static bool read_text(const struct command *command, const json_t *object, const char *key,
                      const char **text, struct error *error) {
    const json_t *value = json_object_get(object, key);
    if (!value)
        return error_set(error, ERROR_INVALID, "%s: %s is missing", command->name, key);
    *text = json_string_value(value);
    if (!*text || !**text)
        return refuse(command, key, value, "a text that is not empty", error);
    return strlen(*text) <= JOB_NAME_MAX ||
           error_set(error, ERROR_INVALID, "%s: %s \"%.40s…\": %zu bytes, at most %d are allowed",
                     command->name, key, *text, strlen(*text), JOB_NAME_MAX);
}

static bool read_id(const struct command *command, const json_t *object, const char *key,
                    int64_t *id, struct error *error) {
    const json_t *value = json_object_get(object, key);
    if (!value)
        return error_set(error, ERROR_INVALID, "%s: %s is missing", command->name, key);
    return json_whole(value, 1, INT64_MAX, id) || refuse(command, key, value, "an id", error);
}

static bool read_plan(struct command *command, const json_t *object, struct error *error) {
    command->plan = json_object_get(object, "plan");
    return !command->plan || json_is_object(command->plan) ||
           refuse(command, "plan", command->plan, "an object", error);
}

static bool read_deployments(struct command *command, const json_t *object, struct error *error) {
    const json_t *value = json_object_get(object, "deployment");
    command->deployments = value;
    if (!value)
        return error_set(error, ERROR_INVALID, "%s: deployment is missing", command->name);
    return (is_list_of_ids(value) && !json_is_object(value)) ||
           refuse(command, "deployment", value, "an id or a list of ids", error);
}

static bool read_target(struct command *command, const json_t *object, struct error *error) {
    switch (command->target) {
    case TARGET_PLAN:
        return read_plan(command, object, error);
    case TARGET_HISTORY:
    case TARGET_JOBS:
        return read_jobs(command, object, error);
    case TARGET_DEFINITION:
        return read_text(command, object, "definition", &command->definition, error);
    case TARGET_INSTANCE:
        return read_text(command, object, "instance", &command->instance, error);
    case TARGET_PROCESS:
        return read_text(command, object, "process", &command->process, error);
    case TARGET_TASK:
        return read_id(command, object, "task", &command->task, error);
    case TARGET_SCHEDULE:
        return read_text(command, object, "schedule", &command->schedule, error);
    case TARGET_BATCH:
        return read_id(command, object, "batch", &command->batch, error);
    case TARGET_INCIDENT:
        return read_id(command, object, "incident", &command->incident, error);
    case TARGET_EXECUTOR:
        return read_text(command, object, "executor", &command->executor, error);
    case TARGET_DEPLOYMENT:
        return command->verb == COMMAND_RENAME_DEPLOYMENT
                   ? read_text(command, object, "deployment", &command->folder, error)
                   : read_deployments(command, object, error);
    }
    return error_set(error, ERROR_FAILED, "%s: no code reads its target", command->name);
}

/* The keys that say what it is done to. */
static const char *const targets[][2] = {
    [TARGET_JOBS] = {"ids", "query"},     [TARGET_DEFINITION] = {"definition", ""},
    [TARGET_INSTANCE] = {"instance", ""}, [TARGET_INCIDENT] = {"incident", ""},
    [TARGET_BATCH] = {"batch", ""},       [TARGET_HISTORY] = {"ids", "query"},
    [TARGET_PLAN] = {"plan", ""},         [TARGET_SCHEDULE] = {"schedule", ""},
    [TARGET_EXECUTOR] = {"executor", ""}, [TARGET_DEPLOYMENT] = {"deployment", ""},
    [TARGET_PROCESS] = {"process", ""},   [TARGET_TASK] = {"task", ""},
};

static bool is_target(enum command_target target, const char *key) {
    return strcmp(key, targets[target][0]) == 0 || strcmp(key, targets[target][1]) == 0;
}

const char *command_target_key(enum command_target target) {
    return targets[target][0];
}

const char *command_key(enum command_verb verb, size_t at, bool *needed, const char **type) {
    for (size_t i = 0; i < KEYS; i++) {
        if (!((verbs[verb].needs | verbs[verb].takes) & keys[i].bit) || at--)
            continue;
        *needed = (verbs[verb].needs & keys[i].bit) != 0;
        *type = keys[i].type;
        return keys[i].name;
    }
    return NULL;
}

/* ---- the whole ---- */

static bool unknown_key(const struct command *command, const char *key, int known,
                        struct error *error) {
    const char *names[KEYS + 1];
    char what[64];
    size_t count = 0;
    for (size_t i = 0; i < KEYS; i++)
        if (known & keys[i].bit)
            names[count++] = keys[i].name;
    names[count] = NULL;
    snprintf(what, sizeof what, "%s: unknown key", command->name);
    return error_unknown(error, ERROR_INVALID, what, key, names, NULL);
}

/* Whether it can be read is known before any job is looked at; its dates are the job's matter. */
static bool check_cycle(const struct command *command, struct error *error) {
    struct cycle cycle;
    struct error cause = {0};
    const struct zone *zone = zone_find(command->zone, &cause);
    if (!zone)
        return error_set(error, cause.code, "%s: %s", command->name, cause.text);
    return cycle_parse(command->cycle, zone, 0, &cycle, &cause) ||
           error_set(error, cause.code, "%s: %s; a cycle is such as " CYCLE_EXAMPLES, command->name,
                     cause.text);
}

/* True if the key belongs to the command itself and is read elsewhere. */
static bool is_own(const struct command *command, const char *key) {
    return strcmp(key, "verb") == 0 || strcmp(key, "goes_on") == 0 ||
           is_target(command->target, key);
}

static bool read_keys(struct command *command, const json_t *object, struct error *error) {
    const int known = verbs[command->verb].needs | verbs[command->verb].takes;
    int given = 0;
    command->include_jobs = command->target == TARGET_INSTANCE; /* of a definition only when told */
    const char *key;
    json_t *value;
    json_object_foreach(json_unchanged(object), key, value) {
        size_t i = 0;
        if (is_own(command, key))
            continue;
        while (i < KEYS && (strcmp(keys[i].name, key) != 0 || !(known & keys[i].bit)))
            i++;
        if (i == KEYS)
            return unknown_key(command, key, known, error);
        if (keys[i].read ? !keys[i].read(command, value, error)
                         : !read_flag(command, key, keys[i].flag, value, error))
            return false;
        given |= (int)keys[i].bit;
    }
    if (command->verb == COMMAND_SET_DUE)
        given |= KEY_DUE; /* none: the due date goes */
    for (size_t i = 0; i < KEYS; i++)
        if (verbs[command->verb].needs & ~given & keys[i].bit)
            return error_set(error, ERROR_INVALID, "%s: %s is missing", command->name,
                             keys[i].name);
    return command->verb != COMMAND_SET_CYCLE || check_cycle(command, error);
}

static bool read_verb(struct command *command, const json_t *object, struct error *error) {
    const char *names[COMMAND_COUNT + 1] = {NULL};
    const json_t *verb = json_object_get(object, "verb");
    if (!json_is_string(verb))
        return error_set(error, ERROR_INVALID,
                         "command: expected an object with a verb, such as \"set_retries\"");
    const char *name = json_string_value(verb);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i] = verbs[i].name;
        if (strcmp(names[i], name) != 0)
            continue;
        command->verb = (enum command_verb)i;
        command->name = names[i];
        command->target = verbs[i].target;
        return true;
    }
    return error_unknown(error, ERROR_INVALID, "command: unknown verb", name, names, NULL);
}

bool command_read(struct command *command, const json_t *object, struct error *error) {
    *command = (struct command){.due = TIME_NONE, .at = TIME_NONE, .removal = TIME_NONE};
    const json_t *on = json_object_get(object, "goes_on");
    command->entry = json_integer_value(json_object_get(on, "entry"));
    command->after = json_integer_value(json_object_get(on, "after"));
    command->upto = json_integer_value(json_object_get(on, "upto"));
    command->done = (size_t)json_integer_value(json_object_get(on, "done"));
    command->goes_on = on != NULL;
    held_from_json(&command->held, json_object_get(on, "held"));
    return read_verb(command, object, error) && read_target(command, object, error) &&
           read_keys(command, object, error);
}

void command_run_clear(struct command_run *run) {
    *run = (struct command_run){.dry_run = run->dry_run, .tell = run->tell, .arg = run->arg};
}

json_t *command_rest(const json_t *object, const struct command *command) {
    json_t *rest = json_copy(json_unchanged(object));
    json_t *on = json_pack("{s:I, s:I, s:I, s:I, s:o*}", "entry", (json_int_t)command->entry,
                           "after", (json_int_t)command->after, "upto", (json_int_t)command->upto,
                           "done", (json_int_t)command->done, "held",
                           command->held.jobs ? held_to_json(&command->held) : NULL);
    return json_kept(rest, rest && on && json_object_set_new(rest, "goes_on", on) == 0);
}
