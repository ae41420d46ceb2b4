/* job_wait.h - waiting for the end of a job. */
#pragma once

#include "cli/cli.h"
#include "cli/words/flags.h"
#include "engine/engine.h"

/* Reads --timeout as a monotonic instant; TIME_NEVER: it is not given. */
bool job_wait_until(const struct flags *flags, time_ms *until, struct error *error);

#define TIMEOUT_FLAG                                                                               \
    {                                                                                              \
        "--timeout", "SPAN", "with --wait: give up after this span (30s, 5m, PT5M, or seconds)",   \
            FLAG_ONE                                                                               \
    }

/* Waits until the job has ended. *result: its result, a new reference; NULL: it has none, or the
 * store keeps no history of it. ERROR_FAILED: it has not succeeded, or the time is up. */
bool job_wait_one(const struct cli *cli, struct engine *engine, int64_t id, time_ms until,
                  json_t **result, struct error *error);
