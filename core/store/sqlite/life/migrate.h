/* migrate.h - the schema of a store that is opened. */
#ifndef MOONSHIFT_STORE_SQLITE_LIFE_MIGRATE_H
#define MOONSHIFT_STORE_SQLITE_LIFE_MIGRATE_H

#include "store/sqlite/db/connection.h"

/* Checks what is there, or creates it. */
bool migrate(struct store *store, struct error *error);

#endif
