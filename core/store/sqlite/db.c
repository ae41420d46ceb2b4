#include "store/sqlite/db.h"
#include "store/sqlite/gate.h"
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define QUESTION_BUDGET 5000  /* ms; a question on millions of rows must not go on for ever */
#define QUESTION_STEPS 10000  /* instructions between two looks at the clock */
#define CACHE_SMALL (1 << 20) /* bytes of pages that are worth keeping through a pause */
#define BUSY_WAIT 5000        /* ms that a question waits for a database in recovery */

/* SQLite's own handler sleeps longer and longer; ours looks again every 0.2 ms. */
static int db_busy(void *arg, int calls) {
    struct db *db = arg;
    if (db->impatient)
        return 0;
    if (calls == 0)
        db->patience = clock_monotonic() + BUSY_WAIT;
    if (clock_monotonic() > db->patience)
        return 0;
    gate_pause();
    return 1;
}

static int db_committed(void *arg, sqlite3 *handle, const char *name, int pages) {
    (void)handle;
    (void)name;
    ((struct db *)arg)->log_pages = pages;
    return SQLITE_OK;
}

bool db_open(struct db *db, const char *path, const char *name, int flags, struct error *error) {
    db->budget = QUESTION_BUDGET;
    db->name = strdup(name);
    if (!db->name)
        return error_set(error, ERROR_FAILED, "store \"%s\": out of memory", name);
    int code = sqlite3_open_v2(path ? path : ":memory:", &db->handle,
                               flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (code != SQLITE_OK)
        return db_fail(db, error);
    sqlite3_busy_handler(db->handle, db_busy, db);
    return true;
}

bool db_configure(struct db *db, bool writing, struct error *error) {
    if (sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) != SQLITE_OK)
        return db_fail(db, error);
    if (!db_execute(db, "PRAGMA wal_autocheckpoint=0; PRAGMA temp_store=MEMORY", error))
        return false;
    sqlite3_wal_hook(db->handle, db_committed, db);
    return !writing || db_execute(db,
                                  "PRAGMA synchronous=FULL; PRAGMA secure_delete=OFF;"
                                  "PRAGMA cache_size=-16384",
                                  error);
}

void db_close(struct db *db) {
    for (size_t i = 0; i < db->room; i++)
        sqlite3_finalize(db->entries[i].statement);
    free(db->entries);
    sqlite3_close(db->handle);
    free(db->name);
    *db = (struct db){0};
}

/* What is freed in between is given back to the system as well: it is a whole cache of pages. */
void db_shrink(struct db *db) {
    int used = 0, most = 0;
    sqlite3_db_status(db->handle, SQLITE_DBSTATUS_CACHE_USED, &used, &most, 0);
    if (used < CACHE_SMALL)
        return;
    sqlite3_db_release_memory(db->handle);
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

static int db_over_budget(void *arg) {
    struct db *db = arg;
    return clock_monotonic() >= db->deadline || (db->hurried && db->hurried());
}

void db_question_begin(struct db *db) {
    db->deadline = clock_monotonic() + db->budget;
    sqlite3_progress_handler(db->handle, QUESTION_STEPS, db_over_budget, db);
}

void db_question_end(struct db *db) {
    sqlite3_progress_handler(db->handle, 0, NULL, NULL);
    db->deadline = 0;
    db->question = NULL;
}

static enum error_code db_error_code(int code, int system) {
    if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC)
        return ERROR_IO; /* even for want of room: nobody knows what is on the disk now */
    switch (code & 0xff) {
    case SQLITE_FULL:
        return ERROR_FULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
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
static int db_file_errno(sqlite3 *handle, int which) {
    sqlite3_file *file = NULL;
    int system = 0;
    if (sqlite3_file_control(handle, "main", which, &file) == SQLITE_OK && file && file->pMethods)
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &system);
    return system;
}

/* A failing COMMIT leaves nothing behind but in the file. */
static int db_system_errno(sqlite3 *handle) {
    int system = sqlite3_system_errno(handle);
    if (!system)
        system = db_file_errno(handle, SQLITE_FCNTL_JOURNAL_POINTER);
    return system ? system : db_file_errno(handle, SQLITE_FCNTL_FILE_POINTER);
}

/* SQLite calls what cannot be read corrupt; the file may be sound. */
static bool db_unreadable(int code, int system) {
    return (code & 0xff) == SQLITE_CORRUPT && system == EIO;
}

bool db_fail(struct db *db, struct error *error) {
    int code = db->handle ? sqlite3_extended_errcode(db->handle) : SQLITE_NOMEM;
    int system = db->handle ? db_system_errno(db->handle) : 0;
    const char *text = db->handle ? sqlite3_errmsg(db->handle) : "out of memory";
    if (db_unreadable(code, system))
        return error_set(error, ERROR_IO, "store \"%s\": cannot be read (%s)", db->name,
                         strerror(system));
    if (code == SQLITE_IOERR_SHORT_READ)
        return error_set(error, ERROR_IO, "store \"%s\": a file of it was cut short", db->name);
    enum error_code kind = db_error_code(code, system);
    if ((code & 0xff) == SQLITE_INTERRUPT && db->deadline)
        return error_set(error, ERROR_FAILED,
                         "store \"%s\": the question for %s took longer than %g s (expected one "
                         "that looks at less: other filters, pages by id)",
                         db->name, db->question ? db->question : "this", (double)db->budget / 1000);
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

static struct db_entry *db_slot(struct db_entry *entries, size_t room, const char *sql) {
    size_t at = (size_t)((uintptr_t)sql * 0x9e3779b97f4a7c15u >> 20) & (room - 1);
    while (entries[at].sql && entries[at].sql != sql)
        at = (at + 1) & (room - 1);
    return &entries[at];
}

static bool db_grow(struct db *db) {
    size_t room = db->room ? db->room * 2 : 256;
    struct db_entry *entries = calloc(room, sizeof *entries);
    if (!entries)
        return false;
    for (size_t i = 0; i < db->room; i++)
        if (db->entries[i].sql)
            *db_slot(entries, room, db->entries[i].sql) = db->entries[i];
    free(db->entries);
    db->entries = entries;
    db->room = room;
    return true;
}

static sqlite3_stmt *db_statement(struct db *db, const char *sql, struct error *error) {
    if (db->count * 2 >= db->room && !db_grow(db)) {
        error_set(error, ERROR_FAILED, "store \"%s\": out of memory", db->name);
        return NULL;
    }
    struct db_entry *entry = db_slot(db->entries, db->room, sql);
    if (entry->sql)
        return entry->statement;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) !=
        SQLITE_OK) {
        db_fail(db, error);
        return NULL;
    }
    *entry = (struct db_entry){sql, statement};
    db->count++;
    return statement;
}

