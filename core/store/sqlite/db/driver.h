/* driver.h - SQLite as the driver of a connection (store/sql/db.h). */
#pragma once

#include "store/sql/db.h"
#include <sqlite3.h>

/* What a connection to SQLite holds besides. */
struct connection {
    bool impatient;   /* a busy database is reported at once */
    time_ms patience; /* monotonic end of the present wait */
    int log_pages;    /* frames in the write-ahead log after the last commit of this connection */
};

/* Opens `path` (NULL: in memory), called `name` in messages. `flags` as for sqlite3_open_v2. After
 * an error `db` still is to be closed. */
bool sqlite_connect(struct db *db, struct connection *connection, const char *path,
                    const char *name, int flags, struct error *error);
bool sqlite_configure(struct db *db, struct connection *connection, bool writing,
                      struct error *error);

/* Counts a commit that wrote something; see store_writes. */
void writes_committed(void);

/* Gives the pages kept in memory back to the system, if they are many. Between transactions. */
void sqlite_shrink(struct db *db);

/* 0.2 ms. */
void sqlite_pause(void);
