/* network.h - the network face beside what else a verb does (docs/server.md). */
#pragma once

#include "cli/cli.h"
#include "http/face.h"
#include "run/executor.h"

/* Of a verb that may have a network face. */
#define OPEN_FLAG                                                                                  \
    { "--open", NULL, "http asks for no token: for a trial on this machine" }

/* Begins it if the settings have an address; says on a terminal where it is. `executor`: beside it,
 * and what it counts; NULL: none, and the service manager is told when files were read again.
 * *face: NULL: nothing was asked for. False: error. */
bool network_start(struct cli *cli, bool open, struct executor *executor,
                   const struct durations *durations, struct face **face, struct error *error);

/* Reads the scripts of a folder again, [directory] or [deployment, store], as they may be started
 * with: with a moonshift.lua that fits. Any thread. */
struct folder *network_scripts(const json_t *paths, struct error *error);
/* Those paths. NULL: no memory, or no folder. */
json_t *network_paths(const struct cli *cli);