static void db_bind_int(sqlite3_stmt *statement, int at, int64_t value, int64_t null) {
    if (value == null)
        sqlite3_bind_null(statement, at);
    else
        sqlite3_bind_int64(statement, at, value);
}

static void db_bind(sqlite3_stmt *statement, const char *kinds, va_list values) {
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
            db_bind_int(statement, at, va_arg(values, int64_t), 0);
            break;
        case 'T':
            db_bind_int(statement, at, va_arg(values, time_ms), TIME_NONE);
            break;
        case 'd':
            sqlite3_bind_double(statement, at, va_arg(values, double));
            break;
        case 'b':
            data = va_arg(values, const char *);
            sqlite3_bind_blob64(statement, at, data, va_arg(values, size_t), SQLITE_STATIC);
            break;
        default:
            sqlite3_bind_text(statement, at, va_arg(values, const char *), -1, SQLITE_STATIC);
        }
    }
}

sqlite3_stmt *db_query(struct db *db, struct error *error, const char *sql, const char *kinds,
                       ...) {
    sqlite3_stmt *statement = db_statement(db, sql, error);
    if (!statement)
        return NULL;
    va_list values;
    va_start(values, kinds);
    db_bind(statement, kinds, values);
    va_end(values);
    return statement;
}

int db_step(struct db *db, sqlite3_stmt *statement, struct error *error) {
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return 1;
    if (code != SQLITE_DONE)
        db_fail(db, error);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? 0 : -1;
}

static bool db_finish(struct db *db, sqlite3_stmt *statement, struct error *error) {
    int step = 0;
    while ((step = db_step(db, statement, error)) > 0)
        continue;
    return step == 0;
}

bool db_run(struct db *db, struct error *error, const char *sql, const char *kinds, ...) {
    sqlite3_stmt *statement = db_statement(db, sql, error);
    if (!statement)
        return false;
    va_list values;
    va_start(values, kinds);
    db_bind(statement, kinds, values);
    va_end(values);
    return db_finish(db, statement, error);
}

int db_value(struct db *db, struct error *error, int64_t *value, const char *sql, const char *kinds,
             ...) {
    sqlite3_stmt *statement = db_statement(db, sql, error);
    if (!statement)
        return -1;
    va_list values;
    va_start(values, kinds);
    db_bind(statement, kinds, values);
    va_end(values);
    int step = db_step(db, statement, error);
    if (step > 0) {
        *value = sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    }
    return step;
}

bool db_execute(struct db *db, const char *sql, struct error *error) {
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK || db_fail(db, error);
}

int db_changes(struct db *db) {
    return sqlite3_changes(db->handle);
}

time_ms db_column_time(sqlite3_stmt *statement, int column) {
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return TIME_NONE;
    return sqlite3_column_int64(statement, column);
}

const char *db_column_text(sqlite3_stmt *statement, int column) {
    return (const char *)sqlite3_column_text(statement, column);
}
