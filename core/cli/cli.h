/* cli.h - the command line: a verb is handed its flags, calls the engine, and prints. */
#pragma once

#include "cli/verbs.h"
#include "job/settings.h"

/* What every verb shares; filled in by setup.h as far as the verb asks for it. */
struct cli {
    struct settings settings;
    const char *directory;  /* the script folder, or NULL if there is none */
    struct folder *folder;  /* its bytes, or NULL */
    const char *deployment; /* the name of the deployment that is the folder; NULL: a directory */
    const char *handler; /* only jobs of this one are created: its folder may be a part; or NULL */
    bool json;           /* --json: one document on standard output */
    bool interactive;    /* standard error is a terminal */
    bool takes_back;     /* the folder counts although a live executor has a newer one */
    bool plain;          /* only jobs of handlers are created; see struct engine_options */
};

/* Runs the whole command line; returns the exit status. */
int cli_main(int argc, char **argv);

/* Prints `moonshift: <text>` to standard error and returns the error's exit status. */
int cli_fail(const struct error *error);
