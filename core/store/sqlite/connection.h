/* connection.h - what one open store holds, and its transactions; private to this folder. */
#ifndef MOONSHIFT_STORE_SQLITE_CONNECTION_H
#define MOONSHIFT_STORE_SQLITE_CONNECTION_H

#include "store/intake.h"
#include "store/sqlite/bell.h"
#include "store/sqlite/catalog.h"
#include "store/sqlite/db.h"
#include "store/sqlite/feed.h"
#include "store/sqlite/gate.h"
#include "store/sqlite/peers.h"
#include "store/sqlite/slots.h"
#include "store/sqlite/tray.h"
#include "store/store.h"
#include <limits.h>
#include <sys/types.h>

/* The counters of the table meta, read when a transaction begins, written when it ends. */
struct meta {
    int64_t next_id, next_token, catalog, executors;
    int64_t fair, turn; /* enum fair_by, and where its turns began; see share.h */
    int64_t sweep_from,
        sweep_to; /* ids among which ghosts are searched for; 0: none; see sweep.h */
    int64_t cuts; /* how often a verb has taken a lock from a run */
};

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

/* How far the turns that are over have been looked for. */
struct share_sweep {
    time_ms at; /* when to go on */
    int64_t rank;
    char tenant[JOB_NAME_MAX + 1];
};

/* How the starts of definitions with a rate are counted; see starts.h. */
struct ring {
    time_ms now, wall; /* the same instant, as starts count and as the wall clock does */
    time_ms next;      /* wall clock: when a rate lets the next ready job start */
    time_ms offset;    /* of `now` to the steady clock */
    bool anchored;     /* the offset is known */
    int slow;          /* how often workers came too late of late */
};

/* The executor that this store has joined as. */
struct self {
    int64_t id; /* 0: not joined */
    time_ms lease, lease_until;
    time_ms now;                   /* the latest it was told */
    bool checkpointer;             /* byte 1 of the gate is held */
    bool steady;                   /* time passes by itself: its clock is the system's */
    bool draining;                 /* it takes nothing more */
    char owner[JOB_NAME_MAX + 24]; /* "name/id", as its locks are shown */
};

/* A definition with ready jobs that no live executor serves. */
struct unserved {
    int64_t definition;
    time_ms since; /* first seen */
    int64_t look;  /* last seen at this one */
};

/* How the operation log is being written. */
struct journal {
    char who[32];        /* instead of the settings' name: a job; "": nobody else */
    int64_t job;         /* whose effects are being done, 0: none, */
    int32_t attempt;     /* and its run */
    bool silent;         /* nothing is written: a job of a batch, which has its own entry */
    int64_t entry;       /* that is added to; 0: the next one is new */
    int64_t written;     /* the last new one */
    const json_t *query; /* the filters of the verb; NULL: it has none */
    struct held held;    /* of the jobs that the verb activates, those that stay suspended */
};

/* What the open transaction may lock as it is created; see prelock.c. */
struct prelock {
    struct offer *offer;     /* NULL: nothing */
    struct outcome *creator; /* whose jobs are being created; NULL: nobody's */
    bool fits;               /* there is room for all of them */
    bool keeps;              /* their rows are kept in the feed until store_settle_end */
    struct job *last;        /* of the offer's jobs */
    int64_t stream;          /* asked about last */
    bool served;             /* that stream, by the joined executor */
};

/* How the counters of a batch have moved in the open transaction, as far as they are not written
 * yet; see batch.h. */
struct tally {
    int64_t batch; /* 0: none */
    int gone, failed;
    time_ms started, now;
};

/* What is to be told of the open transaction; see tell.h. */
struct tells {
    json_t *incidents, *events; /* arrays; NULL: none */
    time_ms now;
};

/* The config of a batch, for the jobs of it that are taken. */
struct held_config {
    int64_t batch; /* 0: none */
    char *text;    /* NULL: it has none */
};

/* Bytes of the gate that are held while something is written in several transactions; sign.h. */
struct signs {
    int64_t *list;
    size_t count;
    int64_t ending; /* goes with the commit of the open transaction; 0: none */
};

