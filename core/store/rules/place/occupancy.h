/* occupancy.h - how many jobs of each stream are in `ready`, `timer` and `parked`.
 *
 * To count these tables takes a second where ten million jobs wait. So `occupancy` has the numbers,
 * which the transaction that moves jobs writes: whatever happens to it, both are true. In a file it
 * is a view of rows in `meta`: a commit that hands out ids writes that page anyway. There the moves
 * of a transaction are added up in memory and written once. On a server it is a table and triggers
 * count, each session in a row of its own, so that no transaction waits for another one. */
#pragma once

#include "store/rules/ground/state.h"

/* So many jobs of the stream have come to the place, or (less than 0) have left it. */
void occupancy_move(struct store *store, enum occupied place, int64_t stream, int64_t jobs);
/* The same of those that the last statement has written there, or (`sign` -1) deleted. */
static inline void occupancy_changed(struct store *store, enum occupied place, int64_t stream,
                                     int sign) {
    if (!store->engine->sets)
        occupancy_move(store, place, stream, sign * (int64_t)db_changes(&store->db));
}
/* The timers up to (due, id) are about to become ready. */
bool occupancy_due(struct store *store, time_ms due, int64_t id, struct error *error);
/* A job was written that is in no place yet. */
void occupancy_written(struct store *store, int64_t stream, int64_t id);
/* The last statement has put so many of the released rows behind `from` up to `to` into the place:
 * those whose date is before `now` into `ready`, else into `timer`. */
bool occupancy_released(struct store *store, int64_t from, int64_t to, time_ms now,
                        enum occupied place, struct error *error);

/* On a server: what sessions have counted that are gone becomes one row, now and then. */
bool occupancy_fold(struct store *store, time_ms now, struct error *error);

void occupancy_clear(struct store *store);
extern const struct txn_hook occupancy_hook;
