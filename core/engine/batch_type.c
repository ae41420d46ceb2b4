#include "engine/batch_type.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/batch.h"
#include "engine/batch_config.h"
#include "engine/engine_state.h"
#include "job/instance_batch.h"
#include <stdlib.h>
#include <string.h>

/* A type of a folder, which does no operator's verb: a job for each id, its payload. */
#define ENQUEUE "enqueue"

static const struct {
    const char *type;
    enum command_verb verb;
} stock[] = {
    {"set-job-retries", COMMAND_SET_RETRIES},
    {"set-job-retries", COMMAND_RETRY}, /* without a number */
    {"set-external-retries", COMMAND_SET_RETRIES},
    {"set-job-priority", COMMAND_SET_PRIORITY},
    {"set-due-date", COMMAND_SET_DUE},
    {"recalculate-due-date", COMMAND_RECALCULATE_DUE},
    {"set-cycle", COMMAND_SET_CYCLE},
    {"suspend", COMMAND_SUSPEND},
    {"activate", COMMAND_ACTIVATE},
    {"delete-jobs", COMMAND_DELETE},
    {"cancel-jobs", COMMAND_CANCEL},
    {"dead-letter", COMMAND_DEAD_LETTER},
    {"set-removal-time", COMMAND_SET_REMOVAL_TIME},
    {"delete-history", COMMAND_DELETE_HISTORY},
    {"delete-instances", COMMAND_DELETE_HISTORY},
    {"suspend-instances", COMMAND_SUSPEND_INSTANCE},
    {"activate-instances", COMMAND_ACTIVATE_INSTANCE},
};
#define STOCK (sizeof stock / sizeof *stock)

const char *batch_type_of(enum command_verb verb) {
    for (size_t i = 0; i < STOCK; i++)
        if (stock[i].verb == verb)
            return stock[i].type;
    return NULL;
}

/* STOCK: none. */
static size_t find_stock(const char *type) {
    size_t i = 0;
    while (i < STOCK && strcmp(stock[i].type, type) != 0)
        i++;
    return i;
}

/* ---- what its ids are ---- */

#define OF_INSTANCES "-instances"

static bool is_of_instances(const char *type) {
    size_t size = strlen(type), end = strlen(OF_INSTANCES);
    return instance_batch_find(type) ||
           (size > end && strcmp(type + size - end, OF_INSTANCES) == 0 && find_stock(type) < STOCK);
}

const char *batch_ids_of(const char *type) {
    if (is_of_instances(type))
        return "instance";
    return find_stock(type) < STOCK ? "job" : NULL;
}

enum ask_kind batch_list_of(const char *type) {
    const struct instance_batch *walked = instance_batch_find(type);
    if (!is_of_instances(type))
        return ASK_JOBS;
    bool ended = walked ? walked->lane == BATCH_LANE_NONE : strcmp(type, "delete-instances") == 0;
    return ended ? ASK_PAST : ASK_PROCESS_INSTANCES;
}

/* The records of ended instances are deleted and kept as those of ended jobs. */
static bool is_of_history(const char *type) {
    const size_t at = find_stock(type);
    return at < STOCK &&
           (stock[at].verb == COMMAND_DELETE_HISTORY || stock[at].verb == COMMAND_SET_REMOVAL_TIME);
}

bool batch_takes(const char *type, enum ask_kind of, struct error *error) {
    static const char *const names[] = {
        [ASK_JOBS] = "jobs", [ASK_PROCESS_INSTANCES] = "instances", [ASK_PAST] = "past instances"};
    enum ask_kind expected = batch_list_of(type);
    if (of == expected || !batch_ids_of(type) || (of == ASK_PAST && is_of_history(type)))
        return true;
    return error_set(error, ERROR_INVALID,
                     "batch \"%s\": ids is a query of %s (expected one of %s)", type, names[of],
                     names[expected]);
}

/* ---- which there are ---- */

static void add_name(const char **names, size_t *count, const char *name) {
    if (*count >= BATCH_TYPES_MAX || is_one_of(name, names))
        return;
    names[(*count)++] = name;
    names[*count] = NULL;
}

