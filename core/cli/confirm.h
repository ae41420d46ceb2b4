/* confirm.h - asks a person before many jobs are lost. */
#pragma once

#include "cli/cli.h"
#include "engine/engine.h"

#define CONFIRM_FLAG                                                                               \
    { "--yes", NULL, "do not ask; so does MOONSHIFT_YES=1" }

/* Asks on standard error before a command that deletes or cancels more than one job found by
 * filters, if standard input and output are terminals, and neither --json nor --yes nor
 * MOONSHIFT_YES=1 is given. False: the answer was not yes, or an error. */
bool confirm(const struct cli *cli, const struct flags *flags, struct engine *engine,
             json_t *command, struct error *error);
