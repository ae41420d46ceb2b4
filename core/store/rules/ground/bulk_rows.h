/* bulk_rows.h - rows that are kept to be written many at a time (record/bulk.h). */
#ifndef MOONSHIFT_STORE_RULES_GROUND_BULK_ROWS_H
#define MOONSHIFT_STORE_RULES_GROUND_BULK_ROWS_H

#include "store/rules/ground/lasting.h"

enum { BULK_ROWS = 4096 };

struct bulk_row {
    const struct job *job; /* filled in */
    time_ms place;
    int64_t spot;                  /* of a taken job: where its row of `ready` is; 0: not known */
    bool parked;                   /* it was not in `ready` */
    const struct outcome *outcome; /* of a run that has ended */
    time_ms due;                   /* behind one that failed; TIME_NONE: none */
    int32_t retries;
    enum bulk_goes { GOES_READY, GOES_TIMER, GOES_DEAD } goes; /* the job, then, */
    time_ms now;                                               /* at this instant */
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
    BULK_INCIDENTS,
    BULK_KEYS /* removes the unique keys of jobs that were done; for an engine with `sets` */
};

#endif
