/* past.h - instances that have ended. */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"

#define PAST_COLUMNS                                                                               \
    "id, version, root, parent, started, ended, how, reason, key, tenant, variables, removal"

/* Writes the end of an instance. When it goes is decided now, by the time to live of its process,
 * or else by that of jobs. */
bool past_write(struct store *store, const struct unit_instance *one, time_ms now,
                struct error *error);

/* YES: an instance that has ended. One that runs is a conflict. */
enum answer past_found(struct store *store, int64_t id, struct error *error);
/* Says when it goes; TIME_NONE: by the time to live of its process. */
bool past_keep(struct store *store, int64_t id, time_ms removal, struct error *error);
/* Removes one with its trail and its variables. */
bool past_forget(struct store *store, int64_t id, struct error *error);

/* Removes instances whose time has come, each with its trail: at most *room rows, counted down. */
bool past_clean(struct store *store, int64_t *room, int64_t *count, time_ms now,
                struct error *error);
