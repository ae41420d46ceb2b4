/* engine.h - what the rules ask of the engine below them, in words of no database. */
#pragma once

#include "store/rules/ground/bulk_rows.h"
#include "store/rules/ground/running.h"
#include "store/store.h"

struct catalog_stream;
struct query;
struct row;

/* The first ready jobs of some streams behind a key of each. */
struct ready_list {
    int64_t stream, quota;   /* so many at most */
    int64_t rank, place, id; /* behind these */
    int64_t rank_max;        /* inclusive */
};
/* What a page has of each place. Places: rank, place, id, lane, plain, stream and spot. Jobs:
 * ROW_COLUMNS, place, id, rank, spot and plain. Lanes: the same but for plain, lane, stream,
 * whether the lane runs, and whether jobs are parked in it. Of a lane that runs no job is read. */
enum page_rows { PAGE_PLACES, PAGE_JOBS, PAGE_LANES };
struct ready_page {
    const struct ready_list *lists;
    size_t count;
    enum page_rows rows;
    int64_t waited; /* µs for which the engine has waited for the rows before it reads them */
    bool (*read)(struct ready_page *page, struct store *store, struct row *row,
                 struct error *error);
};

/* A question of store_verify: it answers with the ids for which its sentence is true, at most a
 * hundred. */
struct verify_rule {
    const char *sql, *subject, *says; /* says NULL: the answer is the sentence */
};

/* What is written in several transactions, as a number of its own. */
#define SIGN_INTAKE(id) (((int64_t)1 << 40) + (id))
#define SIGN_BATCH(id) (((int64_t)1 << 41) + (id))

/* Statements that each database spells in its own way, mostly for JSON. */
struct store_sql {
    const char *commits;    /* A number that moves when another connection has committed. */
    const char *configured; /* What the definition ?1 says of retries, category, priority; and
                               whether it has a number. */
    const char *cleaner;    /* Is there a live executor but ?1 that cleans up? */
    const char *served; /* Ends incidents of type ?4 for the handlers in the settings ?1, or for all
                           if it names none. */
    const char
        *publish; /* Merges the settings ?2 into those of executor ?1; its handlers are replaced. */
    const char
        *unserved; /* Ends incidents of type ?4 but for the definitions in the JSON array ?1. */
    const char *waiting; /* The cycle of job ?1 with its schedule, but for the payload. */
    const char *row, *row_placeless; /* ROW_PLACE of the job ?1, from `live`, and from `job` */
    const char *occupancy_fold; /* Adds up the counters of sessions that are gone. NULL: none */
    const char *put_note;       /* Keeps the text ?2 under the key ?1. */
    const char *get_note;       /* The text under the key ?1. */
    const char *drop_note;
    const char *payload_fits; /* CASE WHEN the payload of the job `j` can be searched */
    const char *whole; /* ?1 "on": what comes reads whole tables, until "off". NULL: all the same */
};

