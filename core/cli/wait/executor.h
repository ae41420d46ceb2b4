/* executor.h - how executors are shown to people. */
#pragma once

#include "cli/cli.h"
#include "cli/shown/table.h"
#include "engine/engine.h"

/* Prints the rows of ASK_EXECUTORS as a table; adds to them what it shows. */
bool executors_print(json_t *rows, struct error *error);

/* Names the store on standard error if no executor lives there: it may be another one than was
 * meant. Says nothing under --json. */
void executors_none_say(const struct cli *cli, struct engine *engine);
