/* gather.h - writes and reads a file of the store in long pieces.
 *
 * SQLite writes each frame of a commit with two calls of the system: its head of 24 bytes, then its
 * page. A checkpoint reads and writes page by page. A call costs more than the bytes it carries.
 * So while a commit or a checkpoint runs, a file has a table of methods that gathers them. What is
 * written is handed on before the last frame of a transaction counts as written, before the log's
 * index says that pages were moved, and before the
 * file is synced, read, cut or measured. So nobody can see what follows before it is in the file.
 *
 * The sync that SQLite asks for at the end of a commit is left out. It follows behind the gate, see
 * log_sync.h. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

struct gather {
    struct sqlite3_io_methods own; /* first: the file's table of methods is the start of this */
    const struct sqlite3_io_methods *real;
    sqlite3_file *file; /* NULL: nothing is gathered */
    unsigned char *bytes;
    size_t used;
    sqlite3_int64 at;    /* where they belong in the file */
    bool last;           /* the head of the transaction's last frame has been written */
    bool whole;          /* … and its page: a sync comes from behind the gate */
    bool off;            /* nothing more is kept back */
    int code;            /* of the piece that could not be written */
    sqlite3_int64 asked; /* where was read last */
};

/* Begins with one of the connection's files, by its SQLITE_FCNTL_…; ended by gather_end. Without
 * memory each call is handed on as it comes. The second one gathers what is read, which nobody may
 * change meanwhile. */
void gather_writes(struct gather *gather, sqlite3 *handle, int which);
void gather_reads(struct gather *gather, sqlite3 *handle, int which);
void gather_end(struct gather *gather);

void gather_clear(struct gather *gather);
