/* log_gather.h - writes the frames of a commit to the write-ahead log many at once.
 *
 * SQLite writes each frame with two calls of the system: its head of 24 bytes, then its page. A
 * call costs more than the bytes it carries. While a commit runs, the log's table of methods is
 * one that gathers what is written and hands it on in long pieces. All of it is handed on before
 * the last frame of the transaction counts as written, before a sync, and before anything is read.
 * So nobody can see the end of a transaction whose frames are not in the file. */
#ifndef MOONSHIFT_STORE_SQLITE_LOG_GATHER_H
#define MOONSHIFT_STORE_SQLITE_LOG_GATHER_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

struct log_gather {
    struct sqlite3_io_methods own; /* first: the file's table of methods is the start of this */
    const struct sqlite3_io_methods *real; /* NULL: no commit is gathered */
    unsigned char *bytes;
    size_t used;
    sqlite3_int64 at; /* where they belong in the log */
    bool last;        /* the head of the transaction's last frame has been written */
};

/* Around COMMIT, for the write-ahead log of the connection. Without memory for it each call is
 * handed on as it comes. */
void log_gather_begin(struct log_gather *gather, sqlite3 *handle);
void log_gather_end(struct log_gather *gather, sqlite3 *handle);

void log_gather_clear(struct log_gather *gather);

#endif
