#include "engine/command/bulk_command.h"
#include "base/json.h"
#include "engine/batch.h"
#include "engine/batch_type.h"
#include "engine/engine_state.h"

#define INVOCATIONS                                                                                \
    100 /* jobs that one job of the batch changes, unless its type has a setting                   \
         */

/* The batch that a command becomes. */
struct bulk_command {
    const char *type;
    json_t *config, *query; /* owned */
    const json_t *ids;      /* instead of a query */
    json_t *now;            /* owned; the part that is done at once, or NULL */
};

static void bulk_command_clear(struct bulk_command *bulk) {
    json_decref(bulk->config);
    json_decref(bulk->query);
    json_decref(bulk->now);
}

static bool is_dated(const json_t *command) {
    const json_t *at = json_object_get(command, "at");
    return at && !json_is_null(at);
}

bool bulk_command_is(const json_t *command) {
    struct command read;
    return command_read(&read, command, NULL) && !is_dated(command) && !read.goes_on &&
           !read.hierarchy &&
           (read.target == TARGET_JOBS || read.target == TARGET_DEFINITION ||
            read.target == TARGET_INSTANCE);
}

/* Makes the config of the batch: the command without its target. */
static json_t *config_of(const json_t *command) {
    static const char *const others[] = {"verb",     "ids",          "query",   "definition",
                                         "instance", "include_jobs", "cascade", "at"};
    json_t *config = json_copy(json_unchanged(command));
    const json_t *cascade = json_object_get(command, "cascade");
    bool of_date = json_is_true(cascade) && json_object_get(command, "due");
    for (size_t i = 0; config && i < sizeof others / sizeof *others; i++)
        json_object_del(config, others[i]);
    if (config && of_date)
        json_put(config, "cascade", json_true());
    return config;
}

/* The command for the definition or instance alone. */
static json_t *alone(const json_t *command, const char *flag) {
    json_t *now = json_copy(json_unchanged(command));
    if (now)
        json_put(now, flag, json_false());
    return now;
}

/* Sets or clears this reason only. Where jobs are activated, only jobs with it are chosen. */
static void read_suspension(struct bulk_command *bulk, bool activates, const char *reason) {
    if (bulk->query && activates)
        json_put_text(bulk->query, "suspended_by", reason);
    if (bulk->config)
        json_put_text(bulk->config, "reason", reason);
}

static void read_definition(struct bulk_command *bulk, const struct command *command,
                            const json_t *object) {
    bulk->query = json_pack("{ss}", "handler", command->definition);
    bool suspends = command->verb == COMMAND_SUSPEND_DEFINITION;
    if (command->verb == COMMAND_OVERRIDE_PRIORITY) {
        bulk->type = batch_type_of(COMMAND_SET_PRIORITY);
        bulk->now = alone(object, "cascade");
    } else if (command->verb == COMMAND_SET_DEFINITION_RETRIES) {
        bulk->type = batch_type_of(COMMAND_SET_RETRIES);
        json_put(bulk->query, "no_retries_left", json_true());
    } else if (suspends || command->verb == COMMAND_ACTIVATE_DEFINITION) {
        bulk->type = batch_type_of(suspends ? COMMAND_SUSPEND : COMMAND_ACTIVATE);
        bulk->now = alone(object, "include_jobs");
        read_suspension(bulk, !suspends, "definition");
    }
}

static void read_instance(struct bulk_command *bulk, const struct command *command,
                          const json_t *object) {
    bool suspends = command->verb == COMMAND_SUSPEND_INSTANCE;
    bulk->type = batch_type_of(suspends ? COMMAND_SUSPEND : COMMAND_ACTIVATE);
    bulk->query = json_pack("{ss}", "instance", command->instance);
    read_suspension(bulk, !suspends, "instance");
    bulk->now = alone(object, "include_jobs");
}

static bool bulk_command_read(struct bulk_command *bulk, const json_t *object,
                              struct error *error) {
    struct command command;
    *bulk = (struct bulk_command){.config = config_of(object)};
    if (!command_read(&command, object, error))
        return false;
    if (command.target == TARGET_DEFINITION)
        read_definition(bulk, &command, object);
    else if (command.target == TARGET_INSTANCE)
        read_instance(bulk, &command, object);
    else
        bulk->type = batch_type_of(command.verb);
    if (!bulk->type)
        return error_set(error, ERROR_FAILED, "%s: no batch can do it", command.name);
    bulk->ids = command.ids;
    if (command.query)
        bulk->query = json_incref(json_unchanged(command.query));
    if (bulk->query && bulk->config) /* by the time it is done some have ended */
        json_put(bulk->config, "ignore_missing", json_true());
    return (bulk->config && (bulk->query || bulk->ids)) || error_no_memory(error);
}

static bool at_once(struct engine *engine, const json_t *command, struct error *error) {
    struct command_run run = {0};
    if (!command)
        return true;
    bool done =
        store_begin(engine->store, STORE_COMMAND, error) &&
        engine_end(engine, store_command(engine->store, command, &run, engine_now(engine), error),
                   error);
    json_decref(run.rest);
    return done;
}

static json_t *spec_of(const struct engine *engine, const struct bulk_command *bulk) {
    const json_t *by_type = engine->options.settings->invocations_by_type;
    json_t *spec = json_pack("{sssO}", "type", bulk->type, "config", bulk->config);
    if (spec && !json_object_get(by_type, bulk->type))
        json_put(spec, "invocations", json_integer(INVOCATIONS));
    return spec;
}

bool bulk_command_give(struct engine *engine, json_t *command, struct command_run *run,
                       struct error *error) {
    struct bulk_command bulk;
    bool read = bulk_command_read(&bulk, command, error) && at_once(engine, bulk.now, error);
    json_t *spec = read ? spec_of(engine, &bulk) : NULL;
    bool done = spec ? engine_batch_create(engine, spec, bulk.ids, ASK_JOBS, bulk.query, run, error)
                     : read && error_no_memory(error);
    json_decref(spec);
    bulk_command_clear(&bulk);
    return done;
}
