#include "store/sqlite/log_gather.h"
#include "store/sqlite/log_index.h"
#include <stdlib.h>
#include <string.h>

enum { GATHERED = 128 * 1024 }; /* bytes handed on at once, at most */

static struct log_gather *gather_of(sqlite3_file *log) {
    return (struct log_gather *)log->pMethods;
}

static sqlite3_file *log_of(sqlite3 *handle) {
    sqlite3_file *log = NULL;
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    return log && log->pMethods ? log : NULL;
}

/* The methods below may look for a table of their own. */
static int write_real(sqlite3_file *log, struct log_gather *gather, const void *data, int size,
                      sqlite3_int64 at) {
    log->pMethods = gather->real;
    int code = gather->real->xWrite(log, data, size, at);
    log->pMethods = &gather->own;
    return code;
}

static int hand_on(sqlite3_file *log, struct log_gather *gather) {
    int size = (int)gather->used;
    gather->used = 0;
    return size ? write_real(log, gather, gather->bytes, size, gather->at) : SQLITE_OK;
}

static bool ends_transaction(const unsigned char *data, int size) {
    return size == FRAME_HEAD && (data[4] || data[5] || data[6] || data[7]);
}

static int gather_write(sqlite3_file *log, const void *data, int size, sqlite3_int64 at) {
    struct log_gather *gather = gather_of(log);
    bool follows = gather->used && at == gather->at + (sqlite3_int64)gather->used;
    bool fits = follows && gather->used + (size_t)size <= GATHERED;
    bool last = gather->last;
    int code = fits ? SQLITE_OK : hand_on(log, gather);
    if (code != SQLITE_OK)
        return code;
    gather->last = ends_transaction(data, size);
    if (size > GATHERED)
        return write_real(log, gather, data, size, at);
    if (!gather->used)
        gather->at = at;
    memcpy(gather->bytes + gather->used, data, (size_t)size);
    gather->used += (size_t)size;
    return last ? hand_on(log, gather) : SQLITE_OK;
}

static int gather_sync(sqlite3_file *log, int flags) {
    struct log_gather *gather = gather_of(log);
    int code = hand_on(log, gather);
    if (code != SQLITE_OK)
        return code;
    log->pMethods = gather->real;
    code = gather->real->xSync(log, flags);
    log->pMethods = &gather->own;
    return code;
}

static int gather_read(sqlite3_file *log, void *data, int size, sqlite3_int64 at) {
    struct log_gather *gather = gather_of(log);
    int code = hand_on(log, gather);
    return code == SQLITE_OK ? gather->real->xRead(log, data, size, at) : code;
}

static int gather_truncate(sqlite3_file *log, sqlite3_int64 size) {
    struct log_gather *gather = gather_of(log);
    int code = hand_on(log, gather);
    return code == SQLITE_OK ? gather->real->xTruncate(log, size) : code;
}

static int gather_size(sqlite3_file *log, sqlite3_int64 *size) {
    struct log_gather *gather = gather_of(log);
    int code = hand_on(log, gather);
    return code == SQLITE_OK ? gather->real->xFileSize(log, size) : code;
}

static struct sqlite3_io_methods methods_of(const struct sqlite3_io_methods *real) {
    struct sqlite3_io_methods own = *real;
    own.xWrite = gather_write;
    own.xSync = gather_sync;
    own.xRead = gather_read;
    own.xTruncate = gather_truncate;
    own.xFileSize = gather_size;
    return own;
}

void log_gather_begin(struct log_gather *gather, sqlite3 *handle) {
    sqlite3_file *log = log_of(handle);
    unsigned char *bytes = gather->bytes ? gather->bytes : malloc(GATHERED);
    gather->bytes = bytes;
    if (!log || !bytes)
        return;
    *gather = (struct log_gather){
        .own = methods_of(log->pMethods), .real = log->pMethods, .bytes = bytes};
    log->pMethods = &gather->own;
}

void log_gather_end(struct log_gather *gather, sqlite3 *handle) {
    sqlite3_file *log = gather->real ? log_of(handle) : NULL;
    if (log && log->pMethods == &gather->own)
        log->pMethods = gather->real;
    gather->real = NULL;
}

void log_gather_clear(struct log_gather *gather) {
    free(gather->bytes);
    *gather = (struct log_gather){0};
}
