/* turn.h - what a transaction looks at as it begins: the files and the schema. */
#pragma once

#include "store/sqlite/db/connection.h"

/* Notes which files the store consists of. */
void intact_remember(struct store *store);
/* Before a transaction, and inside of it before anything is read: are they still the same, and
 * whole? False: the store is broken. */
bool intact_before(struct store *store, struct error *error);
bool intact_begun(struct store *store, struct error *error);

/* Begins and ends a transaction that only reads. What it reads may be told only after
 * log_sync_seen. */
bool transaction_look(struct store *store, struct error *error);
void transaction_look_end(struct store *store);

/* Is the schema still this program's? A newer program may have brought it up to date meanwhile. */
bool schema_current(struct store *store, struct error *error);

/* The schema has the version of a newer program. False. */
bool schema_newer(const struct store *store, int64_t version, struct error *error);
