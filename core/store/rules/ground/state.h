/* state.h - what the rules know of an open store, and its transactions. */
#pragma once

#include "store/intake.h"
#include "store/provision.h"
#include "store/rules/ground/bulk_rows.h"
#include "store/rules/ground/catalog.h"
#include "store/rules/ground/engine.h"
#include "store/rules/ground/id_set.h"
#include "store/rules/ground/peers.h"
#include "store/sql/db.h"
#include "store/store.h"

/* The counters of the table meta, read when a transaction begins, written when it ends. */
struct meta {
    int64_t next_id, next_token, catalog, executors;
    int64_t fair, turn; /* enum fair_by, and where its turns began; see fair_share.h */
    int64_t purge_from,
        purge_to;  /* ids among which tombstones are searched for; 0: none; see purge.h */
    int64_t cuts;  /* how often a verb has taken a lock from a run */
    int64_t ended; /* the number of the newest entry of the history, if that was removed; else 0 */
    int64_t timeline; /* of the server that has written last; 0: none, or the store is a file */
};

/* How far the turns that are over have been looked for. */
struct fair_share_purge {
    time_ms at; /* when to go on */
    int64_t rank;
    char tenant[JOB_NAME_MAX + 1];
};

/* Starts that are counted from one instant on, and up to before another one no more. */
struct rate_shift {
    int64_t definition, count;
    struct rate rate;
    time_ms from, to;
};

/* How the starts of definitions with a rate are counted; see rate_limit.h. */
struct rate_clock {
    time_ms now, wall; /* the same instant, as starts count and as the wall clock does */
    time_ms next;      /* wall clock: when a rate, or a suspect, lets the next ready job start */
    time_ms offset;    /* of `now` to the steady clock */
    bool anchored;     /* the offset is known */
    int slow;          /* how often workers came too late of late */
    bool late;         /* in this transaction: one did, */
    time_ms ended;     /* and what it settles had ended by then; 0: nothing */
    int shift_count;   /* of this transaction, not written yet */
    struct rate_shift shifts[8];
};

/* The executor that this store has joined as; while it acts for a worker outside, that one. */
struct self {
    int64_t id; /* 0: not joined */
    time_ms lease, lease_until;
    time_ms now;                   /* the latest it was told */
    bool steady;                   /* time passes by itself: its clock is the system's */
    bool draining;                 /* it takes nothing more */
    bool remote;                   /* a worker outside: its locks end at lease_until */
    bool listens;                  /* it takes nothing: see store_listen */
    bool returned;                 /* in another session: it may have been taken for dead */
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
    int64_t instance;    /* of a process, that the verb is about; 0: none */
    struct held held;    /* of the jobs that the verb activates, those that stay suspended */
};

