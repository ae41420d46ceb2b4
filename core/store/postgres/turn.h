/* turn.h - did a commit take place whose answer was lost?
 *
 * Each transaction that writes leaves its number behind, under a number drawn for the open store.
 * After a loss that row tells: a failover to a server that lacks the transaction is told as well.
 */
#ifndef MOONSHIFT_STORE_POSTGRES_TURN_H
#define MOONSHIFT_STORE_POSTGRES_TURN_H

#include "base/error.h"

struct store;

/* In a transaction, as the last thing before its commit; and once that is known to have happened.
 */
bool turn_write(struct store *store, struct error *error);
void turn_written(struct store *store);

/* The connection was lost during the commit: connects again, for half a minute at most. YES: it
 * took place. NO: it did not, and `error` says so. FAILED: nobody knows, or the store went back. */
enum answer turn_recall(struct store *store, struct error *error);

/* The number goes with the store that is closed. */
void turn_forget(struct store *store);

#endif
