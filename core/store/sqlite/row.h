/* row.h - a row of the table job: as a whole job, or only what decides its place
 * (rules §2; §10: without retries). */
#ifndef MOONSHIFT_STORE_SQLITE_ROW_H
#define MOONSHIFT_STORE_SQLITE_ROW_H

#include "store/sqlite/connection.h"

#define ROW_COLUMNS                                                                                \
    "j.id, j.rev, j.stream, j.priority, j.due, j.created, j.retries, j.attempt, j.crashes,"        \
    " j.suspended, j.lane, j.lane_key, j.instance, j.root, j.activity, j.tenant, j.batch,"         \
    " j.repeat, j.unique_key, j.payload, j.message, j.conflicts"
#define ROW_COLUMN_COUNT 22

/* Fills `job` from a statement whose first columns are ROW_COLUMNS; texts are borrowed until the
 * next step. False: the row names a stream that does not exist (ERROR_DAMAGED). */
bool row_read(const struct store *store, sqlite3_stmt *row, struct job *job, struct error *error);

/* A copy of the job `id` in one block: 1, 0 no such job, -1 error. */
int row_job(struct store *store, int64_t id, struct job **job, struct error *error);

/* Says of a job that has its token: locked, by this executor, until its lease ends. The owner's
 * text is the store's: copy the job. */
void row_locked(const struct store *store, struct job *job);

/* What decides where a job waits. */
struct row {
    int64_t id, stream, priority, lane, batch; /* lane, batch 0: none */
    time_ms due, created, place;
    int32_t retries, attempt, crashes;
    int32_t suspended; /* enum suspension; 0: it is not */
    bool repeats;
    bool keyed;           /* it has a unique key, held unless it is dead */
    int64_t token, owner; /* of its lock; 0: not locked */
};

/* 1, 0 no such job, -1 error. */
int row_load(struct store *store, int64_t id, struct row *row, struct error *error);
/* The same of a job that the open transaction has taken out of its place: of any row there is. */
int row_load_placeless(struct store *store, int64_t id, struct row *row, struct error *error);

/* The due date that a job gets where `due` was asked for: under ensure_due_date none is now. */
time_ms row_due(const struct store *store, time_ms due, time_ms now);

/* Puts an unlocked job where its row says: dead (with an incident), suspended, timer or ready. */
bool row_place(struct store *store, const struct row *row, time_ms now, struct error *error);
/* Takes a job that is not locked out of the narrow tables. */
bool row_unplace(struct store *store, const struct row *row, struct error *error);

#endif
