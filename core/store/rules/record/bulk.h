/* bulk.h - jobs that are written, locked or ended many at a time.
 *
 * Rows are kept until there are enough of them. Then one statement a table writes them, the narrow
 * ones in the order of their key. That is much faster than a statement a row. How a statement gets
 * at the rows is the engine's matter (store_engine.bulk). */
#pragma once

#include "store/rules/ground/row.h"

struct head; /* cursor.h */

/* The columns of a kept row: the fields of its job by their numbers (job/job.h), then what is made
 * of them or of the outcome. lane: as the job's row has it; lane_id: as the narrow rows have it.
 * left, again: retries and due date behind a failure, of which `cause` is the whole message. */
enum bulk_column {
    BULK_RANK = JOB_FIELD_COUNT,
    BULK_PLACE,
    BULK_LANE,
    BULK_PLAIN,
    BULK_SPOT,
    BULK_STARTED,
    BULK_ENDED,
    BULK_RESULT,
    BULK_LEFT,
    BULK_AGAIN,
    BULK_REASON,
    BULK_MESSAGE,
    BULK_CAUSE,
    BULK_STACK,
    BULK_INCIDENT,
    BULK_NOW
};

struct bulk_value {
    enum { BULK_NULL, BULK_NUMBER, BULK_TEXT, BULK_BLOB } type;
    int64_t number;
    const char *data; /* of a text, which ends with a NUL, or of a blob */
    size_t size;      /* of both */
};

struct bulk_value bulk_value(const struct bulk_row *row, int column);

bool bulk_room(struct bulk *bulk, struct error *error); /* false: no memory */
void bulk_clear(struct bulk *bulk);

/* Keeps the job's rows for later; writes all of them if there is no more room, or as soon as a
 * statement may ask for them. */
bool bulk_add(struct store *store, struct lasting_job job, time_ms place, struct error *error);

/* Writes what is kept, in the open transaction; with `done` false it is dropped. Returns `done`, or
 * false after an error: then the transaction must go. */
bool bulk_flush(struct store *store, bool done, struct error *error);

/* Keeps the lock of a job that has been taken, until the acquisition, which has the job, ends. */
bool bulk_take(struct store *store, const struct job *job, const struct head *head, bool parked,
               struct error *error);
/* How many of the jobs between `from` and `to` were in `ready`. */
int bulk_ready(const struct bulk *bulk);
/* Writes the locks that are kept. With `sets` the jobs leave `ready` by that. */
bool bulk_lock(struct store *store, struct error *error);

/* Keeps what the history says of a success for later; and writes what is kept, in order. */
bool bulk_settle(struct store *store, const struct outcome *outcome, struct error *error);
bool bulk_settled(struct store *store, struct error *error);
/* The same before all ends of the turn are known, if their numbers simply follow. */
bool bulk_settled_ahead(struct store *store, struct error *error);

/* Keeps a failed run for later: no command has edited the row of its job, which becomes `row`.
 * And writes all that is kept. */
bool bulk_fail(struct store *store, const struct outcome *outcome, const struct job_row *row,
               enum bulk_goes goes, time_ms now, struct error *error);
/* The same of the unique key of a job that was done. */
bool bulk_key(struct store *store, struct lasting_job job, time_ms now, struct error *error);
bool bulk_runs(struct store *store, struct error *error);

/* Before the commit all that is kept is written. */
extern const struct txn_hook bulk_hook;
