/* lane.h - lanes: a row while one runs, the rest parked behind it (rules §4). */
#ifndef MOONSHIFT_STORE_SQLITE_LANE_H
#define MOONSHIFT_STORE_SQLITE_LANE_H

#include "store/sqlite/connection.h"

/* Takes a free lane for the item that begins with `token`: 1 taken, 0 it runs already, -1 error. */
int lane_take(struct store *store, int64_t lane, int64_t token, struct error *error);

/* Ends the run fenced by `token`; what waits becomes visible. Nothing happens if it is not held. */
bool lane_release(struct store *store, int64_t lane, int64_t token, struct error *error);

/* Makes the head of every (stream, rank) that is parked visible, unless the lane runs. For after a
 * visible job of the lane was taken away. `lane` 0: nothing. */
bool lane_expose(struct store *store, int64_t lane, struct error *error);

#endif
