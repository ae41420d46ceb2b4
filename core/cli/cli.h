/* cli.h - the program's verbs. One file per command group; each verb parses its own flags. */
#ifndef MOONSHIFT_CLI_CLI_H
#define MOONSHIFT_CLI_CLI_H

#include "api/engine.h"
#include "base/error.h"
#include "base/settings.h"

/* What every verb shares after its common flags (-C DIR, --store URL, --json, settings) are read.
 */
struct cli {
    struct settings settings;
    const char *directory; /* the script folder, or NULL if there is none */
    struct folder *folder; /* read on demand */
    bool json;
    bool interactive; /* standard error is a terminal */
};

struct cli_command {
    const char *name;                                   /* "job list" */
    const char *usage;                                  /* "job list [--state STATE] …" */
    const char *summary;                                /* one line for --help */
    const char *help;                                   /* the page of `help VERB` */
    int (*run)(struct cli *cli, int argc, char **argv); /* the exit status */
};

/* Runs the whole command line; returns the exit status. */
int cli_main(int argc, char **argv);

/* Prints `moonshift: <text>` to standard error and returns the error's exit status. */
int cli_fail(const struct error *error);

#endif
