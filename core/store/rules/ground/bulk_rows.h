/* bulk_rows.h - rows that are kept to be written many at a time: those of jobs (record/bulk.h), and
 * those of units of instances and of their commands. A statement that names one of their tables
 * (db.keeps) has them written before it.
 *
 * Where a statement costs more than its row (store_engine.sets), the latter are kept until the
 * commit, or until such a statement. Then each kind is one statement, in the order of enum
 * unit_rows. A row that must come behind one that is kept for later
 * in that order has all written before it. Elsewhere each row is a statement at once. */
#pragma once

#include "store/rules/ground/lasting.h"

/* What is kept, as db.keeps has it: rows of units and of their commands, and new jobs. */
enum { KEEPS_UNITS, KEEPS_JOBS };

enum { BULK_ROWS = 4096 };

struct bulk_row {
    const struct job *job; /* filled in */
    time_ms place;
    int64_t spot;                  /* of a taken job: where its row of `ready` is; 0: not known */
    bool parked;                   /* it was not in `ready` */
    const struct outcome *outcome; /* of a run that has ended */
    time_ms due;                   /* behind one that failed; TIME_NONE: none */
    int32_t retries;
    /* The job, then, at this instant; back: as its row has it, unrun. */
    enum bulk_goes { GOES_READY, GOES_TIMER, GOES_DEAD, GOES_BACK } goes;
    time_ms now;
};

struct bulk {
    bool open;             /* jobs that only need rows of their own may be added */
    bool lasts;            /* those that are being created outlast what is kept of them */
    struct bulk_row *rows; /* room for BULK_ROWS, or NULL */
    size_t count;
    size_t from, to; /* what the next statement reads */
};

/* What is written of the rows from `from` up to `to`. */
enum bulk_kind {
    BULK_JOBS_SHORT, /* rows of `job`; short: the columns that a plain job leaves out have defaults
                      */
    BULK_JOBS,
    BULK_READY,
    BULK_TIMER,
    BULK_LOCKED,
    BULK_TAKEN, /* removes rows of `ready` by their keys, or by their spots; ERROR_DAMAGED if one is
                   not there; for an engine with `sets` */
    BULK_TAKEN_SPOTS,
    BULK_ENDED_SHORT, /* entries of the history; what they say besides adds up: */
    BULK_ENDED_PLAIN = BULK_ENDED_SHORT + 1, /* due date, batch and result, */
    BULK_ENDED_LANE = BULK_ENDED_SHORT + 2,  /* the key of the lane, */
    BULK_ENDED_WHOLE = BULK_ENDED_SHORT + 3, /* or all that the job belonged to as well */
    /* Of failed runs, for an engine with `sets`: attempts, what becomes of the rows of `job`,
       where the jobs wait, and incidents of the dead. */
    BULK_ATTEMPTS,
    BULK_FAILED,
    BULK_FAILED_READY,
    BULK_FAILED_TIMER,
    BULK_BACK, /* those that did not run become ready again; for an engine with `sets` */
    BULK_INCIDENTS,
    BULK_KEYS /* removes the unique keys of jobs that were done; for an engine with `sets` */
};

/* What units of instances write, in the order in which it is written: what goes comes before what
 * is put. */
enum unit_rows {
    ROWS_LOCK_ENDS,         /* id, owner, token; it must be there */
    ROWS_INSTANCE,          /* id, version, rev, root, parent, started, key, tenant, frame */
    ROWS_PAST,              /* id, version, root, parent, started, ended, how, reason, key, tenant,
                               variables, time to live */
    ROWS_INSTANCE_ENDS,     /* id */
    ROWS_TURN_ENDS,         /* id; of a turn outside of the frame of its instance */
    ROWS_TURN,              /* id, body, rev, frame */
    ROWS_SUBSCRIPTIONS_END, /* instance; or with its token */
    ROWS_SUBSCRIPTION_ENDS,
    ROWS_TASKS_END, /* the same */
    ROWS_TASK_ENDS,
    ROWS_SEARCHED_END, /* instance; or with the name of a variable */
    ROWS_SEARCHED_ENDS,
    ROWS_VALUES_END, /* instance; or with the number of a value */
    ROWS_VALUE_ENDS,
    ROWS_SUBSCRIPTION,  /* instance, token, kind, name, key, version, activity, created,
                           priority */
    ROWS_TASK,          /* instance, token, id, activity, name, assignee, candidates, due, priority,
                           created, form, listens */
    ROWS_SEARCHED_TEXT, /* instance, name, value; it takes the place of the one before */
    ROWS_SEARCHED_NUMBER,
    ROWS_SEARCHED_WHOLE,
    ROWS_VALUE,     /* instance, number, name, data */
    ROWS_TRAIL,     /* instance, at, job, events */
    ROWS_OPERATION, /* at, who, verb, entity, count, old, new, query, jobs, instance */
    ROWS_KEPT,      /* id, name, key, instance, business key, variables, created, until, job */
    UNIT_ROWS
};

enum { UNIT_COLUMNS = 12 }; /* of a kind, at most */

union unit_cell {
    int64_t number;
    double real;
    const char *text; /* NULL: none */
};

/* Kept rows of one kind: of each as many cells as `letters`, which are those of db_query. */
struct kept_rows {
    const char *letters;
    union unit_cell *cells;
    size_t count, room;
};

/* What is asked of many at once, and answered in any order with the number of each behind the rest.
 */
enum asked_rows {
    ASKED_FRAMES,   /* number, instance: FRAME_COLUMNS */
    ASKED_TURNS,    /* number, turn, instance: TURN_COLUMNS */
    ASKED_TASKS,    /* number, task: TASK_SEEN */
    ASKED_TWINS,    /* number, version, business key, tenant: the instance that has the key */
    ASKED_WAITING,  /* number, name, key, instance, token, business key: RECEIVER_COLUMNS */
    ASKED_STARTING, /* the same of start events */
    ASKED_SIGNALS,  /* number, name of a signal: no more, if something waits for it */
};

/* Runs a statement for one row, as db_run does, or keeps its row: the letters are i, z, T, t or d,
 * and texts are copied. The first value is the instance; of some kinds the second one says which of
 * its rows it is (see kinds in bulk_rows.c). */
bool unit_row(struct store *store, struct error *error, enum unit_rows kind, const char *sql,
              const char *letters, ...);

void unit_rows_clear(struct store *store);

extern const struct txn_hook unit_rows_hook;
