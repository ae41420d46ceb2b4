#include "store/sqlite/beside/location.h"
#include "store/rules/fleet/beside.h"
#include "store/sqlite/turn/gate.h"
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct known {
    int64_t device, inode;
    char path[PATH_MAX];
};

/* YES: it is known. */
static enum answer known_read(struct store *store, struct known *known, struct error *error) {
    return db_read(&store->db, error, "SELECT device, inode, path FROM location", "iit<",
                   &known->device, &known->inode, known->path, sizeof known->path);
}

static bool known_is(const struct known *known, const struct stat *file) {
    return known->device == (int64_t)file->st_dev && known->inode == (int64_t)file->st_ino;
}

bool location_note(struct store *store, bool *moved, struct error *error) {
    struct known known = {0};
    struct stat own;
    *moved = false;
    if (!sqlite_of(store)->path || stat(sqlite_of(store)->path, &own) != 0)
        return true;
    enum answer found = known_read(store, &known, error);
    if (found == FAILED ||
        (found && known_is(&known, &own) && strcmp(known.path, sqlite_of(store)->path) == 0))
        return found != FAILED;
    *moved = true;
    return db_run(&store->db, error,
                  "INSERT OR REPLACE INTO location(id, device, inode, path) VALUES(1, ?1, ?2, ?3)",
                  "iit", (int64_t)own.st_dev, (int64_t)own.st_ino, sqlite_of(store)->path);
}

/* Somebody has the store open for writing under that name. */
static bool is_held(const struct gate *gate) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return gate->file >= 0 && (fcntl(gate->file, F_OFD_GETLK, &all) != 0 || all.l_type != F_UNLCK);
}

static bool has_log(const char *path) {
    char name[PATH_MAX];
    struct stat log;
    return (size_t)snprintf(name, sizeof name, "%s-wal", path) < sizeof name &&
           stat(name, &log) == 0 && log.st_size > 0;
}

static bool location_refuse(const char *path, const char *other, const char *why,
                            struct error *error) {
    return error_set(error, ERROR_CONFLICT,
                     "store \"%s\": the same file as \"%s\", %s (expected that name, or a copy)",
                     path, other, why);
}

bool location_bring_home(const char *path, const char *other, struct error *error) {
    struct db db = {0};
    struct connection connection = {0};
    struct gate gate = {.file = -1};
    int file = beside_open(other, "-gate", O_RDWR | O_CREAT, error);
    gate.file = file < 0 ? -1 : file;
    bool alone = file >= 0 && !is_held(&gate) && gate_take(&gate, GATE_CHECKPOINTER, true) &&
                 gate_take(&gate, GATE_WRITER, true);
    bool done = alone &&
                sqlite_connect(&db, &connection, other, other, SQLITE_OPEN_READWRITE, error) &&
                db_execute(&db, "PRAGMA wal_checkpoint(TRUNCATE)", error);
    db_close(&db);
    gate_close(&gate);
    return (done && !has_log(other)) ||
           location_refuse(path, other, "whose log cannot be written into it", error);
}

/* Both names are there, and nobody uses the other one: from now on this one counts. */
static enum location location_take(struct store *store, struct error *error) {
    bool moved = false;
    if (store->mode == STORE_READ)
        return LOCATION_FINE;
    if (!store_begin(store, STORE_COMMAND, error) ||
        !unit_end(store, true, location_note(store, &moved, error), error) ||
        !store_tend(store, CHORE_LOG, 0, NULL, error))
        return LOCATION_REFUSED;
    return LOCATION_FINE;
}

enum location location_look(struct store *store, char *other, struct error *error) {
    struct known known = {0};
    struct stat own, there;
    struct gate gate = {.file = -1};
    if (!sqlite_of(store)->path || stat(sqlite_of(store)->path, &own) != 0)
        return LOCATION_FINE;
    enum answer found = known_read(store, &known, error);
    if (found == FAILED)
        return LOCATION_REFUSED;
    if (!found || strcmp(known.path, sqlite_of(store)->path) == 0 || !known_is(&known, &own) ||
        stat(known.path, &there) != 0 || !known_is(&known, &there))
        return LOCATION_FINE;
    gate_look(&gate, known.path);
    bool held = is_held(&gate);
    gate_close(&gate);
    snprintf(other, PATH_MAX, "%s", known.path);
    if (held) {
        location_refuse(store->db.name, other, "which is in use under that name", error);
        return LOCATION_REFUSED;
    }
    return has_log(other) ? LOCATION_BEHIND : location_take(store, error);
}

/* ---- within this process ---- */

static atomic_flag entering = ATOMIC_FLAG_INIT;
static struct store *entered; /* all that are open, by their `entry` */

static void entered_lock(void) {
    while (atomic_flag_test_and_set(&entering))
        sched_yield();
}

/* The name by which another store of this process has the file open; NULL: none has. */
static const char *entered_as(const struct store *store, const struct stat *file) {
    for (const struct store *one = entered; one; one = sqlite_of(one)->entry.next)
        if (sqlite_of(one)->entry.device == file->st_dev &&
            sqlite_of(one)->entry.inode == file->st_ino &&
            strcmp(sqlite_of(one)->entry.path, sqlite_of(store)->entry.path) != 0)
            return sqlite_of(one)->entry.path;
    return NULL;
}

bool location_enter(struct store *store, const char *path, struct error *error) {
    struct stat file;
    if (sqlite_of(store)->entry.inode)
        return true;
    if (!realpath(path, sqlite_of(store)->entry.path) || stat(path, &file) != 0)
        return true; /* it is made only now */
    entered_lock();
    const char *other = entered_as(store, &file);
    bool fine = !other || location_refuse(path, other, "which is in use under that name", error);
    if (fine) {
        sqlite_of(store)->entry.device = file.st_dev;
        sqlite_of(store)->entry.inode = file.st_ino;
        sqlite_of(store)->entry.next = entered;
        entered = store;
    }
    atomic_flag_clear(&entering);
    return fine;
}

void location_leave(struct store *store) {
    entered_lock();
    for (struct store **at = &entered; *at; at = &sqlite_of(*at)->entry.next)
        if (*at == store) {
            *at = sqlite_of(store)->entry.next;
            break;
        }
    atomic_flag_clear(&entering);
}
