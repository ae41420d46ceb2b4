/* transaction.h - how a transaction on a server begins, and a lost connection comes back. */
#pragma once

#include "store/rules/ground/transaction.h"

struct store;

/* Waits for the gate, in the transaction that has begun: alone, or beside others that share it. */
bool postgres_gate(struct store *store, bool shared, struct error *error);
/* Begins to write, whatever the server's timeline. */
bool postgres_begin_anyway(struct store *store, enum store_purpose purpose, struct error *error);
/* The same without a wait: nothing is read, and what the server says comes with the commit. */
bool postgres_begin_unasked(struct store *store, struct error *error);
/* One or two questions with their answers, in a transaction of its own whose end need not be on the
 * disk: one request. rows[1] NULL: there is one. */
bool postgres_flight(struct store *store, struct row *const rows[2], bool gated,
                     struct error *error);
/* Tells that the gate was waited for since `begun`, and what its holder waits for if that is a
 * standby. False. Not in a transaction. */
bool postgres_late(struct store *store, time_ms begun, struct error *error);
/* Connects again after a loss, and takes what the session had held. */
bool postgres_reconnect(struct store *store, struct error *error);

/* Begins and ends a transaction that only reads. */
bool postgres_look(struct store *store, struct error *error);
void postgres_look_end(struct store *store);

/* Tells that the schema has no version. False. */
bool postgres_version_missing(struct store *store, struct error *error);
/* Can this program work with the version that was read? False: ERROR_CONFIG. */
bool postgres_version_fits(struct store *store, struct error *error);

/* Removes the rows of jobs that go with the open transaction; left.c. */
extern const struct txn_hook postgres_left_hook;