/* The ghosts of the joined executor; see sweep.h. */
struct sweep {
    bool on;
    bool marked, mark;   /* its debt as committed, and as in the open transaction */
    bool lost, searched; /* for want of memory some are not known; they are searched for now */
    struct sweep_block **blocks; /* by their numbers; each has a ghost */
    size_t count, room;
    struct sweep_block *last;        /* the one noted in last */
    struct sweep_block *full, *gone; /* lists: those that can go; gone in the open transaction */
    int64_t debt, going;             /* ghosts; of these, removed in the open transaction */
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

/* The search for deployments that nobody needs (retire.c). */
struct retiring {
    int64_t id, last; /* that is looked at now, 0: none; that was looked at last */
    int64_t job;      /* jobs up to this id are not of it */
};

struct store {
    struct db db;
    struct entry entry;
    const struct settings *settings;
    enum store_mode mode;
    char *path;            /* NULL: in memory */
    char boot[CLOCK_BOOT]; /* see store_boot */
    struct gate gate;
    struct tray tray;
    struct catalog catalog;
    struct peers peers;
    struct wake wake;
    struct bell bell;
    struct slots slots;
    struct self self;
    int64_t deployed; /* that this connection has loaded last; 0: none */
    struct retiring retiring;
    struct journal journal;
    struct prelock prelock;
    struct feed feed, endings;
    struct held_config config;
    struct tally tally;
    struct tells tells;
    struct ring ring;
    struct share_sweep share_sweep;
    struct sweep sweep;
    struct signs signs;
    bool passed_over;                  /* a question has met a payload that is too deep for it */
    const struct store_intake *intake; /* what is created now belongs to; NULL: nothing */
    bool stirred;          /* something became ready in a transaction without an offer */
    bool writing;          /* a transaction is open */
    bool broken;           /* an input/output error was met: nothing is written any more */
    bool outdated;         /* the schema is newer than this program */
    bool parting;          /* no more is written than what gives its locks back */
    bool (*hurried)(void); /* may be NULL; see store_hurry */
    time_ms until;         /* monotonic; see store_budget */
    struct intact intact;
    struct meta meta, stored; /* as used, and as the table has it */
    int incidents;            /* open ones in this transaction: -1 not looked yet, 0 none, 1 some */
    int lines;                /* what runs have said, the same way */
    int64_t placed;           /* rows that were put into `ready` behind an acquisition's back */
    struct store_met met;
    bool progress; /* this store has written progress */
    int64_t *gone; /* executors buried in this transaction: their files go after it */
    size_t gone_count;
    struct unserved *unserved; /* as seen by store_missing last */
    size_t unserved_count;
    int64_t looks; /* of store_missing */
};

/* A unit of work: in the open transaction, or in one of its own. */
bool unit_begin(struct store *store, bool *own, struct error *error);
/* Ends it; with `done` false, or if the commit fails, what was its own is rolled back. */
bool unit_end(struct store *store, bool own, bool done, struct error *error);

/* Several questions that see one state of the store; the catalog is fresh inside. Outside of a
 * write transaction they have 5 s together. */
bool look_begin(struct store *store, bool *own, struct error *error);
void look_end(struct store *store, bool own);

/* In a transaction: growing numbers that are never handed out twice. */
int64_t meta_id(struct store *store);
int64_t meta_token(struct store *store);
/* Reads the counters, and catalog and peers where those moved. */
bool meta_read(struct store *store, struct error *error);
bool meta_write(struct store *store, struct error *error);

/* The name of the machine's present boot; NULL: not known. */
const char *store_boot(struct store *store);

/* Notes which files the store consists of. */
void intact_remember(struct store *store);
/* Before a transaction, and inside of it before anything is read: are they still the same, and
 * whole? False: the store is broken. */
bool intact_before(struct store *store, struct error *error);
bool intact_begun(struct store *store, struct error *error);

/* In a transaction: removes the slots and bells of executors that are gone, but for `self`. */
void leftover_clear(struct store *store, int64_t self);

/* Checks what is there, or creates it. */
bool migrate(struct store *store, struct error *error);

/* Is the schema still this program's? A newer program may have brought it up to date meanwhile. */
bool migrate_current(struct store *store, struct error *error);

#endif