/* What the joined executor can begin at once; see capacity.h. */
struct open_capacity {
    struct capacity *capacity; /* NULL: nothing */
    int64_t stream;            /* asked about last */
    bool served;               /* that stream, by the joined executor */
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

/* How long the store waits for other writers; see transaction.h. */
struct patience {
    int (*hurried)(void); /* may be NULL; see store_set_impatient */
    time_ms until;        /* monotonic; see store_budget */
    time_ms contended;    /* monotonic: other writers were met, until then; see store_contended */
};

/* The config of a batch, for the jobs of it that are taken. */
struct held_config {
    int64_t batch; /* 0: none */
    char *text;    /* NULL: it has none */
};

/* The batch that this connection fills. */
struct filling {
    int64_t batch; /* 0: none */
    struct id_set ids;
};

/* The search for deployments that nothing needs (retire.c). */
struct retiring {
    int64_t id, last; /* that is looked at now, 0: none; that was looked at last */
    int64_t job;      /* jobs up to this id are not of it */
};

/* The worker outside that was looked at last: does its row go (remote.c)? Zero: none was. */
struct tidied {
    time_ms seen;
    int64_t id;
    time_ms again; /* not before */
};

/* A frame that is written with the commit. */
struct frame_change {
    int64_t id, rev;
    struct lasting_text frame;
    bool turn; /* of a turn outside of the frame of its instance */
};

/* How many turns of bodies end with the open transaction; see process/turn.h. */
struct body_count {
    int64_t id, ended;
};
enum { BODIES_KEPT = 64 };
struct bodies {
    struct body_count list[BODIES_KEPT];
    size_t count;
    time_ms now;
    bool closed; /* one was */
};

/* What waits for an instance: "0:0:rev 1:token:job … 2:token:task …". */
struct instance_waits {
    int64_t instance;
    char *text;
};

/* Those of the open transaction; see process/instance.h. */
/* What its units will ask for; see unit_ahead.h. */
struct unit_ahead {
    struct asked_entry *list; /* in order */
    size_t count, room;
    struct asked_job *jobs; /* those found, in the order of their entries */
    size_t job_count, job_room;
    struct id_set ended;   /* jobs that runs of the transaction have ended, */
    struct id_set changed; /* and those that it has changed: how they go is not known */
};

/* Jobs that are cancelled together, as SET_CANCELLED has them; see process/waiting.h. */
struct going {
    int64_t *ids, *instants, *executors;
    size_t count, room;
};

/* Rows that they write later; see ground/bulk_rows.h. */
enum { ROW_BITS = 16 };
struct unit_rows_kept {
    struct kept_rows of[UNIT_ROWS];
    size_t bytes; /* of texts */
    bool marked;  /* what is kept has bits: */
    uint64_t bits[(1 << ROW_BITS) / 64];
};

enum { FRAMES_KEPT = 1024 };
struct frames {
    struct frame_change list[FRAMES_KEPT];
    size_t count;
};

/* What the open transaction may lock as it is created; see work/prelock.h. */
struct prelock {
    struct outcome *creator; /* whose jobs are being created; NULL: nobody's */
    bool fits;               /* there is room for all of them */
    bool keeps;              /* their rows are kept in the bulk until store_settle_end */
    struct job *last;        /* of the capacity's jobs */
};

/* What decides the places of many jobs, read ahead; see row_want. */
struct rows_ahead {
    struct job_row *rows; /* by id */
    size_t count;
    bool placeless;
};

/* Lanes that become free in the open transaction, those whose visible jobs have gone, and runs
 * that count against a limit no more, all together; see places.h. */
enum { RELEASES_KEPT = 1024 };
struct releases {
    int64_t lanes[RELEASES_KEPT], tokens[RELEASES_KEPT];
    int64_t exposed[RELEASES_KEPT];
    int64_t definitions[RELEASES_KEPT], runs[RELEASES_KEPT];
    size_t count, exposed_count, run_count;
    struct row *freed, *shown; /* what the commit brings of both; NULL: nothing is asked for */
};

/* Lanes in which jobs may be parked; see parked_lanes.h. */
enum { PARKED_BITS = 15 };
struct parked_lanes {
    bool looked;     /* in the open transaction */
    int64_t version; /* of the database, as they were read, */
    size_t added;    /* and so many since then, or then */
    bool many;       /* there are too many to tell them apart, */
    int rests;       /* and for so many transactions nothing is read */
    uint64_t bits[(1 << PARKED_BITS) / 64];
};

/* How the open transaction has moved jobs, by stream; see occupancy.h. */
enum occupied { OCCUPIED_READY, OCCUPIED_TIMER, OCCUPIED_PARKED, OCCUPIED_PLACES };
struct occupied_stream {
    int64_t stream, moved[OCCUPIED_PLACES];
};
struct occupancy {
    struct occupied_stream *list; /* by stream */
    size_t count, last;           /* last: the one that was moved last */
    bool failed;                  /* no memory */
    int64_t seen, from, to;       /* jobs of these ids were written, all of this stream */
    time_ms fold;                 /* when the rows of sessions are looked through again */
};

/* What a transaction changes of the state on which commands to processes walk: one bit for the
 * instances of each slot, and one for what belongs to none, or to many. An engine that shows
 * commits before they are on the disk notes it with each of them. So a command waits for the disk
 * only if its own instance is not there yet. That instances share a slot costs a wait, and hides
 * none. */
enum { CHANGED_INSTANCES = 256, CHANGED_COMMON = CHANGED_INSTANCES, CHANGED_SLOTS };

/* Jobs that may have killed a machine, as last read; see suspects.h. */
struct suspects {
    int64_t version; /* of meta.executors; 0: to be read */
    int64_t *list;   /* by id */
    size_t count;
};

/* How far streams have been taken; see mark.h. */
struct mark {
    int64_t stream, rank, place, id; /* the last job that has left `ready`, */
    bool passed;                     /* if there is one */
    bool stays;                      /* the next one is still there */
};
struct marks {
    struct mark *list;
    size_t count;
    int64_t placed; /* store->placed, as the list began */
    time_ms until;  /* monotonic; 0: none are kept */
};

/* What is known of the signals of a transaction; see signal_ahead.h. */
struct signal_ahead {
    const char *name;
    bool unheard;
};
struct signals_ahead {
    struct signal_ahead *list; /* by name */
    size_t count;
    struct signal_heard *heard; /* those whose receivers were asked for */
};

enum { OUTSIDE_DEFINITIONS = 8 }; /* that are counted together */

/* An open store, as far as the rules know it. An engine embeds it as the first member of its own
 * struct. */
struct store {
    const struct store_ops *ops; /* first */
    const struct store_engine *engine;
    enum store_kind kind;
    char *url;        /* opens it again; NULL: in memory */
    const char *name; /* see store_name */
    struct db db;
    const struct settings *settings;
    const struct write_rules *rules; /* of the program for which it writes: see write_rules.h */
    enum store_mode mode;
    struct store_schema schema; /* see store/provision.h */
    char boot[CLOCK_BOOT];      /* see store_boot */
    struct catalog catalog;
    struct peers peers;
    struct suspects suspects;
    struct parked_lanes parked;
    struct ring ring;
    struct self self;
    int64_t deployed; /* that this connection has loaded last; 0: none */
    struct retiring retiring;
    struct tidied tidied;
    struct journal journal;
    const char *who; /* instead of the settings' name, in the operation log; NULL: nobody else */
    struct open_capacity open;
    struct held_config config;
    char instance[24]; /* of a process; see row_show */
    struct frames frames;
    struct bodies bodies;
    struct unit_ahead asked;
    struct going going;
    struct signals_ahead signals;
    struct defined_kept *defined; /* see defined.h */
    struct unit_rows_kept unit_rows;
    struct lasting lasting;
    bool unbound; /* kept messages were: see messages_unbind */
    struct patience patience;
    struct bulk bulk, endings;  /* new jobs or locks; and ends of jobs */
    struct bulk failures, keys; /* runs that failed; and unique keys of jobs that were done */
    struct prelock prelock;
    struct unique_ahead *claims; /* by the creation that begins; NULL: no key */
    struct rows_ahead ahead;
    struct marks marks;
    struct occupancy occupancy;
    struct releases *releases; /* NULL: one by one */
    struct tally tally;
    struct filling filling;
    struct tells tells;
    struct rate_clock rate_clock;
    struct fair_share_purge fair_share_purge;
    bool passed_over;                  /* a question has met a payload that is too deep for it */
    const struct store_intake *intake; /* what is created now belongs to; NULL: nothing */
    bool changed; /* something became ready in a transaction without a capacity */
    const struct txn_hook *const *hooks;      /* in their order, behind the last NULL; see open.c */
    bool writing;                             /* a transaction is open, */
    bool looking;                             /* or one that only reads */
    bool unsure;                              /* a look may have seen what is not on the disk yet */
    uint64_t changes[CHANGED_SLOTS / 64 + 1]; /* by the open transaction */
    struct meta meta, stored;                 /* as used, and as the table has it */
    int incidents;     /* open ones in this transaction: -1 not looked yet, 0 none, 1 some */
    int lines, kept;   /* what runs have said, and kept messages, the same way */
    bool outbox;       /* rows of it wait, as the last turn on a server has seen */
    time_ms timer;     /* the first of `timer`, in this transaction; TIME_NONE: not looked yet */
    int64_t placed;    /* rows that were put into `ready` behind an acquisition's back */
    int paged;         /* streams of which the last page of ready jobs had rows */
    int64_t weight;    /* bytes of a job, as the last ones had them; 0: not known */
    bool laned;        /* most jobs that the last acquisition met were in lanes, */
    bool lanes_run;    /* and three of four of them had to be parked */
    bool lanes_unheld; /* no job was parked since no command held the lane of an instance */
    struct store_acquire_stats met;
    struct spared { /* ids of jobs, by the last acquisition and the one before; see spared.h */
        struct id_set now, before;
    } spared;
    struct outside_ended { /* by the open transaction; see work/outside_ended.h */
        int count;
        int64_t worker;
        struct outside_definition {
            int64_t definition;
            int32_t successful, failed;
        } list[OUTSIDE_DEFINITIONS];
    } outside_ended;
    bool progress;             /* this store has written progress */
    struct unserved *unserved; /* as seen by store_missing last */
    size_t unserved_count;
    int64_t looks;       /* of store_missing */
    struct care_now {    /* see care.h */
        int64_t touched; /* the job that was dealt with last; 0: none */
        int rows;        /* at most so many are dealt with in a transaction; 0: any number */
        int slot;        /* of the loop */
    } care;
};

/* A unit of work: in the open transaction, or in one of its own for this purpose. */
static inline bool unit_begin(struct store *store, enum store_purpose purpose, bool *own,
                              struct error *error) {
    *own = !store->writing;
    return !*own || store_begin(store, purpose, error);
}
/* Ends it; with `done` false, or if the commit fails, what was its own is rolled back. */
static inline bool unit_end(struct store *store, bool own, bool done, struct error *error) {
    if (own && done)
        return store_commit(store, error);
    if (own)
        store_rollback(store);
    return done;
}

/* Several questions that see one state of the store; the catalog is fresh inside. Outside of a
 * write transaction they have 5 s together. */
bool look_begin(struct store *store, bool *own, struct error *error);
void look_end(struct store *store, bool own);
/* In between: what is asked next reads whole tables, or (false) does so no more. */
bool look_whole(struct store *store, bool whole, struct error *error);

/* In a transaction: growing numbers that are never handed out twice. */
static inline int64_t meta_id(struct store *store) {
    return store->meta.next_id++;
}

/* Every job that is there has an id up to this one. A job that comes later may have one below: ids
 * are drawn ahead. */
static inline int64_t meta_bound(const struct store *store) {
    return store->meta.next_id - 1;
}

static inline int64_t meta_token(struct store *store) {
    return store->meta.next_token++;
}

/* Reads the counters, and what has changed by them of definitions and executors. */
bool meta_read(struct store *store, struct error *error);
/* The same in two parts: the rows are asked for, and read later. NULL: error. */
struct row *meta_ask(struct store *store, struct error *error);
bool meta_answer(struct store *store, struct row *rows, struct error *error);
/* Instead, where they are known to be as this store has written them last. */
bool meta_begun(struct store *store, struct error *error);
bool meta_write(struct store *store, struct error *error);

static inline unsigned changed_slot(int64_t instance) {
    return (unsigned)((uint64_t)instance * UINT64_C(0x9e3779b97f4a7c15) >> 32) % CHANGED_INSTANCES;
}

static inline void changed_note(struct store *store, int64_t instance) {
    const unsigned slot = changed_slot(instance);
    store->changes[slot / 64] |= UINT64_C(1) << slot % 64;
}

static inline void changed_note_common(struct store *store) {
    store->changes[CHANGED_COMMON / 64] |= UINT64_C(1) << CHANGED_COMMON % 64;
}

/* The name of the machine's present boot; NULL: not known. */
const char *store_boot(struct store *store);
