#include "power_vfs.h"
#include "power_disk.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

struct power_file {
    sqlite3_file base;
    struct disk_file *disk; /* NULL: nothing of it outlives the process */
    int type;               /* SQLITE_OPEN_MAIN_DB, … */
    bool names;             /* its first sync makes the names in its directory safe */
    sqlite3_file *real;     /* follows in the same block */
};

static struct {
    sqlite3_vfs *real;
    bool off, lying, careless;
    void (*during)(void *); /* the next commit is synced */
    void *during_arg;
    enum power_kind kind, was_at; /* where it goes off, or fails */
    int nth, code;                /* 0: never */
    bool cuts, lasting;
    int faults;
    uint64_t seed, luck;
} power;

const char *power_kind_name(enum power_kind kind) {
    static const char *const names[] = {
        "open",          "read",          "log write",    "log sync", "log cut", "database write",
        "database sync", "journal write", "journal sync", "remove",   "other"};
    return names[kind];
}

void power_cut(enum power_kind kind, int nth, uint64_t seed) {
    power.kind = kind;
    power.nth = nth;
    power.seed = seed;
    power.cuts = true;
}

void power_on(void) {
    power.off = power.lasting = power.cuts = false;
    power.nth = 0;
}

bool power_is_off(void) {
    return power.off;
}

enum power_kind power_was_at(void) {
    return power.was_at;
}

void power_fault(enum power_kind kind, int nth, int code, bool lasting) {
    power.kind = kind;
    power.nth = nth;
    power.code = code;
    power.lasting = lasting;
    power.cuts = false;
    power.faults = 0;
}

int power_faults(void) {
    return power.faults;
}

void power_careless(bool careless) {
    power.careless = careless;
}

void power_during_sync(void (*call)(void *), void *arg) {
    power.during = call;
    power.during_arg = arg;
}

void power_lie(bool lying) {
    power.lying = lying;
}

void power_seed(uint64_t seed) {
    power.luck = seed;
    sqlite3_randomness(0, NULL);
}

enum verdict { GOES_ON, FAILS, GOES_OFF /* at this very operation */ };

static bool power_meant(enum power_kind kind) {
    if (power.kind == POWER_KINDS)
        return !power.cuts || (kind != POWER_READ && kind != POWER_OTHER);
    return kind == power.kind;
}

static enum verdict power_ask(enum power_kind kind) {
    if (power.off)
        return FAILS;
    if (power.nth <= 0 || !power_meant(kind))
        return GOES_ON;
    if (power.nth > 1) {
        power.nth--;
        return GOES_ON;
    }
    if (!power.lasting)
        power.nth = 0;
    power.was_at = kind;
    power.faults++;
    if (!power.cuts)
        return FAILS;
    power.off = true;
    return GOES_OFF;
}

static int power_code(int code) {
    return !power.off && power.code ? power.code : code;
}

/* Was the operation done although its caller will never hear of it? */
static bool power_done(void) {
    return chance_of(&power.seed, 2);
}

static struct power_file *power_of(sqlite3_file *file) {
    return (struct power_file *)file;
}

static sqlite3_file *real_of(sqlite3_file *file) {
    return power_of(file)->real;
}

/* ---- files ---- */

static int file_close(sqlite3_file *file) {
    sqlite3_file *real = real_of(file);
    return real->pMethods ? real->pMethods->xClose(real) : SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at) {
    if (power_ask(POWER_READ) == FAILS)
        return power_code(SQLITE_IOERR_READ);
    return real_of(file)->pMethods->xRead(real_of(file), data, size, at);
}

static enum power_kind file_kind(sqlite3_file *file, enum power_kind log,
                                 enum power_kind database) {
    int type = power_of(file)->type;
    if (type == SQLITE_OPEN_WAL)
        return log;
    if (type == SQLITE_OPEN_MAIN_DB)
        return database;
    return database == POWER_DATABASE_SYNC ? POWER_JOURNAL_SYNC : POWER_JOURNAL_WRITE;
}

static int file_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at) {
    enum verdict verdict = power_ask(file_kind(file, POWER_LOG_WRITE, POWER_DATABASE_WRITE));
    if (verdict == FAILS)
        return power_code(SQLITE_IOERR_WRITE);
    if (power_of(file)->disk)
        disk_write(power_of(file)->disk, data, (size_t)size, at);
    int code = real_of(file)->pMethods->xWrite(real_of(file), data, size, at);
    return verdict == GOES_OFF ? SQLITE_IOERR_WRITE : code;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    enum verdict verdict = power_ask(file_kind(file, POWER_LOG_CUT, POWER_DATABASE_WRITE));
    if (verdict == FAILS)
        return power_code(SQLITE_IOERR_TRUNCATE);
    if (power_of(file)->disk)
        disk_truncate(power_of(file)->disk, size);
    int code = real_of(file)->pMethods->xTruncate(real_of(file), size);
    return verdict == GOES_OFF ? SQLITE_IOERR_TRUNCATE : code;
}

static void sync_begun(void) {
    void (*during)(void *) = power.during;
    power.during = NULL;
    if (during)
        during(power.during_arg);
}

/* The real file is never synced: nobody cuts the real power. The store asks for nothing but the
 * data of a log where it syncs a commit. */
