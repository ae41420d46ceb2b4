/* open.c - from a path to an open store, with a sentence for each way it can go wrong. */
#include "store/rules/batch/batch.h"
#include "store/rules/fleet/beside.h"
#include "store/rules/place/fair_share.h"
#include "store/rules/place/suspects.h"
#include "store/rules/work/hooks.h"
#include "store/rules/work/work.h"
#include "store/sqlite/beside/bell.h"
#include "store/sqlite/beside/life_sign.h"
#include "store/sqlite/beside/location.h"
#include "store/sqlite/beside/mailbox.h"
#include "store/sqlite/db/bulk_table.h"
#include "store/sqlite/db/engine.h"
#include "store/sqlite/turn/gate.h"
#include "store/sqlite/turn/log_sync.h"
#include "store/sqlite/turn/old_reader.h"
#include "store/sqlite/turn/purge.h"
#include "store/sqlite/turn/turn.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLOSE_PAGES 1000 /* a longer log is moved into the database when the store is closed */

static const struct txn_hook *const open_hooks[] = TXN_HOOKS(&purge_hook, &sign_hook, &reap_hook);

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
    if (!sqlite_connect(&store->db, &sqlite_of(store)->connection, path,
                        path ? path : ":memory:", flags, error))
        return false;
    if (!path)
        return true;
    sqlite_of(store)->path = strdup(sqlite3_db_filename(store->db.handle, "main"));
    store->name = sqlite_of(store)->path;
    if (sqlite_of(store)->path && asprintf(&store->url, "sqlite:%s", sqlite_of(store)->path) < 0)
        store->url = NULL;
    if (!sqlite_of(store)->path || !store->url)
        return error_set(error, ERROR_FAILED, "store \"%s\": out of memory", path);
    if (!open_beside(sqlite_of(store)->path, error))
        return false;
    if (store->mode != STORE_READ && sqlite3_db_readonly(store->db.handle, "main") == 1)
        return open_refuse(path, "not writable", EROFS, error);
    return true;
}

/* ---- what the rules ask ---- */

/* The byte of a living executor is held; a reader opens the gate only to look. */
static bool engine_has_died(struct store *store, int64_t executor) {
    struct gate *gate = &sqlite_of(store)->gate;
    gate_look(gate, sqlite_of(store)->path);
    return gate->file >= 0 && gate_free(gate, GATE_EXECUTORS + executor);
}

static bool engine_running(struct store *store, int64_t executor, struct running *running) {
    struct slots_name slots = slots_beside(sqlite_of(store)->path, executor);
    return !sqlite_of(store)->path || slots_read(running, &slots);
}

static void engine_notify(struct store *store, int64_t executor) {
    bell_ring(&sqlite_of(store)->bell, sqlite_of(store)->path, executor);
}

#define OP_ROW(type, name, parameters, arguments) .name = sqlite_##name,
#define DO_ROW(name, parameters, arguments) .name = sqlite_##name,

static const struct store_ops ops = {
    .close = sqlite_close, .create = store_create, STORE_OPS(OP_ROW, DO_ROW)};

static const struct store_engine engine = {
    .sql = &sqlite_sql,
    .verify = sqlite_verify,
    .snapshot = transaction_look,
    .snapshot_end = transaction_look_end,
    .lasts = log_sync_seen,
    .instance_lasts = log_sync_seen_of,
    .bulk = bulk_table_write,
    .ahead = 64,
    .leave_row = purge_leave,
    .settled = purge_settled,
    .enter = executor_enter,
    .entered = executor_entered,
    .quit = executor_quit,
    .part = executor_part,
    .bequeath = purge_bequeath,
    .reaped = executor_reaped,
    .sign_take = sign_take,
    .sign_drop = sign_drop,
    .sign_drop_after = sign_drop_after,
    .sign_alive = sign_alive,
    .has_died = engine_has_died,
    .running = engine_running,
    .log = held_tell,
    .notify = engine_notify,
    .payload_is = payload_is,
    .unit = sqlite_unit,
};

