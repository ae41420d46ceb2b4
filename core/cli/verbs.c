#include "cli/verbs.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

const struct cli_command *const verb_groups[] = {
    init_commands,       import_commands,        run_commands,
    serve_commands,      health_commands,        check_commands,
    enqueue_commands,    job_commands,           clone_commands,
    act_commands,        why_commands,           wait_commands,
    definition_commands, instance_commands,      process_commands,
    running_commands,    process_order_commands, process_migrate_commands,
    picture_commands,    batch_commands,         incident_commands,
    deployment_commands, executor_commands,      token_commands,
    schedule_commands,   history_commands,       cleanup_commands,
    store_commands,      backup_commands,        stats_commands,
    top_commands,        bench_commands,         settings_commands,
    completion_commands, help_commands,          NULL,
};

/* 0: not this command; else how many words its name took. */
static int name_matches(const char *name, const char *first, const char *second) {
    size_t size = strlen(first);
    if (strncmp(name, first, size) != 0)
        return 0;
    if (name[size] == '\0')
        return 1;
    return name[size] == ' ' && second && strcmp(name + size + 1, second) == 0 ? 2 : 0;
}

const struct cli_command *verb_find(const char *first, const char *second, int *words) {
    for (const struct cli_command *const *group = verb_groups; *group; group++)
        for (const struct cli_command *command = *group; command->name; command++)
            if ((*words = name_matches(command->name, first, second)) > 0)
                return command;
    return NULL;
}

#define VERBS_MAX 128 /* of all groups */

/* The second words of a group ("list, show, …") into `names`; how many there are. */
static size_t group_words(const char *first, const char **names, size_t room) {
    size_t count = 0, size = strlen(first);
    for (const struct cli_command *const *group = verb_groups; *group; group++)
        for (const struct cli_command *command = *group; command->name; command++)
            if (strncmp(command->name, first, size) == 0 && command->name[size] == ' ' &&
                count + 1 < room)
                names[count++] = command->name + size + 1;
    names[count] = NULL;
    return count;
}

static bool group_unknown(const char *first, const char *second, const char **names,
                          struct error *error) {
    const char *meant = second ? suggest(second, names) : NULL;
    if (meant)
        return error_set(error, ERROR_USAGE, "unknown verb \"%s %s\" (did you mean \"%s %s\"?)",
                         first, second, first, meant);
    struct text list = {0};
    for (size_t i = 0; names[i]; i++)
        text_add(&list, "%s%s", i ? ", " : "", names[i]);
    if (second)
        error_set(error, ERROR_USAGE, "unknown verb \"%s %s\" (expected %s)", first, second,
                  list.data);
    else
        error_set(error, ERROR_USAGE, "%s needs a verb (expected %s)", first, list.data);
    text_clear(&list);
    return false;
}

/* What other programs call it. */
static const char *foreign_verb(const char *word) {
    static const char *const words[][2] = {
        {"status", "stats, health"},
        {"info", "stats"},
        {"metrics", "stats"},
        {"ps", "job list --state locked"},
        {"jobs", "job list"},
        {"queue", "job list"},
        {"queues", "definition list"},
        {"tail", "log --follow"},
        {"start", "run"},
        {"work", "run"},
        {"worker", "run"},
        {"add", "enqueue"},
        {"push", "enqueue"},
        {"submit", "enqueue"},
        {"new", "init"},
        {"upgrade", "store migrate"},
        {"cron", "schedule list"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], word) == 0)
            return words[i][1];
    return NULL;
}

/* Names the verbs whose second word this is, and what other programs call so. False: there are
 * none. */
static bool bare_word(const char *word, struct error *error) {
    struct text list = {0};
    const char *foreign = foreign_verb(word);
    if (foreign)
        text_add(&list, "%s", foreign);
    for (const struct cli_command *const *group = verb_groups; *group; group++)
        for (const struct cli_command *command = *group; command->name; command++) {
            const char *second = strchr(command->name, ' ');
            if (second && strcmp(second + 1, word) == 0)
                text_add(&list, "%s%s", list.size ? ", " : "", command->name);
        }
    bool found = list.data != NULL;
    if (found)
        error_set(error, ERROR_USAGE, "unknown verb \"%s\" (expected %s)", word, list.data);
    text_clear(&list);
    return found;
}

bool verb_unknown(const char *first, const char *second, struct error *error) {
    const char *names[VERBS_MAX] = {NULL};
    if (group_words(first, names, VERBS_MAX) > 0)
        return group_unknown(first, second && second[0] != '-' ? second : NULL, names, error);
    if (bare_word(first, error))
        return false;
    char words[VERBS_MAX][32];
    size_t count = 0;
    for (const struct cli_command *const *group = verb_groups; *group; group++)
        for (const struct cli_command *command = *group; command->name && count < VERBS_MAX - 1;
             command++) {
            snprintf(words[count], sizeof *words, "%.*s", (int)strcspn(command->name, " "),
                     command->name);
            names[count] = words[count];
            names[++count] = NULL;
        }
    const char *meant = suggest(first, names);
    if (meant)
        return error_set(error, ERROR_USAGE, "unknown verb \"%s\" (did you mean \"%s\"?)", first,
                         meant);
    return error_set(error, ERROR_USAGE, "unknown verb \"%s\" (see moonshift --help)", first);
}
