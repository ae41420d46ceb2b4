#include "cli/cli.h"
#include "base/json.h"
#include "base/text.h"
#include "base/thread.h"
#include "cli/fault.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/verb/service/help.h"
#include "cli/words/flags.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cli_command *const cli_groups[] = {
    run_commands,        check_commands,      enqueue_commands,
    job_commands,        act_commands,        why_commands,
    wait_commands,       definition_commands, instance_commands,
    process_commands,    running_commands,    process_order_commands,
    batch_commands,      incident_commands,   deployment_commands,
    executor_commands,   schedule_commands,   history_commands,
    cleanup_commands,    store_commands,      backup_commands,
    stats_commands,      bench_commands,      settings_commands,
    completion_commands, help_commands,       NULL,
};

int cli_fail(const struct error *error) {
    char *text = output_clean(error->text, true);
    fprintf(stderr, "moonshift: %s\n", text ? text : error->text);
    free(text);
    return error_exit_status(error->code);
}

/* 0: not this command; else how many words its name took. */
static int name_matches(const char *name, const char *first, const char *second) {
    size_t size = strlen(first);
    if (strncmp(name, first, size) != 0)
        return 0;
    if (name[size] == '\0')
        return 1;
    return name[size] == ' ' && second && strcmp(name + size + 1, second) == 0 ? 2 : 0;
}

const struct cli_command *cli_find(const char *first, const char *second, int *words) {
    for (const struct cli_command *const *group = cli_groups; *group; group++)
        for (const struct cli_command *command = *group; command->name; command++)
            if ((*words = name_matches(command->name, first, second)) > 0)
                return command;
    return NULL;
}

#define VERBS_MAX 128 /* of all groups */

/* The second words of a group ("list, show, …") into `names`; how many there are. */
static size_t group_words(const char *first, const char **names, size_t room) {
    size_t count = 0, size = strlen(first);
    for (const struct cli_command *const *group = cli_groups; *group; group++)
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

bool cli_unknown(const char *first, const char *second, struct error *error) {
    const char *names[VERBS_MAX] = {NULL};
    if (group_words(first, names, VERBS_MAX) > 0)
        return group_unknown(first, second && second[0] != '-' ? second : NULL, names, error);
    char words[VERBS_MAX][32];
    size_t count = 0;
    for (const struct cli_command *const *group = cli_groups; *group; group++)
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

static bool command_run(const struct flags *flags, struct error *error) {
    if (flags->helps) {
        help_command(flags->command);
        return true;
    }
    struct cli cli = {.json = flags_has(flags, "--json"), .interactive = isatty(STDERR_FILENO)};
    bool fine = flags->command->run(&cli, flags, error);
    setup_clear(&cli);
    return fine;
}

/* The flags may stand before the verb too: how many words stand there. */
static int words_before_verb(int argc, char **argv) {
    int at = 1;
    while (at < argc && argv[at][0] == '-')
        at += strcmp(argv[at], "-C") == 0 || strcmp(argv[at], "--store") == 0 ? 2 : 1;
    return (at < argc ? at : argc) - 1;
}

/* What stands before the verb and behind it, as one list without the verb. */
static bool line_run(int argc, char **argv, int before, struct error *error) {
    int verb = before + 1, words = 0;
    const char *second = verb + 1 < argc ? argv[verb + 1] : NULL;
    const struct cli_command *command = cli_find(argv[verb], second, &words);
    if (!command && second && strcmp(second, "--help") == 0 && help_topic(argv[verb], NULL, NULL))
        return true;
    if (!command)
        return cli_unknown(argv[verb], second, error);
    memmove(argv + 1 + words, argv + 1, (size_t)before * sizeof *argv);
    struct flags flags;
    bool fine = flags_parse(&flags, command, argc - 1 - words, argv + 1 + words, error) &&
                command_run(&flags, error);
    flags_clear(&flags);
    return fine;
}

static bool line_without_verb(int argc, char **argv, struct error *error) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help_overview();
            return true;
        }
        if (strcmp(argv[i], "--version") == 0) {
            help_version(false, error);
            return true;
        }
    }
    if (argc > 1)
        return error_set(error, ERROR_USAGE, "no verb given (see moonshift --help)");
    help_overview();
    return true;
}

int cli_main(int argc, char **argv) {
    struct error error = {0};
    int before = words_before_verb(argc, argv);
    if (before + 1 < argc && strcmp(argv[before + 1], "run") == 0)
        thread_mind_signals();
    output_setup();
    fault_setup();
    json_setup();
    bool fine = before + 1 < argc ? line_run(argc, argv, before, &error)
                                  : line_without_verb(argc, argv, &error);
    struct error late = {0};
    bool written = output_finish(&late);
    if (!fine)
        return cli_fail(&error);
    return written ? 0 : cli_fail(&late);
}
