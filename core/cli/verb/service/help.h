/* help.h - the pages of --help, made from the tables of commands. */
#ifndef MOONSHIFT_CLI_VERB_SERVICE_HELP_H
#define MOONSHIFT_CLI_VERB_SERVICE_HELP_H

#include "cli/cli.h"

/* `moonshift --help`: every verb in one line. */
void help_overview(void);

/* The page of one verb. */
void help_command(const struct cli_command *command);

/* A verb, or a group ("job"): false, with an error, if there is none. */
bool help_topic(const char *first, const char *second, struct error *error);

bool help_version(bool json, struct error *error);

/* What the page of a verb shows by example: command lines, each with its newline; NULL: none. */
const char *examples_of(const char *verb);

#endif
