/* bulk_command.h - a verb on more jobs than one transaction takes becomes a batch (rules §11, §17).
 * Private to the room. */
#pragma once

#include "engine/engine.h"

/* True if the command changes jobs in a way that a batch can. */
bool bulk_command_is(const json_t *command);

/* Changes the definition or the instance itself at once, and makes the batch that changes its
 * jobs. */
bool bulk_command_give(struct engine *engine, json_t *command, struct command_run *run,
                       struct error *error);
