/* db.h - the seam below the rules: one connection to a database, in words of no database.
 *
 * A database driver is one table of functions (struct db_driver). Statements are kept: each literal
 * is prepared once a connection. Numbers of parameters are written ?1, ?2; columns count from 0. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include <jansson.h>
#include <stdarg.h>
#include <stddef.h>

struct db;
struct db_driver;

/* Rows that a statement has changed, and that it should have. */
#define DB_MISCOUNTED "damaged: %d rows where %d were expected"

/* A prepared statement; after db_step has returned 1, the row that it stands at. */
struct row {
    const struct db_driver *driver;
    void *statement;      /* the driver's */
    bool used;            /* the driver's: it was bound, and its end has not come */
    unsigned seen, names; /* a bit for each of db.keeps: whether it names a table of it */
};

struct db_entry {
    const char *sql; /* compared by address */
    struct row *row;
};

/* Rows of some tables that are written later. */
struct db_keeps {
    const char *const *tables; /* NULL behind the last one */
    bool (*write)(struct db *db, struct error *error);
};
enum { DB_KEEPERS = 2 };

enum { DB_SPARE = 8 };

struct db {
    const struct db_driver *driver;
    void *handle;             /* the driver's connection */
    char *name;               /* as the user wrote it, for messages */
    struct db_entry *entries; /* kept statements, a hash table */
    size_t room, count;
    void *spare[DB_SPARE]; /* the driver's: the statements that were forgotten last, newest first */
    const char *question;  /* what is being asked, for messages; NULL: it goes without a name */
    time_ms budget;        /* ms that a question may take */
    int (*hurried)(void);  /* ends the present question at once when it says so; may be NULL */
    time_ms deadline;      /* monotonic end of the present question; 0: none is put */
    bool patient;          /* a question without one may take any time */
    bool corrupt;          /* the database itself was met damaged, not what a row says */
    /* Each is written before a statement that names one of its tables; NULL: nothing is kept. The
       tables of a keeper are always the same. */
    const struct db_keeps *keeps[DB_KEEPERS];
};

enum row_type { ROW_NULL, ROW_INTEGER, ROW_REAL, ROW_TEXT };

struct db_driver {
    void (*close)(struct db *db);
    /* `keep`: the statement lives as long as the connection. */
    bool (*prepare)(struct db *db, struct row *row, const char *sql, bool keep,
                    struct error *error);
    void (*forget)(struct db *db, struct row *row); /* it may serve the next one of this text */
    void (*bind)(struct row *row, const char *kinds, va_list values);
    void (*bind_value)(struct row *row, int at, const json_t *value); /* a number or a text */
    enum answer (*step)(struct db *db, struct row *row, struct error *error);
    /* Runs a statement to its end, or queues it. May be NULL: it is stepped. The second one must
     * change so many rows. */
    bool (*run)(struct db *db, struct row *row, struct error *error);
    bool (*run_counted)(struct db *db, struct row *row, int wanted, struct error *error);
    bool (*ahead)(struct row *row, struct error *error); /* see db_ahead; NULL: nothing is sent */
    void (*done)(struct row *row);
    enum row_type (*type)(struct row *row, int column);
    int64_t (*integer)(struct row *row, int column);
    double (*real)(struct row *row, int column);
    const char *(*text)(struct row *row, int column);
    const void *(*blob)(struct row *row, int column, size_t *size);
    int (*changes)(struct db *db, struct error *error); /* -1: the statement failed */
    bool (*execute)(struct db *db, const char *sql, struct error *error);
    bool (*fail)(struct db *db, struct error *error);
    void (*watch)(struct db *db, bool on); /* ends what runs past db->deadline */
};

/* Closes the connection and forgets its statements. Nothing happens to one that is all zero. */
void db_close(struct db *db);

/* Fills `error` from the connection's last error; returns false. */
bool db_fail(struct db *db, struct error *error);
/* The same: what has been asked took longer than db->budget. */
bool db_late(const struct db *db, struct error *error);
/* Fills `error`; returns false. */
bool db_no_memory(const struct db *db, struct error *error);

/* Outside of that: the questions may take any time, until the next question_end. */
void db_question_patient(struct db *db);
/* From here on the questions together may take the budget. Beyond it they end with an error. */
void db_question_begin(struct db *db);
void db_question_end(struct db *db);

