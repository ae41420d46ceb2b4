#include "store/sqlite/db/gather.h"
#include "store/sqlite/db/log_index.h"
#include <stdlib.h>
#include <string.h>

enum { PIECE = 124 * 1024 }; /* bytes at once: SQLite writes less than 128 KB to a file */

static struct gather *gather_of(sqlite3_file *file) {
    return (struct gather *)file->pMethods;
}

/* ---- methods that may look for a table of their own ---- */

static int write_real(struct gather *gather, const void *data, int size, sqlite3_int64 at) {
    gather->file->pMethods = gather->real;
    int code = gather->real->xWrite(gather->file, data, size, at);
    gather->file->pMethods = &gather->own;
    return code;
}

static int sync_real(struct gather *gather, int flags) {
    gather->file->pMethods = gather->real;
    int code = gather->real->xSync(gather->file, flags);
    gather->file->pMethods = &gather->own;
    return code;
}

/* ---- writing ---- */

/* Once it has failed it goes on to fail. */
static int hand_on(struct gather *gather) {
    int size = (int)gather->used;
    gather->used = 0;
    if (size && gather->code == SQLITE_OK)
        gather->code = write_real(gather, gather->bytes, size, gather->at);
    return gather->code;
}

static bool ends_transaction(const unsigned char *data, int size) {
    return size == FRAME_HEAD && (data[4] || data[5] || data[6] || data[7]);
}

static int gather_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at) {
    struct gather *gather = gather_of(file);
    bool follows = gather->used && at == gather->at + (sqlite3_int64)gather->used;
    bool fits = follows && gather->used + (size_t)size <= PIECE;
    bool last = gather->last;
    int code = fits ? SQLITE_OK : hand_on(gather);
    if (code != SQLITE_OK)
        return code;
    gather->last = ends_transaction(data, size);
    gather->whole = last;
    if (size > PIECE || gather->off)
        return write_real(gather, data, size, at);
    if (!gather->used)
        gather->at = at;
    memcpy(gather->bytes + gather->used, data, (size_t)size);
    gather->used += (size_t)size;
    return last ? hand_on(gather) : SQLITE_OK;
}

static int gather_sync(sqlite3_file *file, int flags) {
    struct gather *gather = gather_of(file);
    int code = hand_on(gather);
    return code == SQLITE_OK && !gather->whole ? sync_real(gather, flags) : code;
}

static int gather_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at) {
    struct gather *gather = gather_of(file);
    int code = hand_on(gather);
    return code == SQLITE_OK ? gather->real->xRead(file, data, size, at) : code;
}

static int gather_truncate(sqlite3_file *file, sqlite3_int64 size) {
    struct gather *gather = gather_of(file);
    int code = hand_on(gather);
    return code == SQLITE_OK ? gather->real->xTruncate(file, size) : code;
}

static int gather_size(sqlite3_file *file, sqlite3_int64 *size) {
    struct gather *gather = gather_of(file);
    int code = hand_on(gather);
    return code == SQLITE_OK ? gather->real->xFileSize(file, size) : code;
}

/* ---- a checkpoint ---- */

/* The pages have been written, and the log's index is about to say so. SQLite takes no error here:
 * the sync that follows has it. */
static int gather_control(sqlite3_file *file, int what, void *arg) {
    struct gather *gather = gather_of(file);
    if (what == SQLITE_FCNTL_CKPT_DONE)
        hand_on(gather);
    return gather->real->xFileControl(file, what, arg);
}

/* A checkpoint that is kept from a part of the log moves the rest without a sync, so no call would
 * tell of an error. */
static int gather_lock(sqlite3_file *file, int from, int count, int flags) {
    struct gather *gather = gather_of(file);
    int code = gather->real->xShmLock(file, from, count, flags);
    gather->off = gather->off || code != SQLITE_OK;
    return code;
}

/* ---- reading ---- */

static bool is_there(const struct gather *gather, int size, sqlite3_int64 at) {
    return at >= gather->at && at + (sqlite3_int64)size <= gather->at + (sqlite3_int64)gather->used;
}

/* How much to read: twice as much each time, as long as one frame is asked for after the other. */
static size_t read_size(const struct gather *gather, int size, sqlite3_int64 at) {
    bool follows = at == gather->asked + size + FRAME_HEAD;
    size_t most = follows ? 2 * gather->used : 0;
    most = most < PIECE ? most : PIECE;
    return most > (size_t)size ? most : (size_t)size;
}

static int ahead_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at) {
    struct gather *gather = gather_of(file);
    if (!is_there(gather, size, at) && size <= PIECE) {
        size_t most = read_size(gather, size, at);
        bool whole = gather->real->xRead(file, gather->bytes, (int)most, at) == SQLITE_OK;
        gather->at = at;
        gather->used = whole ? most : 0; /* the file may end before */
    }
    gather->asked = at;
    if (!is_there(gather, size, at))
        return gather->real->xRead(file, data, size, at);
    memcpy(data, gather->bytes + (at - gather->at), (size_t)size);
    return SQLITE_OK;
}

/* What was read may be another one now. */
static int ahead_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at) {
    struct gather *gather = gather_of(file);
    gather->used = 0;
    return write_real(gather, data, size, at);
}

static int ahead_sync(sqlite3_file *file, int flags) {
    return sync_real(gather_of(file), flags);
}

/* ---- beginning and ending ---- */

static bool begin(struct gather *gather, sqlite3 *handle, int which) {
    sqlite3_file *file = NULL;
    unsigned char *bytes = gather->bytes ? gather->bytes : malloc(PIECE);
    sqlite3_file_control(handle, "main", which, &file);
    *gather = (struct gather){.bytes = bytes};
    if (!bytes || !file || !file->pMethods)
        return false;
    gather->file = file;
    gather->real = file->pMethods;
    gather->own = *gather->real;
    file->pMethods = &gather->own;
    return true;
}

void gather_writes(struct gather *gather, sqlite3 *handle, int which) {
    if (!begin(gather, handle, which))
        return;
    gather->own.xWrite = gather_write;
    gather->own.xSync = gather_sync;
    gather->own.xRead = gather_read;
    gather->own.xTruncate = gather_truncate;
    gather->own.xFileSize = gather_size;
    gather->own.xFileControl = gather_control;
    if (which == SQLITE_FCNTL_FILE_POINTER)
        gather->own.xShmLock = gather_lock;
}

void gather_reads(struct gather *gather, sqlite3 *handle, int which) {
    if (!begin(gather, handle, which))
        return;
    gather->own.xRead = ahead_read;
    gather->own.xWrite = ahead_write;
    gather->own.xSync = ahead_sync;
}

/* SQLite may have closed the file meanwhile. */
void gather_end(struct gather *gather) {
    if (gather->file && gather->file->pMethods == &gather->own)
        gather->file->pMethods = gather->real;
    gather->file = NULL;
}

void gather_clear(struct gather *gather) {
    free(gather->bytes);
    *gather = (struct gather){0};
}
