/* process_command.h - what a command to a process may be told, and of which type each is. */
#pragma once

#include "base/error.h"
#include <jansson.h>

/* A copy of the command, in which an integer that stands for a name is its text. NULL: error, which
 * names the first one of another type. The caller's. */
json_t *process_command_copy(const json_t *command, struct error *error);
