#include "store/sqlite/db/driver.h"
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUESTION_BUDGET 5000  /* ms; a question on millions of rows must not go on for ever */
#define QUESTION_STEPS 10000  /* instructions between two looks at the clock */
#define CACHE_SMALL (1 << 20) /* bytes of pages that are worth keeping through a pause */
#define SPARE_MOST 65536      /* bytes of a statement that is worth keeping for the next question */
#define BUSY_WAIT 5000        /* ms that a question waits for a database in recovery */

void sqlite_pause(void) {
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

/* SQLite's own handler sleeps longer and longer; ours looks again every 0.2 ms. */
static int sqlite_busy(void *arg, int calls) {
    struct connection *connection = arg;
    if (connection->impatient)
        return 0;
    if (calls == 0)
        connection->patience = clock_monotonic() + BUSY_WAIT;
    if (clock_monotonic() > connection->patience)
        return 0;
    sqlite_pause();
    return 1;
}

static int sqlite_committed(void *arg, sqlite3 *handle, const char *name, int pages) {
    (void)handle;
    (void)name;
    ((struct connection *)arg)->log_pages = pages;
    writes_committed();
    return SQLITE_OK;
}

bool sqlite_configure(struct db *db, struct connection *connection, bool writing,
                      struct error *error) {
    if (sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) != SQLITE_OK)
        return db_fail(db, error);
    if (!db_execute(db, "PRAGMA wal_autocheckpoint=0; PRAGMA temp_store=MEMORY", error))
        return false;
    sqlite3_wal_hook(db->handle, sqlite_committed, connection);
    return !writing || db_execute(db,
                                  "PRAGMA synchronous=FULL; PRAGMA secure_delete=OFF;"
                                  "PRAGMA cache_size=-16384",
                                  error);
}

static void sqlite_disconnect(struct db *db) {
    for (size_t i = 0; i < DB_SPARE; i++)
        sqlite3_finalize(db->spare[i]);
    sqlite3_close(db->handle);
}

/* The freed pages go back to the system as well: they are a whole cache. */
void sqlite_shrink(struct db *db) {
    int used = 0, most = 0;
    sqlite3_db_status(db->handle, SQLITE_DBSTATUS_CACHE_USED, &used, &most, 0);
    if (used < CACHE_SMALL)
        return;
    sqlite3_db_release_memory(db->handle);
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

static int sqlite_over_budget(void *arg) {
    struct db *db = arg;
    return clock_monotonic() >= db->deadline || (db->hurried && db->hurried());
}

static void sqlite_watch(struct db *db, bool on) {
    sqlite3_progress_handler(db->handle, on ? QUESTION_STEPS : 0, on ? sqlite_over_budget : NULL,
                             db);
}

static enum error_code sqlite_error_code(int code, int system) {
    if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC)
        return ERROR_IO; /* even for want of room: nobody knows what is on the disk now */
    switch (code & 0xff) {
    case SQLITE_FULL:
        return ERROR_FULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CONSTRAINT: /* every row is looked for before it is written: an index was wrong */
        return ERROR_DAMAGED;
    case SQLITE_IOERR:
        return system == ENOSPC || system == EDQUOT ? ERROR_FULL : ERROR_IO;
    case SQLITE_PROTOCOL: /* after ten seconds: a lock of its own that could not be given back */
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return ERROR_IO;
    case SQLITE_INTERRUPT:
        return ERROR_INTERRUPTED;
    default:
        return ERROR_FAILED;
    }
}

/* What the system said to the last operation that failed on this file; 0: nothing. */
static int sqlite_file_errno(sqlite3 *handle, int which) {
    sqlite3_file *file = NULL;
    int system = 0;
    if (sqlite3_file_control(handle, "main", which, &file) != SQLITE_OK || !file)
        return 0;
    if (file->pMethods && file->pMethods->xFileControl) /* a journal in memory has none */
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &system);
    return system;
}

/* A failing COMMIT leaves nothing behind but in the file. */
static int sqlite_system_errno(sqlite3 *handle) {
    int system = sqlite3_system_errno(handle);
    if (!system)
        system = sqlite_file_errno(handle, SQLITE_FCNTL_JOURNAL_POINTER);
    return system ? system : sqlite_file_errno(handle, SQLITE_FCNTL_FILE_POINTER);
}

/* SQLite calls what cannot be read corrupt; the file may be sound. */
static bool sqlite_unreadable(int code, int system) {
    return (code & 0xff) == SQLITE_CORRUPT && system == EIO;
}

