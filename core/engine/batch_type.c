#include "engine/batch_type.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/batch.h"
#include "engine/engine_state.h"
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
};
#define STOCK (sizeof stock / sizeof *stock)
#define NAMES_MAX 200

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

bool batch_is_of_jobs(const char *type) {
    return find_stock(type) < STOCK;
}

/* ---- which there are ---- */

static void add_name(const char **names, size_t *count, const char *name) {
    if (*count >= NAMES_MAX || is_one_of(name, names))
        return;
    names[(*count)++] = name;
    names[*count] = NULL;
}

/* The texts stay the engine's. */
static void known_types(struct engine *engine, const char **names) {
    const struct definitions *definitions = engine_definitions(engine);
    size_t count = 0, prefix = strlen(BATCH_HANDLERS);
    names[0] = NULL;
    for (size_t i = 0; i < definitions->count; i++)
        if (strncmp(definitions->list[i].name, BATCH_HANDLERS, prefix) == 0)
            add_name(names, &count, definitions->list[i].name + prefix);
    for (size_t i = 0; i < STOCK; i++)
        add_name(names, &count, stock[i].type);
    add_name(names, &count, ENQUEUE);
}

static bool refuse_unknown(struct engine *engine, const char *type, struct error *error) {
    const char *names[NAMES_MAX + 1];
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
    return *definition || generation || find_stock(type) < STOCK || strcmp(type, ENQUEUE) == 0 ||
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

bool batch_type_check(struct engine *engine, const char *type, const json_t *config,
                      struct error *error) {
    size_t at = find_stock(type);
    if (at < STOCK)
        return check_order(at, config, error);
    return strcmp(type, ENQUEUE) != 0 || check_spec(engine, config, error);
}
