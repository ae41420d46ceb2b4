/* process_migrate.h - the versions that a plan of a migration names (rules §23). */
#pragma once

#include "engine/process/process_cause.h"

/* Adds the ids of both versions, `source` and `target`, and their names to the cause. Without
 * `from`, the source is the version that the cause has. What else is wrong with a plan is told by
 * its walk. */
bool process_migrate_read(struct process_cause *cause, struct engine *engine, const json_t *plan,
                          struct error *error);