/* What concerns many lanes at once, with what is given of each. */
enum set_kind {
    SET_LANES, /* lanes: a row (lane, owner) for each that runs, and (lane, NULL) for each that has
                  parked jobs */
    SET_HOLD,  /* lanes, tokens, owners: they were free, and run from here on */
    SET_HOLD_FREE, /* lanes, tokens, instances, instants, and now: for a command until then, up to
                      the first that is not free (place_hold_until): a row (lane, rev of the
                      instance) for each, in their order */
    SET_RELEASE, /* lanes, tokens: those of them that run with this token are free; the first parked
                    job of each (stream, rank) becomes ready: a row (stream, rank, place, id, lane)
                  */
    SET_UNCOUNT, /* definitions, tokens: these runs count against no limit any more */
    SET_EXPOSE,  /* lanes: the same of those that do not run; the same rows */
    SET_FENCE,   /* ids, tokens, owners: locks end, whose jobs no command has edited */
    SET_WORKERS, /* names as texts: a row (id, seen, name, topics) for each of these that is a
                    worker outside and not draining */
    SET_OUTSIDE, /* ids, tokens: a row (id, token, owner, until, name of the owner) for each lock
                    that a worker outside has */
    SET_ROWS,    /* ids: a row (ROW_PLACE) for each job that is there, */
    SET_ROWS_PLACELESS, /* or has a row */
    SET_JOBS,           /* ids: ROW_COLUMNS of each job that has a row, in their order */
    SET_PARK,           /* spots: these jobs go from `ready` to `parked` */
    SET_PARKED, /* lanes, streams, ranks, numbers: so many parked jobs of each, in their order:
                   ROW_COLUMNS, place and spot */
    SET_UNPARK, /* spots: these jobs, which are taken, leave `parked` */
    SET_TURNS,  /* the same of turns outside of the frame */
    SET_BODIES, /* bodies, and how many more of their turns have ended; reads (body, 1: all have) */
    SET_OUTBOX, /* rows of the outbox go; reads those that were there, in the order of commits */
    SET_FRAMES, /* instances, revs, and frames as texts: each has this frame */
    SET_SEEN_FRAMES, /* instances, and how many bytes are enough: INSTANCE_FRAME of each that is
                        there, until those before have as many */
    SET_SEEN_TURNS,  /* the same of turns outside of the frame: TURN_FRAME */
    SET_AHEAD,       /* kinds, things, parts: rows (kind, thing, part, value, how a job goes), see
                        unit_ahead.h */
    SET_CANCELLED,   /* ids, instants, executors: these jobs are cancelled, which nothing runs and
                        of which only their own rows tell */
    SET_HOLDERS,     /* definitions, numbers, and unique keys as texts: a row (number,
                        UNIQUE_HOLDER) for each key that has one */
    SET_CLAIM, /* definitions, jobs, instants, and unique keys and tenants as texts: each job has
                  its key, until then */
};
struct set {
    enum set_kind kind;
    const int64_t *columns[5];   /* an instant may be TIME_NONE */
    const char *const *texts[2]; /* NULL: none are given; a text may be NULL */
    size_t count;
    /* Reads the rows, if there are any to read. */
    bool (*read)(struct set *set, struct store *store, struct row *row, struct error *error);
    struct row **later; /* or they are read by the caller behind the next wait, from this one */
    void (*found)(struct set *set, int64_t token); /* of SET_FENCE: it is told of each */
};

struct store_engine {
    const struct store_sql *sql;
    const struct verify_rule *verify; /* more that store_verify asks, the last without a text */

    /* Begins and ends a transaction that only reads and sees one state of the store. Its beginning
     * reads meta. */
    bool (*snapshot)(struct store *store, struct error *error);
    void (*snapshot_end)(struct store *store);
    /* Waits until all that it has seen is on the disk. NULL: it never sees what is not. */
    bool (*lasts)(struct store *store, struct error *error);
    /* The same of one instance, and of what all share. */
    bool (*instance_lasts)(struct store *store, int64_t instance, struct error *error);

    /* Set by an engine for which a statement costs more than the rows it reads or writes: jobs are
     * read, and leave `ready`, many at a time. */
    bool sets;
    int ahead; /* rows of one stream that an acquisition reads at once, at most */
    /* Reads the page: list after list, each in the order of `ready`. Only with `sets`. */
    bool (*ready_page)(struct store *store, struct ready_page *page, struct error *error);

    /* Does what the set says. Only with `sets`. */
    bool (*set)(struct store *store, struct set *set, struct error *error);
    /* Writes kept rows of this kind, of which there are some. Only with `sets`. */
    bool (*unit_rows)(struct store *store, enum unit_rows kind, const struct kept_rows *rows,
                      struct error *error);
    /* The question, ready to step; NULL: error. Only with `sets`. */
    struct row *(*asked_rows)(struct store *store, enum asked_rows kind,
                              const struct kept_rows *rows, struct error *error);

    /* An engine may write many locks as one row, which the view `locks` shows one by one. Gives the
     * lock of a job a row of `locked`; and that of a run of this executor which is settled by
     * itself. NULL: it writes none. */
    bool (*lock_own)(struct store *store, int64_t id, struct error *error);
    bool (*lock_settles)(struct store *store, const struct job *job, struct error *error);

