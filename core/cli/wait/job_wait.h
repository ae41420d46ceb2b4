/* job_wait.h - waiting for the end of a job. */
#ifndef MOONSHIFT_CLI_WAIT_JOB_WAIT_H
#define MOONSHIFT_CLI_WAIT_JOB_WAIT_H

#include "cli/cli.h"
#include "cli/words/flags.h"
#include "engine/engine.h"

/* Reads --timeout as a monotonic instant; TIME_NEVER: it is not given. */
bool job_wait_until(const struct flags *flags, time_ms *until, struct error *error);

/* Waits until the job has ended or is dead. *ending: what became of it, as `job why` tells it; a
 * new reference. ERROR_FAILED: the time is up. */
bool job_wait_one(const struct cli *cli, struct engine *engine, int64_t id, time_ms until,
                  json_t **ending, struct error *error);

#endif
