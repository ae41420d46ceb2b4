/* command.h - does an operator's verb (job/command.h) and says what it did. */
#pragma once

#include "cli/words/flags.h"
#include <jansson.h>

/* To be put among the flags of a verb that may touch more jobs than one transaction takes. */
#define COMMAND_WAIT_FLAG                                                                          \
    { "--wait", NULL, "if a batch does it: until it is done, with a bar on a terminal" }

/* To be put among the flags of a verb on jobs. */
#define COMMAND_FLAGS                                                                              \
    {"--dry-run", NULL, "say how many jobs it would touch, change nothing"}, COMMAND_WAIT_FLAG

/* To be put among the flags of a verb on one thing. */
#define DRY_RUN_FLAG                                                                               \
    { "--dry-run", NULL, "say what it would do, change nothing" }

/* Takes `command` over (NULL: memory is out). "3 jobs <done>" or what else it counts, or the batch
 * that does it, or what will do it and when, or with --dry-run how many it would touch. */
bool give_command(struct cli *cli, const struct flags *flags, json_t *command, const char *done,
                  struct error *error);

/* command[key] = the date that a flag or word gives; "none" and NULL: null. */
bool command_date(json_t *command, const char *key, const char *text, struct error *error);

/* command[key] = what the text says, by the key: a number, a date, a removal time ("never" and
 * "computed" are such, too), true or false, else the text; NULL: true. `name` is that of the flag
 * or word, for errors. */
bool command_put(json_t *command, const char *key, const char *name, const char *text,
                 struct error *error);

/* Does so with all flags given that are members, in the order of the help: "--jobs-only" is
 * jobs_only. */
bool command_members(json_t *command, const struct flags *flags, struct error *error);
