/* cli.h - the program's verbs. One file per command group, each with its own table of commands; a
 * verb is handed its flags, calls the engine or the store, and prints. */
#ifndef MOONSHIFT_CLI_CLI_H
#define MOONSHIFT_CLI_CLI_H

#include "base/error.h"
#include "job/settings.h"

struct flag;
struct flags;

/* What every verb shares; filled in by setup.h as far as the verb asks for it. */
struct cli {
    struct settings settings;
    const char *directory;  /* the script folder, or NULL if there is none */
    struct folder *folder;  /* its bytes, or NULL */
    const char *deployment; /* the name of the deployment that is the folder; NULL: a directory */
    bool json;              /* --json: one document on standard output */
    bool interactive;       /* standard error is a terminal */
    bool takes_back;        /* the folder counts although a live executor has a newer one */
};

struct cli_command {
    const char *name;         /* "job list" */
    const char *usage;        /* what follows the name: "[--state STATE] …" */
    const char *summary;      /* one line for --help */
    const char *help;         /* what `help VERB` says beside the flags; may be "" */
    const struct flag *flags; /* its own flags, ended by a NULL name; NULL: none */
    int words_min, words_max; /* arguments that are not flags; -1: any number */
    bool takes_settings;      /* any setting may be given as a flag */
    bool takes_folder;        /* its first argument is the script folder */
    bool (*run)(struct cli *cli, const struct flags *flags, struct error *error);
};

/* Runs the whole command line; returns the exit status. */
int cli_main(int argc, char **argv);

/* Prints `moonshift: <text>` to standard error and returns the error's exit status. */
int cli_fail(const struct error *error);

/* The commands of each file, ended by a NULL name. */
extern const struct cli_command run_commands[];
extern const struct cli_command check_commands[];
extern const struct cli_command enqueue_commands[];
extern const struct cli_command job_commands[];
extern const struct cli_command act_commands[];
extern const struct cli_command why_commands[];
extern const struct cli_command wait_commands[];
extern const struct cli_command definition_commands[];
extern const struct cli_command instance_commands[];
extern const struct cli_command process_commands[];
extern const struct cli_command running_commands[];
extern const struct cli_command process_order_commands[];
extern const struct cli_command store_commands[];
extern const struct cli_command backup_commands[];
extern const struct cli_command batch_commands[];
extern const struct cli_command incident_commands[];
extern const struct cli_command deployment_commands[];
extern const struct cli_command executor_commands[];
extern const struct cli_command history_commands[];
extern const struct cli_command cleanup_commands[];
extern const struct cli_command schedule_commands[];
extern const struct cli_command stats_commands[];
extern const struct cli_command bench_commands[];
extern const struct cli_command settings_commands[];
extern const struct cli_command completion_commands[];
extern const struct cli_command help_commands[];

/* All of them, in the order of --help; ended by NULL. */
extern const struct cli_command *const cli_groups[];

/* By its words: "job" "list", or "run" and anything. *words: how many it took. NULL: unknown. */
const struct cli_command *cli_find(const char *first, const char *second, int *words);

/* Why cli_find found nothing: an unknown verb, or a group without its second word. False. */
bool cli_unknown(const char *first, const char *second, struct error *error);

#endif
