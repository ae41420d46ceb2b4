/* process_later.h - a command to a process that another engine walks: a job in the lane of its
 * instance (rules §23). */
#pragma once

#include "engine/process/process_cause.h"

/* Creates the job, with its entry in the log of operations. `retries` 0: as configured.
 * ERROR_CONFLICT: the instance or the process is suspended. */
bool process_later(struct engine *engine, const struct process_cause *cause, const json_t *command,
                   int32_t retries, int64_t *job, struct error *error);
/* The same in the present transaction. */
bool process_later_write(struct engine *engine, const struct process_cause *cause,
                         const json_t *command, int32_t retries, int64_t *job, struct error *error);
