/* select.h - which jobs a verb means: ids, or the same filters that `job list` takes. */
#ifndef MOONSHIFT_CLI_SELECT_H
#define MOONSHIFT_CLI_SELECT_H

#include "cli/words/flags.h"
#include <jansson.h>

#define SELECT_FLAGS                                                                               \
    {"--id", "ID,…", "these jobs"}, {"--handler", "NAME,…", "of these handlers"},                  \
        {"--state", "NAME,…", "ready, scheduled, locked, waiting, suspended, dead"},               \
        {"--instance", "KEY", "of this instance"}, {"--root", "KEY", "of this root instance"},     \
        {"--without-instance", "[BOOL]", "that belong to no instance"},                            \
        {"--activity", "NAME,…", "of these activities"},                                           \
        {"--unique", "KEY", "that hold this key"}, {"--lane", "KEY", "of this lane"},              \
        {"--tenant", "NAME,…", "of these tenants"},                                                \
        {"--without-tenant", "[BOOL]", "that have no tenant"},                                     \
        {"--suspect", "[BOOL]", "that were locked on a machine that vanished"},                    \
        {"--category", "NAME,…", "of these categories"},                                           \
        {"--definition", "NAME,…", "of these definitions, by name or id"},                         \
        {"--deployment", "ID,…", "of these deployments"}, {"--batch", "ID,…", "of these batches"}, \
        {"--executable", "[BOOL]", "what an executor may take now"},                               \
        {"--retries-left", "[BOOL]", "with runs left"},                                            \
        {"--no-retries-left", "[BOOL]", "dead letters"},                                           \
        {"--locked", "[BOOL]", "locked by an executor"},                                           \
        {"--owner", "NAME,…", "locked by these executors, by name or name/id"},                    \
        {"--suspended", "[BOOL]", "suspended"},                                                    \
        {"--suspended-by", "NAME,…", "job, definition, instance, batch, schedule"},                \
        {"--timer", "[BOOL]", "timers"}, {"--message-job", "[BOOL]", "jobs that are no timers"},   \
        {"--with-exception", "[BOOL]", "that have failed"},                                        \
        {"--exception", "TEXT", "that have failed with this message"},                             \
        {"--min-priority", "N", "of this priority or more"},                                       \
        {"--max-priority", "N", "of this priority or less"},                                       \
        {"--due-before", "TIME", "due before this instant"},                                       \
        {"--due-after", "TIME", "due after this instant"},                                         \
        {"--created-before", "TIME", "created before this instant"},                               \
        {"--created-after", "TIME", "created after this instant"}, {                               \
        "--payload", "FIELD=VALUE", "with this member in the payload"                              \
    }

/* Puts `ids` or a `query` into a command (job/command.h): the words from `from` on, or the flags of
 * the list `filters` (ended by a NULL name). One of both is needed, and only one. */
bool select_read(json_t *command, const struct flags *flags, int from, const struct flag *filters,
                 struct error *error);

#endif
