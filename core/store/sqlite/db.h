/* db.h - one SQLite connection: opening, kept statements, typed binding, errors as sentences. */
#ifndef MOONSHIFT_STORE_SQLITE_DB_H
#define MOONSHIFT_STORE_SQLITE_DB_H

#include "base/clock.h"
#include "base/error.h"
#include <sqlite3.h>
#include <stddef.h>

struct db_entry {
    const char *sql; /* compared by address */
    sqlite3_stmt *statement;
};

struct db {
    sqlite3 *handle;
    char *name;               /* as the user wrote it, for messages */
    struct db_entry *entries; /* kept statements, a hash table */
    size_t room, count;
    bool impatient;        /* a busy database is reported at once */
    time_ms patience;      /* monotonic end of the present wait */
    const char *question;  /* what is being asked, for messages; NULL: it goes without a name */
    time_ms budget;        /* ms that a question may take */
    bool (*hurried)(void); /* ends the present question at once when it says so; may be NULL */
    time_ms deadline;      /* monotonic end of the present question; 0: none is put */
    int log_pages; /* frames in the write-ahead log after the last commit of this connection */
};

/* `path` NULL: in memory. `flags` as for sqlite3_open_v2. */
bool db_open(struct db *db, const char *path, const char *name, int flags, struct error *error);
bool db_configure(struct db *db, bool writing, struct error *error);
void db_close(struct db *db);

/* Lets go of the pages kept in memory, if they are many. Between transactions. */
void db_shrink(struct db *db);

/* Fills `error` from the connection's last error; returns false. */
bool db_fail(struct db *db, struct error *error);

/* From here on what is asked may take the budget, and is then ended with an error that says so. */
void db_question_begin(struct db *db);
void db_question_end(struct db *db);

/* A kept statement, bound and ready to step. `sql` must be a literal. `kinds`, one letter a
 * parameter: i int64_t, n int, z int64_t with 0 as NULL, T time_ms with TIME_NONE as NULL,
 * t text or NULL, b blob (pointer, size_t) or NULL, d double. Bound texts must live until the
 * statement is stepped. NULL: error. */
sqlite3_stmt *db_query(struct db *db, struct error *error, const char *sql, const char *kinds, ...);

/* 1 a row, 0 the end, -1 error; the statement is reset unless there is a row. */
int db_step(struct db *db, sqlite3_stmt *statement, struct error *error);

/* Runs a kept statement to its end. */
bool db_run(struct db *db, struct error *error, const char *sql, const char *kinds, ...);

/* The first column of the first row into *value: 1 found, 0 no row (untouched), -1 error. */
int db_value(struct db *db, struct error *error, int64_t *value, const char *sql, const char *kinds,
             ...);

/* Statements without parameters that are not kept (pragmas, schema). */
bool db_execute(struct db *db, const char *sql, struct error *error);

/* Rows changed by the statement run last. */
int db_changes(struct db *db);

/* Columns: NULL becomes TIME_NONE; NULL becomes NULL. */
time_ms db_column_time(sqlite3_stmt *statement, int column);
const char *db_column_text(sqlite3_stmt *statement, int column);

#endif
