/* restore.c - a backup becomes the store (rules §22): as a copy that is made fit for a new life,
 * checked and synced before anything is moved. */
#include "base/crash_point.h"
#include "store/backup.h"
#include "store/rules/record/operation.h"
#include "store/sqlite/db/connection.h"
#include "store/sqlite/db/file.h"
#include "store/sqlite/life/backup.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Bytes of a database file that every connection holds shared while it has the store open, as
 * SQLite documents them (os.h). */
enum { SHARED_FIRST = 0x40000002, SHARED_SIZE = 510 };

/* ---- nobody has it open ---- */

/* 0: nobody holds a lock in the file's range; -1: somebody; else the process that does. */
static long holder_of(const char *path, off_t first, off_t size) {
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = size};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? NO : FAILED;
    bool known = fcntl(file, F_GETLK, &range) == 0;
    close(file);
    if (known && range.l_type == F_UNLCK)
        return 0;
    return known && range.l_pid > 0 ? (long)range.l_pid : -1;
}

static bool check_unused(const char *path, struct error *error) {
    char gate[PATH_MAX];
    if (!file_name(gate, path, "-gate", error))
        return false;
    if (holder_of(gate, 0, 0) != 0)
        return error_set(error, ERROR_CONFLICT,
                         "store \"%s\": executors or writers have it open (expected: all stopped;"
                         " \"moonshift executor list\" names the executors)",
                         path);
    long process = holder_of(path, SHARED_FIRST, SHARED_SIZE);
    if (process > 0)
        return error_set(error, ERROR_CONFLICT,
                         "store \"%s\": process %ld has it open (expected: stopped)", path,
                         process);
    return process == 0 ||
           error_set(error, ERROR_CONFLICT, "store \"%s\": somebody has it open", path);
}

/* ---- the copy ---- */

static bool log_is_empty(const char *from, struct error *error) {
    char name[PATH_MAX];
    struct stat is;
    if (!file_name(name, from, "-wal", error))
        return false;
    return stat(name, &is) != 0 || is.st_size == 0 ||
           error_set(error, ERROR_CONFLICT,
                     "%s: has a write-ahead log beside it, so it is a store and no backup"
                     " (expected a file that \"moonshift backup\" has made)",
                     from);
}

static bool copy_make(const char *from, const char *partial, const char *path,
                      struct error *error) {
    struct stat is, before;
    bool there = stat(path, &before) == 0;
    if (stat(from, &is) != 0)
        return error_set(error, ERROR_NOT_FOUND, "%s: %s", from, strerror(errno));
    if (!S_ISREG(is.st_mode))
        return error_set(error, ERROR_INVALID, "%s: is no regular file", from);
    return log_is_empty(from, error) && file_make(partial, there ? &before : &is, there, error) &&
           file_copy(from, partial, error);
}

/* What was handed out after the backup comes to nobody again; who wrote through the mailbox asks
 * anew.
 */
static bool move_on(struct store *store, const char *from, time_ms now, struct error *error) {
    store->meta.next_id += RESTORE_GAP;
    store->meta.next_token += RESTORE_GAP;
    return db_run(&store->db, error, "DELETE FROM tray", "") &&
           operation_write(store, "restore", from, 0, NULL, NULL, now, error);
}

/* Executors of that time are dead: what they ran can be taken again, and counts as no crash. */
static bool refresh(struct store *store, const char *from, struct store_restored *restored,
                    time_ms now, struct error *error) {
    struct store_reaped reaped = {0};
    bool moved = store_begin(store, STORE_COMMAND, error) && move_on(store, from, now, error) &&
                 store_commit(store, error);
    if (!moved)
        store_rollback(store);
    bool done = moved && store_reap(store, now, &reaped, error);
    job_free_list(reaped.worker_died);
    restored->freed = reaped.freed;
    return done;
}

static bool copy_refresh(const char *partial, const char *from, const struct settings *settings,
                         struct store_restored *restored, time_ms now, struct error *error) {
    char url[PATH_MAX + 8];
    snprintf(url, sizeof url, "sqlite:%s", partial);
    struct store *store = store_open(url, STORE_WRITE, settings, error);
    bool done = store && refresh(store, from, restored, now, error) &&
                store_tend(store, CHORE_LOG, 0, NULL, error);
    store_close(store);
    return done && CRASH_POINT("restore_refreshed");
}

/* ---- its place ---- */

/* Crash slots and bells of executors that are gone with the store. */
static void clear_names(const char *path) {
    char folder[PATH_MAX], name[PATH_MAX * 2];
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    size_t size = strlen(base);
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        const char *rest = strncmp(entry->d_name, base, size) == 0 ? entry->d_name + size : "";
        if (strncmp(rest, "-slots-", 7) != 0 && strncmp(rest, "-bell-", 6) != 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        unlink(name);
    }
    if (list)
        closedir(list);
}

