/* log_index.h - what the index of the write-ahead log says, as SQLite documents it
 * (walformat.html). Others may be writing it meanwhile. */
#pragma once

#include "store/sqlite/db/connection.h"
#include <sqlite3.h>

enum {
    LOG_HEAD = 32,   /* bytes before the frames, */
    FRAME_HEAD = 24, /* and of each frame before its page */
    READERS = 5      /* places of readers; the first is of those that read no frame */
};

/* The head of the index; there are two of it. */
struct index_head {
    uint32_t version, unused, change;
    uint8_t set, big_endian;
    uint16_t page_size; /* 1: 65536 */
    uint32_t frames, pages, sum[2], salt[2], own_sum[2];
};

struct index_readers {
    uint32_t filed;          /* frames that a checkpoint has put into the database */
    uint32_t marks[READERS]; /* readers in this place see so many frames */
};

/* One of the connection's files, by its SQLITE_FCNTL_…; NULL: it is not open. */
sqlite3_file *index_file(struct store *store, int which);

/* False: there is no index, or it is just being written. */
bool index_read(struct store *store, struct index_head *head);
bool index_readers(struct store *store, struct index_readers *readers);

/* Bytes of a page. */
int64_t index_page(const struct index_head *head);

/* True if some connection reads from this place. */
bool index_is_held(struct store *store, int place);
/* The byte of the index's file that its readers have locked. */
int index_lock(int place);
