/* operate.h - verbs that give one command to what their words name: ids, filters, or one thing. */
#pragma once

#include "cli/words/flags.h"

/* Runs each verb of the table in operate.c. Flags that are members go into the command. */
bool operate_run(struct cli *cli, const struct flags *flags, struct error *error);
