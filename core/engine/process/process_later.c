#include "engine/process/process_later.h"
#include "engine/engine_state.h"
#include "engine/intake.h"
#include "engine/process/process_entry.h"
#include <stdio.h>
#include <stdlib.h>

/* What is done stands behind the end of the job. */
static bool later_note(struct engine *engine, const struct process_cause *cause,
                       const json_t *command, int64_t job, struct error *error) {
    struct process_entry made;
    char by[48];
    snprintf(by, sizeof by, "by job %lld", (long long)job);
    bool done = process_entry_make(&made, cause, command, NULL, error);
    const struct store_entry entry = {made.verb, made.entity,     made.before,
                                      by,        cause->instance, {{0}}};
    done = done && store_note(engine->store, &entry, engine_now(engine), error);
    process_entry_clear(&made);
    return done;
}

/* What a message to one is, without its variables; name NULL: the command is another one. */
static struct unit_message message_of(const struct process_cause *cause) {
    const json_t *command = cause->command;
    return (struct unit_message){
        .name = cause->broadcast ? NULL : json_string_value(json_object_get(command, "message")),
        .key = json_string_value(json_object_get(command, "key")),
        .instance = json_integer_value(json_object_get(command, "instance")),
        .business_key = json_string_value(json_object_get(command, "business_key")),
        .until = cause->until,
    };
}

/* A job would call the handlers first, and then be refused again and again. */
static bool may_wait(const struct process_cause *cause, struct error *error) {
    if (json_is_true(json_object_get(cause->command, "unique")))
        return error_set(error, ERROR_INVALID,
                         "unique: no job does it (expected the script folder here, or --now)");
    return process_cause_may(cause, error);
}

bool process_later_write(struct engine *engine, const struct process_cause *cause,
                         const json_t *command, int32_t retries, int64_t *job,
                         struct error *error) {
    struct unit_message message = message_of(cause);
    struct store_order order = {.key = cause->key,
                                .instance = cause->instance,
                                .activity = cause->activity[0] ? cause->activity : NULL,
                                .retries = retries,
                                .beside = cause->ends,
                                .message = message.name ? &message : NULL,
                                .cause = cause->object,
                                .trace = engine->trace};
    char *variables = json_dumps(json_object_get(cause->object, "variables"), JSON_COMPACT);
    message.variables = variables;
    bool done = may_wait(cause, error) &&
                store_order(engine->store, &order, engine_now(engine), error) &&
                later_note(engine, cause, command, order.job, error);
    free(variables);
    *job = order.job;
    return done;
}

bool process_later(struct engine *engine, const struct process_cause *cause, const json_t *command,
                   int32_t retries, int64_t *job, struct error *error) {
    return once_begin(engine, error) &&
           once_end(engine, process_later_write(engine, cause, command, retries, job, error),
                    error);
}
