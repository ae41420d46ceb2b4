#include "cli/cli.h"
#include "base/json.h"
#include "base/thread.h"
#include "cli/fault.h"
#include "cli/first_process.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/words/flags.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cli_fail(const struct error *error) {
    char *text = output_clean(error->text, true);
    fprintf(stderr, "moonshift: %s\n", text ? text : error->text);
    free(text);
    return error_exit_status(error->code);
}

/* Runs a verb that wants no flags, such as help, with these words (`words` NULL: none). */
static bool verb_call(const char *name, const char **words, int count, struct error *error) {
    int size;
    struct cli cli = {0};
    struct flags flags = {
        .command = verb_find(name, NULL, &size), .words = words, .word_count = count};
    return flags.command->run(&cli, &flags, error);
}

static bool command_run(const struct flags *flags, struct error *error) {
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
    const char *named[] = {argv[verb], verb + 1 < argc ? argv[verb + 1] : NULL};
    const struct cli_command *command = verb_find(named[0], named[1], &words);
    if (!command && named[1] && strcmp(named[1], "--help") == 0 &&
        verb_call("help", named, 1, NULL))
        return true;
    if (!command)
        return verb_unknown(named[0], named[1], error);
    memmove(argv + 1 + words, argv + 1, (size_t)before * sizeof *argv);
    struct flags flags;
    bool fine = flags_parse(&flags, command, argc - 1 - words, argv + 1 + words, error) &&
                (flags.helps ? verb_call("help", named, words, error) : command_run(&flags, error));
    flags_clear(&flags);
    return fine;
}

static bool line_without_verb(int argc, char **argv, struct error *error) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return verb_call("help", NULL, 0, error);
        if (strcmp(argv[i], "--version") == 0)
            return verb_call("version", NULL, 0, error);
    }
    if (argc > 1)
        return error_set(error, ERROR_USAGE, "no verb given (see moonshift --help)");
    return verb_call("help", NULL, 0, error);
}

int cli_main(int argc, char **argv) {
    struct error error = {0};
    first_process_stay();
    int before = words_before_verb(argc, argv);
    const char *verb = before + 1 < argc ? argv[before + 1] : "";
    if (strcmp(verb, "run") == 0 || strcmp(verb, "serve") == 0)
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
