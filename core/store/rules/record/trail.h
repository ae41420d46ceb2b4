/* trail.h - what the units of an instance did: a row a unit, appended. The index by instance is
 * filed behind, as that of ended jobs is. */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"

#define TRAIL_COLUMNS "instance, at, job, events"

/* `job` 0: the unit of a command. */
bool trail_write(struct store *store, const struct unit_trail *one, int64_t job, time_ms now,
                 struct error *error);

/* Files at most `limit` rows; *more: there are others. */
bool trail_file(struct store *store, int limit, bool *more, struct error *error);

/* Removes rows of an instance, at most *room, which is counted down. *gone: none is left. */
bool trail_remove(struct store *store, int64_t instance, int64_t *room, bool *gone,
                  struct error *error);