static bool sqlite_fail(struct db *db, struct error *error) {
    int code = db->handle ? sqlite3_extended_errcode(db->handle) : SQLITE_NOMEM;
    int system = db->handle ? sqlite_system_errno(db->handle) : 0;
    const char *text = db->handle ? sqlite3_errmsg(db->handle) : "out of memory";
    if (sqlite_unreadable(code, system))
        return error_set(error, ERROR_IO, "store \"%s\": cannot be read (%s)", db->name,
                         strerror(system));
    if (code == SQLITE_IOERR_SHORT_READ)
        return error_set(error, ERROR_IO, "store \"%s\": a file of it was cut short", db->name);
    enum error_code kind = sqlite_error_code(code, system);
    if (kind == ERROR_DAMAGED && (code & 0xff) != SQLITE_CONSTRAINT)
        db->corrupt = true;
    if ((code & 0xff) == SQLITE_INTERRUPT && db->deadline)
        return db_late(db, error);
    if (kind == ERROR_FULL)
        return error_set(error, kind, "store \"%s\": no room on the disk", db->name);
    if ((code & 0xff) == SQLITE_NOTADB)
        return error_set(error, kind, "store \"%s\": not a moonshift store (%s)", db->name, text);
    if (kind == ERROR_DAMAGED)
        return error_set(error, kind, "store \"%s\": damaged: %s (restore a backup of it)",
                         db->name, text);
    if (kind == ERROR_IO && system)
        return error_set(error, kind, "store \"%s\": %s (%s)", db->name, text, strerror(system));
    return error_set(error, kind, "store \"%s\": %s", db->name, text);
}

/* ---- statements ---- */

/* A question made of filters may be longer than SQLite takes. The asker can help that. */
static bool sqlite_refuse(struct db *db, struct error *error) {
    const char *why = sqlite3_errmsg(db->handle);
    if (strstr(why, "too many") || strstr(why, "too large") || strstr(why, "too big"))
        return error_set(error, ERROR_INVALID, "filters: too long a question (%s)", why);
    return db_fail(db, error);
}

/* From here on every parameter is NULL: what was bound is the caller's, and may go. */
static void sqlite_unbind(struct row *row) {
    sqlite3_reset(row->statement);
    sqlite3_clear_bindings(row->statement);
    row->used = false;
}

/* A question by filters takes longer to prepare than to answer, and is mostly asked again. NULL: no
 * statement of this text is spare. */
static sqlite3_stmt *sqlite_take_spare(struct db *db, const char *sql) {
    for (size_t i = 0; i < DB_SPARE; i++) {
        sqlite3_stmt *spare = db->spare[i];
        if (!spare || strcmp(sqlite3_sql(spare), sql) != 0)
            continue;
        memmove(&db->spare[i], &db->spare[i + 1], (DB_SPARE - i - 1) * sizeof *db->spare);
        db->spare[DB_SPARE - 1] = NULL;
        return spare;
    }
    return NULL;
}

static bool sqlite_prepare(struct db *db, struct row *row, const char *sql, bool keep,
                           struct error *error) {
    sqlite3_stmt *statement = keep ? NULL : sqlite_take_spare(db, sql);
    if (!statement && sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                                         NULL) != SQLITE_OK)
        return keep ? db_fail(db, error) : sqlite_refuse(db, error);
    row->statement = statement;
    return true;
}

/* It is spare from here on, in place of the one that was forgotten first; not if it is large. */
static void sqlite_forget(struct db *db, struct row *row) {
    sqlite_unbind(row);
    if (sqlite3_stmt_status(row->statement, SQLITE_STMTSTATUS_MEMUSED, 0) > SPARE_MOST) {
        sqlite3_finalize(row->statement);
        return;
    }
    sqlite3_finalize(db->spare[DB_SPARE - 1]);
    memmove(&db->spare[1], db->spare, (DB_SPARE - 1) * sizeof *db->spare);
    db->spare[0] = row->statement;
}

static void sqlite_bind_int(sqlite3_stmt *statement, int at, int64_t value, int64_t null) {
    if (value == null)
        sqlite3_bind_null(statement, at);
    else
        sqlite3_bind_int64(statement, at, value);
}

