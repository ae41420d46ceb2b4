/* connection.h - what an open SQLite store holds besides; private to this folder. */
#pragma once

#include "store/rules/fleet/slots.h"
#include "store/rules/ground/transaction.h"
#include "store/sqlite/db/driver.h"
#include "store/sqlite/db/engine.h"
#include "store/sqlite/db/gather.h"
#include <limits.h>
#include <stdatomic.h>
#include <sys/types.h>

enum { INTACT_FILES = 4 };

/* The files of the store as this process has them open; see intact.c. */
struct intact {
    bool known;
    time_ms at; /* monotonic: of the last look at their names */
    struct intact_file {
        dev_t device;
        ino_t inode; /* 0: it was not there */
        off_t size;
    } files[INTACT_FILES];
};

/* Bytes of the gate that are held while something is written in several transactions;
 * life_sign.h. */
struct signs {
    int64_t *list;
    size_t count;
    int64_t ending; /* goes with the commit of the open transaction; 0: none */
};

/* The tombstones of the joined executor; see purge.h. */
struct purge {
    bool on;
    bool marked, mark;   /* the column debt as committed, and as in the open transaction */
    bool lost, searched; /* for want of memory some are not known; they are searched for now */
    struct purge_block **blocks; /* by their numbers; each has a tombstone */
    size_t count, room;
    struct purge_block *last;        /* the one noted in last */
    struct purge_block *full, *gone; /* lists: those that can go; gone in the open transaction */
    int64_t pending, going;          /* tombstones; of these, removed in the open transaction */
    int64_t *fresh;                  /* of the open transaction */
    size_t fresh_count, fresh_room;
    int turns; /* since the last step of a search */
};

/* Under which name this process has the database open; see location.h. */
struct entry {
    struct store *next;
    dev_t device;
    ino_t inode;
    char path[PATH_MAX];
};

/* The file of locks and its page, as this process has them open; see gate.h. */
struct gate_page {
    _Atomic uint32_t turn;           /* counts ended transactions */
    _Atomic uint32_t sync_took;      /* microseconds that a sync of the log takes; 0: not known */
    _Atomic uint64_t synced, failed; /* places in the log, of log_sync.h */
    _Atomic uint32_t sleeping;       /* 1: some store may sleep until the next turn; */
    _Atomic uint32_t waiting;        /* may hold the byte of those that wait to write */
    _Atomic uint64_t changed[CHANGED_SLOTS]; /* places in the log; see log_sync.h */
};

struct gate {
    int file;               /* -1: no gate (in memory); then every byte is free and may be taken */
    struct gate_page *page; /* NULL: there is no room for it */
    bool reads;             /* the page is only to be read */
    bool waits;             /* this store holds the byte of those that wait to write */
};

/* The doorbell of the joined executor; see bell.h. */
struct bell {
    int socket;    /* -1: none; readable when it was rung */
    int directory; /* of the store: names go through it, so that long paths fit; -1: not open */
    int sender;    /* -1: not open */
};

/* The place of this process in the mailbox; see mailbox.h. */
struct mailbox {
    struct gate file;        /* its bytes are locked as those of the gate are */
    struct mailbox_map *map; /* NULL: not open */
    int place;               /* of this process */
    int64_t ticket;          /* of what it asks for; no two are the same, in any process */
    bool unusable;           /* it could not be opened: everybody writes for himself */
    bool foreign;            /* something that is not ours lies in its place */
};

struct sqlite {
    struct store store; /* first */
    struct connection connection;
    struct entry entry;
    char *path; /* NULL: in memory */
    struct gate gate;
    struct gather writes, reads;
    struct mailbox mailbox;
    struct bell bell;
    struct slots slots;
    struct purge purge;
    struct signs signs;
    bool moved;        /* the file has another name than when executors joined last */
    bool checkpointer; /* the joined executor alone moves the log into its place */
    bool broken;       /* an input/output error was met: nothing is written any more */
    uint32_t mark;     /* of its last commit, in gate_page.changed; 0: none */
    bool synced;       /* this connection has synced the log, and so its name if it made it */
    bool torn;         /* a sync of the log has failed here */
    bool mending;      /* a sync of it has failed, and this store moves it into the database */
    int schema;        /* the version that this program makes */
    bool unhurried;    /* the end of this transaction is not waited for on the disk */
    bool outdated;     /* the schema is newer than this program */
    bool parting;      /* no more is written than what gives its locks back */
    bool counted;      /* the counters in memory are those of this version of the database */
    unsigned version;
    struct intact intact;
    int64_t *gone; /* executors reaped in this transaction: their files go after it */
    size_t gone_count;
};

static inline struct sqlite *sqlite_of(const struct store *store) {
    return (struct sqlite *)store;
}
