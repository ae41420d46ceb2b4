/* select.h - which jobs a verb means: ids, or the same filters that `job list` takes. */
#pragma once

#include "cli/words/flags.h"
#include <jansson.h>

/* Puts `ids` or a `query` into a command (job/command.h): the words from `from` on, or the filters
 * among the flags. One of both is needed, and only one. */
bool select_read(json_t *command, const struct flags *flags, int from, struct error *error);
