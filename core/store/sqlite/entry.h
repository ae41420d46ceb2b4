/* entry.h - from a row of the job log to an entry of it (rules §16). */
#ifndef MOONSHIFT_STORE_SQLITE_ENTRY_H
#define MOONSHIFT_STORE_SQLITE_ENTRY_H

#include "store/sqlite/connection.h"

/* The columns behind those that every arm of the log has (LOG_COLUMNS in joblog.c). */
enum {
    ENTRY_RANK = 15,
    ENTRY_NTH,
    ENTRY_EDGE,
    ENTRY_ARM,
    ENTRY_PLACE,
    ENTRY_DEFINITION,
    ENTRY_HANDLER,
    ENTRY_DEPLOYMENT,
    ENTRY_EXECUTOR,
    ENTRY_LINES
};

/* A new reference; NULL: no memory. */
json_t *entry_read(struct store *store, sqlite3_stmt *row, struct error *error);

#endif
