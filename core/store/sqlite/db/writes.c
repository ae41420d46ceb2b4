/* writes.c - counts syncs, commits and what goes to the write-ahead log, between SQLite and the
 * system.
 *
 * A VFS of its own name in front of the system's: each file that is opened gets a copy of its
 * table of methods in which writing and syncing count first. A commit is counted as SQLite tells it
 * to the connection. */
#include "store/sqlite/db/driver.h"
#include "store/store.h"
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { TABLES = 8 }; /* kinds of files */

struct counted {
    struct sqlite3_io_methods own; /* first: a file's table of methods is the start of this */
    const struct sqlite3_io_methods *real;
    bool log;
};

static struct counted counted[TABLES];
static size_t counted_count;
static sqlite3_vfs *below, counting;
static _Atomic int64_t syncs, commits, writes, log_bytes;
static int64_t sync_longer; /* milliseconds, to measure a slower disk */

static const struct counted *counted_of(const sqlite3_file *file) {
    return (const struct counted *)file->pMethods;
}

static int count_sync(sqlite3_file *file, int flags) {
    atomic_fetch_add_explicit(&syncs, 1, memory_order_relaxed);
    int code = counted_of(file)->real->xSync(file, flags);
    struct timespec left = {sync_longer / 1000, sync_longer % 1000 * 1000000};
    while (sync_longer && nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
    return code;
}

static int count_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at) {
    atomic_fetch_add_explicit(&writes, 1, memory_order_relaxed);
    if (counted_of(file)->log)
        atomic_fetch_add_explicit(&log_bytes, size, memory_order_relaxed);
    return counted_of(file)->real->xWrite(file, data, size, at);
}

/* The table that stands in for `real`; the mutex is held. NULL: there are more kinds than we know.
 */
static const struct counted *stand_in(const struct sqlite3_io_methods *real, bool log) {
    for (size_t i = 0; i < counted_count; i++)
        if (counted[i].real == real && counted[i].log == log)
            return &counted[i];
    if (counted_count == TABLES)
        return NULL;
    struct counted *new = &counted[counted_count++];
    *new = (struct counted){.own = *real, .real = real, .log = log};
    new->own.xSync = count_sync;
    new->own.xWrite = count_write;
    return new;
}

static int count_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    (void)vfs;
    int code = below->xOpen(below, name, file, flags, out);
    if (code != SQLITE_OK || !file->pMethods)
        return code;
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
    sqlite3_mutex_enter(mutex);
    const struct counted *table = stand_in(file->pMethods, flags & SQLITE_OPEN_WAL);
    sqlite3_mutex_leave(mutex);
    if (table)
        file->pMethods = &table->own;
    return table ? SQLITE_OK : SQLITE_ERROR;
}

void writes_committed(void) {
    atomic_fetch_add_explicit(&commits, 1, memory_order_relaxed);
}

bool store_writes_start(int64_t longer, struct error *error) {
    sync_longer = longer;
    if (below)
        return true;
    below = sqlite3_vfs_find(NULL);
    if (below) {
        counting = *below;
        counting.zName = "moonshift-counting";
        counting.xOpen = count_open;
    }
    if (below && sqlite3_vfs_register(&counting, 1) == SQLITE_OK)
        return true;
    below = NULL;
    return error_set(error, ERROR_FAILED, "the writes of SQLite cannot be counted");
}

struct store_writes store_writes(void) {
    return (struct store_writes){.syncs = atomic_load(&syncs),
                                 .commits = atomic_load(&commits),
                                 .writes = atomic_load(&writes),
                                 .log = atomic_load(&log_bytes)};
}
