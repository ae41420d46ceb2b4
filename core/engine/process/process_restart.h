/* process_restart.h - an instance that has ended begins anew: what it had becomes a start. */
#pragma once

#include "engine/process/process_cause.h"

/* Reads the command "restart": instance, operations; version (it must have ended on that number),
 * into (the number of another version), initial (variables as at its start), no_key. Fills the
 * cause of a start, but for its key and `suspended`: *version is the id of the version that begins.
 * False: error. */
bool process_restart_read(struct process_cause *cause, struct engine *engine, const json_t *command,
                          int64_t *version, struct error *error);
