/* row.h - a row of the table job: as a whole job, or only what decides its place. */
#pragma once

#include "store/rules/ground/state.h"
#include <stdio.h>

/* The columns of the list that are read back, then the lane. Only a job with a message may have met
 * conflicts or name another activity that failed: of others the last two are not read. */
#define ROW_COLUMN(member, type, key, source, column, ...) JOB_READ_##source("j." #column ", ")
#define ROW_COLUMNS                                                                                \
    JOB_FIELDS(ROW_COLUMN)                                                                         \
    "j.lane, j.failed_activity, CASE WHEN j.message IS NOT NULL THEN (SELECT c.n FROM"             \
    " conflicts AS c WHERE c.job=j.id) END"
enum {
#define ROW_AT(member, type, key, source, ...) JOB_READ_##source(ROW_##member, )
    JOB_FIELDS(ROW_AT)
#undef ROW_AT
        ROW_lane_id,
    ROW_failed_activity,
    ROW_conflicts,
    ROW_COLUMN_COUNT
};

/* Fills `job` from a statement whose first columns are ROW_COLUMNS; texts are borrowed until the
 * next step. False: the row names a stream that does not exist (ERROR_DAMAGED). */
bool row_read(struct store *store, struct row *row, struct job *job, struct error *error);
/* The columns of a place r and its job j that tell all of a job that is bare by its place. */
#define ROW_BARE "r.id, r.place, r.rank, r.plain, j.stream, j.rev, j.created, j.retries, j.payload"
enum {
    BARE_ID,
    BARE_PLACE,
    BARE_RANK,
    BARE_PLAIN,
    BARE_STREAM, /* NULL: its job has no row */
    BARE_REV,
    BARE_CREATED,
    BARE_RETRIES,
    BARE_PAYLOAD,
    BARE_COUNT
};
/* The same from these, which stand at `at`. False: the job has no row, or no stream. */
bool row_read_bare(struct store *store, struct row *row, const int at[BARE_COUNT], struct job *job,
                   struct error *error);
/* The same for a question, which also shows a job without a definition: its handler is NULL. */
void row_read_any(struct store *store, struct row *row, struct job *job);
/* Says that a job whose place is there has no row; false (ERROR_DAMAGED). */
bool row_missing(struct store *store, int64_t id, struct error *error);

/* Gives a job of a process the text of its instance, which no column has. It is the store's: copy
 * the job. */
static inline void row_show(struct store *store, struct job *job) {
    if (!job->instance_id)
        return;
    snprintf(store->instance, sizeof store->instance, "%lld", (long long)job->instance_id);
    job->instance = store->instance;
}

/* A copy of the job `id` in one block; NO: no such job. */
enum answer row_job(struct store *store, int64_t id, struct job **job, struct error *error);

/* Says of a job that has its token: locked, by this executor, until its lease ends. The owner's
 * text is the store's: copy the job. */
static inline void row_locked(const struct store *store, struct job *job) {
    job->owner = store->self.id;
    job->lock_owner = store->self.owner;
    job->until = store->self.remote ? store->self.lease_until : 0;
    job->state = JOB_LOCKED;
    job->lock_expiration = store->self.lease_until;
}

/* What decides where a job waits. */
struct job_row {
    int64_t id, stream, priority, lane, batch; /* lane, batch 0: none */
    time_ms due, created, place;
    int32_t retries, attempt, crashes;
    int32_t suspended; /* enum suspension; 0: it is not */
    bool repeats;
    bool has_message;     /* it may have met conflicts */
    bool keyed;           /* it has a unique key, held unless it is dead */
    int64_t plain;        /* of a new job: place_plain */
    int64_t token, owner; /* of its lock; 0: not locked */
};

/* The columns of a job j and its lock l that row_place reads. */
#define ROW_PLACE                                                                                  \
    "j.stream, j.priority, j.lane, j.due, j.created, j.place, j.retries, j.attempt,"               \
    " j.crashes, j.suspended, l.token, l.owner, j.repeat IS NOT NULL,"                             \
    " j.unique_key IS NOT NULL, j.batch, j.message IS NOT NULL, j.id"
void row_place(struct row *found, struct job_row *row);

