/* bulk_table.h - the rows that a bulk keeps (rules/record/bulk.h) as a virtual table of the
 * connection: one statement reads all of them, twice as fast as a statement a row. */
#pragma once

#include "store/rules/record/bulk.h"
#include "store/sql/db.h"

/* Makes the virtual table known to the connection. */
bool bulk_table_attach(struct bulk *bulk, struct db *db, const char *name, struct error *error);

/* Writes what `kind` says of the bulk's rows: see store_engine.bulk. */
bool bulk_table_write(struct store *store, struct bulk *bulk, enum bulk_kind kind,
                      struct error *error);

/* Shows the first of these jobs to the next statement, which reads the table outside of a write
 * transaction. Returns how many; 0: no memory. */
size_t bulk_table_show(struct bulk *bulk, struct job *const *jobs, size_t count,
                       struct error *error);
