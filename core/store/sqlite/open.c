/* open.c - from a path to an open store, with a sentence for each way it can go wrong. */
#include "store/sqlite/beside.h"
#include "store/sqlite/location.h"
#include "store/sqlite/query.h"
#include "store/sqlite/share.h"
#include "store/sqlite/sign.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/sweep.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLOSE_PAGES 1000 /* a longer log is moved into the database when the store is closed */

static bool open_refuse(const char *path, const char *what, int reason, struct error *error) {
    return error_set(error, ERROR_IO, "store \"%s\": %s: %s", path, what, strerror(reason));
}

/* The directory must be writable: the log, the gate and the bells live beside the database. */
static bool open_directory(const char *path, struct error *error) {
    char directory[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (slash && (size_t)(slash - path) + 1 < sizeof directory)
        snprintf(directory, sizeof directory, "%.*s", (int)(slash - path) + 1, path);
    struct stat is;
    if (stat(directory, &is) != 0)
        return error_set(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO,
                         "store \"%s\": directory \"%s\": %s", path, directory, strerror(errno));
    if (access(directory, W_OK | X_OK) == 0)
        return true;
    return error_set(error, ERROR_IO, "store \"%s\": directory \"%s\" is not writable: %s", path,
                     directory, strerror(errno));
}

/* Looks without opening: opening and closing the file would drop SQLite's locks on it. */
static bool open_look(const char *path, enum store_mode mode, struct error *error) {
    struct stat is;
    if (!beside_link_sound(path, error))
        return false;
    if (stat(path, &is) != 0) {
        if (errno != ENOENT)
            return open_refuse(path, "cannot look at it", errno, error);
        if (mode == STORE_CREATE)
            return open_directory(path, error);
        return error_set(error, ERROR_NOT_FOUND,
                         "store \"%s\": no such file (create it with \"moonshift run\" or "
                         "\"moonshift enqueue\")",
                         path);
    }
    if (S_ISDIR(is.st_mode))
        return open_refuse(path, "cannot open it", EISDIR, error);
    if (!S_ISREG(is.st_mode))
        return error_set(error, ERROR_IO, "store \"%s\": not a regular file", path);
    if (access(path, R_OK) != 0)
        return open_refuse(path, "not readable", errno, error);
    if (mode == STORE_READ)
        return true;
    if (access(path, W_OK) != 0)
        return open_refuse(path, "not writable", errno, error);
    return open_directory(path, error);
}

/* SQLite follows no link either; but root would give away what it opens. */
static bool open_beside(const char *path, struct error *error) {
    return beside_sound(path, "-wal", error) && beside_sound(path, "-shm", error) &&
           beside_sound(path, "-journal", error);
}

static bool open_database(struct store *store, const char *path, struct error *error) {
    int flags = store->mode == STORE_READ && path ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    if (store->mode == STORE_CREATE || !path)
        flags |= SQLITE_OPEN_CREATE;
    if (!db_open(&store->db, path, path ? path : ":memory:", flags, error))
        return false;
    if (!path)
        return true;
    store->path = strdup(sqlite3_db_filename(store->db.handle, "main"));
    if (!store->path)
        return error_set(error, ERROR_FAILED, "store \"%s\": out of memory", path);
    if (!open_beside(store->path, error))
        return false;
    if (store->mode != STORE_READ && sqlite3_db_readonly(store->db.handle, "main") == 1)
        return open_refuse(path, "not writable", EROFS, error);
    return true;
}

static bool open_all(struct store *store, const char *path, struct error *error) {
    return (!path || location_enter(store, path, error)) && open_database(store, path, error) &&
           db_configure(&store->db, store->mode != STORE_READ, error) &&
           feed_attach(&store->feed, &store->db, "feed", error) &&
           feed_attach(&store->endings, &store->db, "endings", error) &&
           payload_attach(store, error) && migrate(store, error);
}

/* `other` has PATH_MAX bytes: where *location is behind, the name to bring the log home from. */
static struct store *open_once(const char *path, enum store_mode mode,
                               const struct settings *settings, enum location *location,
                               char *other, struct error *error) {
    *location = LOCATION_REFUSED;
    struct store *store = calloc(1, sizeof *store);
    if (!store) {
        error_set(error, ERROR_FAILED, "out of memory");
        return NULL;
    }
    store->settings = settings;
    store->mode = path ? mode : STORE_CREATE;
    store->gate.file = -1;
    store->bell = (struct bell){-1, -1, -1};
    if (open_all(store, path, error) && (!path || location_enter(store, path, error)) &&
        (*location = location_look(store, other, error)) == LOCATION_FINE &&
        share_settle(store, error))
        return store;
    store_close(store);
    return NULL;
}

struct store *sqlite_open(const char *path, enum store_mode mode, const struct settings *settings,
                          struct error *error) {
    enum location location = LOCATION_FINE;
    char other[PATH_MAX];
    if (path && !open_look(path, mode, error))
        return NULL;
    struct store *store = open_once(path, mode, settings, &location, other, error);
    if (location != LOCATION_BEHIND || !location_bring_home(path, other, error))
        return store;
    return open_once(path, mode, settings, &location, other, error);
}

void store_close(struct store *store) {
    if (!store)
        return;
    int pages = store->self.id ? 0 : CLOSE_PAGES; /* an executor leaves one whole file behind */
    store_rollback(store);
    if (store->self.id)
        store_leave(store, NULL);
    if (store->gate.file >= 0 && store->db.log_pages)
        store_checkpoint(store, pages, NULL);
    tray_close(&store->tray);
    slots_close(&store->slots);
    bell_close(&store->bell);
    db_close(&store->db);
    location_leave(store);
    feed_clear(&store->feed);
    feed_clear(&store->endings);
    gate_close(&store->gate);
    sign_clear(store);
    catalog_clear(&store->catalog);
    peers_clear(&store->peers);
    sweep_clear(&store->sweep);
    free(store->gone);
    free(store->config.text);
    free(store->unserved);
    free(store->path);
    free(store);
}

const char *store_path(const struct store *store) {
    return store->path;
}
