/* backup.c - a copy as the store is at one moment (rules §22). It is read in one transaction, so
 * it needs no second try however much is written meanwhile. Writers are not held up, but the
 * write-ahead log cannot shrink until the copy is done. */
#include "store/sqlite/life/backup.h"
#include "base/crash_point.h"
#include "store/backup.h"
#include "store/sqlite/db/connection.h"
#include "store/sqlite/db/file.h"
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STEP_PAGES = 500, PAUSE_MOST = 20 /* ms */ };

/* The disk is the others', too: a quarter of the time that a step took. */
static void step_pause(time_ms took) {
    time_ms pause = took / 4 < PAUSE_MOST ? took / 4 : PAUSE_MOST;
    nanosleep(&(struct timespec){0, (long)pause * 1000000}, NULL);
}

static bool copy_pages(sqlite3_backup *copy, struct store_backup *backup) {
    int code = SQLITE_OK;
    while (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        time_ms begun = clock_monotonic();
        code = sqlite3_backup_step(copy, STEP_PAGES);
        int64_t all = sqlite3_backup_pagecount(copy);
        if (backup->tell)
            backup->tell(backup->arg, all - sqlite3_backup_remaining(copy), all);
        CRASH_POINT("backup_stepped");
        if (code != SQLITE_DONE)
            step_pause(clock_monotonic() - begun);
    }
    return code == SQLITE_DONE;
}

/* In a transaction that reads: the store does not change under it. */
static bool copy_store(struct store *store, sqlite3 *to, struct store_backup *backup,
                       struct error *error) {
    bool own = false;
    if (!look_begin(store, &own, error))
        return false;
    db_question_end(&store->db); /* it takes the time it takes */
    sqlite3_backup *copy = sqlite3_backup_init(to, "main", store->db.handle, "main");
    bool done = copy && copy_pages(copy, backup);
    int code = copy ? sqlite3_backup_finish(copy) : sqlite3_errcode(to);
    look_end(store, own);
    return (done && code == SQLITE_OK) ||
           error_set(error, code == SQLITE_FULL ? ERROR_FULL : ERROR_IO,
                     "store \"%s\": cannot be copied: %s", store->db.name, sqlite3_errstr(code));
}

/* The last to close a log takes it away. */
static bool copy_into(struct store *store, const char *path, struct store_backup *backup,
                      struct error *error) {
    sqlite3 *to = NULL;
    bool done = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                sqlite3_exec(to, "PRAGMA synchronous=OFF", NULL, NULL, NULL) == SQLITE_OK;
    if (!done)
        error_set(error, ERROR_IO, "%s: %s", path, to ? sqlite3_errmsg(to) : "out of memory");
    done = done && copy_store(store, to, backup, error);
    if (done && sqlite3_exec(to, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) != SQLITE_OK)
        done = error_set(error, ERROR_IO, "%s: %s", path, sqlite3_errmsg(to));
    sqlite3_close(to);
    return done;
}

void backup_clear(const char *path) {
    static const char *const suffixes[] = {"-wal", "-shm", "-journal", "-gate", "-tray", ""};
    char name[PATH_MAX];
    struct error ignored = {0};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (file_name(name, path, suffixes[i], &ignored))
            unlink(name);
}

bool backup_check(const char *path, const struct settings *settings, struct error *error) {
    char url[PATH_MAX + 8];
    snprintf(url, sizeof url, "sqlite:%s", path);
    struct store *copy = store_open(url, STORE_READ, settings, error);
    json_t *found = copy ? store_verify(copy, NULL, error) : NULL;
    store_close(copy);
    bool whole = found && json_array_size(found) == 0;
    if (found && !whole)
        error_set(error, ERROR_DAMAGED, "the copy is not sound: %s (check --store says more)",
                  json_string_value(json_array_get(found, 0)));
    json_decref(found);
    return whole;
}

/* What SQLite has laid beside the copy as it was read. */
static void clear_beside(const char *path) {
    char name[PATH_MAX];
    struct error ignored = {0};
    if (file_name(name, path, "-wal", &ignored))
        unlink(name);
    if (file_name(name, path, "-shm", &ignored))
        unlink(name);
}

static bool finish(const char *partial, const char *to, struct store_backup *backup,
                   struct error *error) {
    struct stat is;
    clear_beside(partial);
    backup->bytes = stat(partial, &is) == 0 ? (int64_t)is.st_size : 0;
    return file_sync(partial, error) && CRASH_POINT("backup_synced") &&
           file_move(partial, to, backup->force, error) && CRASH_POINT("backup_named") &&
           file_sync_folder(to, error);
}

static bool is_free(const char *to, const struct store_backup *backup, struct error *error) {
    struct stat is;
    if (lstat(to, &is) != 0)
        return true;
    if (!S_ISREG(is.st_mode))
        return error_set(error, ERROR_CONFLICT, "%s: is no regular file", to);
    return backup->force ||
           error_set(error, ERROR_CONFLICT, "%s: is there already (expected --force)", to);
}

bool sqlite_backup(struct store *store, const char *to, struct store_backup *backup,
                   struct error *error) {
    char partial[PATH_MAX];
    struct stat is, target;
    if (!sqlite_of(store)->path || stat(sqlite_of(store)->path, &is) != 0)
        return error_set(error, ERROR_CONFIG, "store \"%s\": is no file", store->db.name);
    if (stat(to, &target) == 0 && target.st_dev == is.st_dev && target.st_ino == is.st_ino)
        return error_set(error, ERROR_CONFLICT, "%s: is the store itself", to);
    if (!is_free(to, backup, error) || !file_partial(partial, to, error) ||
        !file_make(partial, &is, false, error))
        return false;
    bool done = copy_into(store, partial, backup, error) && CRASH_POINT("backup_copied") &&
                backup_check(partial, store->settings, error) && finish(partial, to, backup, error);
    if (!done)
        backup_clear(partial);
    return done;
}