static void add_stock(const char **names, size_t count) {
    for (size_t i = 0; i < STOCK; i++)
        add_name(names, &count, stock[i].type);
    for (size_t i = 0; instance_batch_at(i); i++)
        add_name(names, &count, instance_batch_at(i)->type);
    add_name(names, &count, ENQUEUE);
}

void batch_stock_types(const char *names[BATCH_TYPES_MAX + 1]) {
    names[0] = NULL;
    add_stock(names, 0);
}

/* The texts stay the engine's. */
static void known_types(struct engine *engine, const char **names) {
    const struct definitions *definitions = engine_definitions(engine);
    size_t count = 0, prefix = strlen(BATCH_HANDLERS);
    names[0] = NULL;
    for (size_t i = 0; i < definitions->count; i++)
        if (strncmp(definitions->list[i].name, BATCH_HANDLERS, prefix) == 0)
            add_name(names, &count, definitions->list[i].name + prefix);
    add_stock(names, count);
}

static bool refuse_unknown(struct engine *engine, const char *type, struct error *error) {
    const char *names[BATCH_TYPES_MAX + 1];
    known_types(engine, names);
    return error_unknown(error, ERROR_NOT_FOUND, "unknown type of batch", type, names, "known:");
}

bool batch_type_find(struct engine *engine, const char *type, const struct definition **definition,
                     struct error *error) {
    char name[2 * JOB_NAME_MAX];
    struct generation *generation;
    snprintf(name, sizeof name, BATCH_HANDLERS "%.*s", JOB_NAME_MAX, type);
    if (!engine_find(engine, name, &generation, definition, error))
        return false;
    return *definition || generation || batch_ids_of(type) || strcmp(type, ENQUEUE) == 0 ||
           refuse_unknown(engine, type, error);
}

/* ---- its config ---- */

/* "set_retries: retries is missing" as it is said of the type's config. */
static bool type_refuse(const char *type, const struct error *cause, struct error *error) {
    const char *text = strstr(cause->text, ": ");
    return error_set(error, cause->code, "config of \"%s\": %s", type,
                     text ? text + 2 : cause->text);
}

/* The config as a command that an execution job will give. */
static json_t *command_of(size_t at, const json_t *config) {
    json_t *command = config ? json_copy(json_unchanged(config)) : json_object();
    if (!command)
        return NULL;
    if (stock[at].verb == COMMAND_SET_RETRIES && !json_object_get(command, "retries"))
        json_put(command, "retries", json_integer(1)); /* as many as are configured */
    if (is_of_instances(stock[at].type) && stock[at].verb != COMMAND_DELETE_HISTORY)
        json_put_text(command, "instance", "1");
    else
        json_put(command, "ids", json_array());
    json_put_text(command, "verb", command_name(stock[at].verb));
    return command;
}

static bool check_order(size_t at, const json_t *config, struct error *error) {
    struct command read;
    struct error cause = {0};
    json_t *command = command_of(at, config);
    bool fine = command && command_read(&read, command, &cause);
    json_decref(command);
    return fine || type_refuse(stock[at].type, &cause, error);
}

static bool check_spec(struct engine *engine, const json_t *config, struct error *error) {
    struct error cause = {0};
    struct engine_check check = {0};
    json_t *object = config ? json_copy(json_unchanged(config)) : json_object();
    bool payload = object && json_object_get(object, "payload");
    if (payload)
        error_set(&cause, ERROR_INVALID, "payload: not of its own (each id is one)");
    bool fine = object && !payload &&
                engine_check_spec(engine, &(struct engine_spec){.object = object}, &check, &cause);
    json_decref(object);
    free(check.answers.unique);
    return fine || error_set(error, cause.code, "config of \"" ENQUEUE "\": %s", cause.text);
}

/* It is given to each instance as a command. */
static bool check_walked(const struct instance_batch *type, const json_t *config,
                         struct error *error) {
    struct error cause = {0};
    return batch_config_check(type, config, &cause) ||
           error_set(error, cause.code, "config of \"%s\": %s", type->type, cause.text);
}

bool batch_type_check(struct engine *engine, const char *type, const json_t *config,
                      struct error *error) {
    size_t at = find_stock(type);
    if (at < STOCK)
        return check_order(at, config, error);
    if (instance_batch_find(type))
        return check_walked(instance_batch_find(type), config, error);
    return strcmp(type, ENQUEUE) != 0 || check_spec(engine, config, error);
}
