/* job_commands.h - verbs on jobs (rules §11). */
#pragma once

#include "job/command.h"
#include "store/rules/ground/state.h"

#define COMMAND_IDS 1000 /* jobs in one transaction */

/* A verb on jobs, with its entry in the log. All or nothing: an unknown id or a wrong state changes
 * nothing. */
bool commands_on_jobs(struct store *store, const struct command *command, struct ids ids,
                      time_ms now, struct error *error);
/* Would it be refused? Only reads. */
bool commands_check(struct store *store, const struct command *command, struct ids ids, time_ms now,
                    struct error *error);
/* Changes of jobs that are part of a larger verb: no entry in the operation log of their own. */
bool commands_set_retries(struct store *store, struct ids ids, const struct command *command,
                          time_ms now, struct error *error);
bool commands_set_priority(struct store *store, struct ids ids, int64_t priority, time_ms now,
                           struct error *error);
/* Puts the reasons, or takes them away; what stays suspended is counted in store->journal.held. */
bool commands_set_suspended(struct store *store, struct ids ids, int reasons, bool suspended,
                            time_ms now, struct error *error);
/* Running ones, too. */
bool commands_cancel(struct store *store, struct ids ids, time_ms now, struct error *error);
bool commands_delete(struct store *store, struct ids ids, time_ms now, struct error *error);
/* One, if it is there. */
bool commands_delete_known(struct store *store, int64_t id, time_ms now, struct error *error);
/* `retries` 0: the configured number for each job. */
bool commands_retry(struct store *store, struct ids ids, int32_t retries, time_ms now,
                    struct error *error);