static int file_sync(sqlite3_file *file, int flags) {
    struct power_file *mine = power_of(file);
    bool commit = mine->type == SQLITE_OPEN_WAL && (flags & SQLITE_SYNC_DATAONLY);
    if (commit)
        sync_begun();
    if (commit && power.careless)
        return SQLITE_OK;
    enum verdict verdict = power_ask(file_kind(file, POWER_LOG_SYNC, POWER_DATABASE_SYNC));
    if (verdict == FAILS)
        return power_code(SQLITE_IOERR_FSYNC);
    if (mine->disk && !power.lying && (verdict == GOES_ON || power_done())) {
        disk_sync(mine->disk);
        if (mine->names)
            disk_sync_directory();
        mine->names = false;
    }
    return verdict == GOES_OFF ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    if (power_ask(POWER_OTHER) == FAILS)
        return power_code(SQLITE_IOERR_FSTAT);
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int file_lock(sqlite3_file *file, int level) {
    if (power_ask(POWER_OTHER) == FAILS)
        return power_code(SQLITE_IOERR_LOCK);
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int file_unlock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int file_check_lock(sqlite3_file *file, int *held) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), held);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int file_sector(sqlite3_file *file) {
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_device(sqlite3_file *file) {
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **map) {
    if (power_ask(POWER_OTHER) == FAILS)
        return power_code(SQLITE_IOERR_SHMMAP);
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, map);
}

static int file_shm_lock(sqlite3_file *file, int at, int count, int flags) {
    if (!(flags & SQLITE_SHM_UNLOCK) && power_ask(POWER_OTHER) == FAILS)
        return power_code(SQLITE_IOERR_SHMLOCK);
    return real_of(file)->pMethods->xShmLock(real_of(file), at, count, flags);
}

static void file_shm_barrier(sqlite3_file *file) {
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int file_shm_unmap(sqlite3_file *file, int remove) {
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static const sqlite3_io_methods power_methods = {
    2,           file_close,   file_read,     file_write,       file_truncate,  file_sync,
    file_size,   file_lock,    file_unlock,   file_check_lock,  file_control,   file_sector,
    file_device, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, NULL,
    NULL};

/* ---- names ---- */

static bool vfs_there(const char *name) {
    int there = 0;
    power.real->xAccess(power.real, name, SQLITE_ACCESS_EXISTS, &there);
    return there;
}

/* As the system's VFS does: the directory is synced with a journal or log that may be new. */
static bool vfs_names(int flags) {
    return (flags & SQLITE_OPEN_CREATE) &&
           (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL));
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    const int types = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
    struct power_file *mine = power_of(file);
    (void)vfs;
    *mine = (struct power_file){.type = flags & types, .names = vfs_names(flags)};
    mine->real = (sqlite3_file *)(mine + 1);
    enum verdict verdict = power_ask(POWER_OPEN);
    if (verdict == FAILS || (verdict == GOES_OFF && !power_done()))
        return power_code(SQLITE_CANTOPEN);
    bool there = !name || vfs_there(name);
    int code = power.real->xOpen(power.real, name, mine->real, flags, out);
    if (code != SQLITE_OK)
        return code;
    if (name && mine->type)
        mine->disk = disk_open(name, !there);
    mine->base.pMethods = &power_methods; /* it will be closed */
    return verdict == GOES_OFF ? SQLITE_CANTOPEN : SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    struct disk_file *disk = disk_find(name);
    (void)vfs;
    enum verdict verdict = power_ask(POWER_REMOVE);
    if (verdict == FAILS || (verdict == GOES_OFF && !power_done()))
        return power_code(SQLITE_IOERR_DELETE);
    int code = power.real->xDelete(power.real, name, 0);
    if (disk)
        disk_remove(disk);
    if (disk && sync && !power.lying)
        disk_sync_directory();
    return verdict == GOES_OFF ? SQLITE_IOERR_DELETE : code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *there) {
    (void)vfs;
    if (power_ask(POWER_OTHER) == FAILS)
        return power_code(SQLITE_IOERR_ACCESS);
    return power.real->xAccess(power.real, name, flags, there);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int size, char *path) {
    (void)vfs;
    return power.real->xFullPathname(power.real, name, size, path);
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *bytes) {
    (void)vfs;
    for (int i = 0; i < size; i++)
        bytes[i] = (char)chance(&power.luck);
    return size;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return power.real->xSleep(power.real, microseconds);
}

static int vfs_time(sqlite3_vfs *vfs, sqlite3_int64 *now) {
    (void)vfs;
    return power.real->xCurrentTimeInt64(power.real, now);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *text) {
    (void)vfs;
    return power.real->xGetLastError(power.real, size, text);
}

bool power_install(void) {
    static sqlite3_vfs vfs;
    power.real = sqlite3_vfs_find("unix");
    vfs = (sqlite3_vfs){.iVersion = 2,
                        .szOsFile = (int)sizeof(struct power_file) + power.real->szOsFile,
                        .mxPathname = power.real->mxPathname,
                        .zName = "power",
                        .xOpen = vfs_open,
                        .xDelete = vfs_delete,
                        .xAccess = vfs_access,
                        .xFullPathname = vfs_full_path,
                        .xRandomness = vfs_randomness,
                        .xSleep = vfs_sleep,
                        .xCurrentTimeInt64 = vfs_time,
                        .xGetLastError = vfs_last_error};
    return sqlite3_vfs_register(&vfs, 1) == SQLITE_OK;
}