/* SQLite refuses to bind to a statement that stands at a row. */
static void sqlite_bind(struct row *row, const char *kinds, va_list values) {
    sqlite3_stmt *statement = row->statement;
    if (row->used)
        sqlite_unbind(row);
    row->used = true;
    for (int at = 1; *kinds; kinds++, at++) {
        const char *data = NULL;
        switch (*kinds) {
        case 'i':
            sqlite3_bind_int64(statement, at, va_arg(values, int64_t));
            break;
        case 'n':
            sqlite3_bind_int64(statement, at, va_arg(values, int));
            break;
        case 'z':
            sqlite_bind_int(statement, at, va_arg(values, int64_t), 0);
            break;
        case 'T':
            sqlite_bind_int(statement, at, va_arg(values, time_ms), TIME_NONE);
            break;
        case 'd':
            sqlite3_bind_double(statement, at, va_arg(values, double));
            break;
        case 'b':
            data = va_arg(values, const char *);
            sqlite3_bind_blob64(statement, at, data, va_arg(values, size_t), SQLITE_STATIC);
            break;
        case 't':
            sqlite3_bind_text(statement, at, va_arg(values, const char *), -1, SQLITE_STATIC);
            break;
        default:
            abort(); /* the source has a letter that db.h does not list */
        }
    }
}

static void sqlite_bind_value(struct row *row, int at, const json_t *value) {
    if (json_is_integer(value))
        sqlite3_bind_int64(row->statement, at + 1, json_integer_value(value));
    else if (json_is_real(value))
        sqlite3_bind_double(row->statement, at + 1, json_real_value(value));
    else
        sqlite3_bind_text(row->statement, at + 1, json_string_value(value), -1, SQLITE_STATIC);
}

static enum answer sqlite_step(struct db *db, struct row *row, struct error *error) {
    int code = sqlite3_step(row->statement);
    if (code == SQLITE_ROW)
        return YES;
    if (code != SQLITE_DONE)
        db_fail(db, error);
    sqlite_unbind(row);
    return code == SQLITE_DONE ? NO : FAILED;
}

static void sqlite_done(struct row *row) {
    sqlite_unbind(row);
}

static bool sqlite_execute(struct db *db, const char *sql, struct error *error) {
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK || db_fail(db, error);
}

static int sqlite_changes(struct db *db, struct error *error) {
    (void)error; /* a statement that fails says so itself */
    return sqlite3_changes(db->handle);
}

/* ---- columns ---- */

static enum row_type sqlite_type(struct row *row, int column) {
    switch (sqlite3_column_type(row->statement, column)) {
    case SQLITE_NULL:
        return ROW_NULL;
    case SQLITE_INTEGER:
        return ROW_INTEGER;
    case SQLITE_FLOAT:
        return ROW_REAL;
    default:
        return ROW_TEXT;
    }
}

static int64_t sqlite_integer(struct row *row, int column) {
    return sqlite3_column_int64(row->statement, column);
}

static double sqlite_real(struct row *row, int column) {
    return sqlite3_column_double(row->statement, column);
}

static const char *sqlite_text(struct row *row, int column) {
    return (const char *)sqlite3_column_text(row->statement, column);
}

static const void *sqlite_blob(struct row *row, int column, size_t *size) {
    const void *blob = sqlite3_column_blob(row->statement, column);
    *size = (size_t)sqlite3_column_bytes(row->statement, column);
    return blob;
}

static const struct db_driver sqlite_driver = {
    .close = sqlite_disconnect,
    .prepare = sqlite_prepare,
    .forget = sqlite_forget,
    .bind = sqlite_bind,
    .bind_value = sqlite_bind_value,
    .step = sqlite_step,
    .done = sqlite_done,
    .type = sqlite_type,
    .integer = sqlite_integer,
    .real = sqlite_real,
    .text = sqlite_text,
    .blob = sqlite_blob,
    .changes = sqlite_changes,
    .execute = sqlite_execute,
    .fail = sqlite_fail,
    .watch = sqlite_watch,
};

bool sqlite_connect(struct db *db, struct connection *connection, const char *path,
                    const char *name, int flags, struct error *error) {
    db->driver = &sqlite_driver;
    db->budget = QUESTION_BUDGET;
    db->name = strdup(name);
    if (!db->name)
        return error_set(error, ERROR_FAILED, "store \"%s\": out of memory", name);
    sqlite3 *handle = NULL;
    int code = sqlite3_open_v2(path ? path : ":memory:", &handle,
                               flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    db->handle = handle;
    if (code != SQLITE_OK)
        return db_fail(db, error);
    sqlite3_busy_handler(db->handle, sqlite_busy, connection);
    return true;
}
