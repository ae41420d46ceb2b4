/* connection.h - what an open store on PostgreSQL holds besides; private to this folder. */
#pragma once

#include "store/postgres/db/driver.h"
#include "store/postgres/db/engine.h"
#include "store/rules/fleet/slots.h"
#include "store/rules/ground/transaction.h"

/* Locks of the session that are held while something is written in several transactions;
 * life_sign.c. */
struct signs {
    int64_t *list;
    size_t count;
    int64_t ending; /* goes with the commit of the open transaction; 0: none */
};

/* Whether another executor has its session: it is asked for once a second. */
struct watched {
    int64_t executor;
    time_ms looked; /* monotonic: when it was asked for last, */
    time_ms since;  /* and since when it has been away; 0: it is there */
    bool silent;    /* it has not been heard of either */
    bool dead;      /* its slots prove it */
};
enum { WATCHED = 16 };

/* Rows of jobs that go with the open transaction; left.c. */
struct left {
    int64_t *ids;
    size_t count, room;
};

/* Another connection to the server, past a pool; direct.c. */
struct direct {
    struct db db; /* all zero: there is none */
    struct session session;
    struct address address;
    time_ms tried; /* monotonic: to connect again */
};

/* Ids that this connection alone may give. */
struct drawn {
    int64_t next, end;
    int last;            /* how many were drawn */
    unsigned generation; /* of the connection */
};

/* What the transaction of a command may build on; command.c. All of it is of one connection. */
struct command_ground {
    unsigned generation;
    char *world; /* what the server said of itself as it was so: NULL: not known */
    struct meta meta;
    char *reached; /* the same, as the last command was read; */
    struct instance_waits
        waits[LANES_AT_ONCE]; /* and what waited then for the instances that it is */
    size_t waiting;           /* about; none: it begins one */
    int64_t token, token_end; /* numbers that this connection alone may give */
    int64_t id, id_end;
    bool open;     /* the open transaction builds on it, */
    bool short_of; /* and had not enough numbers */
};

/* The server's clock, as it was measured; server_clock.c. */
struct server_clock {
    bool measured;
    time_ms ahead; /* of clock_since_boot, */
    time_ms round; /* measured by this round trip */
};

/* Which server this is, and what this process knows of the one before; timeline.c. */
struct timeline {
    int64_t server;      /* as the open transaction has read it; 0: of a standby */
    int64_t known;       /* of the last transaction; 0: there was none */
    unsigned generation; /* of the connection for which that was found out */
    int64_t id, token;   /* the counters as this process has last committed them, */
    time_ms committed;   /* at this monotonic instant */
    int64_t lost;        /* transactions of this process that the server lacks: to be told */
    bool late;           /* it has one whose commit was given up */
};

/* The second connection; see reader.h. */
struct reader {
    struct db db; /* all zero: there is none */
    struct session session;
    unsigned generation; /* of the first connection, with which it was opened */
    time_ms patience;    /* ms to begin a session, and for a page; 0: READER_PATIENCE */
    time_ms wanted;      /* monotonic: turns are long, until then */
    time_ms tried;       /* monotonic: to open it, last at this instant; 0: never */
    time_ms used;        /* monotonic: by the last page that was read so */
    char snapshot[64];   /* that the open transaction has exported; "": none */
    struct row *imports; /* the statement by which it is taken over; NULL: none */
    struct row *server;  /* asks which server answers */
};

/* A row of locks of this executor; see lock_page.h. Its jobs have the tokens from `token` on. */
struct lock_page {
    int64_t token;
    int count;
    int alone;        /* so many of its locks were ended by themselves */
    bool fresh, gone; /* in the open transaction: it was written, or is not there any more */
};

enum { LOCK_PAGES = 16, LOCK_PAGES_ROOM = 32 }; /* of an executor; with those that have gone */

/* What is known of them here; the table says what is true. */
struct lock_pages {
    struct lock_page list[LOCK_PAGES_ROOM];
    int count;
    int rest;  /* so many acquisitions write rows, as runs of a page had to be settled one by one */
    bool none; /* the open transaction has given every lock a row of its own */
};

struct postgres {
    struct store store; /* first */
    struct session session;
    struct address address;
    int32_t class;        /* drawn from the schema's name: stores of one database do not meet */
    int64_t program;      /* the version of the schema that this program knows */
    bool outdated;        /* the schema is narrower than this program can work with */
    bool parting;         /* no more is written than what gives its locks back */
    int64_t ticket, turn; /* under which the store notes its commits, and how many; see turn.h */
    struct server_clock server_clock;
    struct clock *clock; /* that goes as the server's; NULL: none */
    struct timeline timeline;
    struct direct direct;
    bool (*retake)(struct store *store, struct error *error); /* what a lost session had held */
    struct reader reader;
    struct signs signs;
    struct left left;
    struct lock_pages lock_pages;
    struct drawn drawn;
    struct command_ground ground;
    bool shares; /* the open transaction is a creation beside others */
    struct releases releases;
    struct slots slots;
    struct slots_name slots_name; /* of them */
    char *state_dir;              /* where they are; owned; NULL: there are none */
    int bell, heard;              /* descriptors, see presence.c; -1: none */
    struct watched watched[WATCHED];
};

static inline struct postgres *postgres_of(const struct store *store) {
    return (struct postgres *)store;
}

/* Kinds of locks of the database, as pg_advisory_lock(class, number) has them. */
enum { LOCK_GATE = 1, LOCK_TAKER, LOCK_SCHEMA, LOCK_EXECUTORS = 16 }; /* and up, by their ids */

/* SQL: the server's clock in ms. */
#define SERVER_NOW "floor(extract(epoch FROM clock_timestamp())*1000)::bigint"
/* SQL: the lock of the job with this id, or nothing: id, token, owner, until. */
#define LOCK_OF(job)                                                                               \
    "LATERAL (SELECT id, token, owner, until FROM locked WHERE id=" job " UNION ALL"               \
    " SELECT " job ", p.token+array_position(p.ids, " job ")-1, p.owner, NULL FROM lock_page p"    \
    " WHERE " job "=ANY(p.ids) AND get_bit(p.held, array_position(p.ids, " job ")-1)=1)"

/* How a job j goes with others (JOB_GOES and its like in rules/ground/unit_ahead.h). */
#define GOES(j)                                                                                    \
    "CASE WHEN " j ".retries<=0 OR coalesce(" j ".unique_key, " j ".repeat, " j ".message)"        \
    " IS NOT NULL OR " j ".batch IS NOT NULL OR EXISTS(SELECT 1 FROM locked WHERE id=" j ".id)"    \
    " OR EXISTS(SELECT 1 FROM lock_page WHERE " j ".id=ANY(ids))"                                  \
    " OR EXISTS(SELECT 1 FROM incident WHERE job=" j ".id AND ended IS NULL) THEN 0"               \
    " WHEN EXISTS(SELECT 1 FROM timer WHERE due=" j ".due AND id=" j ".id) THEN 1"                 \
    " ELSE coalesce(nullif(" j ".lane, 0), 1) END"

/* Monotonic: since when the present connection is there. */
static inline time_ms postgres_connected(const struct store *store) {
    return postgres_of(store)->session.since;
}