static bool open_all(struct store *store, const char *path, struct error *error) {
    struct sqlite *sqlite = sqlite_of(store);
    bool writes = store->mode != STORE_READ;
    if ((path && !location_enter(store, path, error)) || !open_database(store, path, error) ||
        !sqlite_configure(&store->db, &sqlite->connection, writes, error))
        return false;
    if (!bulk_table_attach(&store->bulk, &store->db, "bulk", error) ||
        !bulk_table_attach(&store->endings, &store->db, "endings", error) ||
        !payload_attach(store, error))
        return false;
    return migrate(store, error);
}

/* `other` has PATH_MAX bytes: where *location is behind, the name to bring the log home from. */
static struct store *open_once(const char *path, enum store_mode mode,
                               const struct settings *settings, enum location *location,
                               char *other, struct error *error) {
    *location = LOCATION_REFUSED;
    struct sqlite *made = calloc(1, sizeof *made);
    struct store *store = made ? &made->store : NULL;
    if (!store)
        return error_null(error_no_memory(error));
    store->settings = settings;
    store->rules = &settings->write;
    store->hooks = open_hooks;
    store->ops = &ops;
    store->engine = &engine;
    store->kind = path ? STORE_FILE : STORE_MEMORY;
    store->mode = path ? mode : STORE_CREATE;
    sqlite_of(store)->gate.file = -1;
    sqlite_of(store)->bell = (struct bell){-1, -1, -1};
    bool opened = open_all(store, path, error) && (!path || location_enter(store, path, error));
    if (opened)
        log_sync_mend(store);
    if (opened)
        *location = location_look(store, other, error);
    if (*location == LOCATION_FINE && fair_share_settle(store, error))
        return store;
    store_close(store);
    return NULL;
}

/* `path` NULL: in memory. */
static struct store *sqlite_open(const char *path, enum store_mode mode,
                                 const struct settings *settings, struct error *error) {
    enum location location = LOCATION_FINE;
    char other[PATH_MAX];
    mode = mode == STORE_MIGRATE ? STORE_WRITE : mode;
    if (path && !open_look(path, mode, error))
        return NULL;
    struct store *store = open_once(path, mode, settings, &location, other, error);
    if (location != LOCATION_BEHIND || !location_bring_home(path, other, error))
        return store;
    return open_once(path, mode, settings, &location, other, error);
}

const struct store_opener sqlite_opener = {.open = sqlite_open};

void sqlite_close(struct store *store) {
    int pages = store->self.id ? 0 : CLOSE_PAGES; /* an executor leaves one whole file behind */
    store_rollback(store);
    if (store->self.id)
        store_leave(store, NULL);
    if (sqlite_of(store)->gate.file >= 0 && sqlite_of(store)->connection.log_pages)
        store_tend(store, CHORE_LOG, pages, NULL, NULL);
    mailbox_close(&sqlite_of(store)->mailbox);
    slots_close(&sqlite_of(store)->slots);
    bell_close(&sqlite_of(store)->bell);
    db_close(&store->db);
    location_leave(store);
    bulk_clear(&store->bulk);
    bulk_clear(&store->endings);
    bulk_clear(&store->failures);
    bulk_clear(&store->keys);
    lasting_clear(&store->lasting);
    occupancy_clear(store);
    gate_close(&sqlite_of(store)->gate);
    gather_clear(&sqlite_of(store)->writes);
    gather_clear(&sqlite_of(store)->reads);
    sign_clear(store);
    catalog_clear(&store->catalog);
    peers_clear(&store->peers);
    suspects_clear(&store->suspects);
    purge_clear(&sqlite_of(store)->purge);
    free(sqlite_of(store)->gone);
    free(store->config.text);
    id_set_clear(&store->filling.ids);
    free(store->unserved);
    free(sqlite_of(store)->path);
    free(store->url);
    free(store);
}