    /* Outside of a transaction: makes sure that the next STORE_CREATION can give so many ids. NULL:
     * every transaction can, and each creation runs alone. */
    bool (*draw_ids)(struct store *store, int count, struct error *error);
    /* Outside of a transaction: gives so many ids in one request; the first, or 0: a transaction
     * has to, or says why it cannot. NULL: one always has to. */
    int64_t (*give_ids)(struct store *store, int count);

    /* Outside of a transaction: holds the lane of a command in fewer requests than the transaction
     * that every engine has. *known false: it cannot be said whether the lane may be held so. NULL:
     * it never can. */
    enum answer (*hold)(struct store *store, struct lane_want *want, bool *known,
                        struct error *error);

    /* The two requests of a command that is alone. Outside of a transaction: see store_reach. Then
     * begins the transaction of what it did, without a word from the server: as if nothing had
     * changed since. If something has, it comes to no commit; `vain` says so behind its end. NO: it
     * cannot begin so. NULL, all three: they never can. */
    enum answer (*reach)(struct store *store, struct store_reach *reach, struct error *error);
    enum answer (*resume)(struct store *store, const struct outcome *outcome, struct error *error);
    bool (*vain)(const struct store *store);

    /* store_unit, where programs write units of each other. NULL: each writes its own. */
    enum answer (*unit)(struct store *store, struct outcome *outcome,
                        const struct store_entry *entry, time_ms now, struct error *error);

    /* Writes what `kind` says of the rows that a bulk offers. */
    bool (*bulk)(struct store *store, struct bulk *bulk, enum bulk_kind kind, struct error *error);

    /* An engine may leave the rows of jobs that have succeeded behind, to remove them later. The
     * row of this one, in the transaction in which it has succeeded. *left false: it must go now.
     * NULL: the engine leaves none behind, and has none of the next two. */
    bool (*leave_row)(struct store *store, int64_t id, bool *left, struct error *error);
    /* Removes those of the open transaction, before anything in it may ask for them. NULL: the view
     * `live` hides them. */
    bool (*left_remove)(struct store *store, struct error *error);
    bool (*settled)(struct store *store, struct error *error); /* behind the outcomes of a turn */

    /* What an executor has beside its row. In the transaction in which it joins; behind the commit;
     * once it has left, or could not join. */
    bool (*enter)(struct store *store, int64_t id, int workers, struct error *error);
    bool (*entered)(struct store *store, struct error *error);
    void (*quit)(struct store *store, int64_t id);
    /* Begins the transaction in which the joined executor leaves. */
    bool (*part)(struct store *store, struct error *error);
    /* In the transaction in which an executor leaves or is reaped: others see to what it leaves. */
    bool (*bequeath)(struct store *store, int64_t executor, struct error *error);
    /* A dead one is reaped: what it had goes with the commit. False: no memory. */
    bool (*reaped)(struct store *store, int64_t id);

    /* Signs of life: held while something is written in several transactions. They go
     * with the process; then others may clean up what it has left. False: no memory, or taken. */
    bool (*sign_take)(struct store *store, int64_t sign, struct error *error);
    void (*sign_drop)(struct store *store, int64_t sign);
    void (*sign_drop_after)(struct store *store, int64_t sign); /* with the open transaction */
    bool (*sign_alive)(const struct store *store, int64_t sign);

    /* True: it is proven that the process of this executor is gone. */
    bool (*has_died)(struct store *store, int64_t executor);
    /* Monotonic: until then no lease counts as over, as the store was away and nobody could renew
     * one. NULL: it never is. */
    time_ms (*leases_rest)(const struct store *store);
    /* Reads what its workers run this moment. False: no memory. */
    bool (*running)(struct store *store, int64_t executor, struct running *running);
    void (*notify)(struct store *store, int64_t executor);

    /* Tells how long the log of changes is, and who keeps an old state of the database, for
     * statistics; JSON null: there is neither. Outside of a transaction. NULL: error. */
    json_t *(*log)(struct store *store, struct error *error);

    /* True: no commit ends at present, and `why` says what it waits for. NULL: a file has none. */
    bool (*stalled)(struct store *store, struct error *why);

    /* Adds "(…)": the payload of the job `j` has this number, text, boolean or null at this path
     * (see rules/ground/payload.c). */
    void (*payload_is)(struct query *query, const char *path, const json_t *value);
};
