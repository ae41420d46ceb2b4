/* transaction.h - what a write transaction of every engine begins and ends with: who may write, how
 * long a writer waits, and the hooks. */
#pragma once

#include "store/rules/ground/state.h"

/* False: the store is only read, or a transaction is open already. */
bool transaction_may_begin(struct store *store, struct error *error);
/* Monotonic: when an attempt is given up that has begun then. */
time_ms transaction_patience(const struct store *store, time_ms begun);
/* Another writer was met: remembered for a second. */
void transaction_waited(struct store *store);
/* Fills `error`: another process has been writing since `begun`; returns false. */
bool transaction_late(struct store *store, time_ms begun, struct error *error);

/* The store writes by other rules from here on: what is kept back by the present ones is written.
 */
bool transaction_before_rules(struct store *store, struct error *error);
/* Runs the hooks in their order. The last two also say that the transaction is over. */
bool transaction_before_commit(struct store *store, struct error *error);
void transaction_committed(struct store *store);
void transaction_rolled_back(struct store *store);

/* Does `call`, a part of the open transaction, behind a savepoint. False: it has failed. *undone:
 * nothing of it stays, in the store or in memory, and the rest of the transaction goes on; else the
 * transaction is lost. */
bool txn_try(struct store *store, bool (*call)(struct store *store, void *arg, struct error *error),
             void *arg, bool *undone, struct error *error);