static bool is_taken(const char *path) {
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[PATH_MAX];
    struct error ignored = {0};
    struct stat is;
    bool taken = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        taken = taken || !file_name(name, path, suffixes[i], &ignored) || lstat(name, &is) == 0;
    return taken;
}

/* "<path>-before-<instant>", and a number if that is taken. */
static bool aside_name(const char *path, struct store_restored *restored, time_ms now,
                       struct error *error) {
    char stamp[32], suffix[64] = "";
    time_t seconds = (time_t)(now / 1000);
    struct tm date;
    strftime(stamp, sizeof stamp, "-before-%Y%m%dT%H%M%SZ", gmtime_r(&seconds, &date));
    for (int i = 2; i < 1000; i++) {
        char name[PATH_MAX];
        if (i == 2)
            snprintf(suffix, sizeof suffix, "%s", stamp);
        else
            snprintf(suffix, sizeof suffix, "%s-%d", stamp, i - 1);
        if (!file_name(name, path, suffix, error))
            return false;
        snprintf(restored->aside, sizeof restored->aside, "%s", name);
        if (!is_taken(name))
            return true;
    }
    return error_set(error, ERROR_CONFLICT, "%s: is there already", restored->aside);
}

/* The log goes with its database: it may hold what is not in that yet. */
static bool move_aside(const char *path, struct store_restored *restored, time_ms now,
                       struct error *error) {
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char from[PATH_MAX], to[PATH_MAX];
    if (!aside_name(path, restored, now, error))
        return false;
    bool there = access(path, F_OK) == 0;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (!file_name(from, path, suffixes[i], error) ||
            !file_name(to, restored->aside, suffixes[i], error))
            return false;
        if (access(from, F_OK) == 0 && !file_move(from, to, false, error))
            return false;
        CRASH_POINT("restore_moved");
    }
    if (!there)
        restored->aside[0] = '\0';
    return true;
}

static void move_back(const char *path, const struct store_restored *restored) {
    static const char *const suffixes[] = {"-shm", "-wal", ""};
    char from[PATH_MAX], to[PATH_MAX];
    struct error ignored = {0};
    for (size_t i = 0; restored->aside[0] && i < sizeof suffixes / sizeof *suffixes; i++)
        if (file_name(from, restored->aside, suffixes[i], &ignored) &&
            file_name(to, path, suffixes[i], &ignored))
            file_move(from, to, false, &ignored);
}

static bool take_place(const char *partial, const char *path, struct store_restored *restored,
                       time_ms now, struct error *error) {
    if (!file_sync(partial, error) || !check_unused(path, error))
        return false;
    if (!move_aside(path, restored, now, error) || !file_move(partial, path, false, error)) {
        move_back(path, restored);
        return false;
    }
    return CRASH_POINT("restore_named") && file_sync_folder(path, error);
}

/* A copy that nobody else knows, fit for a new life and sound. */
static bool prepare(const char *from, const char *partial, const char *path,
                    const struct settings *settings, struct store_restored *restored, time_ms now,
                    struct error *error) {
    static const char *const beside[] = {"-wal", "-shm", "-gate", "-tray"};
    char name[PATH_MAX];
    bool done = copy_make(from, partial, path, error) &&
                copy_refresh(partial, from, settings, restored, now, error) &&
                backup_check(partial, settings, error);
    for (size_t i = 0; done && i < sizeof beside / sizeof *beside; i++)
        if (file_name(name, partial, beside[i], error))
            unlink(name);
    return done;
}

/* What is wrong with the copy is wrong with the backup. */
static void restore_refuse(const char *from, struct error *error) {
    char why[sizeof error->text];
    memcpy(why, error->text, sizeof why);
    if (strncmp(why, from, strlen(from)) != 0)
        error_set(error, error->code, "%s: cannot be restored: %s", from, why);
}

bool store_restore(const char *from, const struct settings *settings,
                   struct store_restored *restored, time_ms now, struct error *error) {
    char partial[PATH_MAX], resolved[PATH_MAX];
    const char *path = settings->store + strlen("sqlite:");
    if (realpath(path, resolved)) /* a link stays one */
        path = resolved;
    *restored = (struct store_restored){0};
    if (!check_unused(path, error) || !file_partial(partial, path, error))
        return false;
    bool done = prepare(from, partial, path, settings, restored, now, error);
    if (!done)
        restore_refuse(from, error);
    done = done && take_place(partial, path, restored, now, error);
    if (done)
        clear_names(path);
    else
        backup_clear(partial);
    return done;
}
