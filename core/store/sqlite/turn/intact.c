/* intact.c - detects that the files of the store are not the ones that this process has open, or
 * not whole. Other processes then write into another store than this one. What is written behind a
 * log that was cut short makes the database unreadable. */
#include "store/sqlite/db/connection.h"
#include "store/sqlite/db/log_index.h"
#include "store/sqlite/turn/log_sync.h"
#include "store/sqlite/turn/turn.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { INTACT_PAUSE = 20 }; /* ms between two looks at the names, while there is work */

/* The database, its log, the log's index, the gate. */
static const char *const intact_suffixes[INTACT_FILES] = {"", "-wal", "-shm", "-gate"};
enum { FILE_DATABASE, FILE_LOG, FILE_INDEX };

enum log { LOG_WHOLE, LOG_CUT, LOG_UNREADABLE };

/* Reads instead of asking for the length: the system keeps finer times of a file once somebody has
 * asked for them, and then writes them with each sync. */
static enum log log_read(sqlite3_file *log, void *data, int size, int64_t at) {
    int code = log->pMethods->xRead(log, data, size, at);
    if (code == SQLITE_IOERR_SHORT_READ)
        return LOG_CUT;
    return code == SQLITE_OK ? LOG_WHOLE : LOG_UNREADABLE;
}

/* Does the log hold what its index says? */
static enum log log_look(struct store *store, const struct index_head *head) {
    sqlite3_file *log = index_file(store, SQLITE_FCNTL_JOURNAL_POINTER);
    unsigned char start[LOG_HEAD], last;
    int64_t wanted = LOG_HEAD + (int64_t)head->frames * (FRAME_HEAD + index_page(head));
    if (!log || head->frames == 0)
        return LOG_WHOLE;
    enum log found = log_read(log, start, LOG_HEAD, 0);
    if (found == LOG_WHOLE)
        found = log_read(log, &last, 1, wanted - 1);
    if (found == LOG_WHOLE && memcmp(start + 16, head->salt, sizeof head->salt) != 0)
        found = LOG_CUT;
    return found;
}

static bool intact_refuse(struct store *store, int at, const char *what, struct error *error) {
    sqlite_of(store)->broken = true;
    return error_set(error, ERROR_IO, "store file \"%s%s\" %s", sqlite_of(store)->path,
                     intact_suffixes[at], what);
}

static bool log_refuse(struct store *store, enum log log, struct error *error) {
    const char *what = log == LOG_CUT ? "was cut short while in use" : "cannot be read";
    return log == LOG_WHOLE || intact_refuse(store, FILE_LOG, what, error);
}

/* Does not ask for times either; see log_read. */
static bool intact_look(const struct store *store, int at, struct intact_file *file) {
    char name[PATH_MAX];
    struct statx is;
    snprintf(name, sizeof name, "%s%s", sqlite_of(store)->path, intact_suffixes[at]);
    if (statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_SIZE, &is) != 0)
        return false;
    *file = (struct intact_file){makedev(is.stx_dev_major, is.stx_dev_minor), (ino_t)is.stx_ino,
                                 (off_t)is.stx_size};
    return true;
}

void intact_remember(struct store *store) {
    for (int i = 0; sqlite_of(store)->path && i < INTACT_FILES; i++)
        if (!intact_look(store, i, &sqlite_of(store)->intact.files[i]))
            sqlite_of(store)->intact.files[i] = (struct intact_file){0};
    sqlite_of(store)->intact.known = sqlite_of(store)->path != NULL;
    sqlite_of(store)->intact.at = clock_monotonic();
}

/* The index never becomes shorter while it is in use; the database only by VACUUM, down to what the
 * index says. */
static bool intact_cut(struct store *store, int at, off_t size) {
    struct index_head head = {0};
    off_t *known = &sqlite_of(store)->intact.files[at].size;
    bool shorter = size < *known && (at == FILE_DATABASE || at == FILE_INDEX);
    if (shorter && at == FILE_DATABASE && index_read(store, &head) && head.pages > 0)
        shorter = size < (int64_t)head.pages * index_page(&head);
    *known = size;
    return shorter;
}

/* The names lead to the same files, which are as long as they were. The index first: the others'
 * looks read it. */
static bool intact_names(struct store *store, struct error *error) {
    static const int order[INTACT_FILES] = {FILE_INDEX, FILE_DATABASE, FILE_LOG, 3};
    struct intact_file file;
    for (int i = 0; i < INTACT_FILES; i++) {
        const struct intact_file *known = &sqlite_of(store)->intact.files[order[i]];
        if (!known->inode)
            continue;
        if (!intact_look(store, order[i], &file) || file.inode != known->inode ||
            file.device != known->device)
            return intact_refuse(store, order[i], "was moved, removed or replaced while in use",
                                 error);
        if (intact_cut(store, order[i], file.size))
            return intact_refuse(store, order[i], "was cut short while in use", error);
    }
    sqlite_of(store)->intact.at = clock_monotonic();
    return true;
}

bool intact_before(struct store *store, struct error *error) {
    return !sqlite_of(store)->intact.known ||
           clock_monotonic() < sqlite_of(store)->intact.at + INTACT_PAUSE ||
           intact_names(store, error);
}

bool intact_begun(struct store *store, struct error *error) {
    struct index_head head;
    if (!sqlite_of(store)->path)
        return true;
    if (!sqlite_of(store)->intact.known)
        intact_remember(store);
    return log_sync_sound(store, error) &&
           (!index_read(store, &head) || log_refuse(store, log_look(store, &head), error));
}

bool sqlite_intact(struct store *store, struct error *error) {
    struct index_head head, again;
    if (!sqlite_of(store)->intact.known)
        return true;
    if (!intact_names(store, error))
        return false;
    enum log log = index_read(store, &head) ? log_look(store, &head) : LOG_WHOLE;
    /* A checkpoint may empty both meanwhile: first the index, then the log. */
    bool stays =
        log == LOG_WHOLE || (index_read(store, &again) && memcmp(&head, &again, sizeof head) == 0);
    if (stays && !log_refuse(store, log, error))
        return false;
    return store->writing || schema_current(store, error);
}
