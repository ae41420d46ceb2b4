#include "cli/operate.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/select.h"
#include <string.h>

static const struct operation {
    const char *name;   /* of the verb */
    const char *verb;   /* of the command */
    const char *done;   /* "3 jobs <done>" */
    const char *target; /* the member that the first word fills; NULL: the words are ids, unless
                           filters are given */
    const char *word;   /* the member that a word behind the target or before the ids fills; NULL:
                           there is none */
} operations[] = {
    {"job retry", "retry", "retried"},
    {"job delete", "delete", "deleted"},
    {"job cancel", "cancel", "cancelled"},
    {"job dead", "dead_letter", "given up"},
    {"job suspend", "suspend", "suspended"},
    {"job activate", "activate", "activated"},
    {"job priority", "set_priority", "changed", NULL, "priority"},
    {"job due", "set_due", "changed", NULL, "due"},
    {"job recalculate", "recalculate_due", "changed"},
    {"job cycle", "set_cycle", "changed", NULL, "cycle"},
    {"history removal-time", "set_removal_time", "changed", NULL, "removal_time"},
    {"history delete", "delete_history", "removed from the history"},
    {"batch suspend", "suspend_batch", "suspended", "batch"},
    {"batch activate", "activate_batch", "activated", "batch"},
    {"batch delete", "delete_batch", "deleted", "batch"},
    {"batch retry-failed", "retry_failed", "retried", "batch"},
    {"batch priority", "set_batch_priority", "changed", "batch", "priority"},
    {"batch removal-time", "set_batch_removal_time", "changed", "batch", "removal_time"},
    {"incident annotate", "annotate", "annotated", "incident", "note"},
    {"incident resolve", "resolve", "resolved", "incident"},
    {"incident removal-time", "set_incident_removal_time", "changed", "incident", "removal_time"},
    {"definition suspend", "suspend_definition", "suspended", "definition"},
    {"definition activate", "activate_definition", "activated", "definition"},
    {"definition retries", "set_definition_retries", "retried", "definition", "retries"},
    {"instance suspend", "suspend_instance", "suspended", "instance"},
    {"instance activate", "activate_instance", "activated", "instance"},
    {"process suspend", "suspend_process", "suspended", "process"},
    {"process activate", "activate_process", "activated", "process"},
    {"task release", "set_assignee", "released", "task"},
    {"executor drain", "drain", "told to drain", "executor"},
    {"executor resume", "resume", "told to work again", "executor"},
};

static const struct operation *operation_of(const struct flags *flags) {
    const struct operation *operation = operations;
    while (strcmp(operation->name, flags->command->name) != 0)
        operation++;
    return operation;
}

/* Batches, incidents and tasks have numbers, the others names. */
static bool target_put(json_t *command, const char *target, const char *word, struct error *error) {
    bool batch = strcmp(target, "batch") == 0;
    int64_t id;
    if (!batch && strcmp(target, "incident") != 0 && strcmp(target, "task") != 0)
        return command_put(command, target, target, word, error);
    return flags_number(batch ? "batch" : "id", word, 1, INT64_MAX, &id, error) &&
           (json_put(command, target, json_integer(id)) || error_no_memory(error));
}

static bool command_fill(json_t *command, const struct operation *operation,
                         const struct flags *flags, struct error *error) {
    const char *word = operation->word;
    const char *const *words = flags->words;
    bool fine = operation->target ? target_put(command, operation->target, *words++, error)
                                  : select_read(command, flags, word != NULL, error);
    return fine && (!word || command_put(command, word, word, *words, error)) &&
           command_members(command, flags, error);
}

bool operate_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const struct operation *operation = operation_of(flags);
    json_t *command = json_pack("{ss}", "verb", operation->verb);
    if (command && !command_fill(command, operation, flags, error)) {
        json_decref(command);
        return false;
    }
    bool retries = json_object_get(command, "retries") && strcmp(operation->verb, "retry") == 0;
    if (retries && !json_put_text(command, "verb", "set_retries")) {
        json_decref(command);
        return error_no_memory(error);
    }
    return give_command(cli, flags, command, operation->done, error);
}