/* NO: no such job. */
enum answer row_load(struct store *store, int64_t id, struct job_row *row, struct error *error);
/* The same of a job that the open transaction has taken out of its place: of any row there is. */
enum answer row_load_placeless(struct store *store, int64_t id, struct job_row *row,
                               struct error *error);

/* Says that the rows of these jobs are loaded next, one by one. An engine with sets reads them now,
 * at once; the answers are the same. `placeless`: with row_load_placeless. It ends with the call of
 * row_want_end, or with the transaction. */
bool row_want(struct store *store, struct ids ids, bool placeless, struct error *error);
void row_want_end(struct store *store);
/* What was read ahead of a job follows: its row changes, and is forgotten; its lock goes. */
void row_forget(struct store *store, int64_t id);
void row_unlock(struct store *store, int64_t id);
/* What was read ahead of the job; NULL: nothing. For row_load. */
const struct job_row *row_ahead(const struct store *store, int64_t id, bool placeless);
extern const struct txn_hook row_hook;

/* True if a new job leaves all columns to their defaults but its id, stream, priority, created,
 * place, retries and payload, as most jobs do. */
#define ROW_NO_TEXT(member, type, key, source, ...)                                                \
    JOB_WRITTEN_##source(JOB_TEXTS_##type(!job->member &&))
static inline bool row_is_short(const struct job *job) {
    return JOB_FIELDS(ROW_NO_TEXT) job->due == TIME_NONE && !job->suspended && !job->exclusive &&
           !job->batch && !job->instance_id && !job->execution;
}
#undef ROW_NO_TEXT

/* The due date that a job gets where `due` was asked for: under ensure_due_date none is now. */
time_ms row_due(const struct store *store, time_ms due, time_ms now);

/* ---- writing: rows are inserted by create.c and bulk.c, and purged by purge.c ---- */

/* Writes what decides the job's place as `row` has it. `revised`: its rev moves. */
bool row_write(struct store *store, const struct job_row *row, bool revised, struct error *error);
/* Writes due date and place, and a message if there is one. */
bool row_move(struct store *store, const struct job_row *row, const char *message,
              struct error *error);
/* Writes a failed run: retries, due date, place, crashes, message, and the activity that failed if
 * it is not the job's own; the next attempt begins. */
bool row_fail(struct store *store, const struct job_row *row, const char *message,
              const char *activity, struct error *error);
/* Writes what a new job with the unique key of a waiting one makes of it. */
bool row_replace(struct store *store, const struct job_row *row, const struct job *new,
                 struct error *error);
bool row_delete(struct store *store, int64_t id, struct error *error);
/* Deletes the rows of the ids behind `from` up to `to`. db_changes: how many. */
bool row_delete_range(struct store *store, int64_t from, int64_t to, struct error *error);

/* One column alone. */
bool row_set_due(struct store *store, int64_t id, time_ms due, struct error *error);
bool row_set_retries(struct store *store, int64_t id, int32_t retries, struct error *error);
bool row_set_payload(struct store *store, const struct job *job, int64_t id, struct error *error);
/* Of a start timer: the version that it starts, and the payload that says so. */
bool row_set_version(struct store *store, int64_t id, int64_t version, const char *payload,
                     struct error *error);
/* Of a job that gives a signal: the activity that gets it, and the payload that says so. */
bool row_set_receiver(struct store *store, int64_t id, const char *activity, const char *payload,
                      struct error *error);
/* Of a process: its stream and suspension as the row has them, and the token that waits for it. */
bool row_set_execution(struct store *store, const struct job_row *row, int64_t execution,
                       const char *activity, struct error *error);
/* The jobs of a process instance that are suspended with its version are so with it instead. */
bool row_hold_instance(struct store *store, int64_t instance, struct error *error);
bool row_set_repeat(struct store *store, int64_t id, const char *repeat, struct error *error);
/* `next` is the job of its next date. */
bool row_set_next(struct store *store, int64_t id, int64_t next, struct error *error);
/* Makes it dead, whatever else the row says. */
bool row_set_aside(struct store *store, int64_t id, const char *message, struct error *error);
bool row_drop_key(struct store *store, int64_t id, struct error *error);

/* Counts one more conflict in a row; the row must have a message. And ends the series. */
bool row_conflict(struct store *store, int64_t id, struct error *error);
bool row_calm(struct store *store, int64_t id, struct error *error);
