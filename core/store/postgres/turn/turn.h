/* turn.h - did a commit take place whose answer was lost?
 *
 * Each transaction that writes leaves its number behind, under a number drawn for the open store.
 * After a loss that row tells. It tells as well that the server has lost earlier ones (timeline.h).
 */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include <stdint.h>

struct store;

/* In a transaction, as the last thing before its commit; and once that is known to have happened.
 */
bool turn_write(struct store *store, struct error *error);
void turn_written(struct store *store);

/* In a transaction: the number of the last one of this process that the server has; 0: none. */
bool turn_read(struct store *store, int64_t *turn, struct error *error);

/* The connection was lost during the commit that began `begun` (monotonic): connects again, until
 * half a minute behind that, or less if somebody waits for its end. YES: it took place. NO: it did
 * not, or not on the server that is the primary now, and `error` says so. FAILED: nobody knows yet,
 * and nobody asks on where the server waits for a standby. */
enum answer turn_recall(struct store *store, time_ms begun, struct error *error);

#define COMMIT_WAIT                                                                                \
    15000                 /* ms until the server is asked on another connection what became of it  \
                           */
#define RECALL_WAIT 30000 /* ms from the commit until nobody asks any more */

#define TURN_KEPT (7 * INT64_C(86400000)) /* ms after which the number may be gone */

/* The number goes with the store that is closed. */
void turn_forget(struct store *store);
