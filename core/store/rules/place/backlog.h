/* backlog.h - how many jobs of a definition, or of one of its lanes, may wait (rules §20).
 *
 * Counted are jobs that have not ended and are not dead, in the transactions that move them, and
 * only where there is a limit. What comes from inside (the next occurrence of a cycle, a job that
 * is redriven) counts too, but is not refused. */
#pragma once

#include "job/definition.h"
#include "store/rules/ground/row.h"

/* Has the handler a limit? */
bool backlog_named(const struct store *store, const char *handler);
static inline bool backlog_of(const struct store *store, const char *handler) {
    return store->catalog.backlogs && backlog_named(store, handler);
}
/* Has the definition of this stream one? */
bool backlog_has(const struct store *store, int64_t stream);
static inline bool backlog_counts(const struct store *store, int64_t stream) {
    return store->catalog.backlogs && backlog_has(store, stream);
}

/* ERROR_CONFLICT if one more job is one too many for its definition, or for its lane. */
bool backlog_check(struct store *store, const struct catalog_definition *definition,
                   const struct job *job, struct error *error);

/* One more (1) or one less (-1); lane 0: none. */
bool backlog_add(struct store *store, int64_t stream, int64_t lane, int by, struct error *error);
static inline bool backlog_move(struct store *store, int64_t stream, int64_t lane, int by,
                                struct error *error) {
    return !store->catalog.backlogs || backlog_add(store, stream, lane, by, error);
}

/* The definition was written: begins to count where a limit is new, stops where it is gone.
 * `before`: the definition as it was; NULL: it was not there. */
bool backlog_deploy(struct store *store, const struct definition *definition,
                    const struct catalog_definition *before, struct error *error);
