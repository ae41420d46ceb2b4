/* picture.h - a process as a tree in text, with what stands at its activities. */
#ifndef MOONSHIFT_CLI_SHOWN_PICTURE_H
#define MOONSHIFT_CLI_SHOWN_PICTURE_H

#include "cli/cli.h"
#include <jansson.h>

/* Adds to a row of the report, whose `picture` has its activities, where its instances stand:
 * `version`, `instances`, `suspended`, and to its activities `at` and `incidents`. Of a process
 * that is not deployed, `version` is null. */
bool picture_count(struct cli *cli, json_t *process, struct error *error);

/* Prints the row. */
bool picture_print(const json_t *process, struct error *error);

#endif