/* Binds a kept statement, ready to step. `sql` must be a literal. `kinds`, one letter a parameter:
 * i int64_t, n int, z int64_t with 0 as NULL, T time_ms with TIME_NONE as NULL, t text or NULL,
 * b blob (pointer, size_t) or NULL, d double. All parameters are NULL before; those without a
 * letter stay so. Bound texts must live until the statement is stepped, or has come to its end; at
 * its end all parameters are NULL again. NULL: error. */
struct row *db_query(struct db *db, struct error *error, const char *sql, const char *kinds, ...);

/* Prepares a statement that is not kept; its parameters are numbers or texts. They must live until
 * it is stepped. NULL: error; ERROR_INVALID: it is too long for the database. End it with
 * db_forget (NULL is fine). */
struct row *db_prepare(struct db *db, const char *sql, const json_t *const *values, size_t count,
                       struct error *error);
void db_forget(struct db *db, struct row *row);

/* Sends a question that is stepped later, where a statement is a round trip: what is asked together
 * is waited for once. Nothing else may be bound to it meanwhile. False for NULL. */
bool db_ahead(struct row *row, struct error *error);

/* YES: a row; NO: the end. The statement is reset unless there is a row. FAILED for NULL. */
enum answer db_step(struct db *db, struct row *row, struct error *error);

/* Runs a kept statement to its end. A driver for which a statement is a round trip may queue it.
 * Its error then comes with the next call that waits: for a row, for changes, for the commit. The
 * whole transaction is rolled back. */
bool db_run(struct db *db, struct error *error, const char *sql, const char *kinds, ...);

/* The same with the values as a list. */
bool db_run_list(struct db *db, struct error *error, const char *sql, const char *kinds,
                 va_list values);

/* The same of a statement that is bound already. */
bool db_run_row(struct db *db, struct row *row, struct error *error);

/* The same of one that changes so many rows. Otherwise ERROR_DAMAGED, which may come as late. */
bool db_run_counted(struct db *db, struct row *row, int wanted, struct error *error);

/* The first column of the first row into *value; NO: no row (untouched). */
enum answer db_value(struct db *db, struct error *error, int64_t *value, const char *sql,
                     const char *kinds, ...);
/* The first row into variables; NO: there is none (untouched). `kinds`: a letter a column, "<",
 * then a letter a parameter as in db_query; the values in this order. Columns are i to int64_t, n
 * to int, f to bool, T to time_ms (NULL is TIME_NONE). A t goes to char, with its size: it is cut
 * to that, and NULL is empty. A j goes to json_t *, the caller's: NULL also where it is no JSON. */
enum answer db_read(struct db *db, struct error *error, const char *sql, const char *kinds, ...);
/* db_value of a statement that is bound already. */
enum answer db_first(struct db *db, struct row *row, int64_t *value, struct error *error);

/* Runs statements without parameters that are not kept (settings of the connection, schema). */
bool db_execute(struct db *db, const char *sql, struct error *error);

/* Counts the rows changed by the statement run last; 0 also if it failed: then whatever is asked
 * next says so. */
int db_changes(struct db *db);
/* The same for a caller that reports a wrong number as an error. False: the statement failed. */
bool db_count(struct db *db, int *count, struct error *error);

/* Resets a statement before its end: its row is void. */
static inline void row_done(struct row *row) {
    row->driver->done(row);
}

/* The same where what is read fails: false. */
static inline bool row_stop(struct row *row) {
    row_done(row);
    return false;
}

static inline enum row_type row_type(struct row *row, int column) {
    return row->driver->type(row, column);
}

static inline bool row_null(struct row *row, int column) {
    return row_type(row, column) == ROW_NULL;
}

/* Columns. NULL is 0, or no text. A text or blob lives until the next step or row_done. */
static inline int64_t row_int(struct row *row, int column) {
    return row->driver->integer(row, column);
}

static inline int row_int32(struct row *row, int column) {
    return (int)row->driver->integer(row, column);
}

static inline double row_real(struct row *row, int column) {
    return row->driver->real(row, column);
}

static inline const char *row_text(struct row *row, int column) {
    return row->driver->text(row, column);
}

static inline const void *row_blob(struct row *row, int column, size_t *size) {
    return row->driver->blob(row, column, size);
}

/* NULL is TIME_NONE. Few dates are 0, so few need the second look. */
static inline time_ms row_time(struct row *row, int column) {
    time_ms at = row_int(row, column);
    return !at && row_null(row, column) ? TIME_NONE : at;
}
